"""The limit engine where it must differ from the templates, and its means and margins against the dense solve."""

import numpy as np
import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import all_states, crowded

from bitwright import InputError, Program, addition, multiplication, parse
from bitwright.engines.rules import LimitEngine, PackedBatch, RuleEngine
from bitwright.proofs.ranges import reachable_range
from bitwright.theory.proof import smallest_examples
from bitwright.theory.rounding import Rounding
from paper.kernel_engine import KernelEngine


@settings(max_examples=examples(30))
@given(st.integers(2, 40), st.integers(0, 30), st.integers(0, 40), st.integers(1, 80), st.integers(0, 2**32 - 1))
def test_failures_of_the_sign_rule_are_those_of_the_dense_solve(
    writers: int, bystanders: int, padding: int, batch: int, seed: int
) -> None:
    """Where interference turns signs round, `limit` goes wrong exactly as the network's mean does."""
    program = crowded(writers, bystanders)
    K = program.templates + padding
    rng = np.random.default_rng(seed)
    states = rng.random((batch, program.bits)) < np.where(np.arange(program.bits) <= writers, 2 / writers, 0.8)
    limit, kernel = (make(program, K, "sign").begin(states) for make in (LimitEngine, KernelEngine))
    limit.step()
    kernel.step()
    assert (limit.states() == kernel.states()).all()
    right = kernel.margin() > 0  # a wrong answer has a negative one
    np.testing.assert_allclose(limit.margin()[right], kernel.margin()[right], rtol=1e-8, atol=1e-12)


def test_a_crowded_bit_is_lost_under_sign_and_kept_under_calibrated() -> None:
    """One of 51 writers matches, and 20 bystanders: the other 50 writers outweigh it."""
    program = crowded(50, bystanders=20)
    state = np.zeros((1, program.bits), dtype=bool)
    state[0, 0] = state[0, 51:] = True
    for rounding, kept in (("calibrated", True), ("sign", False)):
        batch = LimitEngine(program, program.templates, rounding).begin(state)  # type: ignore[arg-type]
        batch.step()
        assert batch.bit(50)[0] == kept
        assert batch.states()[0, 51:].all()
    padded = LimitEngine(program, smallest_examples(program), "sign").begin(state)
    padded.step()
    assert padded.bit(50)[0]


@for_each("rounding", ["sign", "calibrated"])
@for_each("program", [addition(5).program, multiplication(2).program, crowded(6)])
def test_means_are_those_of_the_dense_solve(program: Program, rounding: Rounding) -> None:
    states = np.random.default_rng(0).random((100, program.bits)) < 0.4
    K = program.templates + 7
    engine = LimitEngine(program, K, rounding)
    limit = PackedBatch(engine, states)
    limit.step()
    expected, _ = KernelEngine(program, K, rounding).outputs(states)
    np.testing.assert_allclose(engine.means(limit.last_matches, 100), expected, atol=1e-12)


def test_a_certified_sign_rule_takes_the_fast_way_and_an_uncertified_one_does_not() -> None:
    program = multiplication(4).program
    enough = smallest_examples(program)
    assert LimitEngine(program, enough, "sign").decisions.fails_from is None
    assert LimitEngine(program, enough - 1, "sign").decisions.fails_from == 43  # of the 43 blocks with templates
    assert LimitEngine(program, program.templates, "calibrated").decisions.fails_from is None


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_reachable_matches(bits: int) -> None:
    """Against a plain walk through every run, state by state."""
    algorithm = multiplication(bits)
    most = 0
    engine = RuleEngine(algorithm.program)
    for states in all_states(algorithm, 1000):
        batch = engine.begin(states)
        for _ in range((algorithm.steps or 0) + 1):
            most = max(most, *(len(algorithm.program.match(state)) for state in batch.states()))
            batch.step()
    found = reachable_range(algorithm)
    assert found.n_max == most
    assert most <= (algorithm.matches or 0)
    assert f"{4**bits:,} inputs" in found.scope


def test_reachable_counts_only_states_that_runs_step_from() -> None:
    """An all-zero state would match 40 templates, but no run meets one; a halted run's state is not stepped from."""
    zeros = parse(
        "bits a x[40] z[2]\nblock a\nblock x[i] for i in 1..40\nblock z[i] for i in 1..2\n"
        "when a=1 write a x[*]\nwhen x[i]=0 write z[1] for i in 1..40\nstart a x[*]\nsteps 3"
    )
    assert reachable_range(zeros).n_max == 1
    halting = parse(
        "bits a h x[9]\nblock a\nblock h\nblock x[i] for i in 1..9\nwhen a=1 write h x[*]\n"
        "when x[i]=1 write x[i] for i in 1..9\nwhen h=1 write h\nstart a\nhalt when h"
    )
    assert reachable_range(halting).n_max == 1
    unfinished = parse(
        "bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a\nhalt at fixed point\nsteps 9"
    )
    with pytest.raises(InputError, match=r"within.*9"):
        reachable_range(unfinished)
