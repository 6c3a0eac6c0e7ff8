"""What `certify` claims of cells: kinds that were proved, and just the sizes and graphs that were looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured, answer, call
from cases import for_each

from bitwright import Certificate, certify, open, train
from bitwright.cli.main import main
from bitwright.program import Topology, parse_node_program

EXAMPLES = Path(__file__).parents[2] / "examples" / "graphs"
BY_NODES = "let l = digits(nodes)\nbits r[l] z\nblock r[*]\nblock z\nwhen r[*]=0 write z far.z\ninput v = r\noutput z\n"
FLOOD = "bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\n"
LOOKED_AT = "graphs of 1, 2, 3, 16 and 1,000 nodes"


def trained(capsys: Captured, tmp_path: Path, text: str, *more: str) -> tuple[Path, Path]:
    rules, network = tmp_path / "rules.bw", tmp_path / "rules.safetensors"
    rules.write_text(text)
    assert main(["train", str(rules), *more, "-o", str(network), "-q"]) == 0
    capsys.readouterr()
    return rules, network


def test_a_program_whose_cells_follow_the_nodes_is_not_called_proved_on_every_graph(
    tmp_path: Path, capsys: Captured
) -> None:
    rules, network = trained(capsys, tmp_path, BY_NODES)
    code, out, err = call(capsys, "certify", rules, "--network", network)
    assert (code, "every graph" in out + err) == (0, False)
    assert out.splitlines()[0].endswith(f"kinds of cells; this program was checked on {LOOKED_AT}")
    code, out, _ = call(capsys, "certify", rules, "--network", network, "--json")
    assert json.loads(out)["graphs"] == LOOKED_AT
    code, out, _ = call(capsys, "certify", rules, "--tile", "1")
    assert (code, "every graph" in out) == (0, False)
    assert LOOKED_AT in out.splitlines()[0]
    code, _, err = call(capsys, "run", rules, "--graph", "path:6", "v=*:1", "--engine", "network", "--network", network)
    assert (code, "this network has no cell like" in err) == (2, True)  # 6 nodes were not looked at


def test_a_program_that_says_the_same_for_all_sizes_is_proved_on_every_graph(tmp_path: Path, capsys: Captured) -> None:
    rules, network = trained(capsys, tmp_path, FLOOD)
    for arguments in (["--network", network], ["--tile", "1"]):
        out = answer(capsys, "certify", rules, *arguments)
        assert out.splitlines()[0].endswith("this program is made of them on every graph")
        assert json.loads(call(capsys, "certify", rules, *arguments, "--json")[1])["graphs"] == "every graph"


@for_each(
    ("line", "graphs"),
    [
        ("bits y[nodes]\nblock y[i] for i in 1..nodes", LOOKED_AT),
        ("bits y[3+2*ports]\nblock y[i] for i in 1..3+2*ports", "graphs of 0, 2, 4, 48 and 4,000 ports"),
        ("let k = nodes+ports\nbits y[k+1]\nblock y[i] for i in 1..k+1",
         "graphs of 1 node with 0 ports, 2 nodes with 2 ports, 3 nodes with 4 ports, 16 nodes with 48 ports "
         "and 1,000 nodes with 4,000 ports"),
        ("bits y[3]\nblock y[*]\nwhen x=0 write y[i] for i in 1..3 if i < nodes", LOOKED_AT),
        ("bits y[3]\nblock y[*]\nwhen x=0 write y[i] for i in 1..nodes-13", "graphs of 1, 2, 3 and 16 nodes"),
        ("bits y[ports]\nblock y[i] for i in 1..ports", "graphs of 2, 4, 48 and 4,000 ports"),  # 0 bits are none
        ("bits y  # of all nodes and ports\nblock y", "every graph"),
        ("let k = 4\nbits y[k]\nblock y[*]\nwhen x=0 write y[i] for i in 1..k", "every graph"),
    ],
)  # fmt: skip
def test_the_graphs_follow_from_the_text(line: str, graphs: str) -> None:
    assert parse_node_program(f"{FLOOD}{line}\n").graphs == graphs


def test_a_given_number_takes_the_place_of_what_the_graph_says(tmp_path: Path, capsys: Captured) -> None:
    rules, network = trained(capsys, tmp_path, BY_NODES, "--sizes", "l=1..3")
    assert open(rules, l=3).graphs == "every graph"
    out = answer(capsys, "certify", rules, "--network", network, "--sizes", "l=1..3")
    assert out.splitlines()[0].endswith("this program was checked at l=1..3, on every graph")
    given = ("run", rules, "--let", "l=3", "v=*:0", "--engine", "network", "--network", network, "--graph")
    for graph in ("path:6", "torus:1x1", "torus:1x2", "path:1"):  # loops and parallel edges too
        assert call(capsys, *given, graph)[0] == 0


def test_of_tiles_no_graph_is_claimed(tmp_path: Path, capsys: Captured) -> None:
    network = tmp_path / "tiles.safetensors"
    given = (EXAMPLES / "bfs.bw", "--let", "l=4")
    assert call(capsys, "train", *given, "--tile", "2", "-o", network)[0] == 0
    for arguments in (["--network", network], ["--tile", "2"]):
        code, out, err = call(capsys, "certify", *given, *arguments)
        assert (code, "graph" in out + err) == (0, False)
    code, _, err = call(capsys, "run", *given, "--graph", "path:2", "source=0", "--network", network)
    assert (code, "this network has no cell like" in err) == (2, True)


def test_a_size_that_was_not_looked_at_is_not_claimed(tmp_path: Path, capsys: Captured) -> None:
    text = "let n = 8\nbits x[n]\nblock x[i] for i in 1..n\nwhen x[i]=1 write x[i] for i in 1..n\n"
    text += "when x[i]=0 write x[1] for i in 40..n\nsteps 1\n"
    rules, network = trained(capsys, tmp_path, text, "--sizes", "n=1..32")
    certificate = tmp_path / "c.json"
    code, out, _ = call(capsys, "certify", rules, "--network", network, "--sizes", "n=1..32", "-o", certificate)
    said = "every program made of these kinds of cells; this program was checked at n=1..32"
    assert (code, out.splitlines()[0].endswith(said), "every size" in out) == (0, True, False)
    assert Certificate.load(certificate).sentence.endswith(said)
    code, _, err = call(capsys, "certify", rules, "--network", network, "--sizes", "n=1..50")
    assert (code, "at n=40: this network has no cell like" in err) == (2, True)


def test_the_kinds_of_python_are_all_that_is_claimed() -> None:
    program = parse_node_program(BY_NODES)
    cells = train(program)
    sentence = "certified: this network is right in all 8 local states of every program made of these kinds of cells"
    assert certify(program, cells).sentence.startswith(sentence)
    with pytest.raises(Exception, match="this network has no cell like"):
        cells.engine(program.on(Topology.from_edges(6, [(0, 1)]), {"v": [0] * 6}))
