"""A program as flat arrays, in the order in which the compiled loops walk through them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitwright.encoding.literals import literals_of
from bitwright.program import Program
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class Plan:
    """Templates as literals, blocks as ranges of templates, bits as lists of their writers.

    A pair is a number of writers c and a number of matches m of them; pairs of one c, a crowd, lie next to each other.
    """

    literal_start: IntArray  # (K + 1,)
    literal_bit: IntArray
    literal_flip: NDArray[np.uint64]  # all ones where the bit must be off
    block_start: IntArray  # (blocks with templates + 1,) ranges of templates, of which at most one matches
    writer_start: IntArray  # (k + 1,)
    writer: IntArray  # templates
    crowd: IntArray  # (k,) place of the bit's c among the crowds, -1 where nothing writes it
    pair_start: IntArray  # (crowds + 1,)
    pairs: tuple[tuple[int, int], ...]  # (c, m) of each pair

    @property
    def n_max(self) -> int:
        """No state matches more templates than there are blocks that have some."""
        return len(self.block_start) - 1


def plan(program: Program) -> Plan:
    """The arrays of a program."""
    literals = literals_of(program)
    _, firsts = np.unique(program.template_block, return_index=True)
    templates = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    order = np.argsort(program.write_bits, kind="stable")
    writer_start = np.searchsorted(program.write_bits[order], np.arange(program.bits + 1))

    crowds = np.unique(program.writers[program.writers > 0])
    crowd = np.where(program.writers > 0, np.searchsorted(crowds, program.writers), -1)
    # Writers in one block exclude each other, so a bit has at most as many matches as blocks that write it.
    owned = np.unique(np.stack((program.write_bits, program.template_block[templates])), axis=1)
    possible = np.bincount(owned[0], minlength=program.bits)
    most = [int(possible[crowd == place].max()) for place in range(len(crowds))]
    return Plan(
        literal_start=literals.start,
        literal_bit=literals.bit,
        literal_flip=np.where(literals.on, np.uint64(0), ~np.uint64(0)),
        block_start=np.append(firsts, program.templates),
        writer_start=writer_start,
        writer=templates[order],
        crowd=crowd,
        pair_start=np.concatenate(([0], np.cumsum([m + 1 for m in most], dtype=np.int64))),
        pairs=tuple((c, m) for c, top in zip(crowds.tolist(), most, strict=True) for m in range(top + 1)),
    )
