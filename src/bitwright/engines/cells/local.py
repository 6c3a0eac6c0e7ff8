"""Local states: what a cell of some kind can match, as a number whose digits are the choices in its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program.cells import Kind
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class LocalStates:
    """The local states of one kind. A digit 0 is no match if that is possible; the first block's changes fastest."""

    kind: Kind

    @property
    def count(self) -> int:
        return self.kind.local_states

    @cached_property
    def radix(self) -> IntArray:  # (blocks,)
        return np.array(self.kind.choices, dtype=np.int64)

    @cached_property
    def value(self) -> IntArray:  # (blocks,)
        """What one is worth in the digit of each block."""
        return np.concatenate(([1], np.cumprod(self.radix)[:-1])) if len(self.radix) else self.radix

    @cached_property
    def block_of(self) -> IntArray:  # (templates,)
        return np.repeat(np.arange(len(self.kind.blocks)), [len(configs) for _, configs in self.kind.blocks])

    @cached_property
    def digit(self) -> IntArray:  # (templates,)
        """The digit that chooses each template."""
        spare = [int(len(configs) < 1 << bits) for bits, configs in self.kind.blocks]
        parts = [np.arange(len(configs)) + more for (_, configs), more in zip(self.kind.blocks, spare, strict=True)]
        return np.concatenate(parts)

    @cached_property
    def writes(self) -> BoolArray:  # (templates, ports)
        writes = np.zeros((self.kind.templates, len(self.kind.ports)), dtype=bool)
        for port, templates in enumerate(self.kind.ports):
            writes[list(templates), port] = True
        return writes

    def matched(self, numbers: IntArray) -> BoolArray:  # (states,) -> (states, templates)
        """Which templates each local state matches."""
        digits = numbers[:, None] // self.value % self.radix
        return np.asarray(digits[:, self.block_of] == self.digit)

    def truth(self, matched: BoolArray) -> BoolArray:  # (states, templates) -> (states, ports)
        """Which ports the rules set."""
        return matched.astype(np.float32) @ self.writes.astype(np.float32) > 0
