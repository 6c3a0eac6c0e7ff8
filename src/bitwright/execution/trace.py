"""Traces: every state of a run, and with it every match, in one bit a bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray, from_bits
from bitwright.errors import InputError
from bitwright.lazy import Shown
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray

_MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Trace(Shown):
    """The states of a run from its start (step 0) to its end.

    Matches follow from the states, so they are looked up when asked for instead of being stored.
    """

    program: Program
    packed: NDArray[np.uint8]  # (steps + 1, ceil(k / 8))
    outputs: NDArray[np.float32] | None = None  # (steps, k) of a real engine, for each state but the last

    @property
    def steps(self) -> int:
        return len(self.packed) - 1

    def __len__(self) -> int:
        return len(self.packed)

    def state(self, step: int) -> BoolArray:  # (k,)
        """The state after `step` steps."""
        return np.unpackbits(self.packed[step], count=self.program.bits).astype(bool)

    def states(self) -> BoolArray:  # (steps + 1, k)
        """All states at once."""
        return np.unpackbits(self.packed, axis=1, count=self.program.bits).astype(bool)

    def bit(self, bit: int) -> BoolArray:  # (steps + 1,)
        """One bit after every step."""
        return np.asarray(self.packed[:, bit >> 3] >> (7 - (bit & 7)) & 1 == 1)

    def matches(self, step: int) -> IntArray:  # (n,)
        """The templates that the state after `step` steps matches; the next state is what they write."""
        return self.program.match(self.state(step))

    def number(self, step: int, name: str) -> int:
        """An array of bits read as a number (index 1 is the lowest bit) after `step` steps."""
        field = self.program.layout[name]
        return from_bits(self.state(step)[field.offset : field.offset + field.size])


class Recorder:
    """Collects the states of a run as it goes on."""

    def __init__(self, program: Program) -> None:
        self._program, self._rows, self._bytes = program, list[NDArray[np.uint8]](), 0
        self._outputs: list[NDArray[np.float32]] = []

    def add(self, state: BoolArray, outputs: FloatArray | None = None) -> None:
        """The next state, and the real outputs that were rounded to it, where there are any."""
        row = np.packbits(state)
        self._bytes += len(row) + 100
        if outputs is not None:
            self._bytes += 4 * len(outputs)
            self._outputs.append(outputs.astype(np.float32))
        if self._bytes > _MAX_BYTES:
            raise InputError(
                f"a trace holds at most {_MAX_BYTES >> 20:,} MiB, full after {len(self._rows):,} steps; "
                "lower the step limit"
            )
        self._rows.append(row)

    def trace(self, steps: int) -> Trace:
        """The trace up to the given step; a run that stops at a fixed point has made one step more."""
        outputs = np.array(self._outputs[:steps]) if steps and len(self._outputs) >= steps else None
        return Trace(self._program, np.array(self._rows[: steps + 1]), outputs)
