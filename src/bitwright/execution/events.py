"""One long run of a large program: follow only what changes, in compiled loops.

Between two steps most blocks of a large program rest: they are empty, or just keep what they hold. This batch of a
single state looks at the others only, and still knows n exactly: resting holders and active matches. It needs numba
(the extra `fast`); without it large programs are stepped in packed words like small ones.
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
from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.program.program import MAX_BLOCK
from bitwright.theory.closed_form import FloatArray, Weights

WORTHWHILE = 4_000  # templates; smaller programs are stepped as fast in packed words, without a compiler's start
AVAILABLE = find_spec("numba") is not None


@dataclass(frozen=True)
class SignRule:
    """How to round by sign: weights by n, the n from which a step may differ, and how to make such a step."""

    weights: Weights
    fails_from: int | None
    step: Callable[[BoolArray], tuple[BoolArray, float, int]]  # one step of one state, its margin and its n

    def bound(self, crowds: IntArray) -> FloatArray:  # by n
        """No mean of a bit with none or one of its writers matching is closer to 0 than this; nothing is at stake for
        n <= 1, and below `fails_from` a bit with more matches is further away."""
        w = self.weights
        unset, lone = np.multiply.outer(w.unmatched, crowds), np.multiply.outer(w.unmatched, crowds) + w.gap[:, None]
        found = np.minimum(np.abs(unset), np.abs(lone)).min(axis=1, initial=np.inf)
        return np.where(np.arange(len(found)) > 1, found, np.inf)


class Tables:
    """A program as the loop reads it; made once for all runs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.block_of, self.position = program.block_of.astype(np.uint32), program.position.astype(np.uint8)
        targets = program.write_bits
        writes = (self.block_of[targets] << np.uint32(4)) | self.position[targets]  # (nnz,) block and place of each
        self.empties = program.template_block[program.template_config == 0].astype(np.uint32)  # match when empty
        self.lookup = _lookup_tables(program, _holds(program))
        self.writes = (program.write_start.astype(np.uint32), writes, self.empties)

    @cached_property
    def restless(self) -> bool:
        """Whether some template writes all that it matches again, and more: its block is active though nothing changes.

        Such programs are followed by their changes instead (changes.py).
        """
        kept, counts = _kept(self.program)
        wanted = _ones(self.program.template_config)
        return bool(((kept == wanted) & (counts > wanted) & (wanted > 0)).any())

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


def _holds(program: Program) -> BoolArray:  # (K,)
    """Templates that write exactly what they match: only bits of their own block, all those that it has on."""
    kept, counts = _kept(program)
    return np.asarray((kept == counts) & (kept == _ones(program.template_config)))


def _kept(program: Program) -> tuple[IntArray, IntArray]:  # (K,), (K,)
    """How many of the bits that it matches each template writes again, and how many bits it writes."""
    counts = np.diff(program.write_start)
    block, config = (np.repeat(part, counts) for part in (program.template_block, program.template_config))
    own = (program.block_of[program.write_bits] == block) & (config >> program.position[program.write_bits] & 1 == 1)
    return np.add.reduceat(own.astype(np.int64), program.write_start[:-1]), counts


def _ones(configs: IntArray) -> IntArray:
    """How many bits of each configuration are on."""
    count = np.zeros_like(configs)
    for place in range(MAX_BLOCK):
        count += configs >> place & 1
    return count


