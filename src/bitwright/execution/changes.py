"""One long run of a large program that never rests: follow the bits that change, in compiled loops.

Some programs write the same bits again in every step (the read ports of machine B show all of memory all the time), so
most of their blocks are active for ever, and yet nothing changes. This batch of a single state remembers every block's
template and, for every bit, how many matched templates write it; a step looks only at blocks whose bits have changed.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray


class ChangeBatch:
    """A batch of one state. With `rounded`, its steps are those of a limit that is proved equal to the templates."""

    def __init__(self, program: Program, states: BoolArray, rounded: bool = False) -> None:
        from bitwright.execution.changes_kernel import advance

        self._advance, self._program, self._rounded = advance, program, rounded
        state = states[0]
        table, start = program._table
        self._tables = (
            program.block_of.astype(np.int32),
            program.position.astype(np.int32),
            table,
            start,
            program._keys,
            program.write_start,
            program.write_bits.astype(np.int32),
        )
        config = program.configurations(state)
        current = program.lookup(np.arange(program.blocks), config)
        matched = current[current >= 0]
        writers = np.zeros(program.bits, dtype=np.int32)
        for template in matched.tolist():
            writers[program.writes(template)] += 1
        pending = np.flatnonzero((writers > 0) != state)
        self._bits = state.astype(np.uint8)
        self._memory = (
            self._bits,
            config.astype(np.int32),
            current.astype(np.int32),
            writers,
            np.concatenate((pending, np.zeros(program.bits - len(pending), dtype=np.int64))).astype(np.int32),
            np.zeros(program.bits, dtype=np.int32),  # bits whose number of matched writers changed
            np.zeros(program.blocks, dtype=np.int32),  # blocks whose configuration changed
            np.full(program.bits, -1, dtype=np.int64),  # the clock when a bit was last noted
            np.full(program.blocks, -1, dtype=np.int64),
        )
        # Pending bits, n of the state, the clock; what the last step changed, and the largest n of the last leap.
        self._counters = np.array([len(pending), len(matched), 0, -1, 0], dtype=np.int64)

    def step(self) -> None:
        self.leap(1, ())

    def leap(self, most: int, stops: tuple[int, ...]) -> int:
        watched = np.array(stops, dtype=np.int64)
        return int(self._advance(most, watched, self._counters, *self._memory, *self._tables))

    def keep(self, rows: BoolArray) -> None:
        """Nothing to leave out of a batch of one."""

    def states(self) -> BoolArray:
        return np.asarray(self._bits.astype(bool)[np.newaxis])

    def bit(self, bit: int) -> BoolArray:
        return np.asarray(self._bits[bit : bit + 1].astype(bool))

    def unchanged(self) -> BoolArray:
        return np.array([self._counters[3] == 0])

    def margin(self) -> FloatArray | None:
        if not self._rounded:
            return None
        return np.array([0.5 if self._counters[4] else np.inf])
