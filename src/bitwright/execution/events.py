"""One long run of a large program: follow only what changes, in compiled loops.

Between two steps most blocks of a large program rest: they are empty, or just keep what they hold. This batch of a single
state looks at the others only, and still knows n exactly: resting holders and active matches. It needs numba (the
extra `fast`); without it large programs are stepped in packed words like small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights

WORTHWHILE = 4_000  # templates; smaller programs are stepped as fast in packed words, without a compiler's start
AVAILABLE = find_spec("numba") is not None


@dataclass(frozen=True)
class SignRule:
    """What the loop must know to round by sign: weights by n, the n from which a step may differ, and how to make it."""

    weights: Weights
    fails_from: int | None
    step: Callable[[BoolArray], tuple[BoolArray, float, int]]  # one step of one state, its margin and its n


class Tables:
    """A program as the loop reads it; made once for all runs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        table, start = program._table
        small = np.int32 if len(table) < 2**31 else np.int64
        self.block_of, self.position = program.block_of.astype(np.int32), program.position.astype(np.uint8)
        self.write_block = self.block_of[program.write_bits]
        self.write_mask = np.int32(1) << self.position[program.write_bits].astype(np.int32)
        sparse = bool((start < 0).any())
        keys = program._keys if sparse else np.zeros(0, dtype=np.int64)
        write_start = program.write_start.astype(np.int32 if len(program.write_bits) < 2**31 else np.int64)
        self.lookup = (table, start.astype(small), keys, self._holds())
        self.empties = program.template_block[program.template_config == 0].astype(np.int32)  # match when empty
        self.writes = (write_start, self.write_block, self.write_mask, self.empties)

    def _holds(self) -> BoolArray:  # (K,)
        """Templates that write exactly what they match: all their bits in their own block, and as many as it has on."""
        program = self.program
        counts = np.diff(program.write_start)
        owner = np.repeat(np.arange(program.templates), counts)
        own = (self.write_block == program.template_block[owner]) & (
            (program.template_config[owner] & self.write_mask) != 0
        )
        inside = np.bincount(owner, weights=own, minlength=program.templates).astype(np.int64)
        wanted = np.bitwise_count(program.template_config).astype(np.int64)
        return np.asarray((inside == counts) & (inside == wanted))

    def places(self, bits: Sequence[int]) -> NDArray[np.int64]:  # (bits, 2)
        """Block and mask of each bit."""
        at = np.array(bits, dtype=np.int64)
        return np.stack((self.block_of[at], 1 << self.position[at].astype(np.int64)), axis=1).reshape(-1, 2)

    @cached_property
    def crowds(self) -> tuple[IntArray, IntArray, IntArray]:
        """Bits by their number of writers: the numbers that occur, which of them each bit has, and how many have it.

        Bits that nothing writes are no part of it: nothing is rounded there.
        """
        crowds, crowd_of = np.unique(self.program.writers, return_inverse=True)
        total = np.bincount(crowd_of)
        return crowds, crowd_of, np.where(crowds > 0, total, 0)


