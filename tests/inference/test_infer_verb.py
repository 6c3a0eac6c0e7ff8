"""`bitwright infer` and the files it reads, as people use them."""

import json
from pathlib import Path

import numpy as np
import pytest
from calling import ask

from bitwright import addition
from bitwright.cli.main import main
from bitwright.common.files.executions import Executions, load_executions, save_executions
from bitwright.rules import load

Capture = pytest.CaptureFixture[str]
LAYOUT = """
bits p[4] q[4] c[4]
block p[i] q[i] for i in 1..4
block c[i] for i in 1..4
input p q
output sum = c[4] p
steps 8
"""


@pytest.fixture
def states(tmp_path: Path) -> Path:
    path = tmp_path / "states.npz"
    assert main(["export", "addition", "--from", "states:300", "-o", str(path), "-q"]) == 0
    return path


def test_a_layout_without_rules_becomes_the_program(states: Path, tmp_path: Path, capsys: Capture) -> None:
    layout, output = tmp_path / "layout.bw", tmp_path / "found.bw"
    layout.write_text(LAYOUT)
    said = ask(capsys, 0, "infer", states, "--blocks", layout, "-o", output)
    assert "INFERRED: 16 templates from 300 states" in said
    assert load(output).program == addition(4).program
    assert ask(capsys, 0, "run", output, "p=3", "q=9").startswith("sum = 12")


def test_steps_of_runs_from_trace_and_dataset(tmp_path: Path, capsys: Capture) -> None:
    trace, runs = tmp_path / "t.npz", tmp_path / "r.npz"
    ask(capsys, 0, "trace", "addition", "p=11", "q=6", "-o", trace)
    ask(capsys, 0, "export", "addition", "--from", "runs:50", "-o", runs)
    assert len(load_executions(trace)) == 8
    assert load_executions(trace).program_id == addition(4).program.id
    assert "from 408 states" in ask(capsys, 0, "infer", trace, runs, "--blocks", "addition")
    few = json.loads(ask(capsys, 0, "infer", trace, "--blocks", "addition", "--json", "-o", tmp_path / "few.bw"))
    assert few["undetermined"] > 0
    assert "# not determined, and left out:" in (tmp_path / "few.bw").read_text()
    assert not few["determined"]
    assert few["reproduced"] < 8  # what is open is left out


def test_a_wrong_bit_is_the_answer_no(states: Path, capsys: Capture) -> None:
    data = load_executions(states)
    after = data.after.copy()
    at = int(np.flatnonzero(~after[:, 2])[40])
    after[at, 2] = True
    save_executions(states, Executions(data.before, after, data.names))
    said = ask(capsys, 1, "infer", states, "--blocks", "addition")
    assert "CONTRADICTION: p[3] is on" in said
    assert "\n  blocks      p[1] q[1], p[2] q[2], p[3] q[3], p[4] q[4]; the others are single bits\n" in said
    number = at + 1  # states are counted from 1, by train as well
    found = json.loads(ask(capsys, 1, "infer", states, "--blocks", "addition", "--json"))
    assert (found["inferred"], found["state"], found["bit"]) == (False, number, "p[3]")
    for numbers in (found["cleared_by"], [found["state"]]):
        assert [f" {one:,}: " in said for one in numbers] == [True] * len(numbers)
        assert {bool(after[one - 1, 2]) for one in numbers} == {numbers == [found["state"]]}
    learning = ask(
        capsys, 2, "train", "--tile", "all", "addition", "--from", states, "-o", states.with_name("n.safetensors")
    )
    assert f"after state {number:,}," in learning


BAD: list[tuple[list[str], str]] = [
    (["infer", "{states}", "--blocks", "fnd"], "did you mean 'find'"),
    (["infer", "{states}", "--blocks", "p[*] q[*]; c[*]; c[9]"], "index out of range: c[9]"),
    (["infer", "{states}", "--blocks", "p[1] q[1]"], "not in any block"),
    (["infer", "{states}", "--blocks", "none.bw"], "there is no file"),
    (["infer", "{states}", "--blocks", "multiplication"], "but the executions have"),
    (["infer", "{states}", "--blocks", "find", "-o", "x.txt"], "a .bw file"),
    (["infer", "none.npz", "--blocks", "find"], "there is no file none.npz"),
    (["infer", __file__, "--blocks", "find"], "is not an execution file"),
    (
        ["export", "addition", "--from", "runs", "--padding", "3", "-o", "x.npz"],
        "--padding cannot be used with --to",
    ),
    (["trace", "addition", "p=1", "q=2", "--only", "p", "-o", "x.npz"], "--only cannot be used"),
]


@pytest.mark.parametrize(("arguments", "reason"), BAD, ids=lambda x: " ".join(x)[-40:] if isinstance(x, list) else "")
def test_bad_input_gets_one_line(states: Path, arguments: list[str], reason: str, capsys: Capture) -> None:
    said = ask(capsys, 2, *(argument.format(states=states) for argument in arguments))
    assert reason in said
    assert said.count("\n") == 1
