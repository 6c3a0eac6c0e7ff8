"""`certify` and `size`: verdicts and exit codes, what a proof covers, its file, and advice that can be followed."""

import json
from pathlib import Path

import pytest
from calling import Captured, answer, call, document, refusal
from cases import for_each
from facts import missing
from long import LONG

from bitwright import addition, certify, open, train
from bitwright.cli.main import main
from bitwright.rules import Topology, parse_node_program

ROOT = Path(__file__).parents[2]
HELLO, GCD = ROOT / "examples" / "subleq" / "hello.sq", ROOT / "examples" / "sbn" / "gcd.sbn"
# Every cell but the last hands its carry on, so that two sizes have two kinds and the size 1 has one of them.
CHAIN = """
let D = 2
bits d[D] c[D]
block d[i] c[i] for i in 1..D
when d[i]=1 c[i]=0 write d[i] for i in 1..D
when d[i]=0 c[i]=1 write d[i] for i in 1..D
when d[i]=1 c[i]=1 write c[i+1] for i in 1..D-1
when d[D]=1 c[D]=1 write d[D]
input d c
output d
steps D
"""
LATE = """
let n = 8
let k = 3
bits x[n]
block x[i] for i in 1..n
when x[i]=1 write x[i] for i in 1..n
when x[i]=0 write x[1] for i in 40..n
steps 1
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"k2.bw": CHAIN, "late.bw": LATE}.items():
        Path(name).write_text(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good network of integers and a bad one, for addition of 2 bits."""
    place = tmp_path_factory.mktemp("networks")
    for name, how in (("good", "512"), ("bad", "24 --tolerance 0.4 --seed 0..0")):
        command = f"train --tile all addition --bits 2 -q --width {how} -o".split()
        assert main([*command, str(place / f"{name}.safetensors")]) == (name == "bad")
    return place


# The limit.


def test_the_bound_that_is_proved_and_the_one_that_is_declared(capsys: Captured) -> None:
    """What is proved is the default, also where the program declares a bound."""
    limit = ("certify multiplication --bits 10 --rounding sign", "--n")
    code, out, _ = call(capsys, *limit, "blocks")
    assert (code, out.startswith("REFUTED: multiplication")) == (1, True)
    assert missing(out, "n = 87 multiplier[1] 1 3 --padding 70 n <= 71 --n declared") == []
    assert call(capsys, limit[0], "-q")[:2] == (1, "refuted\n")
    assert document(capsys, limit[0]) == (found := document(capsys, *limit, "blocks"))
    assert (found["certified"], found["verdict"], found["assumption"]) == (False, "refuted", None)
    assert [call(capsys, *limit, "blocks", "--padding", padding)[0] for padding in (69, 70)] == [1, 0]
    found = document(capsys, *limit, "declared")
    assert (found["verdict"], found["assumption"], found["n_source"]) == ("certified", "n <= 71", "declared")
    assert (found["examples"], found["padding"], found["n_max"]) == (210, 8, 71)
    assert answer(capsys, *limit, "declared").startswith("CERTIFIED ASSUMING n <= 71 (declared, not proved)")
    assert call(capsys, *limit, "declared", "-q")[:2] == (0, "certified assuming n <= 71\n")


def test_the_runs_of_all_inputs(capsys: Captured) -> None:
    target = "multiplication --bits 4 --n reachable"
    found = document(capsys, f"certify {target} --rounding sign")
    assert (found["verdict"], found["n_source"], found["n_max"], found["assumption"]) == (
        *("certified", "reachable", 13, None),
    )
    assert "256" in found["covers"]
    assert call(capsys, f"certify {target} --rounding sign -q")[1] == "certified for the runs of all 256 inputs\n"
    assert document(capsys, f"size {target}")["n_max"] == 13
    assert document(capsys, "validate multiplication --bits 4 --engine templates")["n_max"] == 13


