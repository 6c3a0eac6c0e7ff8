"""One long run of a large program by the sign rule: follow only the blocks that do not rest, in compiled loops.

Between two steps most blocks of a large program rest: they are empty, or just keep what they hold. This batch of a
single state looks at the others only, and still knows n exactly: resting holders and active matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.engines.sparse import active_blocks_loop as loop
from bitwright.engines.sparse.sign import SignCounts, SignRule, sign_counts
from bitwright.engines.sparse.tables import SparseTables
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray


class ActiveBlocksBatch(Batch):
    """A batch of one state; steps in which the sign rule could differ from the templates are made by it, one by one."""

    def __init__(self, tables: SparseTables, state: BoolArray, sign: SignRule) -> None:
        self._tables, self._sign = tables, sign
        self._counters = np.zeros(len(loop.COUNTERS), dtype=np.int64)
        self._counters[loop.LEAST] = loop.NONE_YET
        self._worst = np.inf
        self._watched_for: tuple[Sequence[int], Sequence[int]] | None = None  # what `_watched` was made for
        blocks = tables.program.blocks
        self._lists = np.zeros((2, blocks), dtype=np.uint32)  # active blocks, now and next
        self._room = tuple(np.zeros(blocks, dtype=np.uint32) for _ in range(3))
        self.load(state[np.newaxis])

    def load(self, states: BoolArray) -> None:
        """Takes a state in: every block that may match is looked at in the next step."""
        config = self._tables.program.configurations(states[0]).astype(np.uint32)
        look = config != 0
        look[self._tables.writes.empties] = True
        active = np.flatnonzero(look)
        self._lists[0, : len(active)] = active
        self._counters[[loop.ACTIVE, loop.HOLDERS, loop.SIDE]] = len(active), 0, 0
        self._memory = loop.ActiveMemory(self._counters, config, self._lists, *self._room)
        self._counts: SignCounts = sign_counts(self._tables.program, self._sign)
        self._counts.worst[0] = self._worst

    def step(self) -> None:
        self.leap(1)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        counters, tables = self._counters, self._tables
        counters[[loop.COUNTED, loop.MOST]], counters[loop.LEAST] = 0, loop.NONE_YET
        if self._watched_for != (stops, counted):
            self._watched = loop.WatchedBits(tables.places(stops), tables.places(counted))
            self._watched_for = stops, counted
        made = int(
            loop.advance_from_python(most, self._watched, self._memory, tables.lookup, tables.writes, self._counts)
        )
        if not made and counters[loop.REFUSED]:
            made = self._step_by_sign(counted)
        self.counted = int(counters[loop.COUNTED])
        self.matches = int(counters[loop.LEAST]), int(counters[loop.MOST])
        return made

    def _step_by_sign(self, counted: Sequence[int]) -> int:
        """One step in which the sign rule may round a bit otherwise than the templates have it."""
        before = self.states()
        after, margin, n = self._sign.step(before)
        self._worst = min(float(self._counts.worst[0]), margin)
        self.load(after)
        self._counters[loop.UNCHANGED] = bool((before == after).all())
        self._counters[[loop.LEAST, loop.MOST]] = n
        self._counters[loop.COUNTED] = sum(bool(after[0, bit]) for bit in counted)
        return 1

    def turn_on(self, bits: Sequence[int], rows: int | Sequence[int] = 0) -> None:  # noqa: ARG002
        counters, config, program = self._counters, self._memory.config, self._tables.program
        for bit in bits:
            block, mask = int(self._tables.block_of[bit]), 1 << int(self._tables.position[bit])
            now = int(config[block])
            resting = now & loop.RESTING
            if resting or (now == 0 and block not in self._tables.writes.empties):
                self._lists[counters[loop.SIDE], counters[loop.ACTIVE]] = block
                counters[loop.ACTIVE] += 1
            if resting:
                counters[loop.HOLDERS] -= 1
                members = program.block_members(block)
                np.subtract.at(self._counts.held, self._counts.class_of[members[self.read(members)]], 1)
            config[block] = (now & loop.FULL) | mask

    def keep(self, rows: BoolArray) -> None:
        """Nothing to leave out of a batch of one."""

    def states(self) -> BoolArray:
        tables = self._tables
        return np.asarray(((self._memory.config[tables.block_of] >> tables.position) & 1).astype(bool)[np.newaxis])

    def read(self, bits: IntArray, rows: int | IntArray = 0) -> BoolArray:  # without making the whole state
        tables = self._tables
        found = ((self._memory.config[tables.block_of[bits]] >> tables.position[bits]) & 1).astype(bool)
        return np.asarray(found if isinstance(rows, int) else found[np.newaxis])

    def bit(self, bit: int) -> BoolArray:
        tables = self._tables
        return np.array([bool(self._memory.config[tables.block_of[bit]] >> tables.position[bit] & 1)])

    def unchanged(self) -> BoolArray:
        return np.array([self._counters[loop.UNCHANGED] != 0])

    def margin(self) -> FloatArray:
        """The smallest of all steps so far."""
        return self._counts.worst.copy()
