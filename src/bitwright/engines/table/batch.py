"""Steps a single run with packed tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.engines.table import SET, N, PackedCells, loop
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:
    from bitwright.engines.rules import LimitEngine

Advance = Callable[[int, IntArray, IntArray, loop.Moving, Any], int]  # with the parameters of `loop.advance`
_WORTH = 10_000  # steps of a leap that make a memo worthwhile


class TableBatch(Batch):
    """A batch of one state; `margins` has each entry's distance from the opposite output, if outputs are rounded."""

    memo: Callable[[PackedCells], Advance] | None = None  # makes a faster `advance` for leaps that count one bit

    def __init__(self, cells: PackedCells, state: BoolArray, margins: FloatArray | None = None) -> None:
        self._cells, self._margins = cells, margins
        self._watched_for: tuple[Sequence[int], Sequence[int]] | None = None
        self._advance: Advance | None = None  # with a memo of runs to the current stops
        units = cells.units
        self._lists = np.zeros((2, units + 1), dtype=np.uint32)
        self._before, self._queue = np.zeros(units + 1, dtype=np.uint32), np.zeros(units + 1, dtype=np.uint64)
        self._counters = np.zeros(len(loop.COUNTERS), dtype=np.int64)
        self._seen = np.zeros(len(cells.tables.entries), dtype=np.uint8)
        self.load(state[np.newaxis])

    def load(self, states: BoolArray) -> None:
        """Loads a state; the next step visits every cell that may act."""
        words = self._cells.words(states[0])
        self._moving = loop.Moving(self._counters, words, self._lists, self._before, self._queue, self._seen)
        self._begin()

    def _begin(self) -> None:
        look = self._moving.words != 0
        look[self._cells.tables.always] = True
        active = np.flatnonzero(look)
        self._lists[0, : len(active)] = active
        self._counters[[loop.ACTIVE, loop.HELD, loop.SIDE, loop.UNCHANGED]] = len(active), 0, 0, 0

    def step(self) -> None:
        self.leap(1)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        if self._watched_for != (stops, counted):
            self._watched = self._cells.places(stops), self._cells.places(counted)
            self._watched_for, self._advance = (stops, counted), None
        advance = loop.advance_from_python
        if self.memo is not None and len(counted) == 1 and most >= _WORTH:
            advance = self._advance = self._advance or self.memo(self._cells)
        made = int(advance(most, *self._watched, self._moving, self._cells.tables))
        self.counted = int(self._counters[loop.COUNTED])
        self.matches = int(self._counters[loop.LEAST]), int(self._counters[loop.MOST])
        return made

    def turn_on(self, bits: Sequence[int]) -> None:
        words, counters, tables = self._moving.words, self._counters, self._cells.tables
        for unit, mask in self._cells.places(bits).tolist():
            now = int(words[unit])
            if now & loop.RESTING:
                now &= int(loop.FULL)
                entry = int(tables.entries[tables.table[unit] + now])
                counters[loop.HELD] -= entry >> N & ((1 << SET - N) - 1)
                self._append(unit)
            elif now == 0 and unit not in tables.always:
                self._append(unit)
            words[unit] = now | mask

    @property
    def moving(self) -> int:
        """The number of cells that the next step visits."""
        return int(self._counters[loop.ACTIVE])

    def _append(self, unit: int) -> None:
        self._lists[self._counters[loop.SIDE], self._counters[loop.ACTIVE]] = unit
        self._counters[loop.ACTIVE] += 1

    def keep(self, rows: BoolArray) -> None:
        """Does nothing, since the batch has only one state."""

    def states(self) -> BoolArray:
        cells = self._cells
        return np.asarray(((self._moving.words[cells.unit] >> cells.place) & 1).astype(bool)[np.newaxis])

    def read(self, bits: IntArray) -> BoolArray:  # without making the whole state
        cells = self._cells
        return np.asarray(((self._moving.words[cells.unit[bits]] >> cells.place[bits]) & 1).astype(bool))

    def bit(self, bit: int) -> BoolArray:
        cells = self._cells
        return np.array([bool(self._moving.words[cells.unit[bit]] >> cells.place[bit] & 1)])

    def unchanged(self) -> BoolArray:
        return np.array([self._counters[loop.UNCHANGED] != 0])

    def margin(self) -> FloatArray | None:
        """The smallest margin of all steps so far."""
        return None if self._margins is None else np.array([self._margins[self._seen > 0].min(initial=np.inf)])


class SignBatch(TableBatch):
    """A batch of one state under the sign rule.

    It computes means only in steps that may differ from the rules or have a smaller margin: n determines both.
    """

    def __init__(self, engine: LimitEngine, state: BoolArray) -> None:
        self._engine, self._closest, self._reach = engine, np.inf, loop.NONE_YET
        super().__init__(engine.packed, state)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        before, engine = self._moving.words & loop.FULL, self._engine
        made = super().leap(min(most, self._reach), stops, counted)
        assert self.matches is not None
        least, largest = self.matches
        if engine.least_means[least : largest + 1].min() >= self._closest:
            self._reach = min(2 * self._reach, loop.NONE_YET)
            return made
        self._moving.words[:] = before
        self._begin()
        if made > 1:  # shorter leaps find the step
            self._reach = 1
            return self.leap(1, stops, counted)
        state = self.states()
        after, margin = engine.one_step(state)
        self.load(after)
        self._counters[loop.UNCHANGED] = bool((state == after).all())
        self.counted, self._closest = int(np.count_nonzero(after[0, list(counted)])), min(self._closest, margin)
        return 1

    def margin(self) -> FloatArray:
        return np.array([self._closest])
