"""A program as flat arrays, in the order in which the compiled loops walk through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.encoding.packed import literals_of


class SlicedTables(NamedTuple):
    """Templates as literals, blocks as ranges of templates, bits as lists of their writers.

    Bits come in classes: those with equally many writers c. A pair is c and a number of matches m of them; the pairs of
    one class lie next to each other.
    """

    literal_start: IntArray  # (K + 1,)
    literal_bit: IntArray
    literal_flip: NDArray[np.uint64]  # all ones where the bit must be off
    block_start: IntArray  # (blocks with templates + 1,) ranges of templates, of which at most one matches
    writer_start: IntArray  # (k + 1,)
    writer: IntArray  # templates
    class_of: IntArray  # (k,) the bit's class, -1 where nothing writes it
    pair_start: IntArray  # (classes + 1,)


@dataclass(frozen=True)
class SlicedPlan:
    """What the loops take, and what the numbers of pairs mean."""

    tables: SlicedTables
    pairs: tuple[tuple[int, int], ...]  # (c, m) of each pair

    @property
    def n_max(self) -> int:
        """No state matches more templates than there are blocks that have some."""
        return len(self.tables.block_start) - 1


def plan(program: Program) -> SlicedPlan:
    """The arrays of a program."""
    literals = literals_of(program)
    _, firsts = np.unique(program.template_block, return_index=True)
    templates = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    order = np.argsort(program.write_bits, kind="stable")
    writer_start = np.searchsorted(program.write_bits[order], np.arange(program.bits + 1))

    classes = np.unique(program.writers[program.writers > 0])
    class_of = np.where(program.writers > 0, np.searchsorted(classes, program.writers), -1)
    # Writers in one block exclude each other, so a bit has at most as many matches as blocks that write it.
    owned = np.unique(np.stack((program.write_bits, program.template_block[templates])), axis=1)
    possible = np.bincount(owned[0], minlength=program.bits)
    most = [int(possible[class_of == place].max()) for place in range(len(classes))]
    tables = SlicedTables(
        literal_start=literals.start,
        literal_bit=literals.bit,
        literal_flip=np.where(literals.on, np.uint64(0), ~np.uint64(0)),
        block_start=np.append(firsts, program.templates),
        writer_start=writer_start,
        writer=templates[order],
        class_of=class_of,
        pair_start=np.concatenate(([0], np.cumsum([m + 1 for m in most], dtype=np.int64))),
    )
    return SlicedPlan(
        tables, tuple((c, m) for c, top in zip(classes.tolist(), most, strict=True) for m in range(top + 1))
    )
