"""The templates engine against the definition, Eq. (5)-(6), on random programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import next_state, random_program

from bitwright.engines.rules import RuleEngine
from bitwright.rules import Builder


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 2**32 - 1),
    bits=st.integers(1, 40),
    largest=st.integers(1, 6),
    fan=st.integers(1, 5),
    batch=st.sampled_from([1, 7, 8, 9, 64, 65, 130]),
)
def test_a_step_is_the_or_of_the_matches(seed: int, bits: int, largest: int, fan: int, batch: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    states = rng.random((batch, bits)) < rng.random()
    batch = RuleEngine(program).begin(states)
    expected = states
    for _ in range(3):
        before, expected = expected, np.array([next_state(program, state) for state in expected])
        batch.step()
        assert (batch.states() == expected).all()
        assert (batch.unchanged() == (before == expected).all(axis=1)).all()
        assert (batch.bit(bits - 1) == expected[:, -1]).all()


@pytest.mark.parametrize("writers", [1, 2, 16, 17, 100])
def test_any_number_of_writers(writers: int) -> None:
    b = Builder()
    x, y = b.bits("x", writers), b.bit("y")
    every = np.arange(1, writers + 1)
    b.block(x[every])
    b.block(y)
    b.when(x[every] == 1).write(y)
    program = b.build()
    assert program.writers[-1] == writers
    states = np.eye(writers + 1, dtype=bool)
    batch = RuleEngine(program).begin(states)
    batch.step()
    assert batch.states()[:, -1].tolist() == [True] * writers + [False]
    assert not batch.states()[:, :-1].any()


def test_a_block_of_sixteen_bits() -> None:
    b = Builder()
    x, y = b.bits("x", 16), b.bits("y", 2)
    b.block(x[:])
    b.block(y[:])
    b.when(x[:] == 0).write(y[1])
    b.when(x[:] == 1).write(y[2])
    engine = RuleEngine(b.build())
    states = np.zeros((3, 18), dtype=bool)
    states[1, :16] = True
    states[2, :15] = True
    batch = engine.begin(states)
    batch.step()
    assert batch.states()[:, 16:].tolist() == [[True, False], [False, True], [False, False]]
