"""The kinds of a program's cells: how many there are of each, and the pattern that has one of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.api.engines import EngineChoice
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

    >>> from bitwright import addition, cell_kinds
    >>> found = cell_kinds(addition(100))
    >>> found.cells, [kind.cells for kind in found.kinds], found.pattern.local_states
    (100, [99, 1], 16)
    """

    kinds: tuple[KindOfCells, ...]
    pattern: Pattern
    without_rules: int  # cells of no kind

    @property
    def cells(self) -> int:
        """How many cells there are that have a kind."""
        return sum(kind.cells for kind in self.kinds)


def cell_kinds(what: Algorithm | Program | NodeProgram, tile: int = 1) -> KindsOfCells:
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
    for algorithm in by_its_cells(what):
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
    return KindsOfCells(tuple(kinds.values()), Pattern.of(tuple(kinds)), idle)
