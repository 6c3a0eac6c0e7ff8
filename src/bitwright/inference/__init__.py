"""Infers templates from executions: writes that states and their successors confirm, clear, or leave undetermined.

This module determines, by elimination, which configuration writes which bit. A bit that is 0 after a step clears the
write of that bit for every configuration in the state before the step. A bit that is 1 was written by one of these
configurations; if all others are cleared, the remaining write is confirmed. The states do not determine the other
writes. A bit that is 1 without a remaining candidate is a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.files.executions import Executions
from bitwright.rules import Layout, Program
from bitwright.rules.layout import IntArray
from bitwright.runs.successors import successors
from bitwright.theory.encoding import pack_words, unpack

Rows = NDArray[np.uint64]  # bits of a state in words, or the bits that a configuration may write


@dataclass(frozen=True, eq=False)
class SeenBlock:
    """The configurations of a block that occur in the states, and the writes that elimination does not clear."""

    bits: IntArray
    configs: IntArray  # (seen,) ascending
    of_state: IntArray  # (N,) index of each state's configuration
    order: IntArray  # (N,) states by configuration
    first: IntArray  # (seen,) start of each configuration in that order
    open: Rows  # (seen, words) bits that were on after every state with it

    @property
    def candidates(self) -> Rows:  # (N, words)
        """The bits that this block may have written, for every state."""
        return np.asarray(self.open[self.of_state])

    def gathered(self, rows: Rows) -> Rows:  # (N, words) -> (seen, words)
        """Returns the bits that are on in the row of some state with the configuration, for every configuration."""
        return np.asarray(np.bitwise_or.reduceat(rows[self.order], self.first, axis=0))


class Evidence:
    """Executions in packed words, for access by block."""

    def __init__(self, executions: Executions) -> None:
        self.executions = executions
        self.before, self.after = executions.before, pack_rows(executions.after)
        self.bits = self.before.shape[1]

    def block(self, bits: Sequence[int]) -> SeenBlock:
        """Finds the configurations of a block of these bits in the states."""
        places = np.asarray(bits, dtype=np.int64)
        config = self.before[:, places] @ (1 << np.arange(len(places)))
        order = np.argsort(config, kind="stable")
        in_order = config[order]
        begins = np.ones(len(order), dtype=bool)  # starts of new configurations
        np.not_equal(in_order[1:], in_order[:-1], out=begins[1:])
        first = np.flatnonzero(begins)
        of_state = np.empty(len(order), dtype=np.int64)
        of_state[order] = np.cumsum(begins) - 1
        always = np.bitwise_and.reduceat(self.after[order], first, axis=0)
        return SeenBlock(places, in_order[first], of_state, order, first, always)


class Elimination:
    """The blocks of a partition of the bits, after elimination."""

    def __init__(self, evidence: Evidence, blocks: Sequence[Sequence[int]]) -> None:
        self.evidence = evidence
        self.blocks = [evidence.block(bits) for bits in blocks]

    @cached_property
    def _counted(self) -> tuple[Rows, Rows]:  # (N, words), (N, words)
        """Bits with a candidate in each state, and bits with two or more."""
        some, several = np.zeros_like(self.evidence.after), np.zeros_like(self.evidence.after)
        for block in self.blocks:
            candidates = block.candidates
            several |= some & candidates
            some |= candidates
        return some, several

    @cached_property
    def unexplained(self) -> BoolArray:  # (N, k)
        """Bits that are on after a state without a remaining candidate that writes them."""
        return unpack_rows(self.evidence.after & ~self._counted[0], self.evidence.bits)

    @cached_property
    def open(self) -> list[BoolArray]:  # for each block (seen, k)
        """Writes that are not cleared."""
        return [unpack_rows(block.open, self.evidence.bits) for block in self.blocks]

    @cached_property
    def confirmed(self) -> list[BoolArray]:  # for each block (seen, k)
        """Writes that are the only remaining candidate for some state."""
        some, several = self._counted
        single = some & ~several
        return [unpack_rows(block.gathered(block.candidates & single), self.evidence.bits) for block in self.blocks]


def pack_rows(states: BoolArray) -> Rows:  # (N, k) -> (N, words)
    """Packs each state into separate words."""
    return pack_words(states.T)


def unpack_rows(rows: Rows, bits: int) -> BoolArray:
    """Unpacks states; the inverse of `pack_rows`."""
    return unpack(rows, bits).T


_TRIED = 32  # contradictions whose witnesses are compared


@dataclass(frozen=True)
class Contradiction:
    """A state after which a bit is on, and a few states that exclude every possible cause; numbered from 0."""

    bit: int
    state: int  # the bit is on after this state
    cleared_by: tuple[int, ...]  # states after which the bit is off; together they cover all blocks of that state
    states: int  # number of states in the data with a contradiction
    blocks: tuple[tuple[int, ...], ...]  # the blocks involved


def find_contradiction(elimination: Elimination) -> Contradiction | None:
    """Returns the contradiction with the shortest of several witnesses; None if the data are consistent."""
    wrong = elimination.unexplained
    if not wrong.any():
        return None
    tried = [(_witness(elimination, state, bit), state, bit) for state, bit in np.argwhere(wrong)[:_TRIED].tolist()]
    cleared, state, bit = min(tried, key=lambda witness: len(witness[0]))
    blocks = tuple(tuple(block.bits.tolist()) for block in elimination.blocks)
    return Contradiction(bit, state, tuple(sorted(cleared)), int(wrong.any(axis=1).sum()), blocks)


def _witness(elimination: Elimination, state: int, bit: int) -> list[int]:
    """Greedily chooses states that leave the bit off and together contain the configuration of every block."""
    zeros = np.flatnonzero(~elimination.evidence.executions.after[:, bit])
    shared = np.stack([block.of_state[zeros] == block.of_state[state] for block in elimination.blocks], axis=1)
    unmet, chosen = np.ones(shared.shape[1], dtype=bool), list[int]()
    while unmet.any():
        best = int(shared[:, unmet].sum(axis=1).argmax())
        chosen.append(int(zeros[best]))
        unmet &= ~shared[best]
    return chosen


class Recovered:
    """The writes that consistent executions confirm, clear and leave open, for given blocks."""

    def __init__(self, executions: Executions, layout: Layout, blocks: Sequence[Sequence[int]]) -> None:
        self.executions, self.layout = executions, layout
        self.elimination = Elimination(Evidence(executions), blocks)
        if self.elimination.unexplained.any():
            raise InputError("these executions contradict each other, so no rules with these blocks explain them")

    @property
    def blocks(self) -> list[list[int]]:
        """The bits of each block."""
        return [block.bits.tolist() for block in self.elimination.blocks]

    @cached_property
    def configurations(self) -> int:
        """The number of configurations of all blocks."""
        return sum(1 << len(block.bits) for block in self.elimination.blocks)

    @cached_property
    def seen(self) -> int:
        """The number of configurations that occur in some state."""
        return sum(len(block.configs) for block in self.elimination.blocks)

    @cached_property
    def confirmed(self) -> int:
        """The number of writes that some state proves."""
        return sum(int(rows.sum()) for rows in self.elimination.confirmed)

    @cached_property
    def undetermined(self) -> int:
        """The number of writes of seen configurations that the states neither prove nor exclude."""
        return sum(int(rows.sum()) for rows in self.elimination.open) - self.confirmed

    @property
    def cleared(self) -> int:
        """The number of writes that some state excludes."""
        return self.seen * self.layout.size - self.confirmed - self.undetermined

    @property
    def determined(self) -> bool:
        """Whether every write is determined."""
        return self.seen == self.configurations and not self.undetermined

    def program(self) -> Program:
        """Builds the program of the confirmed writes, without the open writes."""
        templates = [
            (number, int(config), np.flatnonzero(row).tolist())
            for number, (block, rows) in enumerate(
                zip(self.elimination.blocks, self.elimination.confirmed, strict=True)
            )
            for config, row in zip(block.configs, rows, strict=True)
            if row.any()
        ]
        if not templates:
            raise InputError("these states confirm no writes, so there is no program; give more states")
        return Program.from_tables(self.layout, self.blocks, templates)

    def open_lines(self) -> Iterator[str]:
        """Yields the writes that are not determined, as rules."""
        for block, kept, proved in zip(
            self.elimination.blocks, self.elimination.open, self.elimination.confirmed, strict=True
        ):
            names = [self.layout.name_of(bit) for bit in block.bits.tolist()]
            for row in np.flatnonzero((kept & ~proved).any(axis=1)).tolist():
                config = int(block.configs[row])
                when = " ".join(f"{name}={config >> place & 1}" for place, name in enumerate(names))
                written = np.flatnonzero(kept[row] & ~proved[row]).tolist()
                yield f"when {when} write {' '.join(self.layout.name_of(bit) for bit in written)}"

    def reproduced(self, program: Program) -> int:
        """Returns the number of states for which a program takes the correct step."""
        return int((successors(program, self.executions.before) == self.executions.after).all(axis=1).sum())