class EventBatch:
    """A batch of one state. With `rounded`, its steps are those of a limit that is proved equal to the templates.

    With a `sign` rule, steps in which the limit could differ from the templates are made by that rule, one by one.
    """

    def __init__(
        self,
        program: Program,
        states: BoolArray,
        rounded: bool = False,
        sign: SignRule | None = None,
        tables: Tables | None = None,
    ) -> None:
        from bitwright.execution import events_kernel

        self._kernel, self._program, self._rounded, self._sign = events_kernel, program, rounded, sign
        self._tables = tables or Tables(program)
        self._worst = np.full(1, np.inf)
        self._counters = np.zeros(8, dtype=np.int64)
        self._counters[events_kernel.LEAST] = 1 << 62
        self._lists = tuple(np.zeros(program.blocks, dtype=np.int32) for _ in range(4))
        self._touched, self._queue = np.full(program.blocks, -1, np.int64), np.zeros(program.blocks, np.int32)
        self._load(states[0])

    def _load(self, state: BoolArray) -> None:
        """Takes a state in: every block that may match is looked at in the next step."""
        self._config = self._program.configurations(state).astype(np.int32)
        look = self._config != 0
        look[self._tables.empties] = True
        active = np.flatnonzero(look)
        self._lists[0][: len(active)] = active
        self._counters[self._kernel.ACTIVE], self._counters[self._kernel.HOLDERS] = len(active), 0
        self._tally = self._new_tally()

    def _new_tally(self) -> tuple[Any, ...]:
        program, tables, sign = self._program, self._tables, self._sign
        ints, floats = np.zeros(1, dtype=np.int64), np.zeros(1)
        if sign is None:
            return (ints, floats, ints, ints, ints, floats, floats, ints, ints, ints, ints, ints, ints)
        crowds, crowd_of, total = tables.crowds
        limits = np.array([2**62 if sign.fails_from is None else sign.fails_from, int(crowds.max())], dtype=np.int64)
        return (
            limits,
            self._worst,
            crowds,
            total,
            np.zeros(len(crowds), dtype=np.int64),
            sign.weights.unmatched,
            sign.weights.gap,
            crowd_of.astype(np.int64),
            program.write_bits,
            np.full(program.bits + program.blocks, -1, dtype=np.int64),  # when a bit, and when a block, was last noted
            np.zeros(program.bits, dtype=np.int64),
            program.block_start,
            program.block_bits,
        )

    def step(self) -> None:
        self.leap(1, ())

    def leap(self, most: int, stops: tuple[int, ...], counted: tuple[int, ...] = ()) -> int:
        """As the protocol says; `count` afterwards tells in how many of the states made a bit of `counted` was on."""
        kernel, counters, tables = self._kernel, self._counters, self._tables
        counters[[kernel.COUNTED, kernel.MOST]], counters[kernel.LEAST] = 0, 1 << 62
        self._worst[0] = np.inf
        watched, noted = tables.places(stops), tables.places(counted)
        made = int(
            kernel.advance(
                most,
                watched,
                noted,
                counters,
                self._config,
                *self._lists,
                self._touched,
                self._queue,
                *tables.lookup,
                *tables.writes,
                self._sign is not None,
                self._tally,
            )
        )
        return made if made or not counters[kernel.REFUSED] else self._slow_step(counted)

    def _slow_step(self, counted: tuple[int, ...]) -> int:
        """One step in which the sign rule may round a bit otherwise than the templates have it."""
        assert self._sign is not None
        kernel, before = self._kernel, self.states()
        after, margin, n = self._sign.step(before)
        self._load(after[0])
        self._worst[0] = margin
        self._counters[kernel.UNCHANGED] = bool((before == after).all())
        self._counters[[kernel.LEAST, kernel.MOST]] = n
        self._counters[kernel.COUNTED] = sum(bool(after[0, bit]) for bit in counted)
        return 1

    @property
    def count(self) -> int:
        """In how many states of the last leap the counted bit was on."""
        return int(self._counters[self._kernel.COUNTED])

    @property
    def matches(self) -> tuple[int, int]:
        """The smallest and the largest n of the steps of the last leap."""
        return int(self._counters[self._kernel.LEAST]), int(self._counters[self._kernel.MOST])

    def turn_on(self, bits: Sequence[int]) -> None:
        """Sets bits from outside, between two steps."""
        counters, kernel, program = self._counters, self._kernel, self._program
        for block, mask in self._tables.places(bits).tolist():
            if block not in self._lists[0][: counters[kernel.ACTIVE]]:
                self._lists[0][counters[kernel.ACTIVE]] = block
                counters[kernel.ACTIVE] += 1
                counters[kernel.HOLDERS] -= self._config[block] != 0  # it rests no longer
                if self._sign is not None:
                    held, crowd_of = self._tally[4], self._tally[7]
                    members = program.block_members(block)
                    on = members[self.read(members)]
                    np.subtract.at(held, crowd_of[on], 1)
            self._config[block] |= mask

    def keep(self, rows: BoolArray) -> None:
        """Nothing to leave out of a batch of one."""

    def states(self) -> BoolArray:
        tables = self._tables
        return np.asarray(((self._config[tables.block_of] >> tables.position) & 1).astype(bool)[np.newaxis])

    def read(self, bits: IntArray) -> BoolArray:  # any shape
        """Some bits of the state, without making all of it."""
        tables = self._tables
        return np.asarray(((self._config[tables.block_of[bits]] >> tables.position[bits]) & 1).astype(bool))

    def bit(self, bit: int) -> BoolArray:
        return self.read(np.array([bit]))

    def unchanged(self) -> BoolArray:
        return np.array([self._counters[self._kernel.UNCHANGED] != 0])

    def margin(self) -> FloatArray | None:
        if self._sign is not None:
            return self._worst.copy()
        if not self._rounded:
            return None
        return np.array([0.5 if self._counters[self._kernel.MOST] else np.inf])
