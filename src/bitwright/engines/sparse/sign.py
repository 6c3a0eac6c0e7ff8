"""What the loop over active blocks must know to round by sign, and to say how close a bit came to 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights


@dataclass(frozen=True)
class SignRule:
    """Weights by n, the n from which a step may differ from that of the templates, and how to make such a step."""

    weights: Weights
    fails_from: int | None
    step: Callable[[BoolArray], tuple[BoolArray, float, int]]  # one step of one state, its margin and its n

    def bound(self, writers: IntArray) -> FloatArray:  # by n
        """No mean of a bit with none or one of its writers matching is closer to 0 than this; nothing is at stake for
        n <= 1, and below `fails_from` a bit with more matches is further away."""
        w = self.weights
        unset = np.multiply.outer(w.unmatched, writers)
        found = np.minimum(np.abs(unset), np.abs(unset + w.gap[:, None])).min(axis=1, initial=np.inf)
        return np.where(np.arange(len(found)) > 1, found, np.inf)


class SignCounts(NamedTuple):
    """What the loop keeps to know every mean. Bits come in classes: those with equally many writers."""

    fails_from: NDArray[np.int64]  # (1,)
    worst: FloatArray  # (1,) the smallest mean so far, in absolute value
    bound: FloatArray  # by n
    writers: IntArray  # (classes,)
    total: IntArray  # (classes,) bits of each; 0 for those that nothing writes: nothing is rounded there
    held: IntArray  # (classes,) bits that blocks at rest hold
    unmatched: FloatArray  # w0 by n
    gap: FloatArray  # w1 - w0 by n
    class_of: IntArray  # (k,)
    write_bits: IntArray
    last_noted: NDArray[np.int64]  # (k,) the step in which a bit was last noted,
    times_noted: NDArray[np.int64]  # (k,) and how often in that step
    pairs: NDArray[np.int64]  # (classes, most writers + 2) bits by class and number of matching writers
    block_start: IntArray
    block_bits: IntArray


def sign_counts(program: Program, rule: SignRule) -> SignCounts:
    """The counts of a state in which nothing rests."""
    writers, class_of = np.unique(program.writers, return_inverse=True)
    return SignCounts(
        fails_from=np.array([2**62 if rule.fails_from is None else rule.fails_from], dtype=np.int64),
        worst=np.full(1, np.inf),
        bound=rule.bound(writers[writers > 0]),
        writers=writers,
        total=np.where(writers > 0, np.bincount(class_of), 0),
        held=np.zeros(len(writers), dtype=np.int64),
        unmatched=rule.weights.unmatched,
        gap=rule.weights.gap,
        class_of=class_of,
        write_bits=program.write_bits,
        last_noted=np.full(program.bits, -1, dtype=np.int64),
        times_noted=np.zeros(program.bits, dtype=np.int64),
        pairs=np.zeros((len(writers), int(writers.max()) + 2), dtype=np.int64),
        block_start=program.block_start,
        block_bits=program.block_bits,
    )
