"""SBN on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured, call

FOLDER = Path(__file__).parent.parent.parent / "examples" / "sbn"
MULTIPLY = FOLDER / "multiply.sbn"


def test_notes(capsys: Captured) -> None:
    code, out, err = call(capsys, "run", MULTIPLY, "a=7", "b=13")
    assert (code, out) == (0, "product = 91\n")
    assert "machine B with 4 instructions, 6 words of 8 bits: 29 SBN instructions" in err


def test_trace(capsys: Captured) -> None:
    _, out, _ = call(capsys, "run", FOLDER / "add.sbn", "a=3", "b=4", "--trace")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1][1:] == ["0", "t", "-=", "a:", "-3,", "go", "to", "1"]
    assert lines[2][1:] == ["1", "b", "-=", "t:", "7"]
    assert lines[-1] == ["sum", "=", "7"]


def test_show_certify_size_and_diagram(capsys: Captured, tmp_path: Path) -> None:
    document = json.loads(call(capsys, "show", MULTIPLY, "--json")[1])
    assert document["halt"] == "HALT"
    assert document["writers_max"] == 2
    assert call(capsys, "certify", MULTIPLY, "--rounding", "sign")[0] == 0
    assert call(capsys, "certify", MULTIPLY, "--machine", "A")[0] == 0
    assert json.loads(call(capsys, "size", MULTIPLY, "--json")[1])["calibrated"]["networks"] > 0
    picture = tmp_path / "machine.svg"
    assert call(capsys, "show", MULTIPLY, "--diagram", picture)[0] == 0
    assert "Instructions" in picture.read_text()


def test_without_outputs_every_named_word_is_one(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "plain.sbn"
    path.write_text(".width 4\n.in a\nsub a b\n")
    assert call(capsys, "run", path, "a=-1")[1] == "a = -1\nb = 1\n"


def test_check(capsys: Captured, tmp_path: Path) -> None:
    assert "no problems" in call(capsys, "check", MULTIPLY)[1]
    path = tmp_path / "broken.sbn"
    path.write_text("jmp nowhere\nsbn a\n")
    code, out, _ = call(capsys, "check", path)
    assert code == 1
    assert len(out.splitlines()) == 2


def test_check_of_a_python_source(capsys: Captured, tmp_path: Path) -> None:
    assert "16 instructions" in call(capsys, "check", FOLDER / "gcd.py")[1]
    path = tmp_path / "broken.py"
    path.write_text("def f(a):\n    x = a // 2\n    return y\n")
    code, out, _ = call(capsys, "check", path)
    assert code == 1
    assert [line.removeprefix(str(path)).split(" ")[0] for line in out.splitlines()[:2]] == [":2:9:", ":3:12:"]


@pytest.mark.parametrize("machine", ["A", "B"])
def test_a_trace_marks_instructions_and_phases(capsys: Captured, tmp_path: Path, machine: str) -> None:
    arguments = ("trace", FOLDER / "gcd.sbn", "a=4", "b=6", "--machine", machine)
    code, out, _ = call(capsys, *arguments)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split()[2].startswith("M_")  # memory, and not every bit of the machine
    assert lines[1].endswith("0: q -= b, swap if negative")
    assert [line.split()[-1] for line in lines if line.endswith(("read", "subtract", "write", "branch"))][:5] == [
        *("read", "subtract", "write", "branch"),
        "read",
    ]
    assert [line for line in lines if line.endswith("  end")]
    page = tmp_path / "gcd.html"
    assert call(capsys, *arguments, "-o", page)[0] == 0
    assert '"phases":["fetch","read","subtract","write","branch"]' in page.read_text()
