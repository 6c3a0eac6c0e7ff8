"""What docs/cells.md shows is what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "cells.md").read_text()


def sessions() -> list[tuple[str, str]]:
    """Commands and the output printed below each, in the order of the page."""
    blocks = re.findall(r"```\n(\$ .*?)```", PAGE, flags=re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output.strip()) for command, _, output in (part.partition("\n") for part in parts)]


def settled(text: str) -> list[str]:
    """Lines, without times and without what depends on the order in which a machine adds up while it trains."""
    text = re.sub(r"in [\d.]+ s|sha256 [0-9a-f]{64}$|^  distance  .*$", "", text, flags=re.MULTILINE)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def printed_by(command: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Everything that a command prints; `show ... | sed` keeps what stands behind the comment line."""
    command, _, piped = command.partition(" | ")
    program, *arguments = shlex.split(command)
    if program == "python":
        done = subprocess.run(
            [sys.executable, ROOT / arguments[0], *arguments[1:]], capture_output=True, text=True, check=True
        )
        return settled(done.stdout)
    assert program == "bitwright"
    code = main(arguments)
    out, err = capfd.readouterr()
    assert code == (2 if out == "" else 0), err
    if piped:
        assert piped == "sed '1,/^#/d' > pattern.bw"
        Path("pattern.bw").write_text(re.split(r"^#.*\n", out, maxsplit=1, flags=re.MULTILINE)[1])
        return []
    return settled(err + out)


def test_the_page_is_true(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(sessions()) >= 8
    for command, output in sessions():
        printed = printed_by(command, capfd)
        shown = settled(output)
        if "..." in shown:
            assert set(shown) - {"..."} <= set(printed), command
        else:
            assert sorted(shown) == sorted(printed), command  # notes go to another stream, so the order may differ
