"""From real outputs back to bits: the paper's sign rule, and ours, which knows what interference to expect.

Both are told how many examples write each bit (c, from the training set) and how many the input matches (n, from the
encoding); only `calibrated` uses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bitwright.bits import BoolArray, shorten
from bitwright.errors import InputError, suggestion
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.scales import Scale, scale_weights

Rounding = Literal["calibrated", "sign"]
ROUNDINGS: tuple[Rounding, ...] = ("calibrated", "sign")


def check_rounding(name: str) -> Rounding:
    """The rounding of this name, or an InputError."""
    for known in ROUNDINGS:
        if name == known:
            return known
    word = str(name)
    raise InputError(
        f"there is no rounding '{shorten(word)}'; choose {' or '.join(ROUNDINGS)}{suggestion(word, ROUNDINGS)}"
    )


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
) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
    """The bits that outputs stand for, and how far each state was from having a bit rounded the other way.

    Under `calibrated` the margin is the smallest |zhat - 1/2|, with zhat = (F - c w0)/(w1 - w0) the estimate of how
    many writers match; under `sign` the smallest |F|. What lies within `tolerance` of a threshold counts as at it.
    """
    bits, margins = round_each(outputs, matches, writers, examples, rounding, kind, tolerance)
    return bits, margins.min(axis=1, initial=np.inf)


def round_each(
    outputs: FloatArray,  # (batch, k)
    matches: IntArray,  # (batch,)
    writers: IntArray,  # (k,)
    examples: int,
    rounding: Rounding,
    kind: Scale = "ntk",
    tolerance: float = 0.0,
) -> tuple[BoolArray, FloatArray]:  # (batch, k) twice
    """As `round_outputs`, with the margin of every bit by itself."""
    found = Thresholds.of(rounding, matches, writers, examples, kind)
    over = outputs - found.at
    return over > tolerance, np.where(found.at_stake[:, None], np.abs(over) / found.unit[:, None], np.inf)
