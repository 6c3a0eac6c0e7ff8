"""One long run of a large program that never rests: follow the bits that change, in compiled loops.

Some programs write the same bits again in every step (the read ports of machine B show all of memory all the time), so
most of their blocks are active for ever, and yet nothing changes. This batch of a single state remembers every block's
template and, for every bit, how many matched templates write it; a step looks only at blocks whose bits have changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.engines.sparse import changed_bits_loop as loop
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray


class ChangedBitsBatch(Batch):
    """A batch of one state. With `rounded`, its steps are those of a limit that is proved equal to the templates."""

    def __init__(self, program: Program, state: BoolArray, rounded: bool) -> None:
        self._program, self._rounded = program, rounded
        table, start = program._table
        self._tables = loop.ChangeTables(
            program.block_of.astype(np.int32),
            program.position.astype(np.int32),
            table,
            start,
            program._keys,
            program.write_start,
            program.write_bits.astype(np.int32),
        )
        self.load(state[np.newaxis])

    def load(self, states: BoolArray) -> None:
        program, state = self._program, states[0]
        config = program.configurations(state)
        current = program.lookup(np.arange(program.blocks), config)
        matched = current[current >= 0]
        writers = np.zeros(program.bits, dtype=np.int32)
        for template in matched.tolist():
            writers[program.writes(template)] += 1
        pending = np.flatnonzero((writers > 0) != state)
        room = np.zeros(program.bits, dtype=np.int32)
        room[: len(pending)] = pending
        counters = np.zeros(len(loop.COUNTERS), dtype=np.int64)
        counters[[loop.PENDING, loop.MATCHES, loop.CHANGED]] = len(pending), len(matched), -1
        self._memory = loop.ChangeMemory(
            counters=counters,
            bits=state.astype(np.uint8),
            config=config.astype(np.int32),
            current=current.astype(np.int32),
            writers=writers,
            pending=room,
            noted=np.zeros(program.bits, dtype=np.int32),
            touched=np.zeros(program.blocks, dtype=np.int32),
            bit_clock=np.full(program.bits, -1, dtype=np.int64),
            block_clock=np.full(program.blocks, -1, dtype=np.int64),
        )

    def step(self) -> None:
        self.leap(1)

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:
        """Where bits are to be counted, one step at a time."""
        made = int(
            loop.advance_from_python(
                1 if counted else most, np.array(stops, dtype=np.int64), self._memory, self._tables
            )
        )
        self.counted = sum(bool(self._memory.bits[bit]) for bit in counted)
        return made

    def keep(self, rows: BoolArray) -> None:
        """Nothing to leave out of a batch of one."""

    def states(self) -> BoolArray:
        return np.asarray(self._memory.bits.astype(bool)[np.newaxis])

    def bit(self, bit: int) -> BoolArray:
        return np.asarray(self._memory.bits[bit : bit + 1].astype(bool))

    def unchanged(self) -> BoolArray:
        return np.array([self._memory.counters[loop.CHANGED] == 0])

    def margin(self) -> FloatArray | None:
        if not self._rounded:
            return None
        return np.array([0.5 if self._memory.counters[loop.MOST] else np.inf])
