"""Lemma 6.1 as numbers: how the mean and the variance scale with K, in each regime of n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bitwright.theory.closed_form import FloatArray, variance, weights


@dataclass(frozen=True)
class Order:
    """One line of the lemma: a quantity in a regime, its stated exponent of K, and the exponent we fit."""

    quantity: str
    regime: str
    stated: float
    fitted: float
    sizes: tuple[int, ...]
    values: tuple[float, ...]


CONFLICT = "n = K, one conflict"
# Regimes of n as the lemma names them; a sublinear n is taken as sqrt(K).
_REGIMES: dict[str, Callable[[int], int]] = {
    "n = 2": lambda _: 2,
    "n = sqrt(K)": lambda k: round(k**0.5),
    "n = K/4": lambda k: k // 4,
    "n = K": lambda k: k,
    CONFLICT: lambda k: k,
}
# Stated exponents of K. |mu| of an unset bit is c |w0|, of a set bit |w1 + (c - 1) w0|; c = 1, and 2 with a conflict.
_STATED = {
    "unset": {"n = 2": -1.0, "n = sqrt(K)": -0.75, "n = K/4": -0.5, "n = K": -0.5},
    "set": {"n = 2": 0.0, "n = sqrt(K)": -0.25, "n = K/4": -0.5, "n = K": -1.0, CONFLICT: -0.5},
    "variance": {"n = 2": -1.0, "n = sqrt(K)": -1.0, "n = K/4": -1.0, "n = K": -1.0},
}


def orders(smallest: int = 10_000, largest: int = 1_000_000, points: int = 9) -> list[Order]:
    """Fits an exponent of K to |mu| of unset and set bits and to sigma^2, in every regime.

    The variance is only stated to be O(1/K): its exponent may be smaller than -1, never larger.
    """
    sizes = np.unique(np.geomspace(smallest, largest, points).round().astype(int))
    found = []
    for quantity, regimes in _STATED.items():
        for regime, stated in regimes.items():
            writers = 2 if regime == CONFLICT else 1
            values = np.array([_value(quantity, _REGIMES[regime](int(K)), int(K), writers) for K in sizes])
            fitted = slope(sizes.astype(float), values)
            found.append(Order(quantity, regime, stated, fitted, tuple(sizes.tolist()), tuple(values.tolist())))
    return found


def slope(x: FloatArray, y: FloatArray) -> float:
    """The exponent of the power law through (x, y): the slope of the least-squares line in logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _value(quantity: str, n: int, examples: int, writers: int) -> float:
    w = weights(n, examples)
    if quantity == "variance":
        return float(variance(n, examples))
    if quantity == "unset":
        return abs(float(w.unmatched))
    return abs(float(w.matched + (writers - 1) * w.unmatched))
