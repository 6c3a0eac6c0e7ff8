"""Random states of runs."""

import numpy as np
import pytest

from bitwright import addition, permutation
from bitwright.common.errors import InputError
from bitwright.runs.successors import random_starts, random_states


def test_states_of_runs() -> None:
    algorithm = addition(4)
    states = random_states(algorithm, 200, 3)
    assert np.array_equal(states, random_states(algorithm, 200, 3))
    assert not np.array_equal(states, random_starts(algorithm, 200, 3))
    met = set()
    for start in random_starts(algorithm, 200, 3):
        state = start
        for _ in range(algorithm.steps or 0):
            met.add(state.tobytes())
            following = np.zeros_like(state)
            for template in algorithm.program.match(state):
                following[algorithm.program.writes(template)] = True
            state = following
    assert {state.tobytes() for state in states} <= met
    two = random_starts(permutation(range(1, 9)), 50, 0, ones=2)
    assert (two.sum(axis=1) == 2).all()
    with pytest.raises(InputError, match=r"8 bits.*9"):
        random_starts(permutation(range(1, 9)), 50, 0, ones=9)
