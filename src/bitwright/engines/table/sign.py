"""A single run under the sign rule: from the table of the rules' answers, as long as both take the same steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.table import loop
from bitwright.engines.table.batch import TableBatch
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:
    from bitwright.engines.rules import LimitEngine

_FARTHEST = 1 << 40  # steps of a leap
_NEVER = 1 << 62  # more than any n


class SignBatch(TableBatch):
    """A batch of one state.

    It computes means only in steps in which the sign rule may differ from the rules, or come closer to 0 than before:
    both follow from n.
    """

    _by_rows_too = False  # n is not followed there

    def __init__(self, engine: LimitEngine, state: BoolArray) -> None:
        self._engine, self._closest, self._reach = engine, np.inf, _FARTHEST
        fails_from = engine.decisions.fails_from
        self._fails_from = _NEVER if fails_from is None else fails_from
        super().__init__(engine.packed, state)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        before = self.states()
        made = super().leap(min(most, self._reach), stops, counted)
        assert self.matches is not None
        least, largest = self.matches
        if largest < self._fails_from and self._engine.least_means[least : largest + 1].min() >= self._closest:
            self._reach = min(2 * self._reach, _FARTHEST)
            return made
        self.load(before)
        if made > 1:  # which of these steps it is shows in shorter leaps
            self._reach = 1
            return self.leap(1, stops, counted)
        after, margin, n = self._engine.one_step(before)
        self.load(after)
        self._counters[loop.UNCHANGED] = bool((before == after).all())
        self.counted, self.matches = sum(bool(after[0, bit]) for bit in counted), (n, n)
        self._closest = min(self._closest, margin)
        return 1

    def margin(self) -> FloatArray:
        """The smallest of all steps so far."""
        return np.array([self._closest])
