"""Rounds real outputs to bits with the paper's sign rule, or calibrated rounding, which corrects for interference.

Both receive the number of examples that write each bit (c, from the training set) and that the input matches (n, from
the encoding); `calibrated` derives its threshold from both.

An output is F = c w0 + (w1 - w0) m, where m of the bit's c writers match. For a network trained on templates, w0 and w1
are the limit's weights. For one trained on states, set bits have the label 1, or 1/sqrt(n) with scaled labels, and
other bits 0; then w0 = 0, and the threshold is half the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.bits import BoolArray
from bitwright.common.errors import check_choice
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights, check_matches, weights

Scale = Literal["ntk", "last-layer", "plain", "scaled"]  # the limit on templates, or labels of states
Rounding = Literal["calibrated", "sign"]
ROUNDINGS: tuple[Rounding, ...] = ("calibrated", "sign")


def scale_weights(n: ArrayLike, examples: int, scale: Scale) -> Weights:
    """Returns the contributions of a matched and an unmatched writer to an output, by n.

    >>> scale_weights([1, 4], 8, "scaled").gap
    array([1. , 0.5])
    """
    if scale == "ntk" or scale == "last-layer":
        return weights(n, examples, scale)
    n = check_matches(n, examples)
    label = np.where(n > 0, 1 / np.sqrt(np.maximum(n, 1)) if scale == "scaled" else 1.0, 0.0)
    return Weights(matched=label, unmatched=np.zeros_like(label), gap=label)


def check_rounding(name: str) -> Rounding:
    """Returns the rounding with this name; raises InputError if there is none."""
    return check_choice("rounding", name, ROUNDINGS)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The thresholds of a rounding: a bit is set if its output is above `at`; margins are measured in `unit`.

    `at` is infinite for bits that are off regardless of the outputs: all bits if nothing matches and, under `sign`,
    bits that nothing writes, because their mean is exactly 0 and any noise would decide them.
    """

    at: FloatArray  # (batch, k)
    unit: FloatArray  # (batch,)
    at_stake: BoolArray  # (batch,) whether there is a margin; none if nothing matches, or at n = 1 under `sign`

    @classmethod
    def of(
        cls,
        rounding: Rounding,
        matches: IntArray,  # (batch,)
        writers: IntArray,  # (k,)
        examples: int,
        kind: Scale = "ntk",
    ) -> Thresholds:
        """Computes thresholds: sign 0 (Section 6), calibrated c w0 + (w1 - w0)/2, halfway between m = 0 and 1."""
        some = matches > 0
        if rounding == "sign":
            masked = np.where(writers > 0, 0.0, np.inf)
            return cls(np.where(some[:, None], masked, np.inf), np.ones(len(matches)), matches > 1)
        w = scale_weights(matches, examples, kind)
        at = w.unmatched[:, None] * writers + w.gap[:, None] / 2
        return cls(np.where(some[:, None], at, np.inf), np.where(some, w.gap, 1.0), some)


def round_outputs(
    outputs: FloatArray,  # (batch, k)
    matches: IntArray,  # (batch,)
    writers: IntArray,  # (k,)
    examples: int,
    rounding: Rounding,
    kind: Scale = "ntk",
    tolerance: float = 0.0,
    *,
    each: bool = False,
) -> tuple[BoolArray, FloatArray]:  # (batch, k), and (batch,) or (batch, k)
    """Rounds outputs to bits; also returns the margin of each state, or of `each` bit.

    Under `calibrated` the margin is the smallest `|zhat - 1/2|`, where zhat = (F - c w0)/(w1 - w0) estimates how many
    writers match; under `sign` it is the smallest `|F|`. An output within `tolerance` of a threshold counts as equal.
    """
    thresholds = Thresholds.of(rounding, matches, writers, examples, kind)
    over = outputs - thresholds.at
    margins = np.where(thresholds.at_stake[:, None], np.abs(over) / thresholds.unit[:, None], np.inf)
    return over > tolerance, margins if each else margins.min(axis=1, initial=np.inf)
