"""The law of the scaling benchmark gives back what it was made of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.scaling import fit

WORKERS = [1, 2, 4, 8, 16]


def rates(s: float, k: float, one: float = 7.0) -> list[float]:
    return [one * n / (1 + s * (n - 1) + k * n * (n - 1)) for n in WORKERS]


@pytest.mark.parametrize(("s", "k", "most", "at"), [(0.05, 0, 20, None), (0.02, 0.01, 4.8, 10), (0, 0.0025, 10.3, 20)])
def test_what_a_law_gives_is_fitted_by_it(s: float, k: float, most: float, at: int | None) -> None:
    found = fit(WORKERS, rates(s, k))
    assert (found["s"], found["k"]) == (pytest.approx(s, abs=1e-4), pytest.approx(k, abs=1e-5))
    assert (found["most_times"], found["at_workers"]) == (pytest.approx(most, rel=0.02), at)
    assert found["error"] < 1e-9


def test_no_loss_has_no_end() -> None:
    found = fit(WORKERS, rates(0, 0))
    assert (found["s"], found["k"], found["most_times"], found["at_workers"]) == (0, 0, None, None)
    assert found["law"] == WORKERS


def test_more_than_is_possible_is_not_fitted_by_numbers_below_zero() -> None:
    found = fit([1, 2], [1.0, 2.5])
    assert (found["s"], found["k"]) == (0, 0)