@for_each(
    ("rounding", "more"),
    [("calibrated", ("--padding", 5)), ("sign", ()), *[("calibrated", ()), ("sign", ("--padding", 5))] * LONG],
)
@for_each(
    ("target", "values"),
    [(("multiplication", "--bits", 4), ()), ((GCD, "--machine", "A"), ("a=12", "b=18")), ((HELLO,), None)],
)
def test_all_verbs_speak_of_the_same_examples_and_matches(
    capsys: Captured,
    target: tuple[object, ...],
    values: tuple[str, ...] | None,
    rounding: str,
    more: tuple[object, ...],
) -> None:
    certificate = document(capsys, "certify", *target, "--rounding", rounding, *more)
    found = document(capsys, "size", *target, *more)
    assert found["examples"][rounding] == certificate["examples"]
    assert (found["n_max"], found["n_source"]) == (certificate["n_max"], certificate["n_source"])
    engine = ("--engine", "limit", "--rounding", rounding, *more)
    runs = [] if values is None else [document(capsys, "validate", *target, *engine, "--random", 2)]
    if values != ():
        runs.append(document(capsys, "run", *target, *(values or ()), *engine))
    assert {run["examples"] for run in runs} == {certificate["examples"]}
    assert document(capsys, "add 5 6")["examples"] is None  # the rules were trained on nothing


def test_how_many_networks(capsys: Captured) -> None:
    found = document(capsys, "size addition --bits 10 --delta 0.01")
    assert [found[name]["networks"] for name in ("sign", "sign_tight", "calibrated")] == [34_512, 8_344, 50]
    assert "34,512" in call(capsys, "size addition --bits 10")[1]


# A network.


def test_a_good_network_is_certified_and_a_bad_one_refuted_by_a_state_that_is_shown(
    folder: Path, capsys: Captured
) -> None:
    code, out, err = call(capsys, "certify addition --network", folder / "good.safetensors")
    assert (code, out.startswith("CERTIFIED"), missing(out + err, "sum == p + q 64")) == (0, True, [])
    assert missing(answer(capsys, "certify addition --bits 3 --network", adder_of(3)), "sum == p + q") == []
    code, out, _ = call(capsys, "certify addition --network", folder / "bad.safetensors")
    assert (code, out.startswith("REFUTED")) == (1, True)
    assert [line.split()[0] for line in out.splitlines() if line.split()[0] in ("wrong", "state")] == ["wrong", "state"]


def adder_of(bits: int) -> Path:
    train(addition(bits)).save("adder.safetensors")
    return Path("adder.safetensors")


def test_what_takes_too_long_wants_a_yes_or_a_shorter_proof(capsys: Captured) -> None:
    """2^48 states take days on every machine there is. l idle bits make 2^l states, and none of them an input."""
    options = "--bits 16 --width 64 --tolerance 0.4 -o net.safetensors -q"
    assert call(capsys, "train --tile all addition", *options.split())[0] == 0
    err = refusal(capsys, "certify addition --network net.safetensors")
    assert missing(err, "281,474,976,710,656 16 bitwright train --sizes") == []
    for l in (60, 70):  # the second has too many states to be counted one by one
        text = (
            f"let l = {l}\nbits x idle[l]\nblock x\nblock idle[i] for i in 1..l\nwhen x=1 write x\ninput x\nsteps 1\n"
        )
        Path("idle.bw").write_text(f"{text}when idle[i]=1 write idle[i] for i in 1..l\n")
        assert call(capsys, "train --tile all idle.bw --width 512 -o net.safetensors -q")[0] == 0
        err = refusal(capsys, "certify idle.bw --network net.safetensors")
        assert missing(err, "--domain runs cells") == []
    assert call(capsys, "certify idle.bw --network net.safetensors --domain runs")[0] == 0


# Cells: which sizes and graphs a proof covers.


@pytest.fixture
def one(capsys: Captured) -> str:
    """A network of the cells of the size 1."""
    assert call(capsys, "train k2.bw --let D=1 -o n.safetensors -q")[0] == 0
    return "n.safetensors"


