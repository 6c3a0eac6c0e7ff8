"""Lemma 6.1 as numbers: how the mean and the variance scale with K, in each regime of n that can occur.

At n = K every example matches. Then nothing interferes: a bit that is not set has no writer and mean 0, and a set bit
with m writers has mean m w1. So two of the lemma's cases are empty (docs/explanation/errata.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bitwright.theory.closed_form import FloatArray, variance, weights


@dataclass(frozen=True)
class Order:
    """A quantity in a regime: the exponent of K in the lemma, the one that its formulas give, and the one we fit."""

    quantity: str
    regime: str
    stated: float
    exact: float
    fitted: float
    sizes: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class _Regime:
    name: str
    n: Callable[[int], int]
    stated: float
    exact: float | None = None  # the stated one, if None
    writers: int = 1
    matches: int = 1


# The lemma's regimes of n; a sublinear n is taken as sqrt(K). An unwanted correlation is a writer that does not match.
_REGIMES = {
    "unset": (
        _Regime("n = 2", lambda _: 2, -1.0, matches=0),
        _Regime("n = sqrt(K)", lambda k: round(k**0.5), -0.75, matches=0),
        _Regime("n = K/4", lambda k: k // 4, -0.5, matches=0),
    ),
    "set": (
        _Regime("n = 2", lambda _: 2, 0.0),
        _Regime("n = sqrt(K)", lambda k: round(k**0.5), -0.25),
        _Regime("n = K/4", lambda k: k // 4, -0.5),
        _Regime("n = K/4, one unwanted", lambda k: k // 4, -0.5, writers=2),
        _Regime("n = K/2, one unwanted", lambda k: k // 2, -0.5, -1.0, writers=2),  # w1 and -w0 agree to first order
        _Regime("n = K", lambda k: k, -1.0),
        _Regime("n = K, two writers", lambda k: k, -0.5, -1.0, writers=2, matches=2),
    ),
    "variance": (
        _Regime("n = 2", lambda _: 2, -1.0),
        _Regime("n = sqrt(K)", lambda k: round(k**0.5), -1.0),
        _Regime("n = K/4", lambda k: k // 4, -1.0),
        _Regime("n = K", lambda k: k, -1.0),
    ),
}


def orders(smallest: int = 10_000, largest: int = 1_000_000, points: int = 9) -> list[Order]:
    """Fits an exponent of K to -mu of unset bits, mu of set bits and sigma^2, in every regime; all are above 0.

    The variance is only stated to be O(1/K): its exponent may be smaller than -1, never larger.
    """
    sizes = np.unique(np.geomspace(smallest, largest, points).round().astype(int))
    found = []
    for quantity, regimes in _REGIMES.items():
        for regime in regimes:
            values = np.array([_value(quantity, regime, int(K)) for K in sizes])
            exact = regime.stated if regime.exact is None else regime.exact
            fitted = slope(sizes.astype(float), values)
            sized, valued = tuple(sizes.tolist()), tuple(values.tolist())
            found.append(Order(quantity, regime.name, regime.stated, exact, fitted, sized, valued))
    return found


def slope(x: FloatArray, y: FloatArray) -> float:
    """The exponent of the power law through (x, y): the slope of the least-squares line in logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _value(quantity: str, regime: _Regime, examples: int) -> float:
    n = regime.n(examples)
    if quantity == "variance":
        return float(variance(n, examples))
    mean = float(weights(n, examples).mean(regime.writers, regime.matches))
    return -mean if quantity == "unset" else mean
