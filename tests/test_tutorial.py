"""The tutorial, done as written: every file saved, every command run in order in one folder, all outputs compared."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from calling import Captured

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs" / "tutorial" / "division-by-three.md"
PAGE = TUTORIAL.read_text()
# A name in bold above a block is a file to save; a block that begins with a prompt is a session.
PART = re.compile(r"^\*\*(\S+)\*\*\n\n```\w*\n(.*?)^```$|^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
MORE = re.compile(r"^ *\.\.\.$", re.MULTILINE)  # the output has more lines than are shown
# The exit code is 0 unless one of these is shown: bad input, or the answer "no".
NO = ("bitwright: ", "REFUTED", "DOES NOT HOLD")
PICTURES = {"addition.svg": "addition.svg", "third.svg": "tutorial-trace.svg", "cells.svg": "tutorial-cells.svg"}


@dataclass(frozen=True)
class Step:
    """A file to save, or a command and what is shown below it."""

    name: str
    text: str
    is_file: bool


def steps() -> list[Step]:
    found = []
    for name, text, session in PART.findall(PAGE):
        if name:
            found.append(Step(name, text, True))
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Step(command, shown, False))
    return found


def settled(text: str) -> list[str]:
    """Lines in any order (notes go to another stream), without times and what depends on how a machine adds up."""
    text = re.sub(
        r"in [\d.]+ s$|^[\d.]+ s, [\d,]+ evaluations a second$|^compiling the loops.*$|sha256 [0-9a-f]{64}$"
        r"|^  distance .*$|in a [\d,]+-byte file"
        r"|margin -?[\d.]+|[GT] = +-?[\d,]+|[0-9a-f]{12}\.\.\.|^[\d,]+ bytes(?=; the network)",
        "",
        text,
        flags=re.MULTILINE,
    )
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


def code_and_text(command: str, capfd: Captured) -> tuple[int, str, str]:
    """What a command answers: those of bitwright in this process, others by the shell, where `python` is this one."""
    if command.startswith("bitwright "):
        code = main(shlex.split(command)[1:])
        return code, *capfd.readouterr()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    known = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=known)
    return done.returncode, done.stdout, done.stderr


def words(picture: Path) -> list[str]:
    """What is written in a picture."""
    return re.findall(r">([^<>]*\w[^<>]*)<", picture.read_text())


def test_every_command_prints_and_draws_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sum(not step.is_file for step in steps()) >= 35
    for step in steps():
        if step.is_file:
            Path(step.name).write_text(step.text)
        elif shutil.which("gcc") or not step.name.startswith(("gcc ", "./third ")):
            code, out, err = code_and_text(step.name, capfd)
            shown, said, in_part = settled(step.text), settled(out + err), MORE.search(step.text)
            if os.environ.get("REWRITE_PAGES") and shown and not in_part and shown != said:
                TUTORIAL.write_text(
                    TUTORIAL.read_text().replace(
                        step.text.strip("\n"), (out + err if step.text.split("\n")[0] in out else err + out).strip("\n")
                    )
                )
                continue
            if in_part:
                assert [line for line in shown if line.strip() != "..." and line not in said] == [], step.name
            else:
                assert shown == said, step.name
            refused = any(line.startswith(NO) for line in step.text.splitlines())
            assert code == (0 if not refused else 1 if out else 2), step.name
    for made, kept in PICTURES.items():
        assert f"pictures/{kept}" in PAGE
        assert words(Path(made)) == words(ROOT / "docs" / "pictures" / kept)
        if made != "cells.svg":
            assert Path(made).read_text() == (ROOT / "docs" / "pictures" / kept).read_text()


def test_the_algorithm_is_one_of_its_own() -> None:
    """What the tutorial writes is not shipped: a reader cannot look it up."""
    texts = [path.read_text() for path in (ROOT / "examples").rglob("*.bw")]
    assert len(texts) > 10
    assert not any("remainder" in text and "three" in text for text in texts)


def test_numbers_in_the_text_are_those_of_the_outputs() -> None:
    """Sizes that the prose repeats stand in some output too."""
    shown = "".join(step.text for step in steps() if not step.is_file)
    prose = PART.sub("", PAGE)
    for number in ("98,258", "1,152", "1,216", "all 16 local states"):
        assert number in prose, number
        assert number in shown, number


def test_the_certificate_that_is_shown_is_for_the_network_that_is_shown() -> None:
    """Checksums differ between machines, so only this can be compared: they are from one run."""
    (checksum,) = re.findall(r"sha256 ([0-9a-f]{64})", PAGE)
    assert f"its id is {checksum[:12]}..." in PAGE
