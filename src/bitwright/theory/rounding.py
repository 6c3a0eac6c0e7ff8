"""From real outputs back to bits: the paper's sign rule, and ours, which knows what interference to expect.

Both are told how many examples write each bit (c, from the training set) and how many the input matches (n, from the
encoding); only `calibrated` uses it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from bitwright.bits import BoolArray, shorten
from bitwright.errors import InputError, suggestion
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, weights

Rounding = Literal["calibrated", "sign"]
ROUNDINGS: tuple[Rounding, ...] = ("calibrated", "sign")


def check_rounding(name: str) -> Rounding:
    """The rounding of this name, or an InputError."""
    for known in ROUNDINGS:
        if name == known:
            return known
    raise InputError(
        f"there is no rounding '{shorten(name)}'; choose {' or '.join(ROUNDINGS)}{suggestion(name, ROUNDINGS)}"
    )


def round_outputs(
    outputs: FloatArray,  # (batch, k)
    matches: IntArray,  # (batch,)
    writers: IntArray,  # (k,)
    examples: int,
    rounding: Rounding,
    kind: Kind = "ntk",
    tolerance: float = 0.0,
) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
    """The bits that outputs stand for, and how far each state was from having a bit rounded the other way.

    sign: a bit is set if its output is above 0 (Section 6); bits that nothing writes are masked to 0, because their
    mean is exactly 0 and any noise would decide them. The margin is the smallest distance from 0 among written bits.
    calibrated: the output is turned into an estimate of the number of matching writers,
    zhat = (F - c w0)/(w1 - w0), and a bit is set if that is above 1/2. The margin is the smallest |zhat - 1/2|.
    Where nothing matches, the next state is all zero; there, and at n = 1 under `sign`, no margin is at stake.
    """
    if rounding == "sign":
        written = writers > 0
        bits = (outputs > tolerance) & written
        distance = np.abs(outputs[:, written]).min(axis=1, initial=np.inf)
        return bits & (matches > 0)[:, None], np.where(matches > 1, distance, np.inf)
    w = weights(matches, examples, kind)
    gap = np.where(matches > 0, w.gap, 1)[:, None]
    estimate = (outputs - w.unmatched[:, None] * writers) / gap
    margin = np.abs(estimate - 0.5).min(axis=1)
    return (estimate > 0.5) & (matches > 0)[:, None], np.where(matches > 0, margin, np.inf)
