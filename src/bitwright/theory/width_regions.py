"""Which states a width must suffice for: the local states of each kind of a pattern's cells, or the whole state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.program.local import LocalStates
from bitwright.program.pattern import Pattern


@dataclass(frozen=True, eq=False)
class Region:
    """All local states of one kind; of each only its own ports are looked at."""

    pattern: Pattern
    kind: int = 0

    @property
    def program(self) -> Program:
        return self.pattern.program

    @cached_property
    def local(self) -> LocalStates:
        return LocalStates(self.pattern.kinds[self.kind])

    @cached_property
    def own(self) -> BoolArray:  # (k,)
        """Which bits are looked at."""
        own = np.zeros(self.program.bits, dtype=bool)
        own[self.pattern.port_bits(self.kind)] = True
        return own

    @property
    def templates(self) -> slice:
        """The templates of this kind."""
        return slice(*self.pattern.first_template[self.kind : self.kind + 2].tolist())

    @property
    def block_of(self) -> IntArray:  # (K',)
        """The block of every template, counted from 0."""
        return self.local.block_of

    @cached_property
    def optional(self) -> BoolArray:  # (B,)
        """Which blocks may match nothing."""
        return np.array([len(configs) < 1 << bits for bits, configs in self.local.kind.blocks], dtype=bool)

    @cached_property
    def log_states(self) -> float:
        """ln of how many states there are."""
        return float(np.log(self.local.radix).sum())

    def sample(self, count: int, rng: np.random.Generator) -> BoolArray:  # (states, K)
        """All states if they are no more than `count`, else random ones.

        Half of these choose evenly; for the others a block matches with a probability of the state's own, so that
        states with few and with many matches are seen as well.
        """
        if self.log_states < log(count) + 1e-9:
            return self._placed(self.local.matched(np.arange(self.local.count)))
        radix, spare = self.local.radix, self.optional.astype(np.int64)
        digits = np.floor(rng.random((count, len(radix))) * radix).astype(np.int64)
        half = count // 2
        some = spare + np.floor(rng.random((half, len(radix))) * (radix - spare)).astype(np.int64)
        nothing = (rng.random((half, len(radix))) > rng.random((half, 1))) & self.optional
        digits[:half] = np.where(nothing, 0, some)
        return self._placed(self.local.matching(digits))

    def neighbours(self, matched: BoolArray) -> BoolArray:  # (states, K) -> (more states, K)
        """Every state that differs from one of these in one block."""
        block, mine = self.block_of, matched[:, self.templates]
        rows = []
        for choice in range(len(block)):  # this template in place of what its block has
            other = mine.copy()
            other[:, block == block[choice]] = False
            other[:, choice] = True
            rows.append(other)
        for at in np.flatnonzero(self.optional):
            other = mine.copy()
            other[:, block == at] = False
            rows.append(other)
        return self._placed(np.concatenate(rows))

    def _placed(self, mine: BoolArray) -> BoolArray:
        found = np.zeros((len(mine), self.program.templates), dtype=bool)
        found[:, self.templates] = mine
        return found


def regions_of(pattern: Pattern) -> list[Region]:
    """All local states, kind by kind."""
    return [Region(pattern, kind) for kind in range(len(pattern.kinds))]
