"""The findings of a proof: counts, distances, wrong states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.proofs.exhaustion.domains import Place
from bitwright.proofs.exhaustion.judges import Judged
from bitwright.rules.layout import IntArray


@dataclass(frozen=True)
class Nearest:
    """All states with the same n: their number, and the smallest distance with its first place."""

    count: int
    distance: float | int | None  # None at n = 0 and in cells without ports
    place: Place

    def __add__(self, other: Nearest) -> Nearest:
        pairs = [(one.distance, one.place) for one in (self, other) if one.distance is not None]
        distance, place = min(pairs) if pairs else (None, min(self.place, other.place))
        return Nearest(self.count + other.count, distance, place)


@dataclass(frozen=True)
class Findings:
    """All findings; the sum of two does not depend on their order."""

    by_n: Mapping[int, Nearest] = field(default_factory=dict)
    wrong: int = 0
    undecided: int = 0
    first_wrong: tuple[int, Place] | None = None  # the fewest matches, then the first place
    first_undecided: tuple[int, Place] | None = None

    @property
    def states(self) -> int:
        return sum(nearest.count for nearest in self.by_n.values())

    def __add__(self, other: Findings) -> Findings:
        both = {n: self.by_n.get(n) or other.by_n[n] for n in sorted({*self.by_n, *other.by_n})}
        for n in self.by_n.keys() & other.by_n.keys():
            both[n] = self.by_n[n] + other.by_n[n]
        return Findings(
            both,
            self.wrong + other.wrong,
            self.undecided + other.undecided,
            _first(self.first_wrong, other.first_wrong),
            _first(self.first_undecided, other.first_undecided),
        )


def find(judged: Judged, numbers: IntArray, step: int, times: int) -> Findings:
    """Returns the findings for these states, each of which occurred this many times."""
    by_n: dict[int, Nearest] = {}
    for n in np.unique(judged.n).tolist():
        rows = np.flatnonzero(judged.n == n)
        at, distance = rows[0], None
        if (n or judged.at_zero) and judged.distance is not None:
            at = rows[judged.distance[rows].argmin()]  # the first in a tie
            distance = judged.distance[at].item()
        by_n[n] = Nearest(times * len(rows), distance, (int(numbers[at]), step))
    return Findings(
        by_n,
        times * int(np.count_nonzero(judged.wrong)),
        times * int(np.count_nonzero(judged.undecided)),
        _first_of(judged.wrong, judged.n, numbers, step),
        _first_of(judged.undecided, judged.n, numbers, step),
    )


def _first_of(chosen: BoolArray, n: IntArray, numbers: IntArray, step: int) -> tuple[int, Place] | None:
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return None
    at = rows[n[rows].argmin()]
    return int(n[at]), (int(numbers[at]), step)


def _first(*found: tuple[int, Place] | None) -> tuple[int, Place] | None:
    return min((one for one in found if one is not None), default=None)
