"""A single run, stepped from a table of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.engines.table import loop
from bitwright.engines.table.packed import SET, N, PackedCells
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray

_WORTH = 10_000  # steps of a leap from which a memo is used
_FEW, _MANY = 15, 200  # steps before one that shows how many cells move, and from how many on rows may be faster
_ROWS = 2_000  # steps by rows before the next look: fewer cells may move by then
_REST = 200  # steps for which it pays to make rows of cells, and cells of rows again


class LeapMemo(Protocol):
    """Takes the steps of `leap` with one counted bit, and those that it has seen before faster."""

    def leap(self, most: int, stops: IntArray, counted: IntArray, moving: loop.Moving, tables: Any) -> int:
        """Returns how many steps it took, and leaves the counters as the loops of cells do."""


class TableBatch(Batch):
    """A batch of one state; `margins`: how close each entry is to another answer, if answers are rounded."""

    memo: Callable[[PackedCells], LeapMemo] | None = None  # lent by an observer that counts a bit

    _by_rows_too = True  # where many cells move

    def __init__(self, cells: PackedCells, state: BoolArray, margins: FloatArray | None = None) -> None:
        self._cells, self._margins = cells, margins
        self._watched_for: tuple[Sequence[int], Sequence[int]] | None = None
        self._memory: LeapMemo | None = None  # for these bits
        units = cells.units
        self._lists = np.zeros((2, units + 1), dtype=np.uint32)
        self._before, self._queue = np.zeros(units + 1, dtype=np.uint32), np.zeros(units + 1, dtype=np.uint64)
        self._counters = np.zeros(len(loop.COUNTERS), dtype=np.int64)
        self._seen = np.zeros(len(cells.tables.entries), dtype=np.uint8)
        self.load(state[np.newaxis])

    def load(self, states: BoolArray) -> None:
        """Loads a state: the next step looks at every cell that may do something."""
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
        """Takes steps by cells; by a memo, if an observer has lent one; by rows if many cells change."""
        if self._watched_for != (stops, counted):
            self._watched = self._cells.places(stops), self._cells.places(counted)
            self._watched_for, self._memory = (stops, counted), None
        if self.memo is not None and len(counted) == 1 and most >= _WORTH:
            return self._by_memo(self.memo, most)
        made = found = 0
        matches: list[tuple[int, int] | None] = []
        while made < most:
            if (since := made % (_FEW + 1 + _ROWS)) <= _FEW:
                now = self._by_cells(min(most - made, 1 if since else _FEW))
            elif self._by_rows_too and self._crowded and most - made >= _REST:
                now = self._by_rows(min(most - made, _ROWS))
            else:
                now = self._by_cells(most - made)
            made, found = made + now, found + self.counted
            matches.append(self.matches)
            if self.unchanged()[0] or any(self.bit(bit)[0] for bit in stops):
                break
        self.counted = found
        known = [n for n in matches if n is not None]
        all_known = len(known) == len(matches) > 0
        self.matches = (min(n[0] for n in known), max(n[1] for n in known)) if all_known else None
        return made

    @property
    def _crowded(self) -> bool:
        """Whether enough cells moved in the last step for rows of them to be faster."""
        visits = int(self._counters[loop.VISITS])
        return visits > _MANY and self._cells.rows.pays(visits)

    def _by_cells(self, most: int) -> int:
        made = int(loop.advance_from_python(most, *self._watched, self._moving, self._cells.tables))
        self._note()
        return made

    def _by_memo(self, memo: Callable[[PackedCells], LeapMemo], most: int) -> int:
        self._memory = self._memory or memo(self._cells)
        made = self._memory.leap(most, *self._watched, self._moving, self._cells.tables)
        self._note()
        return made

    def _note(self) -> None:
        self.counted = int(self._counters[loop.COUNTED])
        self.matches = int(self._counters[loop.LEAST]), int(self._counters[loop.MOST])

    def _by_rows(self, most: int) -> int:
        """Takes the same steps for 64 neighbours at a time, without following n."""
        from bitwright.engines.table.rows import run_rows_from_python

        plan, words = self._cells.rows, self._moving.words
        now = plan.load(words)
        margins = self._margins
        closer = np.zeros(0, dtype=np.int64)  # entries that would make the smallest margin smaller
        if margins is not None:
            closer = np.flatnonzero(margins < margins[self._seen > 0].min(initial=np.inf))
            closer = closer[np.argsort(margins[closer])]
        stops, counted = (plan.watched(places) for places in self._watched)
        wanted = plan.wanted(closer)
        made, self.counted, same = run_rows_from_python(most, stops, counted, wanted, now, self._seen, plan.rows)
        plan.store(now, words)
        self._begin()
        self._counters[loop.UNCHANGED] = same
        self.matches = None
        return int(made)

    def turn_on(self, bits: Sequence[int], rows: int | Sequence[int] = 0) -> None:  # noqa: ARG002
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

    def _append(self, unit: int) -> None:
        self._lists[self._counters[loop.SIDE], self._counters[loop.ACTIVE]] = unit
        self._counters[loop.ACTIVE] += 1

    def keep(self, rows: BoolArray) -> None:
        """Does nothing: a batch of one has nothing to leave out."""

    def states(self) -> BoolArray:
        cells = self._cells
        return np.asarray(((self._moving.words[cells.unit] >> cells.place) & 1).astype(bool)[np.newaxis])

    def read(self, bits: IntArray, rows: int | IntArray = 0) -> BoolArray:  # without making the whole state
        cells = self._cells
        found = ((self._moving.words[cells.unit[bits]] >> cells.place[bits]) & 1).astype(bool)
        return np.asarray(found if isinstance(rows, int) else found[np.newaxis])

    def bit(self, bit: int) -> BoolArray:
        cells = self._cells
        return np.array([bool(self._moving.words[cells.unit[bit]] >> cells.place[bit] & 1)])

    def unchanged(self) -> BoolArray:
        return np.array([self._counters[loop.UNCHANGED] != 0])

    def margin(self) -> FloatArray | None:
        """The smallest of all steps so far."""
        return None if self._margins is None else np.array([self._margins[self._seen > 0].min(initial=np.inf)])
