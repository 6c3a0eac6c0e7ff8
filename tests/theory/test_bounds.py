"""The first and the last number that is allowed, and those next to them that are not."""

import numpy as np
import pytest

from bitwright import InputError
from bitwright.theory import Predictor, weights
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
def test_an_input_that_matches_nothing_is_zero_and_so_is_the_output(kind: Kind) -> None:
    """Networks have no biases: the zero input gives 0, and one match is the first that does not."""
    end = weights([0, 1], 6, kind)
    assert (end.matched.tolist(), end.unmatched.tolist(), end.gap.tolist()) == ([0, 1], [0, 0], [0, 1])
