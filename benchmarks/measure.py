"""How we measure: the best of several repetitions, in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: what was done, our figure, and what it is to be compared with."""

    what: str
    ours: str
    compared: str


def seconds(work: Callable[[], object], repeat: int = 3, at_least: float = 0.2) -> float:
    """Time of one call of `work`: the best of `repeat` rounds, each long enough for the clock."""
    calls = 1
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        spent = time.perf_counter() - begin
        if spent >= at_least or calls > 1_000_000:
            break
        calls = max(calls + 1, int(calls * 1.5 * at_least / max(spent, 1e-9)))
    best = spent
    for _ in range(repeat - 1):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, time.perf_counter() - begin)
    return best / calls


def readable(duration: float) -> str:
    if duration >= 120:
        return f"{duration / 60:.3g} min"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"
