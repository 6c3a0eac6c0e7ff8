"""A program's rules and cells as rows of bits: what the files for Rocq are printed from, and compared with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import accumulate

from bitwright.engines.cells.wiring import Wiring
from bitwright.rules import Program
from bitwright.rules.pattern import Pattern

Bit = tuple[str, tuple[int, ...]]  # p[2] is ("p", (2,)), a flag is ("flag", ())


@dataclass(frozen=True)
class Row:
    """Lists of bits, and what else is in it; the order of bits matters in the first lists.

    A rule has the bits that it tests, in the order of its cell, and those that it writes; its form are the values that
    it tests for. A cell has the bits of each block and those that each port is wired to; its form is its kind.
    """

    form: tuple[int, ...]
    groups: tuple[tuple[Bit, ...], ...]
    ordered: int = 1  # how many lists

    @property
    def key(self) -> Hashable:
        """Equal for rows that are the same rule or cell."""
        return self.form, self.groups[: self.ordered], *map(frozenset, self.groups[self.ordered :])


@dataclass(frozen=True)
class ListedRule(Row):
    """One template."""

    family: int = 0  # the line or call that wrote it
    cell: int = 0  # its place in the list of cells
    template: int = 0  # its number in the kind of its cell


@dataclass(frozen=True)
class Listed:
    """A program of one size, family by family."""

    rules: tuple[ListedRule, ...]
    cells: tuple[Row, ...]


def listed(program: Program, pattern: Pattern) -> Listed:
    """All rules and cells; raises InputError for a cell that is of none of the pattern's kinds."""
    wiring = Wiring(program, pattern)
    grouping = program.cells.tiled(wiring.tile)
    bits = [bit_named(name) for name in program.layout.names]
    found: list[tuple[tuple[int, int], Row, list[int]]] = []
    for wired in wiring.kinds:
        kind = pattern.kinds[wired.kind]
        wires: list[list[list[Bit]]] = [[[] for _ in kind.ports] for _ in wired.blocks]
        for cell, port, bit in zip(wired.wire_cell, wired.wire_port, wired.wire_bit, strict=True):
            wires[cell][port].append(bits[bit])
        for ports, blocks in zip(wires, wired.blocks.tolist(), strict=True):
            members = (tuple(bits[bit] for bit in grouping.bits_in(block, program)) for block in blocks)
            cell = int(grouping.of_block[blocks[0]])
            place = int(grouping.families.of[cell]), int(grouping.families.index[cell])
            row = Row((wired.kind,), (*members, *(tuple(sorted(port)) for port in ports)), len(blocks))
            found.append((place, row, blocks))
    found.sort(key=lambda cell: cell[0])
    where = {}  # of each block: its cell in this order, its bits, its first template there, and its configurations
    for at, (_, row, blocks) in enumerate(found):
        own = pattern.kinds[row.form[0]].blocks
        counts = accumulate((len(configurations) for _, configurations in own), initial=0)
        for block, tested, count, (_, table) in zip(blocks, row.groups, counts, own, strict=False):
            where[block] = at, tested, count, table
    rules = []
    for family in range(len(program.rule_families)):
        for template in program.rule_families.members(family).tolist():
            block, config = int(program.template_block[template]), int(program.template_config[template])
            at, tested, count, table = where[block]
            on = {bits[bit]: config >> place & 1 for place, bit in enumerate(program.block_members(block).tolist())}
            values = tuple(on[bit] for bit in tested)
            number = count + table.index(sum(value << place for place, value in enumerate(values)))
            writes = tuple(sorted(bits[bit] for bit in program.writes(template).tolist()))
            rules.append(ListedRule(values, (tested, writes), 1, family, at, number))
    return Listed(tuple(rules), tuple(row for _, row, _ in found))


def bit_named(name: str) -> Bit:
    """`p[2]` as ("p", (2,))."""
    head, _, rest = name.removesuffix("]").partition("[")
    return head, tuple(int(index) for index in rest.split(",")) if rest else ()
