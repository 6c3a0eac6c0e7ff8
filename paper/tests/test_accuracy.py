"""The expected accuracy of an ensemble: against a simulation, and against the bounds that it must respect."""

from __future__ import annotations

import numpy as np
import pytest
from cases import for_each

from bitwright import addition, multiplication, permutation
from bitwright.theory.closed_form import KINDS, Kind, variance, weights
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.ensemble import calibrated_size, sign_size
from bitwright.theory.rounding import ROUNDINGS, Rounding, round_outputs
from paper.accuracy import expected_accuracy, networks_for, signed_gaps


def states_of(algorithm, count: int, seed: int):  # type: ignore[no-untyped-def]
    """Random states with what the formulas need: m, n, and the training set."""
    rng = np.random.default_rng(seed)
    examples = TrainingSet(algorithm.program)
    states = rng.random((count, algorithm.program.bits)) < 0.4
    indicator, n = examples.matches(states)
    return (indicator @ examples.labels()).toarray().astype(int), n


@for_each("kind", KINDS)
@for_each("rounding", ROUNDINGS)
@for_each("networks", [3, 40])
def test_against_a_simulation(networks: int, rounding: Rounding, kind: Kind) -> None:
    """20 states, 4,000 ensembles each: the mean is within 5 standard errors (false alarm below 1e-5)."""
    algorithm = addition(3)
    matched, n = states_of(algorithm, 20, 1)
    writers, K = algorithm.program.writers, algorithm.program.templates
    gaps, sigma = signed_gaps(matched, n, writers, K, rounding, kind)
    rng, right = np.random.default_rng(2), []
    for m, count in zip(matched, n, strict=True):
        mean = weights(count, K, kind).mean(writers, m)
        spread = np.sqrt(variance(count, K, kind) / networks)
        draws = mean + spread * rng.standard_normal((4_000, len(m)))
        bits, _ = round_outputs(draws, np.full(4_000, count), writers, K, rounding, kind)
        right.append((bits == (m > 0)).all(axis=1).mean())
    error = 5 * 0.5 / np.sqrt(4_000 * 20) + 1e-6
    assert expected_accuracy(networks, gaps, sigma) == pytest.approx(float(np.mean(right)), abs=error)


def test_networks_for_is_the_smallest_that_will_do() -> None:
    algorithm = permutation(range(10, 0, -1))
    matched = np.zeros((1, 10), dtype=int)
    matched[0, :2] = 1
    gaps, sigma = signed_gaps(matched, np.array([2]), algorithm.program.writers, 10, "sign")
    found = networks_for(0.9, gaps, sigma)
    assert found is not None
    assert expected_accuracy(found, gaps, sigma) >= 0.9 > expected_accuracy(found - 1, gaps, sigma)
    bound = sign_size(algorithm.program, 0.1, "input", printed=False).networks
    assert bound is not None
    assert found < bound


def test_calibrated_rounding_needs_few() -> None:
    algorithm = multiplication(3)
    matched, n = states_of(algorithm, 200, 3)
    sizes = {}
    for rounding in ROUNDINGS:
        gaps, sigma = signed_gaps(matched, n, algorithm.program.writers, algorithm.program.templates, rounding)
        sizes[rounding] = networks_for(0.9, gaps, sigma)
    bound = calibrated_size(algorithm.program, 0.1, "input").networks
    assert sizes["calibrated"] is not None
    assert bound is not None
    assert sizes["calibrated"] <= bound
    assert sizes["sign"] is None or sizes["sign"] > 5 * sizes["calibrated"]


def test_where_the_mean_is_wrong_no_ensemble_is_large_enough() -> None:
    gaps = np.array([[0.1, -0.01], [0.1, 0.1]])
    assert networks_for(0.6, gaps, np.array([0.1, 0.1])) is None
    assert networks_for(0.4, gaps, np.array([0.1, 0.1])) == 1
