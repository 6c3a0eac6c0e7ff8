"""A program as the sparse loops read it: which template a block's configuration matches, and what that writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.program.program import MAX_BLOCK

HOLD = 128  # in an entry of the table: the template writes exactly what it matches


class Lookup(NamedTuple):
    """Program.lookup in few bytes.

    An entry of `table` is 0 (no match) or 1 + the template's number within its block, plus HOLD if it holds. Blocks
    whose table would be too large are `sparse`, and searched for among the sorted keys.
    """

    table: NDArray[np.uint8]
    first: NDArray[np.uint32]  # (b, 2) where a block's entries begin, and its first template
    sparse: BoolArray  # (b,), or empty where no block is
    keys: IntArray
    holds: BoolArray  # (K,)


class Writes(NamedTuple):
    """What templates write, as block and place in one number; and the blocks that match something when empty."""

    start: NDArray[np.uint32]
    places: NDArray[np.uint32]
    empties: NDArray[np.uint32]


class SparseTables:
    """Made once for all runs of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.block_of, self.position = program.block_of.astype(np.uint32), program.position.astype(np.uint8)
        targets = program.write_bits
        places = (self.block_of[targets] << np.uint32(4)) | self.position[targets]
        empties = program.template_block[program.template_config == 0].astype(np.uint32)
        self.lookup = _lookup(program, _holds(program))
        self.writes = Writes(program.write_start.astype(np.uint32), places, empties)

    @cached_property
    def rewrites_itself(self) -> bool:
        """Whether some template writes all that it matches again, and more: its block is active though nothing changes.

        Such programs are stepped in packed words instead.
        """
        kept, counts = _kept(self.program)
        wanted = _ones(self.program.template_config)
        return bool(((kept == wanted) & (counts > wanted) & (wanted > 0)).any())

    def places(self, bits: Sequence[int]) -> NDArray[np.int64]:  # (bits, 2)
        """Block and mask of each bit."""
        at = np.array(bits, dtype=np.int64)
        return np.stack((self.block_of[at], 1 << self.position[at].astype(np.int64)), axis=1).reshape(-1, 2)


def _holds(program: Program) -> BoolArray:  # (K,)
    """Templates that write exactly what they match: only bits of their own block, all those that it has on."""
    kept, counts = _kept(program)
    return np.asarray((kept == counts) & (kept == _ones(program.template_config)))


def _kept(program: Program) -> tuple[IntArray, IntArray]:  # (K,), (K,)
    """How many of the bits that it matches each template writes again, and how many bits it writes."""
    counts = np.diff(program.write_start)
    block, config = (np.repeat(part, counts) for part in (program.template_block, program.template_config))
    own = (program.block_of[program.write_bits] == block) & (config >> program.position[program.write_bits] & 1 == 1)
    total = np.concatenate(([0], np.cumsum(own)))  # a template may write nothing
    return np.diff(total[program.write_start]), counts


def _ones(configs: IntArray) -> IntArray:
    """How many bits of each configuration are on."""
    count = np.zeros_like(configs)
    for place in range(MAX_BLOCK):
        count += configs >> place & 1
    return count


def _lookup(program: Program, holds: BoolArray) -> Lookup:
    sizes = 1 << np.diff(program.block_start)  # (b,)
    counts = np.bincount(program.template_block, minlength=program.blocks)
    dense = (sizes <= 32 * np.maximum(counts, 1)) & (counts < 127)
    ends = np.cumsum(np.where(dense, sizes, 0))
    if max(int(ends[-1]), program.templates, len(program.write_bits)) >= 2**32 or program.blocks >= 2**28:
        raise InputError(f"a program of {program.blocks:,} blocks is too large to be followed")
    template = np.cumsum(counts) - counts
    first = np.stack((np.where(dense, ends - sizes, 0), template), axis=1).astype(np.uint32)
    own = np.flatnonzero(dense[program.template_block])
    block = program.template_block[own]
    table: NDArray[Any] = np.zeros(int(ends[-1]), dtype=np.uint8)
    table[first[block, 0] + program.template_config[own]] = 1 + own - template[block] + HOLD * holds[own]
    if dense.all():
        return Lookup(table, first, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), holds)
    return Lookup(table, first, ~dense, program._keys, holds)
