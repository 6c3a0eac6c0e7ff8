"""What is kept of compiled loops by another version does no harm."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from waiting import PATIENCE

RUN = """
from bitwright import addition
from bitwright.engines.rules import RuleEngine
algorithm = addition(3)
batch = RuleEngine(algorithm.program).begin(algorithm.state({"p": 5, "q": 6})[None], long=True)
for _ in range(6):
    batch.step()
print(type(batch).__name__, algorithm.read(batch.states()[0])["sum"])
"""


def follow(folder: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_index_with_a_class_that_is_gone_is_replaced(tmp_path: Path) -> None:
    assert follow(tmp_path) == "TableBatch 11"
    indices = list(tmp_path.rglob("loop.*.nbi"))
    assert indices
    for index in indices:
        with index.open("rb") as file:
            version = pickle.load(file)
        # As numba writes it: the version, then a stamp of the source and what is kept by kinds of arguments.
        index.write_bytes(pickle.dumps(version) + b"(S'stamp'\ncbitwright.compiling\nGone\nt.")
    assert follow(tmp_path) == "TableBatch 11"
    assert all(b"Gone" not in index.read_bytes() for index in tmp_path.rglob("loop.*.nbi"))
