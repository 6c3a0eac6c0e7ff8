"""Members of ensembles, trained or drawn from the limit, and the accuracy of the average of the first N of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, covariance, weights
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.rounding import Rounding, Thresholds
from paper.accuracy import signed_gaps
from paper.training import Recipe, train

Outputs = NDArray[np.floating]  # (members, states, k)


@dataclass(frozen=True, eq=False)
class TestSet:
    """Different states of a program with their number of occurrences, encoded, and what should follow them."""

    __test__ = False  # not for pytest

    examples: TrainingSet
    states: BoolArray  # (P, k), all different
    times: IntArray  # (P,)

    @classmethod
    def of(cls, program: Program, states: BoolArray, padding: int = 0) -> TestSet:
        different, times = np.unique(states, axis=0, return_counts=True)
        return cls(TrainingSet(program, padding), different, times)

    @cached_property
    def _matching(self) -> tuple[Any, IntArray]:
        return self.examples.matches(self.states)

    @property
    def n(self) -> IntArray:  # (P,)
        return self._matching[1]

    @cached_property
    def matched(self) -> IntArray:  # (P, k)
        """m: how many matched examples write each bit."""
        return np.asarray((self._matching[0] @ self.examples.labels()).toarray(), dtype=np.int64)

    @cached_property
    def encoded(self) -> FloatArray:  # (P, K)
        return self.examples.encode(self.states)

    def gaps(self, rounding: Rounding, kind: Kind) -> tuple[FloatArray, FloatArray]:  # (inputs, k), (inputs,)
        """For paper/accuracy.py: every state as often as it occurs."""
        found, sigma = signed_gaps(
            self.matched, self.n, self.examples.program.writers, self.examples.examples, rounding, kind
        )
        return np.repeat(found, self.times, axis=0), np.repeat(sigma, self.times)

    def thresholds(self, rounding: Rounding, kind: Kind) -> FloatArray:  # (P, k)
        """The outputs above which bits are set; infinite for bits that are off whatever the networks say."""
        return Thresholds.of(rounding, self.n, self.examples.program.writers, self.examples.examples, kind).at


class LimitMembers:
    """Members drawn from the limiting Gaussian: joint over states, independent over output bits (Theorem 3.1)."""

    def __init__(self, test: TestSet, kind: Kind, seed: int) -> None:
        K, program = test.examples.examples, test.examples.program
        w = weights(test.n, K, kind)
        self._mean = w.unmatched[:, None] * program.writers + w.gap[:, None] * test.matched  # (P, k)
        shared = (test.encoded > 0).astype(float) @ (test.encoded > 0).T.astype(float)
        values, vectors = np.linalg.eigh(covariance(test.n[:, None], test.n, shared, K, kind))
        self._root = vectors * np.sqrt(np.maximum(values, 0))  # (P, P)
        self._seed = seed

    def outputs(self, first: int, count: int) -> Outputs:
        drawn = []
        for member in range(first, first + count):
            rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(member,)))
            drawn.append(self._mean + self._root @ rng.standard_normal(self._mean.shape))
        return np.stack(drawn)


class TrainedMembers:
    """Networks trained one after the other, or many at once on a CUDA device; a member depends on its number alone."""

    def __init__(self, test: TestSet, recipe: Recipe) -> None:
        self._test, self._recipe = test, recipe

    @property
    def device(self) -> str:
        """What trains, in words."""
        if self._recipe.device == "cpu":
            return f"CPU, {self._recipe.trainer}"
        from bitwright.networks.descent import check_device, torch_module

        torch = torch_module()
        return f"{torch.cuda.get_device_name(check_device(self._recipe.device))}, torch {torch.__version__}"

    def outputs(self, first: int, count: int) -> Outputs:
        program, recipe, members = self._test.examples.program, self._recipe, range(first, first + count)
        if recipe.device != "cpu":
            from paper.device_members import outputs_on_device

            return outputs_on_device(program, recipe, members, self._test.states)
        encoded = TrainingSet(program, recipe.padding).encode(self._test.states)
        return np.stack([train(program, replace(recipe, member=m))[0](encoded) for m in members]).astype(np.float32)


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
    for block in _blocks(members, most, batch):
        if (averages.add(block) >= accuracy).any():
            break
    line = averages.lines[0]
    reached = np.flatnonzero(line >= accuracy)
    return (int(reached[0]) + 1, float(line[reached[0]])) if len(reached) else (None, float(line.max()))


def curve(
    test: TestSet, members: Growing, roundings: Sequence[Rounding], kind: Kind, points: Sequence[int], batch: int
) -> FloatArray:  # (roundings, points)
    """The accuracy at each of these ensemble sizes, in increasing order."""
    averages = Averages(test, roundings, kind)
    for block in _blocks(members, points[-1], batch):
        averages.add(block)
    return averages.lines[:, np.asarray(points) - 1]


def _blocks(members: Growing, most: int, size: int) -> Iterator[Outputs]:
    """The first `most` members, rounded up to whole blocks."""
    return (members.outputs(first, size) for first in range(0, most, size))


def sizes_to(most: int, count: int = 40) -> list[int]:
    """Ensemble sizes from 1 to `most`, evenly spread on a logarithmic axis."""
    return sorted({round(float(size)) for size in np.geomspace(1, max(most, 1), count)})
