"""The committed tables of trained networks: their invariants, and that the pictures are drawn from them alone."""

from __future__ import annotations

import shutil
from math import inf, isclose
from pathlib import Path

import numpy as np
import pytest

from paper import Setting, Table, make_figure
from paper.beyond import margin_fit
from paper.beyond_measure import (
    ENSEMBLES,
    EVERYTHING,
    MARGINS,
    Ensemble,
    Every,
    Single,
    ensemble_rows,
    every_rows,
    margin_rows,
)
from paper.experiment_1 import BOUNDS, COLUMNS, summary
from paper.permutations import LIMITS
from paper.table import load_table

FOLDER = Path(__file__).parent.parent.parent / "docs" / "figures"


def committed(name: str | Path, columns: tuple[str, ...]) -> Table:
    table = load_table(FOLDER / f"{name}.csv", columns)
    assert len(table)
    return table


def fields(folder: Path) -> dict[str, list[str]]:
    """What is in the tables of a folder, by file."""
    return {path.name: path.read_text().replace("\n", ",").split(",") for path in folder.glob("*.csv")}


@pytest.mark.parametrize("name", ["experiment-1", "experiment-2", "beyond"])
@pytest.mark.usefixtures("unrendered")
def test_pictures_are_drawn_from_the_committed_tables(name: str, tmp_path: Path) -> None:
    for path in FOLDER.glob(f"{name}*.csv"):
        shutil.copy(path, tmp_path)
    full = bool((committed("experiment-1", COLUMNS).numbers("width") == 50_000).any())
    before = fields(tmp_path)
    paths = list(make_figure(name, Setting(full, tmp_path, until=-inf)))  # no time to train anything
    after = fields(tmp_path)
    assert after.keys() == before.keys()
    for file, values in after.items():  # the last digit of a closed form is the linear algebra's, and so the CPU's
        pairs = zip(values, before[file], strict=True)
        assert all(one == other or isclose(float(one), float(other)) for one, other in pairs)
    assert {path.suffix for path in paths} == {".csv", ".svg", ".png", ".md"}
    page = (FOLDER.parent / "explanation" / "results.md").read_text()
    kept = page.partition(f"<!-- caption {name} -->\n")[2].partition("<!-- end -->")[0]
    assert kept == (tmp_path / f"{name}.md").read_text()


@pytest.mark.parametrize("lines", [2, 30, 87])
@pytest.mark.usefixtures("unrendered")
def test_what_was_done_when_the_time_was_over_is_drawn(lines: int, tmp_path: Path) -> None:
    """Trained ensembles are kept and shown, though no time is left for those that are drawn from the limit."""
    rows = (FOLDER / "experiment-1.csv").read_text().splitlines(keepends=True)
    (tmp_path / "experiment-1.csv").write_text("".join(rows[: lines + 1]))
    paths = list(make_figure("experiment-1", Setting(True, tmp_path, until=-inf)))
    assert [path.name for path in paths][-3:] == ["experiment-1.svg", "experiment-1.png", "experiment-1.md"]
    assert len(committed(tmp_path / "experiment-1", COLUMNS)) == lines
    said = (tmp_path / "experiment-1.md").read_text()
    assert ("networks against" in said) == (lines > 29)  # of both parametrizations
    assert "limiting Gaussian" not in said


@pytest.mark.parametrize(
    ("name", "full", "lines"), [("experiment-2", True, 1), ("width-law", False, 1), ("beyond", True, 1)]
)
@pytest.mark.usefixtures("unrendered")
def test_a_first_row_is_enough_for_a_picture(name: str, full: bool, lines: int, tmp_path: Path) -> None:
    for path in FOLDER.glob(f"{name}*.csv"):
        rows = path.read_text().splitlines(keepends=True)
        (tmp_path / path.name).write_text("".join(rows[: lines + 1]))
    *_, last = make_figure(name, Setting(full, tmp_path, until=-inf))
    assert "nan" not in last.read_text()