@pytest.mark.parametrize("how", ["--sizes D=1", "--let D=1"])
def test_the_size_that_was_looked_at_stands_everywhere(capsys: Captured, one: str, how: str) -> None:
    proof = ("certify k2.bw --network", one)
    code, out, err = call(capsys, *proof, *how.split(), "-o", "proof.json")
    assert (code, missing(err, "D=1"), missing(out.splitlines()[0], "D=1")) == (0, [], [])
    assert json.loads(Path("proof.json").read_text())["sizes"] == "D=1"
    assert document(capsys, *proof, *how.split())["sizes"] == "D=1"
    code, out, err = call(capsys, *proof, "--check", "proof.json")
    assert (code, missing(err, "D=1"), missing(out, "D=1")) == (0, [], [])
    for sizes, facts in (("D=4..5", "cell"), ("l=1..2", "")):
        forged = json.loads(Path("proof.json").read_text()) | {"sizes": sizes}
        Path("forged.json").write_text(json.dumps(forged))
        code, out, _ = call(capsys, *proof, "--check", "forged.json")
        assert (code, missing(out, f"DOES NOT HOLD sizes {sizes} {facts}")) == (1, [])


def test_every_size_and_other_numbers_of_the_file(capsys: Captured, one: str) -> None:
    Path("k2.bw").write_text("let unused = 7\n" + CHAIN)
    proof = ("certify k2.bw --network", one)
    code, _, err = call(capsys, *proof, "--sizes", "D=1", "--let", "unused=3", "-o", "proof.json")
    assert (code, missing(err, "D=1,unused=3")) == (0, [])
    assert call(capsys, *proof, "--check", "proof.json")[0] == 0
    assert missing(refusal(capsys, *proof, "--check", "proof.json", "--sizes", "D=2"), "D=1,unused=3 --sizes") == []
    for sizes in ("D=1,D=2", "D=1..2,unused=1..2"):
        refusal(capsys, *proof, "--sizes", sizes)
    assert call(capsys, "train k2.bw --sizes D=1..3 -o n.safetensors -q")[0] == 0
    for how, sizes in (((), "all"), (("--sizes", "D=5..5"), "D=5"), (("--sizes", "D=1..5"), "D=1..5")):
        assert document(capsys, *proof, *how)["sizes"] in (sizes, f"{sizes},unused=7")


def test_a_missing_kind_is_told_apart_and_the_cure_named(capsys: Captured, one: str) -> None:
    lacking = "d[1], c[1] 1 3 2 4 bitwright train --sizes"
    assert missing(refusal(capsys, "run k2.bw d=1 c=2 --network", one), lacking) == []
    assert missing(refusal(capsys, "export", one, "--program", "k2.bw", "-o", "k2.c"), lacking) == []
    for how, at in (((), 2), (("--sizes", "D=5..5"), 5)):
        assert missing(refusal(capsys, "certify k2.bw --network", one, *how), f"D={at}: {lacking}") == []
    _, _, err = call(capsys, "train k2.bw --let D=1 -o n.safetensors")
    assert missing(err, "D=2 --sizes all") == []
    assert "--sizes" not in call(capsys, "train k2.bw -o n.safetensors")[2]
    assert missing(call(capsys, "train addition --bits 1 -o n.safetensors")[2], "2 --sizes all") == []


def test_a_wrong_cell_is_shown_with_the_bits_of_its_first_cell(capsys: Captured) -> None:
    options = "--tile 2 --let D=4 --weight-bits 2 --width 16 --seed 1 --tolerance 0.3 -o bad.safetensors -q"
    code, _, err = call(capsys, "train k2.bw", *options.split())
    assert (code, missing(err, "10 8")) == (1, [])  # seeds, and the most bits of a weight
    proof = "certify k2.bw --let D=4 --network bad.safetensors"
    lines = {line.split()[0]: line for line in call(capsys, proof)[1].splitlines()}
    found = document(capsys, proof)
    wrong, names = found["counterexample"], found["names"]
    assert missing(lines["wrong"], f"{wrong['bit']} {' '.join(names[wrong['bit']])}") == []
    assert all(missing(lines["state"], f"{bit} {names[bit][0]}") == [] for bit in wrong["on"])
    assert lines["pattern"].split()[1] == found["pattern_id"]


def test_the_limit_of_cells_says_its_sizes(capsys: Captured) -> None:
    assert missing(answer(capsys, "certify k2.bw --tile 1 --let D=1").splitlines()[0], "D=1") == []
    found = document(capsys, "certify k2.bw --sizes D=1..4")
    assert (found["sizes"], found["pattern_id"]) == ("D=1..4", found["program_id"])
    for sizes in ("1..5", "D=1..5"):
        assert missing(answer(capsys, "certify k2.bw --tile 1 --sizes", sizes), "D=1..5 2") == []


