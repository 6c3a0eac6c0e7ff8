"""The kinds of a program's cells: how many there are of each, and the pattern that has one of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.app.engines import EngineChoice
from bitwright.app.public import by_its_cells
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program import cells as of_program
from bitwright.program.cells import Kind
from bitwright.program.pattern import Pattern


@dataclass(frozen=True)
class KindOfCells:
    """One kind: what its cells are, how many there are, and the bits of the first."""

    kind: Kind
    cells: int
    first: tuple[str, ...]


@dataclass(frozen=True)
class CellKinds:
    """All kinds of a program, and the pattern that networks of its cells are trained on.

    >>> from bitwright import addition, cell_kinds
    >>> found = cell_kinds(addition(100))
    >>> found.cells, [kind.cells for kind in found.kinds], found.pattern.local_states
    (100, [99, 1], 16)
    """

    kinds: tuple[KindOfCells, ...]
    pattern: Pattern

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(kind.cells for kind in self.kinds)


def cell_kinds(what: Algorithm | Program | NodeProgram, tile: int = 1) -> CellKinds:
    """The kinds of the cells of a program, with `tile` neighbouring cells taken as one; as `show --cells` prints them.

    >>> from bitwright import multiplication
    >>> found = cell_kinds(multiplication(8))
    >>> len(found.kinds), found.kinds[0].first[:2]
    (5, ('multiplier[2]', 'to_shift_right[2]'))
    """
    EngineChoice("limit", cells=True, tile=tile).checked()
    program = by_its_cells(what).program
    cells = program.cells.tiled(tile)
    found = program.kinds if tile == 1 else of_program.cell_kinds(program, cells)
    kinds = []
    for number, kind in enumerate(found.kinds):
        first = int(np.flatnonzero(found.of == number)[0])
        members = cells.blocks[cells.start[first] : cells.start[first + 1]].tolist()
        names = tuple(name for block in members for name in program.block_names(block))
        kinds.append(KindOfCells(kind, int(found.counts[number]), names))
    return CellKinds(tuple(kinds), Pattern.of(found.kinds))
