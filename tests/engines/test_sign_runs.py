"""By the sign rule: a single run in compiled loops gives the states and the margins of packed words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import random_program

from bitwright import addition
from bitwright.engines.rules import LimitEngine, PackedBatch
from bitwright.engines.table.sign import SignBatch


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5), st.integers(1, 12), st.integers(0, 60))
def test_the_sign_rule_right_or_wrong(seed: int, bits: int, largest: int, fan: int, padding: int) -> None:
    """Without padding the rule often fails, and then the next state is not that of the templates."""
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    engine = LimitEngine(program, program.templates + padding, "sign")
    state = rng.random((1, bits)) < rng.random()
    single, packed = SignBatch(engine, state[0]), PackedBatch(engine, state)
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
        assert single.margin() == pytest.approx(smallest, rel=1e-9)


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, 30))
def test_leaps_stop_where_the_rule_fails(seed: int, leap: int, padding: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, 40, 3, 8)
    engine = LimitEngine(program, program.templates + padding, "sign")
    state = rng.random((1, 40)) < 0.4
    single, packed = SignBatch(engine, state[0]), PackedBatch(engine, state)
    counted, found, made = [0, 7], 0, 0
    while made < 60:
        now = single.leap(leap, (), counted)
        made, found = made + now, found + single.counted
        for _ in range(now):
            packed.step()
            found -= sum(bool(packed.bit(bit)[0]) for bit in counted)
        assert found == 0
        assert (single.states() == packed.states()).all()
        if packed.unchanged()[0]:
            break


def test_some_of_these_rules_do_fail() -> None:
    rng = np.random.default_rng(0)
    program = random_program(rng, 40, 3, 8)
    assert LimitEngine(program, program.templates + 600, "sign").decisions.fails_from is None
    fails_from = LimitEngine(program, program.templates, "sign").decisions.fails_from
    assert fails_from is not None
    assert fails_from <= 10


def test_a_long_run_seldom_looks_at_its_means(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm, looks = addition(20), []
    engine = LimitEngine(algorithm.program, 2_000, "sign")
    state = algorithm.state({"p": 719_483, "q": 483_719})[np.newaxis]
    one_step = engine.one_step
    monkeypatch.setattr(engine, "one_step", lambda states: looks.append(1) or one_step(states))
    single, packed, made = engine.begin(state, long=True), PackedBatch(engine, state), 0
    assert type(single) is SignBatch
    smallest = np.inf
    for _ in range(40):
        packed.step()
        smallest = min(smallest, float(packed.margin()[0]))
    while made < 40:
        made += single.leap(40 - made)
    assert single.margin() == pytest.approx(smallest, rel=1e-9)
    assert len(looks) < 20
