"""Batches of engines with real outputs hand out what they rounded, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from bitwright import addition
from bitwright.bits import BoolArray
from bitwright.engines.make import make_engine
from bitwright.engines.protocol import Batch
from bitwright.running.successors import random_states
from bitwright.theory import weights

ALGORITHM = addition(3)


def means(states: BoolArray) -> np.ndarray:
    """mu = w0 c + (w1 - w0) m of every bit, template by template."""
    program = ALGORITHM.program
    found = []
    for state in states:
        matched = program.match(state)
        m = np.zeros(program.bits)
        for template in matched:
            m[program.writes(template)] += 1
        w = weights(len(matched), program.templates)
        found.append(w.unmatched * program.writers + w.gap * m)
    return np.array(found)


def begun() -> tuple[Batch, BoolArray]:
    states = random_states(ALGORITHM, 12, 3)
    return make_engine("kernel", ALGORITHM.program).begin(states), states


def test_what_was_rounded_is_the_mean_at_the_state_before() -> None:
    batch, states = begun()
    assert batch.rounded() is None  # nothing has been rounded yet
    for _ in range(3):
        before = batch.states()
        batch.step()
        assert batch.rounded() == pytest.approx(means(before), abs=1e-9)
    assert not np.array_equal(before, states)


def test_rows_that_are_left_out_take_their_outputs_along() -> None:
    batch, states = begun()
    batch.keep(np.arange(12) < 9)  # before any step too
    assert batch.rounded() is None
    batch.step()
    kept = np.arange(9) % 3 == 1
    batch.keep(kept)
    assert batch.rounded() == pytest.approx(means(states[:9][kept]), abs=1e-9)
    assert batch.margin().shape == (3,)
