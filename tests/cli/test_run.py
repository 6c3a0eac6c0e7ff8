"""`add`, `multiply`, `run` and `trace`: what is printed, noted on stderr, and exited with."""

import json
import sys
from pathlib import Path

import pytest
from calling import Captured, answer, call, document, refusal
from cases import for_each
from facts import missing
from long import LONG
from programs import EXAMPLES

from bitwright.cli.main import main

GRAPHS = EXAMPLES / "graphs"
BFS = GRAPHS / "bfs.bw"


@for_each(
    ("command", "printed"),
    [
        *(("add 719 483", "719 + 483 = 1202"), ("add 719 483 --quiet", "1202"), ("add 0 0 -q", "0")),
        *(("add 0xff 0b1 -q", "256"), ("add 0x2cf 0x1e3", "0x2cf + 0x1e3 = 0x4b2"), ("multiply 0b11 0b10 -q", "0b110")),
        *(("run {}/addition-counter.bw p=7 q=8 -q", "15"), ("add 5 9 --engine network --tile all", "5 + 9 = 14")),
        # Outputs have the base of the inputs; where these have two bases they are decimal.
        ("run {}/subtraction.bw a=483 b=719", "difference = 788\nnegative = 1"),
        ("run {}/subtraction.bw a=0x2CF b=483 -q", "0xec\n0x0"),
        ("run {}/subtraction.bw a=0X2cf b=0b111100011 -q", "236\n0"),
        ("run {}/subtraction.bw a=0b1011001111 b=0b111100011 -q", "0b0011101100\n0b0"),
        ("run {}/subtraction.bw --let l=16 a=60000 b=483 -q", "59517\n0"),
        ("run {}/sbn/add.sbn a=-0x10 b=1 -q", "-0xf"),
    ],
)
def test_what_is_printed(capsys: Captured, command: str, printed: str) -> None:
    assert answer(capsys, command.format(EXAMPLES)) == f"{printed}\n"


def test_notes_go_to_stderr(capsys: Captured) -> None:
    _, out, err = call(capsys, "multiply 719 483")
    assert (out, missing(err, "202 430 engine templates"), err.count("\n")) == ("719 * 483 = 347277\n", [], 1)
    assert [document(capsys, f"add 7 8 {more}")["bits"] for more in ("", "--bits 9")] == [4, 9]
    found = document(capsys, f"run {EXAMPLES}/addition-counter.bw --let l=4 p=7 q=8")
    assert (found["value"], found["steps"]) == (15, 7)


def test_numbers_longer_than_python_likes_to_print(capsys: Captured) -> None:
    big = 10**4999
    sys.set_int_max_str_digits(0)
    try:
        assert answer(capsys, "add", big, big, "-q") == f"{big + big}\n"
        assert document(capsys, "add", big, 1)["value"] == big + 1
    finally:
        sys.set_int_max_str_digits(4300)


def test_a_program_that_never_halts_says_so_and_exits_1(capsys: Captured, tmp_path: Path) -> None:
    blink = tmp_path / "blink.bw"
    blink.write_text("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a\n")
    code, out, err = call(capsys, "run", blink, "--max-steps", 1000)
    assert (code, out, missing(err, "blink 1,000 --max-steps")) == (1, "", [])
    code, out, _ = call(capsys, "run", blink, "--max-steps", 1000, "--json")
    assert (code, json.loads(out)["halted"]) == (1, False)


def test_a_trace_is_text_a_page_or_a_picture(capsys: Captured, tmp_path: Path) -> None:
    lines = [line.split() for line in answer(capsys, "trace addition p=11 q=6").splitlines()]
    assert lines[0] == ["step", "n", "p", "q", "c"]
    assert (lines[1], lines[-1]) == (["0", "4", "1·11", "·11·", "····"], ["8", "2", "···1", "····", "1···"])
    path = tmp_path / "sum.html"
    code, out, err = call(capsys, "trace addition p=719 q=483 --engine limit -o", path)
    assert (code, out, missing(err, f"20 {path.stat().st_size // 1024} KiB")) == (0, "", [])
    code, _, err = call(capsys, "trace addition p=37 q=45 --engine sampled --rounding sign -o", path)
    assert (code, "rules" in err) == (1, True)  # its page is written, and says what is wrong
    found = document(capsys, "trace addition p=11 q=6 --only p,q")
    assert found["states"][0] == {"step": 0, "n": 4, "state": {"p": "1011", "q": "0110"}}
    assert (len(found["states"]), found["value"], found["halted"]) == (9, 17, True)
    flood = ("trace", GRAPHS / "flooding.bw", "--graph", "path:4", "source=0")
    nodes, heading, *states = answer(capsys, *flood).splitlines()
    assert (nodes[-10:], heading.split()) == ("3, 2, 1, 0", ["step", "n", "x"])
    assert [line.split()[-1] for line in states] == ["···1", "··11", "·111", "1111"]
    assert [step["state"]["x"] for step in document(capsys, *flood)["states"]] == ["0001", "0011", "0111", "1111"]
    for kind, begin in (("html", "<!doctype html>"), ("txt", "nodes, from the left")):
        assert call(capsys, *flood, "-o", tmp_path / f"flood.{kind}", "-q")[0] == 0
        assert begin in (tmp_path / f"flood.{kind}").read_text()[:200].lower()


