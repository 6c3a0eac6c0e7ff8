"""From real outputs back to bits: the paper's sign rule, and calibrated rounding, which expects interference.

Both are told how many examples write each bit (c, from the training set) and how many the input matches (n, from the
encoding); only `calibrated` uses it.

Outputs are read as F = c w0 + (w1 - w0) m: m of the bit's c writers match. Trained on templates, the limit's weights
say how much that is. Trained on states, a set bit has the label 1, or 1/sqrt(n) where labels are scaled, and others 0:
then w0 = 0, and halfway to the label is the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, check_choice
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights, check_matches, weights

Scale = Literal["ntk", "last-layer", "plain", "scaled"]  # the limit of the template's training set, or labels of states
Rounding = Literal["calibrated", "sign"]
ROUNDINGS: tuple[Rounding, ...] = ("calibrated", "sign")


def check_states_rounding(rounding: str) -> None:
    """Raises InputError for the sign rule: states that were trained on have outputs of 0 where a bit is off."""
    if rounding != "calibrated":
        raise InputError(
            f"what was trained on states is rounded halfway between its labels; leave out the rounding {rounding}"
        )


def scale_weights(n: ArrayLike, examples: int, scale: Scale) -> Weights:
    """What a matched and an unmatched writer are worth in an output, by n.

    >>> scale_weights([1, 4], 8, "scaled").gap
    array([1. , 0.5])
    """
    if scale == "ntk" or scale == "last-layer":
        return weights(n, examples, scale)
    n = check_matches(n, examples)
    label = np.where(n > 0, 1 / np.sqrt(np.maximum(n, 1)) if scale == "scaled" else 1.0, 0.0)
    return Weights(matched=label, unmatched=np.zeros_like(label), gap=label)


def check_rounding(name: str) -> Rounding:
    """The rounding of this name, or an InputError."""
    return check_choice("rounding", name, ROUNDINGS)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Where a rounding decides: a bit is set if its output is above `at`; margins are measured in `unit`.

    `at` is infinite for bits that are off whatever the outputs are: all of them where nothing matches and, under
    `sign`, those that nothing writes, because their mean is exactly 0 and any noise would decide them.
    """

    at: FloatArray  # (batch, k)
    unit: FloatArray  # (batch,)
    at_stake: BoolArray  # (batch,) whether there is a margin: not where nothing matches, nor at n = 1 under `sign`

    @classmethod
    def of(
        cls,
        rounding: Rounding,
        matches: IntArray,  # (batch,)
        writers: IntArray,  # (k,)
        examples: int,
        kind: Scale = "ntk",
    ) -> Thresholds:
        """sign: 0 (Section 6). calibrated: c w0 + (w1 - w0)/2, halfway between no matching writer and one."""
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
    """The bits that outputs stand for, and how far each state, or `each` bit, was from being rounded the other way.

    Under `calibrated` the margin is the smallest `|zhat - 1/2|`, with zhat = (F - c w0)/(w1 - w0) the estimate of how
    many writers match; under `sign` the smallest `|F|`. What lies within `tolerance` of a threshold counts as at it.
    """
    found = Thresholds.of(rounding, matches, writers, examples, kind)
    over = outputs - found.at
    margins = np.where(found.at_stake[:, None], np.abs(over) / found.unit[:, None], np.inf)
    return over > tolerance, margins if each else margins.min(axis=1, initial=np.inf)
