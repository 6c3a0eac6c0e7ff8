"""Judges decide whether every bit of a state is correct and how far it is from an error; findings add up the results.

An integer network is judged in exact arithmetic, and a third-party network (networks/external) by its outputs with
bounds on the deviation of any runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.engines.external import FittedModel, ModelColumns
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import ExactSums, columns_of
from bitwright.proofs.exhaustion.domains import ALL, Domain, Place, StatesDomain, make_domain
from bitwright.rules import Algorithm, Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray


@dataclass(frozen=True, eq=False)
class Judged:
    """The results for a batch of states, each over all of its bits."""

    n: IntArray  # (batch,)
    distance: NDArray[Any] | None  # (batch,) of the bit closest to an error; None if no bit is checked
    wrong: BoolArray  # (batch,)
    undecided: BoolArray  # (batch,) neither certainly right nor certainly wrong
    at_zero: bool = False  # whether states without matches have a distance


class Judge(Protocol):
    """Judges states, which are represented by the examples that they match (batch, K)."""

    def __call__(self, matched: BoolArray, own: slice, /) -> Judged:
        """Judges the checked bits of these states."""

    def distances(self, matched: BoolArray) -> NDArray[Any]:  # (batch, k)
        """Returns the distance of each bit from an error, which is below 1 (integers) or 0 (floats) if it is wrong."""


def written_bits(program: Program, matched: BoolArray) -> BoolArray:  # (batch, K) -> (batch, k)
    """Returns successors by the rules: a bit is on if a template that writes it is matched (Eq. 6)."""
    return np.asarray(matched.astype(np.float64) @ program.write_matrix > 0)


class IntegerJudge:
    """Judges an integer network. The distance of a bit is G - T if it must be set, otherwise T + 1 - G.

    The distance is an integer, and at least 1 exactly if the bit is correct.
    """

    def __init__(self, program: Program, network: IntegerNetwork) -> None:
        self._sums, self._network, self._program = ExactSums(network, program), network, program
        self._columns = columns_of(network, program)

    def distances(self, matched: BoolArray) -> IntArray:  # (batch, k)
        """Returns each bit's distance from an error."""
        table = self._network.thresholds[np.maximum(np.count_nonzero(matched, axis=1), 1) - 1]
        over = self._sums.products(matched) - table[:, self._columns]  # G - T
        return np.asarray(np.where(written_bits(self._program, matched), over, 1 - over))

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        n, distance = np.count_nonzero(matched, axis=1), self.distances(matched)[:, own].min(axis=1)
        return Judged(n, distance, (distance < 1) & (n > 0), np.zeros(len(n), dtype=bool))


def states_of(columns: ModelColumns, algorithm: Algorithm, name: str) -> Domain:
    """Returns the domain with this name for a network; a network that reads bits distinguishes all configurations."""
    if columns.pattern.whole is None:
        return StatesDomain(columns.pattern)
    return make_domain(replace(algorithm, program=columns.program), name, columns.pattern)


class ModelJudge:
    """Judges a third-party network: a bit is correct if every runtime's output is on the correct side.

    The distance is that of the output from the threshold, minus the deviation of runtimes; it is below 0 if the bit is
    wrong.
    """

    def __init__(self, network: FittedModel) -> None:
        self._network = network

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        distance, wrong, undecided = (values[:, own] for values in self.by_bit(matched))
        n = np.count_nonzero(matched[:, self._network.columns.real], axis=1)
        any_wrong, any_undecided = np.asarray(wrong.any(axis=1)), np.asarray(undecided.any(axis=1))
        return Judged(n, distance.min(axis=1), any_wrong, any_undecided & ~any_wrong, at_zero=True)

    def distances(self, matched: BoolArray) -> FloatArray:  # (batch, k)
        """Returns each bit's distance from an error."""
        return self.by_bit(matched)[0]

    def by_bit(self, matched: BoolArray) -> tuple[FloatArray, BoolArray, BoolArray]:  # (batch, k) each
        """Returns each bit's distance from an error, which bits are wrong, and which are undecided."""
        outputs, truth = self._network.decide(matched), written_bits(self._network.columns.program, matched)
        over = outputs.values - self._network.model.threshold
        right = np.where(truth, over - outputs.error > 0, over + outputs.error <= 0)
        wrong = np.where(truth, over + outputs.error <= 0, over - outputs.error > 0)
        return np.where(truth, over, -over) - outputs.error, wrong, ~(right | wrong)


def nothing_at_stake(matched: BoolArray) -> Judged:  # (batch, K)
    """Returns the results for local states of cells without ports, in which no bit is checked."""
    n, none = np.count_nonzero(matched, axis=1), np.zeros(len(matched), dtype=bool)
    return Judged(n, None, none, none)


@dataclass(frozen=True)
class Nearest:
    """The number of states with the same n, and their smallest distance with the first place that has it."""

    count: int
    distance: float | int | None  # None at n = 0 and in cells without ports
    place: Place

    def __add__(self, other: Nearest) -> Nearest:
        pairs = [(nearest.distance, nearest.place) for nearest in (self, other) if nearest.distance is not None]
        distance, place = min(pairs) if pairs else (None, min(self.place, other.place))
        return Nearest(self.count + other.count, distance, place)


@dataclass(frozen=True)
class Findings:
    """The findings for some states; they add up in any order."""

    by_n: Mapping[int, Nearest] = field(default_factory=dict)
    wrong: int = 0
    undecided: int = 0
    first_wrong: tuple[int, Place] | None = None  # the fewest matches, and the first place with them
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

    def to_json(self) -> list[Any]:
        by_n = [(n, near.count, near.distance, near.place) for n, near in self.by_n.items()]
        return [by_n, self.wrong, self.undecided, self.first_wrong, self.first_undecided]

    @classmethod
    def from_json(cls, document: list[Any]) -> Findings:
        """Returns what `to_json` gave."""
        by_n, wrong, undecided, *firsts = document
        first, second = (None if one is None else (one[0], (one[1][0], one[1][1])) for one in firsts)
        near = {n: Nearest(count, distance, tuple(place)) for n, count, distance, place in by_n}
        return cls(near, wrong, undecided, first, second)


def find(judged: Judged, numbers: IntArray, step: int, times: int) -> Findings:
    """Returns the findings for these states, which each occurred this many times."""
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


def _first(*places: tuple[int, Place] | None) -> tuple[int, Place] | None:
    return min((place for place in places if place is not None), default=None)
