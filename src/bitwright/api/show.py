"""What a program consists of: its sizes and rules, and the kinds of its cells with the pattern that has one of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from bitwright.api.engines import EngineChoice
from bitwright.api.open import subject
from bitwright.errors import counted, listing
from bitwright.program import Algorithm, NodeProgram, NodeSchema, Program
from bitwright.program import cells as of_program
from bitwright.program.cell_names import first_cells
from bitwright.program.cells import Kind
from bitwright.program.given import by_its_cells
from bitwright.program.pattern import Pattern


@dataclass(frozen=True)
class KindOfCells:
    """One kind: what its cells are, how many there are; of the first its bits, its blocks and what its ports set."""

    kind: Kind
    cells: int
    first: tuple[str, ...]
    blocks: int  # also those without rules, which are not part of the kind
    ports: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class KindsOfCells:
    """All kinds of a program, and the pattern that networks of its cells are trained on.

    >>> from bitwright import addition
    >>> found = cell_kinds(addition(100))
    >>> found.cells, [kind.cells for kind in found.kinds], found.pattern.local_states
    (100, [99, 1], 16)
    """

    kinds: tuple[KindOfCells, ...]
    pattern: Pattern
    without_rules: int  # cells of no kind
    name: str  # of the program
    program_id: str
    tile: int

    @property
    def cells(self) -> int:
        """How many cells there are that have a kind."""
        return sum(kind.cells for kind in self.kinds)

    @property
    def sentence(self) -> str:
        """How many cells, kinds, examples and local states there are."""
        idle = self.without_rules
        without = f" (and {counted(idle, 'cell')} without rules)" if idle else ""
        return (
            f"{self.name}: {counted(self.cells, 'cell')} of {counted(len(self.kinds), 'kind')}{without}; "
            f"{counted(self.pattern.program.templates, 'example')}, "
            f"{counted(self.pattern.local_states, 'local state')}"
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self._lines()])

    def _lines(self) -> Iterator[str]:
        for number, one in enumerate(self.kinds, 1):
            ruled = len(one.kind.blocks)
            only = f"; {ruled} of its {one.blocks} blocks {'has' if ruled == 1 else 'have'} rules"
            first = f"the first is {listing(one.first, 8)}{only if ruled < one.blocks else ''}"
            yield f"  kind {number}: {counted(one.cells, 'cell')}, each {one.kind}; {first}"
            if one.ports:
                said = "; ".join(f"port[{port}] sets {listing(bits, 4)}" for port, bits in enumerate(one.ports, 1))
                yield f"    there {said}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright show --cells --json` prints it."""
        return {
            "name": self.name,
            "program_id": self.program_id,
            "cell_count": self.cells,
            "tile": self.tile,
            "kinds": len(self.kinds),
            "tables": [
                {
                    "cells": one.cells,
                    "blocks": len(one.kind.blocks),
                    "examples": one.kind.templates,
                    "ports": len(one.kind.ports),
                    "local_states": one.kind.local_states,
                    "first": list(one.first),
                    "first_ports": [list(bits) for bits in one.ports],
                }
                for one in self.kinds
            ],
            "examples": self.pattern.program.templates,
            "local_states": self.pattern.local_states,
            "pattern_id": self.pattern.program.id,
        }


def cell_kinds(what: Algorithm | Program | NodeProgram | str | PathLike[str], tile: int = 1) -> KindsOfCells:
    """The kinds of the cells of a program, with `tile` neighbouring cells taken as one; as `show --cells` prints them.

    Of a node program they are those of its `graphs`; how many cells there are is then that of a small one.

    >>> from bitwright import multiplication
    >>> found = cell_kinds(multiplication(8))
    >>> len(found.kinds), found.kinds[0].first[:2]
    (5, ('multiplier[2]', 'to_shift_right[2]'))
    """
    EngineChoice("limit", cells=True, tile=tile).checked()
    kinds: dict[Kind, KindOfCells] = {}
    idle = 0
    algorithms = by_its_cells(subject(what))
    for algorithm in algorithms:
        program = algorithm.program
        cells = program.cells.tiled(tile)
        found = program.kinds if tile == 1 else of_program.cell_kinds(program, cells)
        if not isinstance(algorithm, NodeSchema):  # what a node program writes elsewhere is in no cell of its own
            idle += int(np.count_nonzero(found.of < 0))
        for number, (kind, first) in enumerate(zip(found.kinds, first_cells(program, cells, found), strict=True)):
            members = cells.members(int(np.flatnonzero(found.of == number)[0])).tolist()
            names = tuple(name for block in members for name in program.block_names(block))
            one = KindOfCells(kind, int(found.counts[number]), names, len(members), first.ports)
            kinds.setdefault(kind, one)
    first_of = algorithms[0]
    pattern = Pattern.of(tuple(kinds))
    return KindsOfCells(tuple(kinds.values()), pattern, idle, first_of.name, first_of.program.id, tile)
