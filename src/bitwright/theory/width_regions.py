"""Which states a width must suffice for: a choice in every block of a program, or of one kind of cell in a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.program.pattern import Pattern


@dataclass(frozen=True, eq=False)
class Region:
    """All states of some neighbouring blocks: in each a template, or nothing where some configuration has none.

    Only the bits `own` are looked at. What other blocks would match is left out, as for a cell.
    """

    program: Program
    own: BoolArray  # (k,)
    first: int = 0  # the first template, and the one after the last
    last: int | None = None

    @cached_property
    def choices(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:  # (B,), (B,), (K',), (K',)
        """For every block its choices and whether nothing is one; for every template its block and its digit."""
        program = self.program
        owner = program.template_block[self.first : self.last]
        blocks, start, block, counts = np.unique(owner, return_index=True, return_inverse=True, return_counts=True)
        spare = (counts < np.left_shift(1, np.diff(program.block_start)[blocks])).astype(np.int64)
        return counts + spare, spare, block, np.arange(len(owner)) - start[block] + spare[block]

    @property
    def block_of(self) -> IntArray:  # (K',)
        """The block of every template, counted from 0."""
        return self.choices[2]

    @property
    def optional(self) -> BoolArray:  # (B,)
        """Which blocks may match nothing."""
        return self.choices[1] > 0

    @cached_property
    def log_states(self) -> float:
        """ln of how many states there are."""
        return float(np.log(self.choices[0]).sum())

    def sample(self, count: int, rng: np.random.Generator) -> BoolArray:  # (states, K)
        """All states if they are no more than `count`, else random ones.

        Half of these choose evenly; for the others a block matches with a probability of the state's own, so that
        states with few and with many matches are seen as well.
        """
        radix, spare, _, _ = self.choices
        if self.log_states < log(count) + 1e-9:
            value = np.concatenate(([1], np.cumprod(radix)[:-1]))
            return self._matched(np.arange(round(np.exp(self.log_states)))[:, None] // value % radix)
        digits = np.floor(rng.random((count, len(radix))) * radix).astype(np.int64)
        half = count // 2
        some = spare + np.floor(rng.random((half, len(radix))) * (radix - spare)).astype(np.int64)
        nothing = (rng.random((half, len(radix))) > rng.random((half, 1))) & (spare > 0)
        digits[:half] = np.where(nothing, 0, some)
        return self._matched(digits)

    def neighbours(self, matched: BoolArray) -> BoolArray:  # (states, K) -> (more states, K)
        """Every state that differs from one of these in one block."""
        block, digit = self.choices[2], self.choices[3]
        mine = matched[:, self.first : self.last]
        rows = []
        for choice in range(len(digit)):  # this template in place of what its block has
            other = mine.copy()
            other[:, block == block[choice]] = False
            other[:, choice] = True
            rows.append(other)
        for at in np.flatnonzero(self.optional):
            other = mine.copy()
            other[:, block == at] = False
            rows.append(other)
        return self._placed(np.concatenate(rows))

    def _matched(self, digits: IntArray) -> BoolArray:
        _, _, block, digit = self.choices
        return self._placed(digits[:, block] == digit)

    def _placed(self, mine: BoolArray) -> BoolArray:
        found = np.zeros((len(mine), self.program.templates), dtype=bool)
        found[:, self.first : self.last] = mine
        return found


def whole_region(program: Program) -> list[Region]:
    """All states of a program."""
    return [Region(program, np.ones(program.bits, dtype=bool), 0, program.templates)]


def cell_regions(pattern: Pattern) -> list[Region]:
    """All local states, kind by kind; of each only its own ports are read."""
    regions = []
    for number in range(len(pattern.kinds)):
        own = np.zeros(pattern.program.bits, dtype=bool)
        own[pattern.port_bits(number)] = True
        first, last = (int(pattern.first_template[at]) for at in (number, number + 1))
        regions.append(Region(pattern.program, own, first, last))
    return regions
