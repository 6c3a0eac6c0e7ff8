"""The bits of a pattern by the names of a program: those of the first cell of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bitwright.program.cells import CellKinds, Cells, cell_kinds
from bitwright.program.pattern import Pattern
from bitwright.program.program import Program

BitNames = dict[str, tuple[str, ...]]  # of a bit of the pattern: one for a bit of a block, all that a port sets


@dataclass(frozen=True)
class FirstCell:
    """The first cell of a kind: its bits, block by block as the kind has them, and what each port sets."""

    blocks: tuple[tuple[str, ...], ...]
    ports: tuple[tuple[str, ...], ...]


def first_cells(program: Program, cells: Cells, found: CellKinds) -> list[FirstCell]:
    """The first cell of every kind.

    >>> from bitwright import addition
    >>> adder = addition(4).program
    >>> first_cells(adder, adder.cells, adder.kinds)[0].ports
    (('p[1]',), ('c[1]',), ('q[2]',))
    """
    occupied = np.bincount(program.template_block, minlength=program.blocks) > 0
    name_of = program.layout.name_of
    firsts = []
    for number, kind in enumerate(found.kinds):
        cell = int(np.flatnonzero(found.of == number)[0])
        blocks = [
            tuple(map(name_of, cells.bits_in(block, program)))
            for block in cells.members(cell).tolist()
            if occupied[block]
        ]
        ports: list[list[str]] = [[] for _ in kind.ports]
        for wire in range(*np.searchsorted(found.wire_cell, [cell, cell + 1]).tolist()):
            ports[int(found.wire_port[wire])].append(name_of(int(found.wire_bit[wire])))
        firsts.append(FirstCell(tuple(blocks), tuple(map(tuple, ports))))
    return firsts


def bit_names(pattern: Pattern, programs: Iterable[tuple[Program, Cells]]) -> BitNames:
    """What the bits of a pattern are called in these programs, in the first that has a cell of the kind.

    >>> from bitwright import addition
    >>> adder = addition(4).program
    >>> bit_names(Pattern.of(adder.kinds.kinds), [(adder, adder.cells)])["kind1_port[3]"]
    ('q[2]',)
    """
    names: BitNames = {}
    named: set[int] = set()
    for program, cells in programs:
        found = program.kinds if cells is program.cells else cell_kinds(program, cells)
        places = [pattern.place_of(kind) for kind in found.kinds]
        if named.issuperset(place for place in places if place is not None):
            continue
        for place, cell in zip(places, first_cells(program, cells, found), strict=True):
            if place is None or place in named:
                continue
            named.add(place)
            for at, block in enumerate(cell.blocks, 1):
                names |= {f"kind{place + 1}_block{at}[{bit}]": (name,) for bit, name in enumerate(block, 1)}
            names |= {f"kind{place + 1}_port[{port}]": set_by for port, set_by in enumerate(cell.ports, 1)}
    return names
