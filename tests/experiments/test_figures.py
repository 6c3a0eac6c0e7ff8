"""Figures are built without a screen, and their numbers are what theory says."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from bitwright import InputError
from bitwright.experiments import FIGURES, make_figure


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written(name: str, tmp_path: Path) -> None:
    paths = make_figure(name, tmp_path / "new" / "folder")
    assert [path.suffix for path in paths] == [".csv", ".svg", ".png"]
    assert all(path.stat().st_size > 100 for path in paths)
    again = make_figure(name, tmp_path / "again")
    assert paths[1].read_bytes() == again[1].read_bytes()  # the same numbers give the same picture


def test_steps_per_instruction(tmp_path: Path) -> None:
    with make_figure("sbn", tmp_path)[0].open() as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    for smaller, larger in pairwise(rows):
        assert larger["words"] == 2 * smaller["words"]
        assert larger["machine_b"] - smaller["machine_b"] == 4  # two address bits and two tree levels
        assert larger["machine_a_most"] > smaller["machine_a_most"]
    assert all(row["machine_b"] < row["machine_a_least"] <= row["machine_a_most"] for row in rows)


def test_unknown_figures(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'sbn'"):
        make_figure("snb", tmp_path)


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.experiments.style.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'bitwright\[plot\]'"):
        make_figure("sbn", tmp_path)
