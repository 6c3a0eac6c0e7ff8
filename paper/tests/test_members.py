"""Members of ensembles have the limit's law, do not depend on batches, and their averages are counted right."""

from __future__ import annotations

import numpy as np
import pytest

from bitwright import addition
from bitwright.runs.successors import random_states
from bitwright.theory.closed_form import KINDS, Kind, variance, weights
from bitwright.theory.rounding import ROUNDINGS, Rounding, round_outputs
from paper.accuracy import expected_accuracy
from paper.beyond_measure import states_of_runs
from paper.members import LimitMembers, TestSet, TrainedMembers, curve, first_reaching, sizes_to
from paper.permutations import LIMITS, bound, random_inputs
from paper.training import Plan, Recipe


@pytest.fixture
def test() -> TestSet:
    return random_inputs(5, 0, 0)


def test_random_inputs_have_two_ones(test: TestSet) -> None:
    assert (test.states.sum(axis=1) == 2).all()
    assert test.times.sum() == 1000
    assert len(test.states) == 10
    assert (test.n == 2).all()


def test_drawn_members_have_the_moments_of_the_limit(test: TestSet) -> None:
    """6,000 members: means within 5 standard errors, variances within 12% (6 standard errors); 50 of each."""
    for kind in LIMITS.values():
        drawn = LimitMembers(test, kind, 1).outputs(0, 6_000)
        w, spread = weights(2, 5, kind), float(variance(2, 5, kind))
        mean = np.where(test.matched > 0, w.matched, w.unmatched)
        assert np.abs(drawn.mean(axis=0) - mean).max() < 5 * np.sqrt(spread / 6_000)
        assert drawn.var(axis=0) == pytest.approx(np.full((10, 5), spread), rel=0.12)


def test_drawn_ensembles_are_as_accurate_as_expected(test: TestSet) -> None:
    """300 ensembles of 60: the mean accuracy within 5 standard errors of the closed form."""
    found = [
        float(curve(test, LimitMembers(test, "ntk", seed), ["sign"], "ntk", [60], 60)[0, 0]) for seed in range(300)
    ]
    error = 5 * np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(expected_accuracy(60, *test.gaps("sign", "ntk")), abs=error)


def test_trained_members_do_not_depend_on_batches(test: TestSet) -> None:
    members = TrainedMembers(test, Recipe(256, 3, start="random", plan=Plan(1e-4, "plain")))
    together = members.outputs(0, 4)
    apart = np.concatenate([members.outputs(0, 1), members.outputs(1, 3)])
    assert together == pytest.approx(apart, abs=2e-5)
    assert np.abs(together[0] - together[1]).max() > 0.01


def test_trained_members_have_the_law_of_their_limit(test: TestSet) -> None:
    """200 networks of width 1,024 in each parametrization: the mean of unset bits is that of its own limit.

    50 coordinates and 10 inputs share 200 networks; the overall mean is within 5 standard errors, plus 0.004 for width.
    """
    for parametrization, kind in LIMITS.items():
        plan = Plan(1e-4, "plain", parametrization=parametrization)  # type: ignore[arg-type]
        outputs = TrainedMembers(test, Recipe(1024, 5, start="random", plan=plan)).outputs(0, 200)
        unset = outputs[:, test.matched == 0]
        w0, sigma = float(weights(2, 5, kind).unmatched), float(np.sqrt(variance(2, 5, kind)))
        per_network = unset.mean(axis=1)
        error = 5 * per_network.std() / np.sqrt(200) + 0.004
        assert per_network.mean() == pytest.approx(w0, abs=error)
        assert unset.std() == pytest.approx(sigma, rel=0.15)


def test_a_zero_output_start_leaves_little_to_chance(test: TestSet) -> None:
    spread = {}
    for start in ("zero", "random"):
        recipe = Recipe(2048, 1, start=start, plan=Plan(1e-4, "plain"))  # type: ignore[arg-type]
        spread[start] = float(TrainedMembers(test, recipe).outputs(0, 20).std(axis=0).mean())
    assert spread["zero"] < spread["random"] / 3


class Fixed:
    """Members with given outputs."""

    def __init__(self, outputs: np.ndarray) -> None:
        self._outputs = outputs

    def outputs(self, first: int, count: int) -> np.ndarray:
        return self._outputs[first : first + count]


@pytest.mark.parametrize("batch", [1, 4, 12])
def test_averages_against_plain_counting(batch: int, test: TestSet) -> None:
    outputs = LimitMembers(test, "ntk", 7).outputs(0, 12)
    for rounding in ROUNDINGS:
        expected = []
        for N in range(1, 13):
            average = outputs[:N].mean(axis=0)
            if rounding == "sign":
                bits = average > 0
            else:
                w = weights(2, 5)
                bits = (average - float(w.unmatched)) / float(w.gap) > 0.5
            right = (bits == (test.matched > 0)).all(axis=1)
            expected.append(sum(test.times[right]) / 1000)
        found = curve(test, Fixed(outputs), [rounding], "ntk", range(1, 13), batch)[0]
        assert found == pytest.approx(np.array(expected))
        wanted = max(expected)
        first = first_reaching(test, Fixed(outputs), rounding, "ntk", wanted, 12, batch)
        assert first == (expected.index(wanted) + 1, pytest.approx(wanted))
        assert first_reaching(test, Fixed(outputs), rounding, "ntk", 1.01, 12, batch) == (None, pytest.approx(wanted))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_are_those_of_the_rounding(rounding: Rounding, kind: Kind) -> None:
    """Addition has a bit that nothing writes, and the zero state matches nothing."""
    algorithm = addition(3)
    states = np.concatenate((np.zeros((1, 9), dtype=bool), random_states(algorithm, 40, 3)))
    test = TestSet.of(algorithm.program, states)
    outputs = np.random.default_rng(4).normal(0, 0.5, test.matched.shape)
    bits, _ = round_outputs(outputs, test.n, algorithm.program.writers, 12, rounding, kind)
    assert np.array_equal(outputs > test.thresholds(rounding, kind), bits)


def test_sizes_are_whole_and_end_where_asked() -> None:
    assert sizes_to(1) == [1]
    assert sizes_to(100, 5) == [1, 3, 10, 32, 100]


def test_the_bound_falls_with_the_easier_limit() -> None:
    for k in range(3, 31):
        assert bound(k, "standard", 0.1, True) < bound(k, "ntk", 0.1, True)
        assert bound(k, "ntk", 0.1, False) < bound(k, "ntk", 0.1, True) / 4


@pytest.mark.parametrize(("task", "bits"), [("addition", 3), ("multiplication", 2), ("SBN", 2)])
def test_states_of_runs(task: str, bits: int) -> None:
    program, states = states_of_runs(task, bits, 50, 0)
    assert states.shape == (50, program.bits)
    assert all(len(program.match(state)) >= 2 for state in states)
    assert np.array_equal(states, states_of_runs(task, bits, 50, 0)[1])
    assert not np.array_equal(states, states_of_runs(task, bits, 50, 1)[1])
