"""Node programs on the command line: graphs from files and shapes, values of nodes, one network for all of them."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest
from calling import Captured, answer, call, refusal
from cases import for_each
from long import LONG

from bitwright.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "graphs"
BFS = EXAMPLES / "bfs.bw"


def nodes(capsys: Captured, *arguments: object) -> dict[str, dict[str, object]]:
    code, out, err = call(capsys, "run", *arguments, "--json")
    assert code == 0, err
    found: dict[str, dict[str, object]] = json.loads(out)["nodes"]
    return found


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    file = tmp_path / "graph.txt"
    file.write_text("a b 3\nb c 2\nc d 4\na d 9\ne\n")
    return file


def test_a_table_of_nodes(capsys: Captured, edges: Path) -> None:
    code, out, err = call(capsys, "run", BFS, "--graph", edges, "source=a")
    assert code == 0
    assert out.splitlines() == [
        "node  level  parent", "a     0      -", "b     1      a", "c     2      b", "d     1      a", "e     -      -",
    ]  # fmt: skip
    assert err.startswith("5 nodes, 4 edges; ")
    code, out, err = call(capsys, "run", BFS, "--graph", edges, "source=a", "-q")
    assert (out.splitlines()[0].split(), err) == (["a", "0", "-"], "")


def test_weights_come_from_the_file_or_the_command(capsys: Captured, edges: Path) -> None:
    program = EXAMPLES / "shortest-paths.bw"
    found = nodes(capsys, program, "--graph", edges, "source=a")
    assert [own["distance"] for own in found.values()] == [0, 3, 5, 9, None]
    found = nodes(capsys, program, "--graph", edges, "source=a", "weight=*:1")
    assert [own["distance"] for own in found.values()] == [0, 1, 2, 1, None]
    found = nodes(capsys, program, "--graph", edges, "source=a", "weight=a-b:1,b-c:1,c-d:1,a-d:9")
    assert [own["distance"] for own in found.values()] == [0, 1, 2, 3, None]


@pytest.mark.parametrize("suffix", ["adjlist", "graphml", "json", "csv"])
def test_every_format_gives_the_same(capsys: Captured, tmp_path: Path, suffix: str) -> None:
    graph = nx.relabel_nodes(nx.karate_club_graph(), str)
    file = tmp_path / f"karate.{suffix}"
    if suffix == "adjlist":
        nx.write_adjlist(graph, file)
    elif suffix == "graphml":
        nx.write_graphml(graph, file)
    elif suffix == "json":
        file.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    else:
        file.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in graph.edges))
    found = nodes(capsys, BFS, "--graph", file, "source=0")
    wanted = nx.single_source_shortest_path_length(graph, "0")
    assert {name: own["level"] for name, own in found.items()} == dict(wanted)


def test_values_from_a_table(capsys: Captured, edges: Path, tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("node,id\na,5\nb,3\nc,6\nd,1\ne,2\n")
    found = nodes(capsys, EXAMPLES / "leader.bw", "--graph", edges, "--values", table)
    assert {name for name, own in found.items() if own["elected"]} == {"d", "e"}
    assert [own["leader"] for own in found.values()] == [1, 1, 1, 1, 2]


def test_lets_and_shapes(capsys: Captured) -> None:
    blinker = {"2.1", "2.2", "2.3"}
    for generations, wanted in ((1, {"1.2", "2.2", "3.2"}), (2, blinker)):
        found = nodes(
            capsys, EXAMPLES / "life.bw", "--graph", "torus:5x5", "alive=" + ",".join(blinker),
            "--let", f"generations={generations}",
        )  # fmt: skip
        assert {name for name, own in found.items() if own["alive"]} == wanted


def test_directed_edges_are_followed(capsys: Captured, edges: Path) -> None:
    found = nodes(capsys, EXAMPLES / "flooding.bw", "--graph", edges, "source=b", "--directed")
    assert {name for name, own in found.items() if own["reached"]} == {"b", "c", "d"}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("graphs") / "graphs.safetensors"
    assert main(["train", *map(str, sorted(EXAMPLES.glob("*.bw"))), "-o", str(file), "-q"]) == 0
    return file


@for_each("name", sorted(file.stem for file in EXAMPLES.glob("*.bw"))[:: 1 if LONG else 5])
def test_one_network_is_proved_for_every_program(capsys: Captured, network: Path, name: str) -> None:
    code, out, err = call(capsys, "certify", EXAMPLES / f"{name}.bw", "--network", network)
    assert code == 0
    assert out.startswith(f"CERTIFIED: {name} (cells of ")
    assert out.splitlines()[0].endswith("; this program is made of them on every graph")
    assert f"all cells of {name} at every size, on every graph, are of the network's kinds" in err


def test_the_network_runs_and_is_said_to_be_proved(capsys: Captured, network: Path) -> None:
    given = ("run", BFS, "--graph", "random:200,400,1", "source=0", "--json")
    _, plain, _ = call(capsys, *given)
    for more in ((), ("--evaluate",)):
        code, out, _ = call(capsys, *given, "--engine", "network", "--network", network, *more)
        found = json.loads(out)
        assert code == 0
        assert found["cells"]["proved"] is True
        assert found["nodes"] == json.loads(plain)["nodes"]


def test_the_limit_is_certified_for_every_graph(capsys: Captured) -> None:
    out = answer(capsys, "certify", EXAMPLES / "flooding.bw", "--tile", "1")
    assert out.startswith("CERTIFIED: cells of flooding, the limit")
    assert out.splitlines()[0].endswith("this program is made of them on every graph")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", BFS], "bfs is a node program; give it a graph: --graph FILE, or a shape such as --graph torus:20x30"),
        (["run", BFS, "--graph", "{}", "source=x"], "the graph has no node 'x'"),
        (["run", BFS, "--graph", "{}"], "bfs needs source: give source=NODE"),
        (["run", BFS, "--graph", "{}", "sauce=a"], "bfs has no input 'sauce'; did you mean 'source'?"),
        (["run", BFS, "--graph", "{}", "source"], "an input of a node program is given as NAME=VALUE, got 'source'"),
        (["run", BFS, "--graph", "nothing.txt", "source=a"], "there is no file nothing.txt"),
        (["run", BFS, "--graph", "torus:0x3", "source=a"], "a graph of this shape is given as torus:20x30"),
        (["run", BFS, "--graph", "tours:3x3", "source=a"], "there is no shape of graphs 'tours'; there are path, ring"),
        (["run", BFS, "--graph", "ring:99999999999", "source=a"], "ring:99999999999 has more than 10,000,000"),
        (["run", BFS, "--graph", "random:3,9", "source=0"], "3 nodes have at most 3 edges, got 9"),
        (["run", BFS, "--graph", "{}", "source=a", "--directed"], "bfs is for undirected graphs"),
        (["run", BFS, "--graph", "{}", "source=a", "--bits", "3"], "--bits, --order, --machine and --trace do"),
        (["run", EXAMPLES / "life.bw", "--graph", "{}", "alive=a"], "whose nodes all have 8 edges; 'a' has 2"),
        (["run", EXAMPLES / "dfs.bw", "--graph", "torus:1x3", "source=0.0"], "without loops; node '0.0' has one"),
        (["run", EXAMPLES / "leader.bw", "--graph", "{}", "id=*:3"], "node 'a' and node 'b' both have id 3"),
        (["run", EXAMPLES / "leader.bw", "--graph", "{}"], "leader needs id"),
        (["run", EXAMPLES / "dfs.bw", "--graph", "{}", "source=a,b"], "source is one node, got 2"),
        (["run", EXAMPLES / "leader.bw", "--graph", "{}", "id=name"], "node 'a'"),
        (["run", EXAMPLES / "shortest-paths.bw", "--graph", "{}", "source=a", "weight=*:16"], "at most 15"),
        (["run", EXAMPLES / "shortest-paths.bw", "--graph", "{}", "source=a", "weight=*:0"], "1 or more"),
        (["run", "addition", "--graph", "{}"], "--graph, --values and --directed go with node programs"),
        (["run", BFS, "--graph", "{head}", "source=x"], "this looks like a header, with the columns"),
        (["validate", BFS], "bfs is a node program: run and trace take it with --graph"),
        (["train", "--tile", "all", BFS, "-o", "x.safetensors"], "bfs is a node program"),
        (["train", "--tile", "all", "addition", "multiplication", "-o", "x.safetensors"], "serves several programs"),
        (["certify", BFS], "bfs is a node program"),
        (["certify", BFS, "--tile", "1", "--sizes", "1..3"], "the sizes of a node program are those of a 'let' line"),
    ],
)  # fmt: skip
def test_one_line_for_what_is_wrong(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, edges: Path, arguments: list[object], message: str
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    head = edges.with_name("head.csv")
    head.write_text("u,v,km\nx,y,3\n")
    named = {"{}": edges, "{head}": head}
    assert message in refusal(capsys, *(named.get(str(part), part) for part in arguments))


def test_a_broken_line_is_named(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "broken.txt"
    file.write_text("a b\nb c d e f\n")
    assert ":2: " in refusal(capsys, "run", BFS, "--graph", file, "source=a")


def test_a_trace_is_text_a_page_or_a_picture(capsys: Captured, tmp_path: Path) -> None:
    given = ("trace", EXAMPLES / "flooding.bw", "--graph", "path:4", "source=0")
    out = answer(capsys, *given)
    nodes, heading, *states = out.splitlines()
    assert nodes == "nodes, from the left: 3, 2, 1, 0"
    assert heading.split() == ["step", "n", "x"]
    assert " ".join(states).split() == ["0", "1", "···1", "1", "2", "··11", "2", "3", "·111", "3", "4", "1111"]
    for kind, begin in (("html", "<!doctype html>"), ("svg", "<svg ")):
        file = tmp_path / f"flood.{kind}"
        assert call(capsys, *given, "-o", file, "-q")[0] == 0
        assert begin in file.read_text()[:200].lower()
    code, out, _ = call(capsys, *given, "--json")
    assert [step["state"]["x"] for step in json.loads(out)["states"]] == ["0001", "0011", "0111", "1111"]
    code, _, err = call(capsys, *given, "-o", tmp_path / "flood.svg", "--only", "y")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = call(capsys, "trace", EXAMPLES / "flooding.bw", "source=0")
    assert (code, "give it a graph" in err) == (2, True)


def test_rules_without_paths_run_at_every_node_too(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "still.bw"
    file.write_text("bits x\nblock x\nwhen x=1 write x\ninput source = x\n")
    assert nodes(capsys, file, "--graph", "ring:3", "source=1") == {"0": {"x": 0}, "1": {"x": 1}, "2": {"x": 0}}