def test_experiment_1() -> None:
    table, limit, bounds = (
        committed(f"experiment-1{part}", columns)
        for part, columns in (("", COLUMNS), ("-limit", COLUMNS), ("-bounds", BOUNDS))
    )
    means = {}
    for name in LIMITS:
        lengths, found = summary(table, name)
        bound, everywhere = (bounds.where(parametrization=name).numbers(of) for of in ("bound", "bound_all"))
        assert everywhere[8] == pytest.approx(bound[8] * np.log(20 * 45 / 0.1) / np.log(20 / 0.1))  # k = 10, 45 inputs
        assert bounds.where(parametrization=name).column("k") == lengths
        assert (found[:, 0] < bound).all()  # what is measured stays below Eq. (8)
        assert (np.diff(bound[1:]) > 0).all()
        drawn = summary(limit, name)[1]
        long = np.array(lengths) >= 8  # below, single ensembles differ by large factors
        assert (np.abs(np.log(found[long, 0] / drawn[long, 0])) < np.log(1.6)).all()
        means[name] = found[long, 0]
    assert (means["standard"] < means["ntk"] / 2).all()
    reached = table.numbers("networks")
    assert (table.numbers("accuracy")[~np.isnan(reached)] >= 0.9).all()


def test_experiment_2() -> None:
    table = committed("experiment-2", COLUMNS)
    for name in LIMITS:
        for k in table.values("k"):
            part = table.where(parametrization=name, k=k)
            exact = part.where(source="expected")
            assert (np.diff(exact.numbers("accuracy")) > -1e-12).all()
            last = part.where(source="trained", networks=exact.column("networks")[-1])
            assert last.numbers("accuracy").mean() > 0.97
            trained = part.where(source="trained")
            mean = [trained.where(networks=N).numbers("accuracy").mean() for N in exact.column("networks")]
            if int(k or 0) >= 10:
                assert np.abs(np.array(mean) - exact.numbers("accuracy")).max() < 0.25


def test_beyond() -> None:
    table = committed("beyond", ENSEMBLES)
    for task in table.values("task"):
        part = table.where(task=task)
        ours = part.where(rounding="calibrated", start="zero", quantity="to 90%").numbers("networks")
        assert (ours == 1).all()  # one network is enough
        random = part.where(rounding="calibrated", start="random", quantity="to all").numbers("networks")
        assert np.nanmax(random) <= 8
        for bits in part.values("bits"):
            expected = part.where(bits=bits, quantity="expected to 90%")
            sign = expected.where(rounding="sign").numbers("networks")[0]
            assert sign > 20 * expected.where(rounding="calibrated").numbers("networks")[0]
    margins = committed("beyond-margin", MARGINS)
    for task in margins.values("task"):
        exponent = margin_fit(margins.where(task=task))[3]
        assert -0.65 < exponent < -0.35, task
    every = committed("beyond-every", EVERYTHING)
    assert (every.numbers("wrong_steps") == 0).all()
    assert (every.numbers("wrong_answers") == 0).all()
    assert (every.numbers("margin") > 0.1).all()


def test_small_measurements_from_nothing() -> None:
    rows = Table.of(ENSEMBLES, ensemble_rows("cpu", Ensemble("addition", 2, "zero", 0, 512, 0, 6, 60)))
    assert rows.where(rounding="calibrated", quantity="to all").column("networks") == [1]
    assert len(rows.where(rounding="sign", quantity="curve")) >= 4
    margins = Table.of(MARGINS, margin_rows("cpu", Single("addition", 3, 1024, 0, 0, 60)))
    assert margins.column("wrong") == [0]
    assert 0.2 < margins.numbers("margin")[0] < 0.5
    every = Table.of(EVERYTHING, every_rows("cpu", Every("multiplication", 2, 4096, 0)))
    assert (every.column("inputs"), every.column("evaluations")) == ([16], [16 * 22])
    assert (every.column("wrong_steps"), every.column("wrong_answers")) == ([0], [0])
    too_narrow = Table.of(MARGINS, margin_rows("cpu", Single("multiplication", 2, 32, 0, 0, 60)))
    assert too_narrow.column("margin") == [None]
    narrow = Table.of(EVERYTHING, every_rows("cpu", Every("multiplication", 2, 256, 0)))
    assert narrow.numbers("wrong_steps")[0] > 0  # a network this narrow is wrong, and that is noticed