# Through networks.


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    for name, words in {
        "product": ["multiplication", "--sizes", "1..12"],
        "sum": ["--tile", "all", "addition", "--bits", "3"],
        "order": ["--tile", "all", "permutation", "--order", "3,1,2"],
        "graphs": [str(path) for path in sorted(GRAPHS.glob("*.bw"))],
    }.items():
        assert main(["train", *words, "-o", str(folder / f"{name}.safetensors"), "-q"]) == 0
    return folder


@for_each(("a", "b"), [(0, 0), (719, 483), (12345678901234567890, 98765432109876543210)])
def test_one_file_multiplies_numbers_of_any_length(networks: Path, capsys: Captured, a: int, b: int) -> None:
    network = ("--network", networks / "product.safetensors")
    code, out, err = call(capsys, "multiply", a, b, *network)  # the engine follows from the network
    assert (code, out.split()[-1], missing(err, "network proved")) == (0, str(a * b), [])
    found = document(capsys, "multiply", a % 99, b % 99, *network)
    assert (found["value"], found["engine"]) == (a % 99 * (b % 99), "network")
    assert found["cells"]["proved"]
    assert found["margin"] >= found["cells"]["margin"] > 0


@for_each(
    ("command", "network", "printed"),
    [
        *(("add 1 2", "sum", "3"), ("run addition p=1 q=1", "sum", "2"), ("validate addition", "sum", "exact")),
        *(("run permutation p=0b110", "order", "0b011"), ("run permutation p=6 --order 3,1,2", "order", "3")),
    ],
)
def test_the_length_comes_from_the_network(
    command: str, network: str, printed: str, networks: Path, capsys: Captured
) -> None:
    code, out, err = call(
        capsys, command, "--engine", "network", "--network", networks / f"{network}.safetensors", "-q"
    )
    assert (code, out.strip(), err) == (0, printed, "")


# On graphs.


def values(capsys: Captured, *arguments: object) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = document(capsys, "run", *arguments)["nodes"]
    return found


def test_a_table_of_nodes(capsys: Captured, tmp_path: Path) -> None:
    edges = tmp_path / "graph.txt"
    edges.write_text("a b 3\nb c 2\nc d 4\na d 9\ne\n")
    code, out, err = call(capsys, "run", BFS, "--graph", edges, "source=a")
    assert [line.split() for line in out.splitlines()] == [
        *(["node", "level", "parent"], ["a", "0", "-"], ["b", "1", "a"]),
        *(["c", "2", "b"], ["d", "1", "a"], ["e", "-", "-"]),
    ]
    assert (code, err.startswith("5 nodes, 4 edges; ")) == (0, True)
    code, out, err = call(capsys, "run", BFS, "--graph", edges, "source=a", "-q")
    assert (out.splitlines()[0].split(), err) == (["a", "0", "-"], "")
    program = (GRAPHS / "shortest-paths.bw", "--graph", edges, "source=a")
    for more, distances in (([], [0, 3, 5, 9, None]), (["weight=a-b:1,b-c:1,c-d:1,a-d:9"], [0, 1, 2, 3, None])):
        assert [own["distance"] for own in values(capsys, *program, *more).values()] == distances
    table = tmp_path / "ids.csv"
    table.write_text("node,id\na,5\nb,3\nc,6\nd,1\ne,2\n")
    found = values(capsys, GRAPHS / "leader.bw", "--graph", edges, table)
    assert [own["leader"] for own in found.values()] == [1, 1, 1, 1, 2]
    found = values(capsys, GRAPHS / "flooding.bw", "--graph", f"directed:{edges}", "source=b")
    assert {name for name, own in found.items() if own["reached"]} == {"b", "c", "d"}
    life = (GRAPHS / "life.bw", "--graph", "torus:5x5", "alive=2.1,2.2,2.3", "--let", "generations=1")
    assert {name for name, own in values(capsys, *life).items() if own["alive"]} == {"1.2", "2.2", "3.2"}
    edges.write_text("a b\nb c d e f\n")
    assert ":2: " in refusal(capsys, "run", BFS, "--graph", edges, "source=a")


@for_each("name", sorted(file.stem for file in GRAPHS.glob("*.bw"))[:: 1 if LONG else 5])
def test_one_network_is_proved_for_every_program_on_graphs(capsys: Captured, networks: Path, name: str) -> None:
    code, out, err = call(capsys, "certify", GRAPHS / f"{name}.bw", "--network", networks / "graphs.safetensors")
    assert (code, out.startswith(f"CERTIFIED: {name}"), missing(out.splitlines()[0] + err, "every graph")) == (
        0,
        True,
        [],
    )
    if name == "bfs":
        run = ("run", BFS, "--graph", "random:200,400,1", "source=0")
        plain = document(capsys, *run)["nodes"]
        for more in ((),):
            found = document(capsys, *run, "--network", networks / "graphs.safetensors", *more)
            assert (found["cells"]["proved"], found["nodes"]) == (True, plain)
