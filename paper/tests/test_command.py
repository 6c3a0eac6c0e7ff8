"""`python -m paper`: bad input is one line, and a full disk names the file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from paper.__main__ import main

ROOT = Path(__file__).parents[2]
BAD = {
    ("nothing",): "there is no figure 'nothing'",
    ("sbn", "--program", "addition"): "shows no single program",
    ("templates", "p=2"): "go with --program",
    ("templates", "--program", "addition", "--bits", "600"): "at most 2,048 templates",
    ("orders", "--minutes", "-1"): "--minutes must be 0 or more",
    ("beyond", "--device", "meta"): "there is no device 'meta'; use cpu or cuda",
    ("orders", "--workers", "many"): "workers must be a number",
    ("beyond", "--let", "l=3"): "--let and --machine go with --program",
}


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in BAD.items():
        code = main(arguments)
        out, err = capsys.readouterr()
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert message in err, arguments


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    """As one that has room for 1,000 bytes more in any file. Compiled modules would be kept, cut off."""
    done = subprocess.run(
        [sys.executable, "-m", "paper", "orders", "--collect-only", "-o", "f"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000)),
        check=False,
    )
    assert (done.returncode, "orders.csv" in done.stderr) == (2, True)
