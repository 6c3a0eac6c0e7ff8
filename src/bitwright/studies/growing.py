"""Ensembles that grow member by member: the accuracy of the average of the first N, for every N."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from bitwright.studies.members import Outputs, TestSet
from bitwright.theory.closed_form import FloatArray, Kind
from bitwright.theory.rounding import Rounding


class Members(Protocol):
    """Outputs of members, by number."""

    def outputs(self, first: int, count: int) -> Outputs: ...


def accuracies(
    test: TestSet, members: Members, roundings: Sequence[Rounding], kind: Kind, batch: int
) -> Iterator[tuple[int, FloatArray]]:
    """After each batch: how many members were there before it, and the accuracies of the averages of the first 1, 2,
    ... members after that, of shape (roundings, batch). Endless; the batch does not change any number.
    """
    truth, inputs = test.matched > 0, int(test.times.sum())
    thresholds = [test.thresholds(rounding, kind) for rounding in roundings]
    total, first = np.zeros(test.matched.shape), 0
    while True:
        found = np.empty((len(thresholds), batch))
        for number, outputs in enumerate(members.outputs(first, batch)):
            total += outputs
            for line, threshold in zip(found, thresholds, strict=True):  # of a sum, the threshold is N times as high
                right = ((total > threshold * (first + number + 1)) == truth).all(axis=1)
                line[number] = int(right @ test.times) / inputs
        yield first, found
        first += batch


def first_reaching(
    test: TestSet, members: Members, rounding: Rounding, kind: Kind, accuracy: float, most: int, batch: int
) -> tuple[int | None, float]:
    """The smallest N whose average is that accurate, and its accuracy; None (and the best seen) if `most` is "
    "not enough."""
    best = 0.0
    for first, found in accuracies(test, members, [rounding], kind, batch):
        enough = np.flatnonzero(found[0] >= accuracy)
        if len(enough):
            at = int(enough[0])
            return first + at + 1, float(found[0, at])
        best = max(best, float(found.max()))
        if first + batch >= most:
            return None, best
    raise AssertionError  # the loop is endless


def curve(
    test: TestSet, members: Members, roundings: Sequence[Rounding], kind: Kind, points: Sequence[int], batch: int
) -> FloatArray:  # (roundings, points)
    """The accuracy at each of these ensemble sizes, in increasing order."""
    parts: list[FloatArray] = []
    for first, found in accuracies(test, members, roundings, kind, batch):
        parts.append(found)
        if first + batch >= points[-1]:
            break
    return np.concatenate(parts, axis=1)[:, np.asarray(points) - 1]


def sizes_to(most: int, count: int = 40) -> list[int]:
    """Ensemble sizes from 1 to `most`, evenly spread on a logarithmic axis."""
    return sorted({round(float(size)) for size in np.geomspace(1, max(most, 1), count)})
