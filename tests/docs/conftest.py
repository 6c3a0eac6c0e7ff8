"""The site, built once for all tests of it, and a browser to open it in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages.conftest import browser as browser

from bitwright import addition, export, train

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("CI") != "true":
        pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    pages = tmp_path_factory.mktemp("gallery")
    export(train(addition(4)), pages / "multiplication.html", addition(4))  # one that is quickly made, under that name
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", str(folder)]
    known = {**os.environ, "BITWRIGHT_GALLERY": str(pages)}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=known)
    assert done.returncode == 0, done.stderr
    return folder
