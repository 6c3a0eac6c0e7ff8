"""Evaluates the closed forms in interval arithmetic; every number has a proved enclosure (an Arb ball)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, nextafter
from threading import RLock

import flint

Ball = flint.arb
_LOCK = RLock()
PRECISION = 128  # bits; far more than any decision needs, at microseconds per number


@contextmanager
def precision(bits: int = PRECISION) -> Iterator[None]:
    """Sets the bits of interval arithmetic; the setting is per process, so use one thread at a time."""
    with _LOCK:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


@dataclass(frozen=True)
class Enclosure:
    """beta, w1, w0 and w1 - w0 for one n, and rho, which decides the sign rule."""

    gap: Ball
    matched: Ball
    unmatched: Ball
    rho: Ball


def enclose(n: int, examples: int) -> Enclosure:
    """Encloses the values of App. C for the NTK, n >= 1; the values at n = 1 are exact.

    rho(n) = n - (2 pi - 1)/beta(n). If m of a bit's c writers match, its mean is positive exactly if
    m (K + 2 pi - 1) > c rho(n); to see this, multiply mu_i by the positive number a (a + K)/beta.
    """
    if n == 1:
        return Enclosure(Ball(1), Ball(1), Ball(0), Ball(0))
    a = 2 * Ball.pi() - 1
    root = Ball(n).sqrt()
    b = (Ball.pi() + 2 * (1 / root).asin()) / root - 1 / (n + (Ball(n) * (n - 1)).sqrt())
    scale = a * (a + examples)
    return Enclosure(
        gap=b / a,
        matched=(a * (1 + b) + b * (examples - n)) / scale,
        unmatched=(a - n * b) / scale,
        rho=n - a / b,
    )


def lower_bound(ball: Ball) -> float:
    """Returns a double that is proved not to exceed the ball."""
    return nextafter(float(ball.lower()), -inf)


def decimal(ball: Ball) -> str:
    """Formats the ball as `[middle +/- radius]` in decimal; Arb guarantees that this encloses it."""
    return str(ball.str(20))
