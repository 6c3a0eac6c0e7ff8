"""A single run where the sign rule takes every step of the rules: only how close it comes to an error is its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.table.batch import TableBatch
from bitwright.engines.table.packed import PackedCells
from bitwright.theory.closed_form import FloatArray


class SignBatch(TableBatch):
    """A batch of one state; `least` says for each n how close to 0 a mean can be."""

    _by_rows_too = False  # n is not followed there

    def __init__(self, cells: PackedCells, state: BoolArray, least: FloatArray) -> None:
        self._least, self._closest = least, np.inf
        super().__init__(cells, state)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        made = super().leap(most, stops, counted)
        if made and self.matches is not None:
            lowest, highest = self.matches
            self._closest = min(self._closest, float(self._least[lowest : highest + 1].min()))
        return made

    def margin(self) -> FloatArray:
        """No mean of all steps so far was closer to 0 than this, by the n that were met."""
        return np.array([self._closest])
