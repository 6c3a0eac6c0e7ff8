"""The notebooks in examples/ run from top to bottom, and show what is kept in them."""

import os
from pathlib import Path

import pytest
from long import LONG
from notebooks import NOTEBOOKS, code_cells, executed, shown

NEAR = 0.02  # numbers with a decimal point come from training, in which machines add up in different orders
LONGER = ("from-executions-to-a-proof", "the-paper-in-ten-minutes")  # tests of inference and training have the same
pytestmark = pytest.mark.filterwarnings("default")  # those of Jupyter's own parts are not ours


def test_there_are_notebooks_and_pages_in_them() -> None:
    assert len(NOTEBOOKS) >= 4
    assert sum("<iframe" in path.read_text() for path in NOTEBOOKS) >= 3  # runs that show themselves


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if LONG or path.stem not in LONGER], ids=lambda path: path.stem
)
def test_a_notebook_shows_what_is_kept_in_it(path: Path) -> None:
    if os.environ.get("CI") != "true":
        pytest.importorskip("IPython")
        pytest.importorskip("nbformat")
    import nbformat

    kept = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    assert (kept.nbformat, kept.nbformat_minor) == (4, 5)
    nbformat.validate(kept)
    assert all(cell.execution_count == number for number, cell in enumerate(code_cells(kept), start=1))
    assert all(output.output_type != "error" for cell in code_cells(kept) for output in cell.outputs)
    for cell, old, new in zip(code_cells(kept), shown(kept), shown(executed(path)), strict=True):
        why = f"`python -m tests.notebooks` keeps what is new; {cell.id} is {cell.source}"
        assert new[0] == old[0], why
        assert new[1] == pytest.approx(old[1], abs=NEAR), why
