"""The findings of a proof: counts, distances, wrong states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.files.documents import Check, each, number, optional, record, whole
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

    def to_json(self) -> dict[str, Any]:
        return {
            "by_n": [[n, near.count, near.distance, *near.place] for n, near in self.by_n.items()],
            "wrong": self.wrong,
            "undecided": self.undecided,
            "first_wrong": _flat(self.first_wrong),
            "first_undecided": _flat(self.first_undecided),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Findings:
        """Returns the findings in a document checked by FIELDS."""
        by_n = {n: Nearest(count, distance, (number, step)) for n, count, distance, number, step in document["by_n"]}
        firsts = (_unflat(document[name]) for name in ("first_wrong", "first_undecided"))
        return cls(by_n, document["wrong"], document["undecided"], *firsts)


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


def _flat(found: tuple[int, Place] | None) -> list[int] | None:
    return None if found is None else [found[0], *found[1]]


def _unflat(found: list[int] | None) -> tuple[int, Place] | None:
    return None if found is None else (found[0], (found[1], found[2]))


_NUMBER = whole(0, 1 << 62)
_FIRST = optional(record(_NUMBER, _NUMBER, _NUMBER))
FIELDS: dict[str, Check] = {
    "by_n": each(record(_NUMBER, _NUMBER, optional(number()), _NUMBER, _NUMBER)),  # n, count, distance, number, step
    "wrong": _NUMBER,
    "undecided": _NUMBER,
    "first_wrong": _FIRST,  # n, number, step
    "first_undecided": _FIRST,
}
