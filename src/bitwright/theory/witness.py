"""A state in which a bit is in a given situation: the proof that a rounding fails, for everyone to look at."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray


def witness(program: Program, bit: int, matches: int, matching: int) -> BoolArray:  # (k,)
    """A state with n = `matches`, of which `matching` write the bit: the fewest that can, or one.

    Blocks match without writing the bit where they can. Beyond that, the blocks that write it are chosen: open ones
    that cannot do otherwise if that many matches are needed, else one block of any kind.
    """
    templates = np.bincount(program.template_block, minlength=program.blocks)
    full = templates == np.left_shift(1, np.diff(program.block_start))
    writes = np.zeros(program.templates, dtype=bool)
    writes[np.searchsorted(program.write_start, np.flatnonzero(program.write_bits == bit), side="right") - 1] = True
    writer, other = _first(program, writes), _first(program, ~writes)  # of each block, -1 for none

    choice = np.where(full, np.where(other >= 0, other, writer), -1)
    bound = (writer >= 0) & (other < 0)  # blocks that write the bit whenever they match
    wanted = matching - np.count_nonzero(full & bound)
    crowded = matches - np.count_nonzero(templates) + np.count_nonzero(~full & bound) > 0
    kinds = [~full & bound] if crowded else [full & ~bound, ~full & bound, ~full & ~bound]
    candidates = np.concatenate([np.flatnonzero(kind & (writer >= 0)) for kind in kinds])
    writing = candidates[:wanted]
    choice[writing] = writer[writing]
    idle = np.flatnonzero((choice < 0) & (other >= 0))[: matches - np.count_nonzero(choice >= 0)]
    choice[idle] = other[idle]

    config = np.where(choice >= 0, program.template_config[choice], _unmatched(program))
    state = np.zeros(program.bits, dtype=bool)
    state[program.block_bits] = config[program.block_of[program.block_bits]] >> program.position[program.block_bits] & 1
    return state


def _first(program: Program, chosen: BoolArray) -> IntArray:  # (b,)
    """The first of the chosen templates of each block, or -1."""
    found = np.full(program.blocks, -1, dtype=np.int64)
    own = np.flatnonzero(chosen)[::-1]
    found[program.template_block[own]] = own  # the last one assigned stays
    return found


def _unmatched(program: Program) -> IntArray:  # (b,)
    """The smallest configuration of each block that has no template; of a full block, one beyond the last."""
    first = np.searchsorted(program.template_block, np.arange(program.blocks))
    in_order = np.arange(program.templates) - first[program.template_block] == program.template_config
    return np.bincount(program.template_block[in_order], minlength=program.blocks)
