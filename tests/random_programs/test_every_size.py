"""What is proved of random texts, at every size or at one, is true of all their runs."""

from __future__ import annotations

from collections import Counter

import pytest
from long import seeds
from random_programs.every_size import check_text


@pytest.mark.parametrize("seed", seeds(1, of=40))
def test_what_is_proved_is_true(seed: int) -> None:
    """`python -m tests.random_programs --sizes` goes on for longer."""
    counts: Counter[str] = Counter()
    for number in range(12):
        check_text(12 * seed + number, counts, sceptic=number % 2 == 0)
    assert counts["at every size, proved"] > 5
    assert counts["sizes run"] > 20
