"""What the README shows is what the commands print, and it is short."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Captured
from sessions import ROOT, check, commands_of, python_of, run_python

README = ROOT / "README.md"


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, in which the examples are as in a clone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")


def test_the_readme_is_true(capfd: Captured) -> None:
    commands = commands_of(README)
    assert len(commands) >= 4
    for command in commands:
        check(command, 0, capfd)


def test_the_python_in_the_readme_runs() -> None:
    [code] = python_of(README)
    assert run_python(code) == 2


def test_the_readme_takes_a_minute() -> None:
    assert len(README.read_text().splitlines()) <= 140
    assert len(README.read_text().split()) <= 1200