def _lookup_tables(program: Program, holds: BoolArray) -> tuple[Any, ...]:
    """Program.lookup in few bytes: where a block's entries begin, its first template, an entry for each configuration.

    An entry is 0 (no match) or 1 + the template's number within its block, plus 128 if it holds. Blocks whose table
    would be too large have no entries, and are searched for among the sorted keys.
    """
    sizes = 1 << np.diff(program.block_start)  # (b,)
    counts = np.bincount(program.template_block, minlength=program.blocks)
    dense = (sizes <= 32 * np.maximum(counts, 1)) & (counts < 127)
    ends = np.cumsum(np.where(dense, sizes, 0))
    if max(int(ends[-1]), program.templates, len(program.write_bits)) >= 2**32 or program.blocks >= 2**28:
        raise InputError(f"a program of {program.blocks:,} blocks is too large to be followed")
    first = np.cumsum(counts) - counts
    meta = np.stack((np.where(dense, ends - sizes, 0), first), axis=1).astype(np.uint32)
    own = np.flatnonzero(dense[program.template_block])
    block = program.template_block[own]
    table = np.zeros(int(ends[-1]), dtype=np.uint8)
    table[meta[block, 0] + program.template_config[own]] = 1 + own - first[block] + 128 * holds[own]
    sparse = np.flatnonzero(~dense)
    if not len(sparse):
        return table, meta, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), holds
    return table, meta, ~dense, program._keys, holds


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
        self._counters = np.zeros(9, dtype=np.int64)
        self._counters[events_kernel.LEAST] = 1 << 62
        self._lists = np.zeros((2, program.blocks), dtype=np.uint32)  # active blocks, now and next
        self._room = tuple(np.zeros(program.blocks, dtype=np.uint32) for _ in range(3))
        self._load(states[0])

    def _load(self, state: BoolArray) -> None:
        """Takes a state in: every block that may match is looked at in the next step."""
        self._config = self._program.configurations(state).astype(np.uint32)
        look = self._config != 0
        look[self._tables.empties] = True
        active = np.flatnonzero(look)
        kernel = self._kernel
        self._lists[0, : len(active)] = active
        self._counters[[kernel.ACTIVE, kernel.HOLDERS, kernel.SIDE]] = len(active), 0, 0
        self._tally = self._new_tally()

    def _new_tally(self) -> tuple[Any, ...]:
        """What the loop keeps for the sign rule, in the order in which it takes it apart."""
        program, sign = self._program, self._sign
        ints, floats = np.zeros(1, dtype=np.int64), np.zeros(1)
        if sign is None:
            return (ints, floats, floats, ints, ints, ints, floats, floats, *(ints,) * 4, ints[None], *(ints,) * 2)
        crowds, crowd_of, total = self._tables.crowds
        return (
            np.array([2**62 if sign.fails_from is None else sign.fails_from], dtype=np.int64),
            self._worst,
            sign.bound(crowds[crowds > 0]),
            crowds,
            total,
            np.zeros(len(crowds), dtype=np.int64),  # bits that blocks at rest hold
            sign.weights.unmatched,
            sign.weights.gap,
            crowd_of,
            program.write_bits,
            np.full(program.bits, -1, dtype=np.int64),  # when a bit was last noted, and how often in that step
            np.zeros(program.bits, dtype=np.int64),
            np.zeros((len(crowds), int(crowds.max()) + 2), dtype=np.int64),
            program.block_start,
            program.block_bits,
        )

    def step(self) -> None:
        self.leap(1, ())

    def leap(self, most: int, stops: tuple[int, ...], counted: tuple[int, ...] = ()) -> int:
        """As the protocol says; `count` afterwards tells in how many of the states made a bit of `counted` was on."""
        kernel, counters, tables = self._kernel, self._counters, self._tables
        counters[[kernel.COUNTED, kernel.MOST]], counters[kernel.LEAST] = 0, 1 << 62
        watched, noted = tables.places(stops), tables.places(counted)
        made = int(
            kernel.advance(
                most,
                watched,
                noted,
                counters,
                self._config,
                self._lists,
                *self._room,
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
        self._worst[0] = min(self._worst[0], margin)
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
            now = int(self._config[block])
            resting = now & kernel.RESTING
            if resting or (now == 0 and block not in self._tables.empties):
                self._lists[counters[kernel.SIDE], counters[kernel.ACTIVE]] = block
                counters[kernel.ACTIVE] += 1
            if resting:
                counters[kernel.HOLDERS] -= 1
                if self._sign is not None:
                    held, crowd_of, members = self._tally[5], self._tally[8], program.block_members(block)
                    np.subtract.at(held, crowd_of[members[self.read(members)]], 1)
            self._config[block] = (now & kernel.FULL) | mask

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
        """With a sign rule, the smallest of all steps so far."""
        if self._sign is not None:
            return self._worst.copy()
        if not self._rounded:
            return None
        return np.array([0.5 if self._counters[self._kernel.MOST] else np.inf])
