"""Several trials as a mean with an interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit


def interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean, and the ends of Student's interval for it; a single value has no interval (NaN ends).

    >>> [round(x, 3) for x in interval([1, 2, 3])]
    [2.0, -0.484, 4.484]
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    if len(found) < 2:
        return mean, float("nan"), float("nan")
    half = float(stdtrit(len(found) - 1, (1 + confidence) / 2) * found.std(ddof=1) / np.sqrt(len(found)))
    return mean, mean - half, mean + half


def geometric(values: ArrayLike) -> tuple[float, float, float]:
    """The geometric mean with its interval: for counts that vary by factors, and are never below 0.

    >>> [round(x, 2) for x in geometric([10, 10, 10])]
    [10.0, 10.0, 10.0]
    """
    mean, low, high = (float(np.exp(end)) for end in interval(np.log(np.asarray(values, dtype=np.float64))))
    return mean, low, high
