"""`run` in all the ways that people ask for it, and the same from the command line."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import Captured
from facts import missing

import bitwright
from bitwright import InputError, addition, multiplication, parse, run, train
from bitwright.cli.main import main
from bitwright.common.bits import from_bit_rows, to_bit_rows
from bitwright.machines import interpret, load_sbn, machine_a, machine_b
from bitwright.machines.programs import open_subleq
from bitwright.verbs.network import Network
from bitwright.verbs.trace import trace_text

EXAMPLES = Path(__file__).parents[2] / "examples"
GCD = EXAMPLES / "sbn" / "gcd.sbn"
BFS = EXAMPLES / "graphs" / "bfs.bw"
HELLO = EXAMPLES / "subleq" / "hello.sq"
# The same runs in Python and on the command line, and the exit code.
SAME: dict[str, tuple[Callable[[], Any], list[object], int]] = {
    "numbers": (lambda: run(addition(10), p=719, q=483), ["add", 719, 483], 0),
    "a name": (lambda: run(addition(10), p=719, q=483), ["run", "addition", "p=719", "q=483"], 0),
    "a file": (
        lambda: run(bitwright.open(EXAMPLES / "subtraction.bw"), a=483, b=719, engine="limit"),
        ["run", EXAMPLES / "subtraction.bw", "a=483", "b=719", "--engine", "limit"],
        0,
    ),
    "a let": (
        lambda: run(bitwright.open(EXAMPLES / "gray.bw", l=3), x=5),
        ["run", EXAMPLES / "gray.bw", "--let", "l=3", "x=5"],
        0,
    ),
    "a machine": (lambda: run(bitwright.open(GCD), a=12, b=18), ["run", GCD, "a=12", "b=18"], 0),
    "machine A": (
        lambda: run(bitwright.open(GCD, machine="A"), a=4, b=6),
        ["run", GCD, "a=4", "b=6", "--machine", "A"],
        0,
    ),
    "a graph": (
        lambda: run(bitwright.open(BFS), graph="grid:2x3", source="0.0"),
        ["run", BFS, "--graph", "grid:2x3", "source=0.0"],
        0,
    ),
    "a network": (
        lambda: run(multiplication(3), multiplicand=3, multiplier=5, engine="network", seed=1),
        ["multiply", 3, 5, "--engine", "network", "--seed", 1],
        0,
    ),
    "an ensemble that is wrong": (
        lambda: run(addition(6), p=37, q=45, engine="sampled", rounding="sign"),
        ["run", "addition", "p=37", "q=45", "--engine", "sampled", "--rounding", "sign"],
        1,
    ),
    "an unfinished run": (lambda: run(addition(4), p=7, q=8, steps=3), ["add", 7, 8, "--max-steps", 3], 1),
    "an unfinished machine": (
        lambda: run(bitwright.open(GCD), a=12, b=18, steps=44),
        ["run", GCD, "a=12", "b=18", "--max-steps", 44],
        1,
    ),
}
# And the same refusals.
REFUSED: dict[str, tuple[Callable[[], Any], list[object]]] = {
    "too large": (lambda: run(addition(4), p=300, q=1), ["add", 300, 1, "--bits", 4]),
    "missing": (lambda: run(addition(2), p=3), ["run", "addition", "p=3"]),
    "another": (lambda: run(addition(2), p=3, q=1, r=2), ["run", "addition", "p=3", "q=1", "r=2"]),
    "engine": (lambda: run(addition(2), p=3, q=1, engine="limt"), ["add", 3, 1, "--engine", "limt"]),
    "steps": (lambda: run(addition(2), p=3, q=1, steps=-1), ["add", 3, 1, "--max-steps", -1]),
    "no file": (lambda: bitwright.open("nowhere.bw"), ["run", "nowhere.bw", "p=3"]),
    "no node": (
        lambda: run(bitwright.open(BFS), graph="path:3", source="9"),
        ["run", BFS, "--graph", "path:3", "source=9"],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_python_and_the_command_line_give_the_same(name: str, capsys: Captured) -> None:
    asked, arguments, code = SAME[name]
    assert main([*map(str, arguments), "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert json.loads(json.dumps(asked().to_dict())) == document
    assert not {"algorithm", "bit_length"} & set(document)


def test_images_run_as_on_the_command_line(capsys: Captured, tmp_path: Path) -> None:
    command = ["run", str(HELLO), "--memory", "0:3", "--engine", "limit", "--max-steps", "30", "--json"]
    assert main(command) == 1
    printed = json.loads(capsys.readouterr().out)
    done = run(open_subleq(str(HELLO)), memory=["0:3"], engine="limit", instructions=30)
    assert {**done.to_dict(), "seconds": 0} == {**printed, "seconds": 0}
    assert run(open_subleq(str(HELLO))).output == b"Hello, world!\n"
    assert run(open_subleq(str(EXAMPLES / "subleq" / "echo.sq")), b"to and fro").output == b"to and fro"
    (tmp_path / "hi.dec").write_text("6 -1 3 7 7 -1 65")
    with pytest.raises(InputError, match=r"hi\.dec"):
        open_subleq(str(tmp_path / "hi.dec"))
    assert run(open_subleq(str(tmp_path / "hi.dec"), words=16, word_width=8, dialect="howerj")).output == b"A"
    for given, message in (
        ({"inputs": "text"}, "inputs of an image must be bytes, such as b'text', got a str"),
        ({"steps": 3}, "steps cannot be used with an image"),
        ({"p": 3}, "an engine has no option 'p'"),
    ):
        with pytest.raises(InputError, match=message):
            run(open_subleq(str(HELLO)), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", REFUSED)
def test_python_and_the_command_line_refuse_the_same(name: str, capsys: Captured) -> None:
    asked, arguments = REFUSED[name]
    assert main([*map(str, arguments)]) == 2
    with pytest.raises(InputError) as caught:
        asked()
    assert capsys.readouterr().err == f"bitwright: {caught.value}\n"


def test_arrays_of_inputs_make_many_runs() -> None:
    p, q = (column.ravel() for column in np.mgrid[0:64, 0:64])
    done = run(addition(6), p=p, q=q)
    assert done.outputs["sum"].dtype == np.int64
    assert (done.value == p + q).all()
    assert (done.inputs["p"] == p).all()
    assert (done.inputs["q"] == q).all()
    assert run(multiplication(6), {"multiplicand": p.tolist(), "multiplier": 7}).value.tolist() == (7 * p).tolist()
    assert done.sentence == "4,096 runs, all halted, at most 12 steps; 24 templates, engine templates"
    assert run(addition(4), p=range(9), q=(1,) * 9).value.tolist() == list(range(1, 10))


def test_arrays_of_long_and_of_signed_numbers() -> None:
    """Numbers of more than 63 bits are Python's own integers; what is signed stays so."""
    large = [2**64 - 1, 0, 2**63]
    done = run(addition(64), p=np.array(large, dtype=np.uint64), q=large)
    assert done.value.tolist() == [2 * one for one in large]
    assert run(addition(200), p=[2**199], q=2**199).value.tolist() == [2**200]
    signed = parse("bits x[4] y[4]\nblock x[i] for i in 1..4\nblock y[*]\nwhen x[i]=1 write y[i] for i in 1..4\n"
                   "input signed x\noutput signed y\nsteps 1\n")  # fmt: skip
    numbers = np.arange(-8, 8)
    assert (run(signed, x=numbers).value == numbers).all()
    for width in (1, 7, 62, 63, 64, 65, 130):
        for sign in (False, True):
            low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if sign else (0, 2**width - 1)
            values = [low, high, 0, (low + high) // 2]
            assert from_bit_rows(to_bit_rows(values, width, signed=sign), sign).tolist() == values


def test_many_runs_say_which_are_exact() -> None:
    states = np.array([addition(5).state({"p": p, "q": 9}) for p in range(32)])
    done = run(addition(5), states=states, engine="sampled", rounding="sign", networks=1, seed=3)
    wanted = [int(value) == p + 9 for p, value in enumerate(done.value)]
    assert done.exact.tolist() == wanted
    assert not all(wanted)
    assert done.to_dict()["exact"] == wanted
    assert run(addition(5), states=states).exact is None
    json.dumps(done.to_dict())


@pytest.mark.parametrize(
    ("inputs", "more", "message"),
    [
        ({"p": [1, 2], "q": [1, 2, 3]}, {}, "p 2 q 3"),
        ({"p": [1, 99], "q": 1}, {}, "p[1] 4 99"),
        ({"p": np.array([1, -2]), "q": 1}, {}, "p[1] 0 -2"),
        ({"p": np.array([1.0]), "q": 1}, {}, "p integers"),
        ({"p": np.ones((2, 2), int), "q": 1}, {}, "2 dimensions int64"),
        ({"p": [1, 2.5], "q": 1}, {}, "p[1] 2.5"),
        ({"p": [1], "r": 1}, {}, "'r'"),
        ({"p": [1]}, {}, "needs value"),
        ({"p": [1], "q": 1}, {"record": True}, "record single"),
        ({"p": 1, "q": 1}, {"margins": True}, "margins many"),
        ({"p": 1, "q": 1}, {"states": np.zeros((1, 12), bool)}, "states inputs"),
        ({"p": 1, "q": 1}, {"graph": "path:3"}, "program graph"),
    ],
)
def test_what_many_runs_refuse(inputs: Mapping[str, Any], more: Mapping[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        run(addition(4), inputs, **more)
    assert missing(str(refused.value), message) == []


def test_networks_in_all_their_forms(tmp_path: Path) -> None:
    cells = train(addition(4))
    cells.save(tmp_path / "adder.safetensors")
    held = Network.load(tmp_path / "adder.safetensors")
    for network in (cells, held):
        done = run(addition(9), p=300, q=11, network=network)
        assert (done.value, done.engine, done.cells["proved"]) == (311, "network", True)
    with pytest.raises(InputError, match=r"rounding sign cannot be used"):
        run(addition(9), p=300, q=11, network=held, rounding="sign")
    with pytest.raises(InputError, match="already has its settings"):
        run(addition(9), p=300, q=11, network=held, width=32)


@pytest.mark.parametrize("make", [machine_a, machine_b])
@pytest.mark.parametrize("steps", [None, 0, 1, 30, 44, 45])
def test_the_instructions_of_a_machine(make: Any, steps: int | None) -> None:
    """As many as a plain interpreter executes; of an unfinished run those that began."""
    code = load_sbn(EXAMPLES / "sbn" / "add.sbn")
    machine = make(code.sizes)
    done = run(machine.algorithm(code), a=5, b=3, steps=steps, record=True)
    begun = int(np.count_nonzero(done.trace.bit(machine.boundary)))
    executed = len(list(interpret(code, {"a": 5, "b": 3})))
    assert done.executed == (executed if done.halted else begun)
    assert done.to_dict()["executed"] == done.executed
    assert steps is not None or done.halted


@pytest.mark.parametrize("kind", [".html", ".txt", ".npz"])
@pytest.mark.parametrize("target", [GCD, EXAMPLES / "gray.bw"])
def test_a_trace_is_written_as_the_command_line_writes_it(target: Path, kind: str, tmp_path: Path) -> None:
    inputs = {"a": 2, "b": 3} if target == GCD else {"x": 5}
    mine, theirs = tmp_path / f"mine{kind}", tmp_path / f"theirs{kind}"
    done = run(bitwright.open(target), inputs, record=True)
    done.save_trace(mine)
    assert main(["trace", str(target), *(f"{name}={value}" for name, value in inputs.items()), "-o", str(theirs)]) == 0
    assert mine.read_bytes() == theirs.read_bytes()
    if kind == ".txt":
        assert mine.read_text().splitlines() == list(trace_text(done))
        assert ("-=" in mine.read_text()) == (target == GCD)  # the instructions of a machine
