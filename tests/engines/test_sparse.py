"""By the sign rule, following active blocks gives the same states as looking at everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import random_program

from bitwright import addition
from bitwright.engines.rules import LimitEngine, PackedBatch
from bitwright.engines.sparse.active_blocks import ActiveBlocksBatch
from bitwright.machines import Sizes, machine_b


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5), st.integers(1, 12), st.integers(0, 60))
def test_the_sign_rule_right_or_wrong(seed: int, bits: int, largest: int, fan: int, padding: int) -> None:
    """Without padding the rule often fails, and then the next state is not that of the templates."""
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    engine = LimitEngine(program, program.templates + padding, "sign")
    state = rng.random((1, bits)) < rng.random()
    event = ActiveBlocksBatch(engine.tables, state[0], engine.sign_rule)
    packed = PackedBatch(engine, state)
    smallest = np.inf
    for step in range(12):
        if step == 5:  # what a host does
            on = rng.integers(bits, size=3)
            event.turn_on(on.tolist())
            state = packed.states()
            state[0, on] = True
            packed = PackedBatch(engine, state)
        event.step()
        packed.step()
        assert (event.states() == packed.states()).all()
        smallest = min(smallest, float(packed.margin()[0]))
        assert event.margin() == pytest.approx(smallest, rel=1e-9)
        assert event.unchanged()[0] == packed.unchanged()[0]


def test_some_of_these_rules_do_fail() -> None:
    rng = np.random.default_rng(0)
    program = random_program(rng, 40, 3, 8)
    assert LimitEngine(program, program.templates + 600, "sign").decisions.fails_from is None
    fails_from = LimitEngine(program, program.templates, "sign").decisions.fails_from
    assert fails_from is not None
    assert fails_from <= 10


def test_large_programs_take_this_way_unless_they_never_rest() -> None:
    machine = machine_b(Sizes(3, 4, 5))  # its read ports show all of memory in every step
    for program, wanted in ((addition(1_000).program, ActiveBlocksBatch), (machine.program, PackedBatch)):
        engine = LimitEngine(program, program.templates, "sign")
        assert type(engine.begin(np.zeros((1, program.bits), dtype=bool), long=True)) is wanted
