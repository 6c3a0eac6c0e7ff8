"""A program's rules and cells as plain lists: what the files for Rocq are printed from, and compared with."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.engines.cells.wiring import Wiring
from bitwright.program import Program
from bitwright.program.pattern import Pattern

Bit = tuple[str, tuple[int, ...]]  # p[2] is ("p", (2,)), a flag is ("flag", ())


@dataclass(frozen=True)
class ListedRule:
    """One template. Its conditions are in the order in which its cell has the bits of the block."""

    family: int  # the line or call that wrote it
    conditions: tuple[tuple[Bit, bool], ...]
    writes: tuple[Bit, ...]
    cell: int  # its place in the list of cells
    template: int  # its number in the kind of its cell


@dataclass(frozen=True)
class ListedCell:
    """One cell: its kind in the pattern, the bits of its blocks, and the bits that each port is wired to."""

    kind: int
    blocks: tuple[tuple[Bit, ...], ...]
    wires: tuple[tuple[Bit, ...], ...]


@dataclass(frozen=True)
class Listed:
    """A program of one size, family by family."""

    rules: tuple[ListedRule, ...]
    cells: tuple[ListedCell, ...]


def listed(program: Program, pattern: Pattern) -> Listed:
    """All rules and cells; raises InputError for a cell that is of none of the pattern's kinds."""
    wiring = Wiring(program, pattern)
    grouping = program.cells.tiled(wiring.tile)
    bits = [bit_named(name) for name in program.layout.names]
    cells: list[tuple[int, ListedCell, list[int]]] = []
    for wired in wiring.kinds:
        ports = len(pattern.kinds[wired.kind].ports)
        wires: list[list[list[Bit]]] = [[[] for _ in range(ports)] for _ in range(len(wired.blocks))]
        for cell, port, bit in zip(
            wired.wire_cell.tolist(), wired.wire_port.tolist(), wired.wire_bit.tolist(), strict=True
        ):
            wires[cell][port].append(bits[bit])
        for row, own in zip(wires, wired.blocks.tolist(), strict=True):
            blocks = tuple(tuple(bits[bit] for bit in grouping.bits_in(block, program)) for block in own)
            said = tuple(tuple(sorted(port)) for port in row)
            cells.append((int(grouping.of_block[own[0]]), ListedCell(wired.kind, blocks, said), own))
    place = {cell: (int(grouping.families.of[cell]), int(grouping.families.index[cell])) for cell, _, _ in cells}
    cells.sort(key=lambda item: place[item[0]])
    first: dict[int, tuple[int, int]] = {}  # of each block: its cell in this order, and its first template there
    for at, (_, cell, own) in enumerate(cells):
        count = 0
        for block, (_, configurations) in zip(own, pattern.kinds[cell.kind].blocks, strict=True):
            first[block] = (at, count)
            count += len(configurations)
    return Listed(_rules(program, pattern, cells, first, bits), tuple(cell for _, cell, _ in cells))


def _rules(
    program: Program,
    pattern: Pattern,
    cells: list[tuple[int, ListedCell, list[int]]],
    first: dict[int, tuple[int, int]],
    bits: list[Bit],
) -> tuple[ListedRule, ...]:
    families, found = program.rule_families, []
    for family in range(len(families)):
        for template in families.members(family).tolist():
            block, config = int(program.template_block[template]), int(program.template_config[template])
            at, count = first[block]
            _, cell, own = cells[at]
            value = {
                bits[bit]: bool(config >> place & 1) for place, bit in enumerate(program.block_members(block).tolist())
            }
            ordered = cell.blocks[own.index(block)]
            table = pattern.kinds[cell.kind].blocks[own.index(block)][1]
            number = count + table.index(sum(value[bit] << place for place, bit in enumerate(ordered)))
            writes = tuple(sorted(bits[bit] for bit in program.writes(template).tolist()))
            found.append(ListedRule(family, tuple((bit, value[bit]) for bit in ordered), writes, at, number))
    return tuple(found)


def bit_named(name: str) -> Bit:
    """`p[2]` as ("p", (2,))."""
    head, _, rest = name.removesuffix("]").partition("[")
    return head, tuple(int(index) for index in rest.split(",")) if rest else ()
