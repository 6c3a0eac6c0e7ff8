"""The figure of the width law: what it measures, and that it draws from tables alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paper.figures import find_figure
from paper.style import plot_style
from paper.table import Table
from paper.training import Plan, Recipe
from paper.width_law_measure import (
    PROGRAMS,
    SPREADS,
    WIDTHS,
    ExactJob,
    SpreadJob,
    _members,
    _members_on_device,
    exact_rows,
    is_exact,
    pooled_ratio,
    regions_of,
    spread_rows,
)


def test_every_program_of_the_study_has_states() -> None:
    for name in PROGRAMS:
        regions = regions_of(name)
        assert all(region.program is regions[0].program for region in regions)
        assert sum(region.sample(10, np.random.default_rng(0)).sum() for region in regions) > 0


def test_pooled_ratios_find_a_known_spread() -> None:
    """1,000 networks of 50 bits that share a part: 1.2 within 5 standard errors, and that error is a fair one."""
    rng = np.random.default_rng(0)
    law = rng.uniform(0.5, 2, 50)
    errors = 1.2 * law * (0.6 * rng.standard_normal((1_000, 1)) + 0.8 * rng.standard_normal((1_000, 50)))
    ratio, error = pooled_ratio(errors, law)
    assert abs(ratio - 1.2) < 5 * error
    assert 0.002 < error < 0.03


def test_many_networks_at_once_are_the_same_networks() -> None:
    pytest.importorskip("torch")
    job = SpreadJob("addition 3", 256, 3, 20, 5, "cpu")
    region = regions_of(job.program)[0]
    matched = region.sample(20, np.random.default_rng(0))
    recipe = Recipe(job.width, job.seed, plan=Plan(1e-4, "plain"))
    one = np.array([each[0] for each in _members(region.program, job, [matched])])
    many = np.array([each[0] for each in _members_on_device(region.program, recipe, job, [matched])])
    assert one.shape == (3, 20, region.program.bits)
    assert np.abs(one - many).max() < 1e-4


def test_exactness_is_of_every_state() -> None:
    """A network that is far too narrow is not exact, one that is wide is."""
    region = regions_of("addition 3")[0]
    parts = [(region.sample(512, np.random.default_rng(0)), region.own)]
    assert len(parts[0][0]) == 512
    assert not is_exact(region.program, parts, 48, 0)
    assert is_exact(region.program, parts, 2_048, 0)


def test_the_figure_is_drawn_from_its_tables() -> None:
    jobs = [SpreadJob("star 12", width, 12, 20, 0, "cpu") for width in (256, 4_096)]
    exact = [ExactJob("addition 3", quantity, seed) for quantity in ("predicted", "measured") for seed in (0, 1)]
    tables = {
        "width-law": Table.of(SPREADS, (row for job in jobs for row in spread_rows(None, job))),
        "width-law-exact": Table.of(WIDTHS, (row for job in exact for row in exact_rows(None, job))),
    }
    figure = find_figure("width-law")
    with plot_style() as pyplot:
        left, right = figure.pictures["width-law"](pyplot, tables).axes
        assert [text.get_text() for text in left.get_legend().get_texts()] == ["star 12, $K=13$"]
        assert [text.get_text() for text in right.get_legend().get_texts()] == ["addition 3"]
    assert "over 12 networks" in figure.caption(tables)
    again = spread_rows(None, replace(jobs[0], seed=0))[0]
    assert again == tables["width-law"].rows[0]  # the same seed, the same number
