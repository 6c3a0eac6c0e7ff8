"""What is proved of random texts, at every size or at one, is true of all their runs."""

from collections import Counter

import pytest
from long import seeds
from random_programs.every_size import check_text
from random_programs.lines import check_line


@pytest.mark.parametrize("seed", seeds(1, of=40))
def test_what_is_proved_is_true(seed: int) -> None:
    """`python -m tests.random_programs --sizes` goes on for longer."""
    counts: Counter[str] = Counter()
    for number in range(8):
        check_text(8 * seed + number, counts, sceptic=number % 2 == 0)
    assert counts["at every size, proved"] > 3
    assert counts["sizes run"] > 20


@pytest.mark.parametrize("seed", seeds(1, of=40))
def test_a_line_is_read_as_it_is_evaluated(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(20):
        check_line(20 * seed + number, counts)
    assert counts["lines read as automata"] > 5
    assert min(counts["words, True"], counts["words, False"]) > 50