BY_NODES = "let l = digits(nodes)\nbits r[l] z\nblock r[*]\nblock z\nwhen r[*]=0 write z far.z\ninput v = r\noutput z\n"
FLOOD = "bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\n"
LOOKED_AT = "graphs of 1, 2, 3, 16 and 1,000 nodes"


@for_each(("text", "graphs"), [(BY_NODES, LOOKED_AT), (FLOOD, "every graph")])
def test_which_graphs_are_claimed(capsys: Captured, text: str, graphs: str) -> None:
    Path("rules.bw").write_text(text)
    assert call(capsys, "train rules.bw -o n.safetensors -q")[0] == 0
    for how in ("--network n.safetensors", "--tile 1"):
        out = answer(capsys, "certify rules.bw", *how.split())
        assert out.splitlines()[0].endswith(graphs)
        assert ("every graph" in out) == (graphs == "every graph")
        assert document(capsys, "certify rules.bw", *how.split())["graphs"] == graphs
    run = "run rules.bw --graph path:6 --network n.safetensors"
    if text == BY_NODES:  # 6 nodes were not looked at, but l=3 is a size as any other
        assert "cell" in refusal(capsys, run, "v=*:1")
        assert call(capsys, "train rules.bw --sizes l=1..3 -o n.safetensors -q")[0] == 0
        assert (
            missing(answer(capsys, "certify rules.bw --network n.safetensors --sizes l=1..3"), "l=1..3 every graph")
            == []
        )
        for graph in ("path:6", "torus:1x1", "torus:1x2"):  # loops and parallel edges too
            assert call(capsys, "run rules.bw --let l=3 v=*:0 --network n.safetensors --graph", graph)[0] == 0


@for_each(
    ("line", "graphs"),
    [
        ("bits y[nodes]\nblock y[i] for i in 1..nodes", LOOKED_AT),
        ("bits y[3+2*ports]\nblock y[i] for i in 1..3+2*ports", "graphs of 0, 2, 4, 48 and 4,000 ports"),
        ("let k = nodes+ports\nbits y[k+1]\nblock y[i] for i in 1..k+1",
         "graphs of 1 node with 0 ports, 2 nodes with 2 ports, 3 nodes with 4 ports, 16 nodes with 48 ports "
         "and 1,000 nodes with 4,000 ports"),
        ("bits y[3]\nblock y[*]\nwhen x=0 write y[i] for i in 1..nodes-13", "graphs of 1, 2, 3 and 16 nodes"),
        ("bits y[ports]\nblock y[i] for i in 1..ports", "graphs of 2, 4, 48 and 4,000 ports"),  # 0 bits are none
        ("bits y  # of all nodes and ports\nblock y", "every graph"),
        ("let k = 4\nbits y[k]\nblock y[*]\nwhen x=0 write y[i] for i in 1..k", "every graph"),
    ],
)  # fmt: skip
def test_the_graphs_follow_from_the_text(line: str, graphs: str) -> None:
    assert parse_node_program(f"{FLOOD}{line}\n").graphs == graphs


def test_the_kinds_of_python_and_tiles_claim_no_graph(capsys: Captured) -> None:
    program = parse_node_program(BY_NODES)
    assert open(ROOT / "examples" / "graphs" / "bfs.bw", l=3).graphs == "every graph"
    assert "every graph" not in certify(program, train(program)).sentence
    with pytest.raises(Exception, match="cell"):
        train(program).engine(program.on(Topology.from_edges(6, [(0, 1)]), {"v": [0] * 6}))
    tiles = (ROOT / "examples" / "graphs" / "bfs.bw", "--let", "l=4")
    assert call(capsys, "train", *tiles, "--tile", "2", "-o", "tiles.safetensors")[0] == 0
    for how in (["--network", "tiles.safetensors"], ["--tile", "2"]):
        code, out, err = call(capsys, "certify", *tiles, *how)
        assert (code, "graph" in out + err) == (0, False)
