"""The first and the last number that is allowed, and those next to them that are not."""

from __future__ import annotations

import numpy as np
import pytest

from bitwright import InputError
from bitwright.theory import Predictor, weights, weights_at
from bitwright.theory.closed_form import KINDS, Kind, check_matches
from bitwright.theory.predictor import check_size


@pytest.mark.parametrize("examples", [0, -1, 10**12 + 1])
def test_so_few_or_many_examples_are_refused(examples: int) -> None:
    with pytest.raises(InputError, match=f"between 1 and 10\\^12, got {examples}$"):
        check_matches(0, examples)


def test_a_dense_solve_takes_five_thousand_examples_and_no_more() -> None:
    check_size(5_000)
    with pytest.raises(InputError, match=r"5,000.*5,001"):
        check_size(5_001)
    too_many = np.zeros((5_001, 1))
    with pytest.raises(InputError, match="got 5,001"):
        Predictor(too_many, too_many)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discrete", [False, True])
def test_an_input_that_matches_nothing_is_zero_and_so_is_the_output(kind: Kind, discrete: bool) -> None:
    """Networks have no biases: whatever the time, the zero input gives 0, and one match is the first that does not."""
    for time in (0.0, 1.0, 50.0):
        found = weights_at([0, 1], 6, time, 3.0, kind, discrete)
        dense = Predictor(np.eye(6), np.eye(6), kind, time=time, rate=3.0, discrete=discrete)
        example = dense.mean(np.eye(6)[:1])[0]
        assert (found.matched[0], found.unmatched[0], found.gap[0]) == (0, 0, 0)
        assert found.matched[1] == pytest.approx(example[0], abs=1e-13)
        assert found.unmatched[1] == pytest.approx(example[1], abs=1e-13)
        assert found.gap[1] == pytest.approx(example[0] - example[1], abs=1e-13)
        assert (found.gap[1] > 0) == (time > 0)
    end = weights([0, 1], 6, kind)
    assert (end.matched.tolist(), end.unmatched.tolist(), end.gap.tolist()) == ([0, 1], [0, 0], [0, 1])
