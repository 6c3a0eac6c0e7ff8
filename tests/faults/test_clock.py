"""A wall clock that jumps does no harm: bitwright never asks for the time, and tests wait for what happens."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import bitwright

SOURCES = sorted(Path(bitwright.__file__).parent.rglob("*.py"))
MONOTONIC = ("monotonic", "perf_counter", "process_time", "sleep")
JUMPING = """
import sys, time
real, calls = time.time, 0
def jump():  # years forward and back, at every look
    global calls
    calls += 1
    return real() + (-1) ** calls * 10**7 * (calls % 7)
time.time, time.time_ns = jump, lambda: int(jump() * 1e9)
"""
STEADY = """
import sys
from bitwright.cli.main import main
folder = sys.argv[1]
train = "train permutation --tile all --bits 4 --width 512 --tolerance 0.1 -q -o"
assert main([*train.split(), f"{folder}/net.safetensors"]) == 0
assert main(["validate", "addition", "--bits", "4", "--resume", f"{folder}/kept", "--json"]) == 0
"""


# Tests name no bound on time of their own; tools, each a __main__.py, are told how long to go on.
TESTS = [p for p in Path(__file__).parents[1].rglob("*.py") if p.name not in ("waiting.py", "__main__.py")]
BOUNDED = ("timeout", "set_default_timeout", "wait", "wait_for_timeout", "join", "sleep")  # take a number of seconds


def clocks(tree: ast.AST) -> Iterator[int]:
    """The lines where a module asks for the time of day, or for the time of a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="time"), attr=name) if name not in MONOTONIC:
                yield node.lineno
            case ast.Attribute(attr="st_mtime" | "st_mtime_ns" | "st_ctime" | "getmtime"):
                yield node.lineno
            case ast.ImportFrom(module="time" | "datetime"):
                yield node.lineno
            case ast.Import(names=names) if any(name.name == "datetime" for name in names):
                yield node.lineno


def waits(tree: ast.AST) -> Iterator[int]:
    """The lines where a test imports a clock, sleeps, or gives a number as a bound on time."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(name.name in ("time", "timeit", "datetime") for name in names):
                yield node.lineno
            case ast.ImportFrom(module="time" | "timeit" | "datetime"):
                yield node.lineno
            case ast.keyword(arg="timeout", value=ast.Constant(value=int() | float())):
                yield node.value.lineno
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=int() | float())]) if name in BOUNDED:
                yield node.lineno


def test_nothing_asks_what_time_it_is_and_no_test_has_a_bound() -> None:
    assert len(SOURCES) > 100
    for look, paths in ((clocks, SOURCES), (waits, TESTS)):
        assert [(path, line) for path in paths for line in look(ast.parse(path.read_text()))] == []
    for text in ("time.time()", "import datetime", "from time import time", "path.stat().st_mtime"):
        assert list(clocks(ast.parse(text))), text
    for text in ("import os, time", "from time import sleep", "run(timeout=5)", "p.wait(3)", "t.join(0.5)"):
        assert list(waits(ast.parse(text))), text


def test_networks_and_validations_come_out_the_same(tmp_path: Path) -> None:
    files, documents = [], []
    for name, script in (("steady", STEADY), ("jumping", JUMPING + STEADY)):
        (folder := tmp_path / name).mkdir()
        done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True)
        files.append((folder / "net.safetensors").read_bytes())
        document = json.loads(done.stdout[done.stdout.index("{") :])
        documents.append({name: value for name, value in document.items() if "second" not in name})
    assert files[0] == files[1]
    assert documents[0] == documents[1]
