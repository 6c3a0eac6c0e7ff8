"""The closed forms in interval arithmetic: every number comes with a proven enclosure (python-flint's Arb balls)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, nextafter
from threading import RLock

import flint

Ball = flint.arb
_LOCK = RLock()
PRECISION = 128  # bits; far more than any decision needs, and still microseconds a number


@contextmanager
def precision(bits: int = PRECISION) -> Iterator[None]:
    """Interval arithmetic with this many bits inside; the setting is the whole process's, so one thread at a time."""
    with _LOCK:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


@dataclass(frozen=True)
class Enclosure:
    """beta, w1, w0 and w1 - w0 for one n, and rho, the number that decides the sign rule."""

    gap: Ball
    matched: Ball
    unmatched: Ball
    rho: Ball


def enclose(n: int, examples: int) -> Enclosure:
    """App. C for the NTK in intervals, n >= 1; the values at n = 1 are exact.

    rho(n) = n - (2 pi - 1)/beta(n). A bit with c writers, m of which match, has mean > 0 exactly if
    m (K + 2 pi - 1) > c rho(n): multiply mu_i by the positive number a (a + K)/beta.
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
    """A double that is certainly not above the ball."""
    return nextafter(float(ball.lower()), -inf)


def decimal(ball: Ball) -> str:
    """The ball in decimal, as `[middle +/- radius]`: Arb guarantees that the text encloses it."""
    return str(ball.str(20))
