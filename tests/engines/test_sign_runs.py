"""A single run under the sign rule in compiled loops gives the states and the margins of packed words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import random_program

from bitwright import addition
from bitwright.engines.rules import LimitEngine, PackedBatch
from bitwright.engines.table.batch import SignBatch


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 12), st.integers(1, 30), st.integers(0, 60))
def test_the_sign_rule_right_or_wrong(seed: int, bits: int, fan: int, leap: int, padding: int) -> None:
    """Without padding the rule often fails, and then the next state is not that of the templates."""
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, 3, fan)
    engine = LimitEngine(program, program.templates + padding, "sign")
    state = rng.random((1, bits)) < rng.random()
    single, packed = SignBatch(engine, state[0]), PackedBatch(engine, state)
    counted, smallest, made, hosted = [0, bits - 1], np.inf, 0, False
    while made < 40:
        if made > 5 and not hosted:
            on, hosted = rng.integers(bits, size=3).tolist(), True
            single.turn_on(on)
            packed.turn_on(on)
        now, found, matches = single.leap(leap, (), counted), 0, []
        for _ in range(now):
            matches.append(len(program.match(packed.states()[0])))
            packed.step()
            found += sum(bool(packed.bit(bit)[0]) for bit in counted)
            smallest = min(smallest, float(packed.margin()[0]))
        made += now
        assert single.counted == found
        assert single.matches == (min(matches), max(matches))
        assert (single.states() == packed.states()).all()
        assert single.unchanged()[0] == packed.unchanged()[0]
        assert single.margin() == pytest.approx(smallest, rel=1e-9)


def test_a_long_run_seldom_computes_means(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm, looks = addition(20), []
    engine = LimitEngine(algorithm.program, 2_000, "sign")
    one_step = engine.one_step
    monkeypatch.setattr(engine, "one_step", lambda states: looks.append(1) or one_step(states))
    single, made = engine.begin(algorithm.state({"p": 719_483, "q": 483_719})[np.newaxis], long=True), 0
    assert type(single) is SignBatch
    while made < 40:
        made += single.leap(40 - made)
    assert len(looks) < 20
