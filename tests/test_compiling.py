"""What is kept of compiled loops by another version does no harm."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from waiting import PATIENCE

LOOP = """
from bitwright.common.compiling import compiled, entry

def total(count):
    found = 0
    for number in range(count):
        found += number
    return found

total = compiled(total)
print(entry(total)(10))
"""


def follow(folder: Path) -> str:
    (folder / "loop.py").write_text(LOOP)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")}
    command = [sys.executable, "-c", "import loop"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_index_with_a_class_that_is_gone_is_replaced(tmp_path: Path) -> None:
    assert follow(tmp_path) == "45"
    indices = list(tmp_path.rglob("loop.*.nbi"))
    assert indices
    for index in indices:
        with index.open("rb") as file:
            version = pickle.load(file)
        # As numba writes it: the version, then a stamp of the source and what is kept by kinds of arguments.
        index.write_bytes(pickle.dumps(version) + b"(S'stamp'\ncbitwright.compiling\nGone\nt.")
    assert follow(tmp_path) == "45"
    assert all(b"Gone" not in index.read_bytes() for index in tmp_path.rglob("loop.*.nbi"))
