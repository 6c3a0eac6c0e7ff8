"""The search for the smallest width of large tiles, on small ones: where it stops, and what it writes down."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2]))

from bitwright import addition
from bitwright.rules.pattern import pattern_of
from bitwright.verbs.cells import train_on_pattern
from paper.measurements.cells_large import measure_large
from paper.training import Plan, Recipe, descend

NAME = "addition, 2 positions a cell"


def lines(widths: list[int], limit: float | None = None) -> list[dict[str, Any]]:
    return list(measure_large({NAME: pattern_of([addition(8).program], 2)}, {NAME: widths}, "cpu", limit))


def test_widths_are_tried_until_all_seeds_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines([16, 256, 512])
    assert [line["width"] for line in found] == [16, 256]
    narrow, wide = found
    assert narrow["exact"] == narrow["tried"] - 1  # it ends at the first seed that is wrong
    assert (wide["exact"], wide["tried"], wide["local_states"], wide["kinds"]) == (10, 10, 128, 2)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == found
    pattern = pattern_of([addition(8).program], 2)
    margins = []
    for seed in range(10):
        recipe = Recipe(256, seed, plan=Plan(descent="momentum"))
        tables = train_on_pattern(pattern, recipe, seeds=1, descend=descend).tables
        assert tables is not None
        margins.append(tables.margin)
    assert wide["smallest_margin"] == round(min(margins), 3)


def test_no_seed_begins_when_time_is_up() -> None:
    (line,) = lines([256, 512], limit=0)
    assert (line["stopped"], line["tried"], line["exact"]) == (True, 0, 0)
    assert line["smallest_margin"] is None
