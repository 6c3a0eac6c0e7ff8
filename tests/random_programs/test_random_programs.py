"""Random small programs with cells: every engine against an interpreter, every verdict against brute force."""

from collections import Counter

import numpy as np
import pytest
from long import seeds
from random_programs.checks import check_program


@pytest.mark.parametrize("seed", seeds(1, of=3))
def test_engines_and_verdicts_are_those_of_the_definitions(seed: int) -> None:
    """`python -m tests.random_programs` goes on for longer."""
    counts: Counter[str] = Counter()
    for number, rng in enumerate(np.random.default_rng(seed).spawn(12)):
        check_program(rng, counts, train=number % 6 == 0, sceptic=number % 4 == 0)
    assert counts["of cells, refuted"] > 5
    assert counts["of states, refuted"] > 1
