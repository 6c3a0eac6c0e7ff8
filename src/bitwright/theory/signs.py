"""When the sign rule is right: one inequality between whole numbers and rho(n), settled rigorously.

A bit with c writers, m of which match, has a mean above 0 exactly if  m (K + 2 pi - 1) > c rho(n),
rho(n) = n - (2 pi - 1)/beta(n). With m = 1 this is Assumption 5.1; with m = 0 it never holds, since rho >= 0.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from bitwright.bits import BoolArray
from bitwright.theory.closed_form import FloatArray, beta

_CLOSE = 1e-9  # closer ties than this, relative, are left to interval arithmetic; doubles are good to 1e-13 here


def rho(n: ArrayLike) -> FloatArray:
    """n - (2 pi - 1)/beta(n) for n >= 1; exactly 0 at n = 1, and below n everywhere."""
    n = np.asarray(n, dtype=np.float64)
    return np.where(n <= 1, 0.0, n - (2 * pi - 1) / beta(np.maximum(n, 1)))


class SignRule:
    """The sign rule for training sets of K examples."""

    def __init__(self, examples: int) -> None:
        self.examples = examples

    def above_zero(self, n: ArrayLike, writers: ArrayLike, matches: ArrayLike) -> BoolArray:
        """Whether the mean is above 0, for each n, c and m; never decided by a rounding error."""
        n, c, m = np.broadcast_arrays(np.asarray(n), np.asarray(writers), np.asarray(matches))
        left, right = m * (self.examples + 2 * pi - 1), c * rho(n)
        above = (left > right) & (n > 0)
        close = np.abs(left - right) <= _CLOSE * np.maximum(left, right)
        for at in zip(*np.nonzero(close & (m > 0) & (n > 0)), strict=True):
            above[at] = _certainly_above(self.examples, int(n[at]), int(c[at]), int(m[at]))
        return np.asarray(above, dtype=bool)

    def safe(self, writers: int, n_max: int) -> bool:
        """Whether the rule is right for all n up to n_max and all bits with at most so many writers."""
        every = np.arange(1, n_max + 1)
        return bool(self.above_zero(every, writers, np.ones_like(every)).all())


@lru_cache(maxsize=4096)
def _certainly_above(examples: int, n: int, writers: int, matches: int) -> bool:
    from bitwright.theory.intervals import enclose, precision

    for bits in (128, 512, 2048):
        with precision(bits):
            e = enclose(n, examples)
            mean = e.unmatched * writers + e.gap * matches
            if mean > 0 or mean <= 0:
                return bool(mean > 0)
    return False  # equal to 2,000 bits: a mean of exactly 0 rounds to 0
