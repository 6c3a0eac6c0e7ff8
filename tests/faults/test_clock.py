"""A wall clock that jumps, as clocks do that are set, does no harm: nothing in bitwright asks what time it is."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from long import LONG
from waiting import PATIENCE

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
ensemble = "train permutation --ensemble --tile all --bits 4 --width 128 --tolerance 0.1 -q -o"
for networks in ("2", "5"):
    assert main([*ensemble.split(), f"{folder}/ensemble", "--networks", networks]) == 0
assert main(["validate", "addition", "--bits", "4", "--resume", f"{folder}/progress", "--json"]) == 0
"""
SERVING = "from bitwright.web.app import serve\nserve(0, lambda address: print(address, flush=True))"


def wall_clocks(tree: ast.AST) -> Iterator[int]:
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


def test_nothing_asks_what_time_it_is() -> None:
    assert len(SOURCES) > 100
    assert [(path, line) for path in SOURCES for line in wall_clocks(ast.parse(path.read_text()))] == []


@pytest.mark.parametrize("text", ["time.time()", "import datetime", "from time import time", "path.stat().st_mtime"])
def test_a_wall_clock_would_be_found(text: str) -> None:
    assert list(wall_clocks(ast.parse(text)))


def test_ensembles_and_validations_come_out_the_same(tmp_path: Path) -> None:
    files, documents = [], []
    for name, script in (("steady", STEADY), ("jumping", JUMPING + STEADY)):
        (folder := tmp_path / name).mkdir()
        done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True)
        files.append((folder / "ensemble").read_bytes())
        document = json.loads(done.stdout[done.stdout.index("{") :])
        documents.append({name: value for name, value in document.items() if "second" not in name})
    assert files[0] == files[1]
    assert documents[0] == documents[1]


@pytest.mark.skipif(not LONG, reason="for make test-long: nothing here asks for the time, as is tested above")
@pytest.mark.waits
def test_a_server_keeps_its_results() -> None:
    command = [sys.executable, "-c", JUMPING + SERVING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        with httpx.Client(base_url=process.stdout.readline().split()[0], timeout=PATIENCE) as http:
            asked = {"source": {"kind": "addition", "bits": 4}, "inputs": {"p": "1", "q": "2"}}
            last = json.loads(http.post("/api/run", json=asked).text.splitlines()[-1])
            assert last["result"]["outputs"] == {"sum": "3"}
            assert http.get(f"/api/files/{last['id']}/run.json").status_code == 200
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
