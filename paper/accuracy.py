"""The expected accuracy of an ensemble of N networks in the limit: not a bound, but the number itself.

The outputs for one input are independent Gaussians N(mu_i, sigma^2) (Theorem 3.1), and so are their averages with
sigma^2/N. A state comes out right if every bit lands on its side of the threshold:

    P(right) = prod_i Phi(gap_i sqrt(N) / sigma),    gap_i the signed distance of mu_i from the threshold.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, variance, weights
from bitwright.theory.rounding import Rounding

MOST = 1 << 40


def signed_gaps(
    matched: IntArray,  # m (states, k): how many matched examples write each bit
    matches: IntArray,  # n (states,)
    writers: IntArray,  # c (k,)
    examples: int,
    rounding: Rounding,
    kind: Kind = "ntk",
) -> tuple[FloatArray, FloatArray]:  # (states, k), (states,)
    """How far the mean of every bit lies on the right side of its threshold (negative: on the wrong one), and sigma.

    sign: mu for a set bit and -mu for an unset one; bits that nothing writes are masked, and cannot be wrong.
    calibrated: (w1 - w0)(m - 1/2) for a set bit and (w1 - w0)/2 for an unset one.
    """
    w, truth = weights(matches, examples, kind), matched > 0
    if rounding == "sign":
        mean = w.unmatched[:, None] * writers + w.gap[:, None] * matched
        gaps = np.where(truth, mean, -mean)
        gaps[:, writers == 0] = np.inf
    else:
        gaps = w.gap[:, None] * np.where(truth, matched - 0.5, 0.5)
    gaps[matches == 0] = np.inf  # no match: the next state is zero, whatever the networks say
    return gaps, np.sqrt(variance(matches, examples, kind))


def expected_accuracy(networks: int, gaps: FloatArray, sigma: FloatArray) -> float:
    """The share of the states that the average of that many networks gets right in every bit, in expectation.

    With sigma = 0 only the side of the mean decides; a mean on the threshold itself counts as right for an unset bit,
    which is how it is rounded.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        certain = np.where(gaps < 0, -np.inf, np.inf)
        score = np.where(sigma[:, None] > 0, gaps * np.sqrt(networks) / sigma[:, None], certain)
    return float(np.exp(np.log(np.maximum(ndtr(score), 1e-300)).sum(axis=1)).mean())


def networks_for(accuracy: float, gaps: FloatArray, sigma: FloatArray) -> int | None:
    """The smallest N whose expected accuracy is at least `accuracy`; None if the mean itself is wrong too often."""
    if expected_accuracy(MOST, gaps, sigma) < accuracy:
        return None
    low, high = 0, 1
    while expected_accuracy(high, gaps, sigma) < accuracy:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected_accuracy(middle, gaps, sigma) >= accuracy else (middle, high)
    return high
