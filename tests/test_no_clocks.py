"""Tests read no clock and name no bound on time of their own: both stand in tests/waiting.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from cases import for_each

TESTS = Path(__file__).parent
WAITERS = ("waiting.py", "__main__.py")  # the latter are tools that are told how long to go on
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name not in WAITERS)
BOUNDED = ("timeout", "set_default_timeout", "wait", "wait_for_timeout", "join", "sleep")  # take a number of seconds


def clocks(tree: ast.AST) -> Iterator[str]:
    """Where a module imports a clock, sleeps, or gives a number as a bound on time."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(name.name in ("time", "timeit", "datetime") for name in names):
                yield f"line {node.lineno} imports a clock"
            case ast.ImportFrom(module="time" | "timeit" | "datetime"):
                yield f"line {node.lineno} imports a clock"
            case ast.keyword(arg="timeout", value=ast.Constant(value=int() | float())):
                yield f"line {node.value.lineno} has a timeout of its own"
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=int() | float())]) if name in BOUNDED:
                yield f"line {node.lineno} has a bound of its own"


@for_each("path", FILES)
def test_no_clocks(path: Path) -> None:
    assert list(clocks(ast.parse(path.read_text()))) == []


@for_each(
    "text",
    ["import time", "import os, time", "from time import sleep", "run(timeout=5)", "p.wait(3)", "t.join(0.5)"],
)
def test_a_clock_would_be_found(text: str) -> None:
    assert list(clocks(ast.parse(text)))
