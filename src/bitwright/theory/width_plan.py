"""How wide one network should be: drawn from the width law, without training anything.

Two answers. One covers all states by the union over them and is too large, because states are correlated. The other is
the width at which the worst of many states, in draws of the law's Gaussian field, is right with probability 1 - delta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log, pi, sqrt

import numpy as np
import scipy

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.ensemble import check_delta
from bitwright.theory.width_field import Draw, WidthField
from bitwright.theory.width_regions import Region

_EULER = 0.5772156649015329
_KEPT = 8  # of the states of a region, those from which worse ones are looked for
SWEEPS = 30
_WORK = 4e11  # operations that looking further may take, in all draws together; then there are fewer sweeps
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class WorstError:
    """The largest error over all states that were looked at, times sqrt(h), in several draws of the field."""

    errors: FloatArray  # (draws,) of zhat
    needs: FloatArray  # (draws,) of errors towards the threshold, over the distance to it: sqrt(h) must be above
    states: int  # looked at in the first place
    cut: bool = False  # whether looking further was given up somewhere while it still found worse states

    def width(self, delta: float) -> float:
        """The width at which a network is wrong somewhere with probability delta, to first order.

        Maxima of Gaussian fields nearly follow Gumbel's law; it is taken with the mean and deviation of the draws.
        """
        check_delta(delta)
        scale = float(self.needs.std(ddof=1)) * sqrt(6) / pi
        return float(max(0.0, self.needs.mean() + scale * (-log(-log(1 - delta)) - _EULER)) ** 2)

    @property
    def interval(self) -> tuple[float, float, float]:
        """The mean of the largest error, and the range of nine draws in ten."""
        low, high = np.quantile(self.errors, [0.05, 0.95])
        return float(self.errors.mean()), float(low), float(high)


def label_matrix(program: Program) -> scipy.sparse.csr_array:  # (K, k)
    """Y: ones at the bits that each template writes."""
    return TrainingSet(program).labels()


def worst_error(
    field: WidthField,
    places: Sequence[tuple[BoolArray, BoolArray, Region | None]],
    *,
    draws: int,
    units: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> WorstError:
    """Draws the field at states: what they match (states, K), which bits are looked at (k,), and where a region is
    given, from its worst states on to ever worse ones, block by block.
    """
    rng = np.random.default_rng([seed, 1])
    errors, needs, cut = np.zeros(draws), np.zeros(draws), False
    sweeps = most_sweeps(field, units * draws * len(places))
    for number in range(draws):
        draw = field.draw(rng, units)
        for matched, own, region in places:
            error, needed = _look(field, draw, matched, own)
            need = float(needed.max(initial=0.0))
            if region is not None:
                more, worse, unfinished = _climb(field, draw, matched, own, region, needed, sweeps)
                error, need, cut = max(error, more), max(need, worse), cut or unfinished
            errors[number], needs[number] = max(errors[number], error), max(needs[number], need)
        if progress:
            progress(number + 1, draws)
    return WorstError(errors, needs, sum(len(matched) for matched, _, _ in places), cut)


def _look(field: WidthField, draw: Draw, matched: BoolArray, own: BoolArray) -> tuple[float, FloatArray]:
    """The largest error, and for every state the largest towards the threshold, over the distance to it."""
    found = field.errors(draw, matched)[:, own]
    needs = (found / field.distance(matched)[:, own]).max(axis=1, initial=0.0)
    return float(np.abs(found).max(initial=0.0)), needs


def _climb(
    field: WidthField,
    draw: Draw,
    matched: BoolArray,
    own: BoolArray,
    region: Region,
    needs: FloatArray,
    sweeps: int,
) -> tuple[float, float, bool]:
    """From each of the worst states on to its worst neighbour, until none is worse; and whether it was given up."""
    start = np.argsort(-needs, kind="stable")[:_KEPT]
    at, best, error, need = matched[start], needs[start], 0.0, 0.0
    for _ in range(sweeps):
        others = region.neighbours(at)  # state by state for every change
        if not len(others):
            return error, need, False
        more, needed = _look(field, draw, others, own)
        error = max(error, more)
        by_change = needed.reshape(-1, len(at))
        change = np.argmax(by_change, axis=0)
        reached = by_change[change, np.arange(len(at))]
        need = max(need, float(reached.max()))
        going = reached > best * (1 + 1e-6)
        if not going.any():
            return error, need, False
        at = others.reshape(-1, *at.shape)[change, np.arange(len(at))][going]
        best = reached[going]
    return error, need, True


def most_sweeps(field: WidthField, units: int) -> int:
    """How often neighbours are looked at, for this many hidden units in all."""
    K, k = field.dense.shape
    each = 2.0 * units * _KEPT * 1.5 * K * (3 * K + 2 * k)  # a block has a neighbour or so more than its templates
    return int(max(2, min(SWEEPS, _WORK / each)))


def rounded(width: float, least: int, most: int) -> int:
    """The next power of two, within these."""
    return min(most, max(least, 1 << max(0, ceil(width) - 1).bit_length()))
