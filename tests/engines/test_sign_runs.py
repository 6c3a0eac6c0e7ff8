"""By the sign rule: a single run in compiled loops gives the states of packed words, and a bound on its margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from programs import random_program

from bitwright import addition
from bitwright.engines.rules import LimitEngine, PackedBatch
from bitwright.engines.table.sign import SignBatch


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5), st.integers(1, 12), st.integers(0, 600))
def test_the_same_states_and_no_larger_margin(seed: int, bits: int, largest: int, fan: int, padding: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    engine = LimitEngine(program, program.templates + padding, "sign")
    assume(engine.decisions.fails_from is None)
    state = rng.random((1, bits)) < rng.random()
    single, packed = SignBatch(engine.packed, state[0], engine.least_means), PackedBatch(engine, state)
    smallest = np.inf
    for step in range(12):
        if step == 5:  # what a host does
            on = rng.integers(bits, size=3).tolist()
            single.turn_on(on)
            packed.turn_on(on)
        n = len(program.match(packed.states()[0]))
        single.step()
        packed.step()
        assert single.matches == (n, n)
        assert (single.states() == packed.states()).all()
        assert single.unchanged()[0] == packed.unchanged()[0]
        smallest = min(smallest, float(packed.margin()[0]))
        assert single.margin()[0] <= smallest * (1 + 1e-9)


def test_the_margin_of_a_run_is_often_this_bound() -> None:
    """A bit with one writer that does not match is in nearly every state."""
    algorithm = addition(20)
    engine = LimitEngine(algorithm.program, 2_000, "sign")
    state = algorithm.state({"p": 719_483, "q": 483_719})[np.newaxis]
    single, packed = engine.begin(state, long=True), PackedBatch(engine, state)
    assert type(single) is SignBatch
    smallest = np.inf
    for _ in range(15):
        packed.step()
        smallest = min(smallest, float(packed.margin()[0]))
    assert single.leap(15) == 15
    assert single.margin() == pytest.approx(smallest, rel=1e-9)


def test_where_the_rule_can_fail_every_mean_is_looked_at() -> None:
    rng = np.random.default_rng(0)
    program = random_program(rng, 40, 3, 8)
    states = np.zeros((1, 40), dtype=bool)
    for padding, wanted in ((0, PackedBatch), (600, SignBatch)):
        engine = LimitEngine(program, program.templates + padding, "sign")
        assert (engine.decisions.fails_from is None) == (padding == 600)
        assert type(engine.begin(states, long=True)) is wanted
