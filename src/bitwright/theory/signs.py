"""When the sign rule is right: one inequality between integers and rho(n), settled rigorously.

A bit with c writers, m of which match, has a mean above 0 exactly if  m (K + 2 pi - 1) > c rho(n),
rho(n) = n - (2 pi - 1)/beta(n). With m = 1 this is Assumption 5.1; with m = 0 it never holds, since rho >= 0.
"""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import ArrayLike

from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, beta

CLOSE = 1e-9  # closer ties than this, relative, are left to interval arithmetic; doubles are good to 1e-13 here


def rho(n: ArrayLike) -> FloatArray:
    """n - (2 pi - 1)/beta(n) for n >= 1; exactly 0 at n = 1, and below n everywhere."""
    n = np.asarray(n, dtype=np.float64)
    return np.where(n <= 1, 0.0, n - (2 * pi - 1) / beta(np.maximum(n, 1)))


def matches_needed(
    n_max: int, writers: IntArray, examples: int, close: float = CLOSE
) -> IntArray:  # (n_max + 1, len(writers))
    """How many of a bit's c writers must match for a mean above 0: floor(c rho(n)/(K + 2 pi - 1)) + 1, for each n, c.

    Where a double cannot tell on which side of an integer the quotient lies (it is as `close` as this to one),
    interval arithmetic does.
    """
    quotient = np.multiply.outer(rho(np.arange(n_max + 1)), writers) / (examples + 2 * pi - 1)
    needed = np.floor(quotient).astype(np.int64) + 1
    nearest = np.rint(quotient)
    ties = (np.abs(quotient - nearest) <= close * np.maximum(nearest, 1)) & (nearest >= 1)
    for n, at in np.argwhere(ties).tolist():
        below = int(nearest[n, at])  # is the mean above 0 already with this many matches?
        # A mean of exactly 0 would round to 0.
        needed[n, at] = below if mean_is_positive(examples, n, int(writers[at]), below) else below + 1
    return needed


def mean_is_positive(examples: int, n: int, writers: int, matches: int) -> bool | None:
    """Whether c w0 + m (w1 - w0) > 0, proved; None where no precision can tell it from 0."""
    from bitwright.theory.intervals import enclose, precision

    for bits in (128, 512, 2048):
        with precision(bits):
            e = enclose(n, examples)
            mean = e.unmatched * writers + e.gap * matches
            if mean > 0 or mean <= 0:
                return bool(mean > 0)
    return None
