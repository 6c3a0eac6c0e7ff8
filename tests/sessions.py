"""What a page shows, run again: sessions of a terminal, and Python with what its expressions give."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent
# What depends on the machine: times, and what the order of sums in training decides. A note on the cache comes once.
PASSING = re.compile(
    r"\bin [\d.]+ s\b|\band [\d.]+ s;|sha256 [0-9a-f]{64}$|^  distance  .*$|^training a network on the spot.*$"
    r"|^compiling the loops.*$|^[\d.]+ s, [\d,]+ evaluations a second$|^[\d,]+ bytes;",
    flags=re.MULTILINE,
)


@dataclass(frozen=True)
class Shown:
    """A command, the lines printed below it, and its exit code: 0 unless `echo $?` follows and says otherwise."""

    command: str
    output: str
    code: int


def sessions(page: str) -> list[Shown]:
    """The commands of a page, in its order, from the blocks that start with a prompt."""
    blocks = re.findall(r"^```\n(\$ .*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    pairs = [(command, output.strip("\n")) for command, _, output in (part.partition("\n") for part in parts)]
    followed = [*pairs[1:], ("", "")]
    return [
        Shown(command, output, int(after[1]) if after[0] == "echo $?" else 0)
        for (command, output), after in zip(pairs, followed, strict=True)
        if command != "echo $?"
    ]


def settled(text: str) -> list[str]:
    """Lines in any order, for notes go to another stream, and without what depends on the machine."""
    return sorted(line.rstrip() for line in PASSING.sub("", text).splitlines() if line.strip())


def check(shown: Shown, capfd: pytest.CaptureFixture[str]) -> None:
    """Runs a command in this folder. Where the page leaves out lines (...), those it has must be printed.

    `cat` of a file that is not there is how a page shows what a reader is to write into it.
    """
    program, *arguments = shlex.split(shown.command, comments=True)
    if program == "cat" and not Path(arguments[0]).exists():
        Path(arguments[0]).write_text(f"{shown.output}\n")
        return
    capfd.readouterr()
    if program == "bitwright":
        code = main(arguments)
    else:
        words = [sys.executable if program == "python" else program, *arguments]
        done = subprocess.run(words, capture_output=True, text=True)
        code = done.returncode
        print(done.stdout + done.stderr)
    printed = "".join(capfd.readouterr())
    assert code == shown.code, f"{shown.command}: {printed}"
    lines, said = settled(shown.output), settled(printed)
    if any(line.strip() == "..." for line in lines):
        assert {line for line in lines if line.strip() != "..."} <= set(said), shown.command
    else:
        assert lines == said, shown.command


def python_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def expressions(code: str) -> Iterator[tuple[str, str]]:
    """Expressions that stand on a line of their own, and what the comment behind them says they give."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            comment = lines[node.lineno - 1 : node.end_lineno][-1][node.end_col_offset :].strip()
            if comment:
                yield ast.unparse(node), comment.removeprefix("#").strip()


def check_python(code: str, scope: dict[str, object]) -> None:
    """Runs a block, and evaluates its expressions again at the end; behind a colon a comment may go on in words."""
    exec(code, scope)
    for expression, said in expressions(code):
        given = repr(eval(expression, scope))
        assert given == said or said.startswith(f"{given}: "), expression
