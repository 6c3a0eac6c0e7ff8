"""Closed forms of the limit for orthonormal training data: two weights, a variance and a covariance, O(1) in K.

On orthonormal training inputs every kernel matrix is a multiple of the identity plus a rank-one matrix, and a test
input that matches n of K examples has only two kernel values. In units of 1/(2 pi K), with z = 1/sqrt(n):

    train, NTK:        diagonal 2 pi, off-diagonal 1        so  Theta = a I + 1 1',  a = 2 pi - 1
    train, NNGP:       diagonal pi,   off-diagonal 1        so  M     = a I + 1 1',  a = pi - 1
    test, unmatched:   1                                    (both)
    test, matched:     1 + delta(n) for the NNGP,  1 + beta(n) for the NTK        (App. C, D)

The formulas below are arranged so that no two large terms cancel; docs/explanation/theory.md derives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, check_choice

FloatArray = NDArray[np.float64]
Kind = Literal["ntk", "last-layer"]  # both layers trained (the paper), or only the last (the authors' code)

KINDS: tuple[Kind, ...] = ("ntk", "last-layer")


def arcsin(z: ArrayLike) -> FloatArray:
    """Returns correctly rounded arcsines, identical on every CPU; NumPy's last digit depends on the CPU.

    All other operations here are +, -, *, / and square roots, which IEEE 754 defines exactly.
    """
    z = np.asarray(z, dtype=np.float64)
    each, place = np.unique(z, return_inverse=True)
    return np.array([_arcsin(one) for one in each.tolist()], dtype=np.float64)[place].reshape(z.shape)


@lru_cache(1 << 16)
def _arcsin(z: float) -> float:
    from bitwright.theory.intervals import Ball, precision

    with precision():
        return float(Ball(z).asin())


def delta(n: ArrayLike) -> FloatArray:
    """Returns the NNGP test kernel, matched minus unmatched, times 2 pi K (g in App. D).

    (pi/2 + arcsin z) z + sqrt(1 - z^2) - 1 with z = 1/sqrt(n).
    """
    n = np.asarray(n, dtype=np.float64)
    z = 1 / np.sqrt(n)
    return np.asarray((np.pi / 2 + arcsin(z)) * z - 1 / (n + np.sqrt(n * (n - 1))))


def beta(n: ArrayLike, kind: Kind = "ntk") -> FloatArray:
    """Returns the same difference for the training kernel: f in Eq. (12) for the NTK, g for the last layer."""
    if kind == "last-layer":
        return delta(n)
    n = np.asarray(n, dtype=np.float64)
    z = 1 / np.sqrt(n)
    return np.asarray((np.pi + 2 * arcsin(z)) * z - 1 / (n + np.sqrt(n * (n - 1))))


def diagonal(kind: Kind) -> float:
    """Returns a, the diagonal minus the off-diagonal entry of the train kernel, times 2 pi K."""
    return 2 * np.pi - 1 if check_choice("limit", kind, KINDS) == "ntk" else np.pi - 1


@dataclass(frozen=True)
class Weights:
    """Contributions of a matched and an unmatched example to the mean (w^1 and w^0 in App. C), by n.

    mu_i = w0 c_i + (w1 - w0) m_i, where m_i of the c_i writers of bit i match.
    """

    matched: FloatArray
    unmatched: FloatArray
    gap: FloatArray  # w1 - w0, computed without cancellation

    def mean(self, writers: ArrayLike, matches: ArrayLike) -> FloatArray:  # (..., k)
        """Returns the mean of the limit, Eq. (7); Eq. (15) with one matching writer, Eq. (16) with none."""
        axes = (..., None) if np.ndim(writers) else ...  # an axis for the bits
        return np.asarray(self.unmatched[axes] * np.asarray(writers) + self.gap[axes] * np.asarray(matches))


def weights(n: ArrayLike, examples: int, kind: Kind = "ntk") -> Weights:
    """Returns w1 and w0 after training (App. C, Theorem A.1), for 0 <= n <= K; at n = 0 input and output are 0.

    w1 - w0 = beta / a,   w0 = (a - n beta) / (a (a + K)),   w1 = (a (1 + beta) + beta (K - n)) / (a (a + K)).

    >>> w = weights(2, examples=8)  # two of eight examples match
    >>> print(f"{w.matched:.3f} {w.unmatched:.3f}")
    0.564 -0.011
    """
    n = check_matches(n, examples)
    a, safe = diagonal(kind), np.maximum(n, 1)
    b = beta(safe, kind)
    w0 = (a - safe * b) / (a * (a + examples))
    w1 = (a * (1 + b) + b * (examples - safe)) / (a * (a + examples))
    few = n <= 1  # where w1 = n exactly, and w0 = 0
    return Weights(matched=np.where(few, n, w1), unmatched=np.where(few, 0.0, w0), gap=np.where(few, n, b / a))


def spectrum(examples: int, kind: Kind = "ntk") -> tuple[float, float]:
    """Returns the eigenvalues of the train kernel: the smaller (K - 1 times) and the larger (once); Eq. (10)-(11)."""
    a = diagonal(kind)
    return a / (2 * np.pi * examples), (a + examples) / (2 * np.pi * examples)


def variance(n: ArrayLike, examples: int, kind: Kind = "ntk") -> FloatArray:
    """Returns the variance of an output coordinate over random initializations, by n (Eq. (4) and App. D).

    2 pi K sigma^2 = (pi - 1)(1 + n w1^2 + (K - n) w0^2) + (1 - s)^2 - 2 n w1 delta,   s = n w1 + (K - n) w0.

    >>> variance([1, 2, 3], examples=8).round(4)  # on a training example the variance is 0
    array([0.    , 0.0082, 0.0116])
    """
    n = check_matches(n, examples)
    w = weights(n, examples, kind)
    total = 1 - diagonal(kind) * w.unmatched  # 1 - s = a w0, without cancellation
    squares = n * w.matched**2 + (examples - n) * w.unmatched**2
    scaled = (np.pi - 1) * (1 + squares) + (1 - total) ** 2 - 2 * n * w.matched * delta(np.maximum(n, 1))
    return np.where(n <= 1, 0.0, np.maximum(scaled, 0) / (2 * np.pi * examples))


def covariance(n: ArrayLike, other: ArrayLike, shared: ArrayLike, examples: int, kind: Kind = "ntk") -> FloatArray:
    """Returns the covariance of an output coordinate for two inputs with n and `other` matches, `shared` in common.

    Eq. (4) with x, x' in place of x, x: kappa(x, x') + w' M w' - w' g(x') - w(x')' g(x).
    """
    n, other = check_matches(n, examples), check_matches(other, examples)
    shared = np.asarray(shared, dtype=np.float64)
    if not np.all((shared >= 0) & (shared <= np.minimum(n, other)) & (n + other - shared <= examples)):
        raise InputError("two inputs cannot share more matches than either has, or match more than K examples together")
    one, two = weights(n, examples, kind), weights(other, examples, kind)
    a = diagonal(kind)
    total_one, total_two = 1 - a * one.unmatched, 1 - a * two.unmatched
    product = (
        shared * one.matched * two.matched
        + (n - shared) * one.matched * two.unmatched
        + (other - shared) * one.unmatched * two.matched
        + (examples - n - other + shared) * one.unmatched * two.unmatched
    )
    z = np.clip(shared / np.sqrt(np.maximum(n * other, 1)), 0, 1)
    kappa = z * (np.pi / 2 + arcsin(z)) + np.sqrt(1 - z**2)
    cross_one = total_one + delta(np.maximum(other, 1)) * (shared * one.matched + (other - shared) * one.unmatched)
    cross_two = total_two + delta(np.maximum(n, 1)) * (shared * two.matched + (n - shared) * two.unmatched)
    scaled = kappa + (np.pi - 1) * product + total_one * total_two - cross_one - cross_two
    exact_zero = (n <= 1) | (other <= 1)  # with no match the output is 0; one match is a training example
    return np.where(exact_zero, 0.0, scaled / (2 * np.pi * examples))


def check_matches(n: ArrayLike, examples: int) -> FloatArray:
    """Returns n as an array of floats after checking 0 <= n <= K and K >= 1."""
    if not 1 <= examples <= 10**12:
        raise InputError(f"the number of examples must be between 1 and 10^12, got {shorten(str(examples))}")
    n = np.asarray(n, dtype=np.float64)
    if not np.all((n >= 0) & (n <= examples) & (n == np.floor(n))):
        raise InputError(f"the number of matches must be an integer between 0 and {examples:,}, the number of examples")
    return n
