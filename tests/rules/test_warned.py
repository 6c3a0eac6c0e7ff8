"""Warnings reach those who read rule text in Python; the command line prints them itself, once."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from cases import for_each

import bitwright as bw
from bitwright.rules.text import load

NO_START = "bits x y go\nblock x go\nblock y\nwhen x=1 go=1 write y\nwhen y=1 write y\ninput x\noutput y\nsteps 2\n"
SAID = "program:4:1: this rule never matches .like 1 other rule.: go can never be on"


def test_parse_warns_of_what_run_would_show_as_0() -> None:
    with pytest.warns(bw.BitwrightWarning, match=SAID) as caught:
        algorithm = bw.parse(NO_START)
    assert caught[0].filename == __file__
    assert bw.run(algorithm, x=1).value == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bw.run(bw.parse(NO_START + "start go\n"), x=1).value == 1


def test_the_command_line_prints_them_once(tmp_path: Path) -> None:
    """In a process of its own, where Python's warnings would go to stderr."""
    path = tmp_path / "go.bw"
    path.write_text(NO_START)
    asked = [sys.executable, "-m", "bitwright", "run", str(path), "x=1"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert "BitwrightWarning" not in done.stderr
    assert done.stderr.count("4:1: warning: this rule never matches (like 1 other rule)") == 1


def test_check_has_problems_and_warnings(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.bw", tmp_path / "bad.bw"
    good.write_text(NO_START)
    bad.write_text(NO_START + "start nobody\n")
    found = bw.check(good)
    assert (found.ok, found.problems, found.data["program_id"]) == (True, (), load(good).program.id)
    assert [warning.line for warning in found.warnings] == [4, 7]
    found = bw.check(bad)
    assert (found.ok, [problem.line for problem in found.problems]) == (False, [9])
    (tmp_path / "one.dec").write_text("0 0 -1\n")
    assert bw.check(tmp_path / "one.dec").sentence.endswith("no problems (an image of 3 words)")
    with pytest.raises(bw.InputError, match="file"):
        bw.check(tmp_path / "none.bw")


@for_each(
    ("text", "message"),
    [
        (b"bits x", "rule text must be a str, got bytes; decode them first"),
        (None, "rule text must be a str, got NoneType"),
        (Path("a.bw"), "rule text must be a str, got PosixPath"),
        ("collatz.bw", r"1:1: expected rule text, got a file name; read it with open\('collatz.bw'\)"),
        ("examples/graphs/flood.bw\n", "got a file name"),
    ],
)
def test_what_is_no_text(text: object, message: str) -> None:
    with pytest.raises(bw.BitwrightError, match=message):
        bw.parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("read", [bw.open, bw.check])
def test_what_is_no_path(read: object) -> None:
    with pytest.raises(bw.InputError, match=r"Path.*NoneType"):
        read(None)  # type: ignore[operator]
