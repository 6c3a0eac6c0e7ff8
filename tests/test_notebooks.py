"""The notebooks in examples/ run from top to bottom, and are kept without what they print."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from waiting import PATIENCE

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.filterwarnings("default")  # those of Jupyter's own parts are not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    if os.environ.get("CI") != "true":
        pytest.importorskip("nbclient")
        pytest.importorskip("ipykernel")
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "clear all outputs before a commit"
    NotebookClient(
        notebook, timeout=int(PATIENCE), kernel_name="python3", resources={"metadata": {"path": EXAMPLES}}
    ).execute()
    shown = [output["data"].get("text/html", "") for cell in code for output in cell.outputs if "data" in output]
    assert any("<iframe" in html for html in shown)  # a run that shows itself as a page
