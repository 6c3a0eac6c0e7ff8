"""Trained networks have the limit's mean and variance: each parametrization its own.

The comparisons allow 6 standard errors plus what finite width adds; seeds are fixed, and with fresh ones a false alarm
would have a probability below 1e-6.
"""

import numpy as np
import pytest

from bitwright import permutation
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks.descent import NetworkShape
from bitwright.networks.train import descend
from bitwright.theory.closed_form import Kind, variance, weights
from bitwright.theory.encoding.training_set import TrainingSet
from paper.training import Parametrization, Plan, initial_weights

K = 6


def trained_outputs(
    count: int, width: int, parametrization: Parametrization, start: str = "random"
) -> np.ndarray:  # (count, k)
    """Outputs of many networks at the input that matches the first two examples of a permutation."""
    y = TrainingSet(permutation(range(1, K + 1)).program).labels().toarray().T.astype(np.float32)
    x = (np.arange(K) < 2).astype(np.float32) / np.sqrt(2)
    found = []
    plan = Plan(tolerance=1e-3, descent="momentum", parametrization=parametrization)
    with one_thread():
        for member in range(count):
            first, last = initial_weights(NetworkShape(K, width, K), start, 17, member)  # type: ignore[arg-type]
            descend(first, last, y, plan.schedule(NetworkShape(K, width, K)), plan.tolerance)
            found.append(last @ np.maximum(first @ x, 0) / np.sqrt(K * width))
    return np.array(found)


@pytest.mark.parametrize(("parametrization", "kind"), [("ntk", "ntk"), ("standard", "last-layer")])
def test_mean_and_variance_of_an_ensemble(parametrization: Parametrization, kind: Kind) -> None:
    count, width = 300, 4096
    outputs = trained_outputs(count, width, parametrization)
    w, sigma2 = weights(2, K, kind), float(variance(2, K, kind))
    expected = np.where(np.arange(K) < 2, w.matched, w.unmatched)
    allowance = 3 / np.sqrt(width * count) + 2 / width
    assert (np.abs(outputs.mean(axis=0) - expected) < 6 * np.sqrt(sigma2 / count) + allowance).all()
    samples = count * K
    measured = float(((outputs - expected) ** 2).mean())
    assert abs(measured - sigma2) < 6 * sigma2 * np.sqrt(2 / samples) + 0.1 * sigma2
    other = weights(2, K, "last-layer" if kind == "ntk" else "ntk")
    wrong = np.where(np.arange(K) < 2, other.matched, other.unmatched)
    assert (np.abs(outputs.mean(axis=0) - wrong) > 4 * np.sqrt(sigma2 / count)).any()  # the two limits are told apart


def test_a_zero_output_start_has_only_the_error_of_finite_width() -> None:
    w, sigma2 = weights(2, K), float(variance(2, K))
    expected = np.where(np.arange(K) < 2, w.matched, w.unmatched)
    spread = [float(((trained_outputs(30, width, "ntk", "zero") - expected) ** 2).mean()) for width in (1024, 16384)]
    assert spread[0] < 0.1 * sigma2
    assert spread[1] < spread[0] / 8  # 16 times the width, a variance of about 1/16
