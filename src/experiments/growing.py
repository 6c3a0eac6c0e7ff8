"""Ensembles that grow member by member: the accuracy of the average of the first N, for every N."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import count
from typing import Protocol

import numpy as np

from bitwright.networks.growth import grow_members
from bitwright.theory.closed_form import FloatArray, Kind
from bitwright.theory.rounding import Rounding
from experiments.members import Outputs, TestSet


class Growing(Protocol):
    """Outputs of members, by number."""

    def outputs(self, first: int, count: int) -> Outputs: ...


class Averages:
    """The accuracy of the average of the first 1, 2, ... members, as they come."""

    def __init__(self, test: TestSet, roundings: Sequence[Rounding], kind: Kind) -> None:
        self._truth, self._times, self._inputs = test.matched > 0, test.times, int(test.times.sum())
        self._thresholds = [test.thresholds(rounding, kind) for rounding in roundings]
        self._total, self._members = np.zeros(test.matched.shape), 0
        self._lines: list[FloatArray] = []

    def add(self, block: Outputs) -> FloatArray:  # (roundings, block)
        """The accuracies with each of these members; the size of the block does not change any number."""
        found = np.empty((len(self._thresholds), len(block)))
        for number, outputs in enumerate(block):
            self._total += outputs
            self._members += 1
            for line, threshold in zip(found, self._thresholds, strict=True):  # of a sum: N times as high
                right = ((self._total > threshold * self._members) == self._truth).all(axis=1)
                line[number] = int(right @ self._times) / self._inputs
        self._lines.append(found)
        return found

    @property
    def lines(self) -> FloatArray:  # (roundings, members)
        """All accuracies so far."""
        return np.concatenate(self._lines, axis=1)


def first_reaching(
    test: TestSet, members: Growing, rounding: Rounding, kind: Kind, accuracy: float, most: int, batch: int
) -> tuple[int | None, float]:
    """The smallest N whose average is that accurate, and its accuracy; None, and the best seen, where `most` do not
    suffice."""
    averages = Averages(test, [rounding], kind)
    grow_members(_blocks(members, batch), most, lambda block: bool((averages.add(block) >= accuracy).any()))
    line = averages.lines[0]
    reached = np.flatnonzero(line >= accuracy)
    return (int(reached[0]) + 1, float(line[reached[0]])) if len(reached) else (None, float(line.max()))


def curve(
    test: TestSet, members: Growing, roundings: Sequence[Rounding], kind: Kind, points: Sequence[int], batch: int
) -> FloatArray:  # (roundings, points)
    """The accuracy at each of these ensemble sizes, in increasing order."""
    averages = Averages(test, roundings, kind)

    def add(block: Outputs) -> bool:
        averages.add(block)
        return False

    grow_members(_blocks(members, batch), points[-1], add)
    return averages.lines[:, np.asarray(points) - 1]


def _blocks(members: Growing, size: int) -> Callable[[int], Generator[Outputs]]:
    """All members in batches, from a block on."""

    def blocks(first: int) -> Generator[Outputs]:
        for number in count(first):
            yield members.outputs(number * size, size)

    return blocks


def sizes_to(most: int, count: int = 40) -> list[int]:
    """Ensemble sizes from 1 to `most`, evenly spread on a logarithmic axis."""
    return sorted({round(float(size)) for size in np.geomspace(1, max(most, 1), count)})
