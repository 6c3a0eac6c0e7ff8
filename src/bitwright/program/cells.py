"""Cells: groups of a program's blocks, as blocks are groups of bits. Without a grouping every block is a cell.

What the templates of a cell write are its ports: the distinct sets of its templates that write some bit. A port is
wired to every bit that just these templates write, anywhere in the program. Cells of the same table are of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from bitwright.errors import InputError, counted
from bitwright.program.families import Families
from bitwright.program.layout import IntArray

if TYPE_CHECKING:
    from bitwright.program.program import Program


@dataclass(frozen=True, eq=False)
class Cells:
    """Which blocks each cell has, in the order in which it names them; and the lines that cells come from."""

    start: IntArray  # (cells + 1,) cell x has blocks[start[x]:start[x + 1]]
    blocks: IntArray  # (b,)
    families: Families

    def __post_init__(self) -> None:
        self.start.flags.writeable = self.blocks.flags.writeable = False

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def of_block(self) -> IntArray:  # (b,)
        """The cell of each block."""
        owner = np.empty(len(self.blocks), dtype=np.int64)
        owner[self.blocks] = np.repeat(np.arange(len(self)), np.diff(self.start))
        return owner

    @cached_property
    def place(self) -> IntArray:  # (b,)
        """The place of each block in its cell."""
        place = np.empty(len(self.blocks), dtype=np.int64)
        place[self.blocks] = np.arange(len(self.blocks)) - np.repeat(self.start[:-1], np.diff(self.start))
        return place

    def tiled(self, tile: int) -> Cells:
        """Every `tile` cells that follow each other in a family as one; the last of a family may have fewer."""
        if tile < 1:
            raise InputError(f"a tile has at least 1 cell, got {tile}")
        if tile == 1:
            return self
        order, start, of, index, number = [], [0], [], [], 0
        for family in range(len(self.families)):
            members = self.families.members(family)
            for row, at in enumerate(range(0, len(members), tile)):
                blocks = [self.blocks[self.start[cell] : self.start[cell + 1]] for cell in members[at : at + tile]]
                order.append(np.concatenate(blocks))
                number += len(order[-1])
                start.append(number)
                of.append(family)
                index.append(row)
        families = Families(np.array(of), np.array(index), self.families.labels, self.families.places)
        return Cells(np.array(start), np.concatenate(order), families)


def each_block(families: Families) -> Cells:
    """Every block as a cell of its own."""
    count = len(families.of)
    return Cells(np.arange(count + 1), np.arange(count), families)


@dataclass(frozen=True, order=True)
class Kind:
    """A table: for each block its number of bits and its configurations; the ports as sets of templates.

    Blocks without templates are left out. Templates are counted through the blocks, from 0.
    """

    blocks: tuple[tuple[int, tuple[int, ...]], ...]
    ports: tuple[tuple[int, ...], ...]  # sorted

    @property
    def templates(self) -> int:
        """Its examples: what a network is trained on."""
        return sum(len(configurations) for _, configurations in self.blocks)

    @property
    def choices(self) -> tuple[int, ...]:
        """How many choices each block has: a template, or nothing where some configuration has no template."""
        return tuple(len(configs) + (len(configs) < 1 << bits) for bits, configs in self.blocks)

    @property
    def local_states(self) -> int:
        """One choice in each of its blocks."""
        return prod(self.choices)

    def __str__(self) -> str:
        return (
            f"{counted(len(self.blocks), 'block')}, {counted(self.templates, 'example')}, "
            f"{counted(len(self.ports), 'port')}, {counted(self.local_states, 'local state')}"
        )


@dataclass(frozen=True, eq=False)
class CellKinds:
    """The kinds of a program's cells, and how the ports of each cell are wired."""

    kinds: tuple[Kind, ...]  # sorted
    of: IntArray  # (cells,) -1 for a cell without templates
    template: IntArray  # (K,) the number of each template among those of its cell
    first_template: IntArray  # (cells + 1,) where a cell's templates begin in `order`
    order: IntArray  # (K,) templates by cell, then by their number in it
    wire_cell: IntArray  # (wires,) sorted; with the two below: port `wire_port` of this cell sets `wire_bit`
    wire_port: IntArray  # (wires,)
    wire_bit: IntArray  # (wires,)

    @cached_property
    def counts(self) -> IntArray:
        """How many cells there are of each kind."""
        return np.bincount(self.of[self.of >= 0], minlength=len(self.kinds))


def cell_kinds(program: Program, cells: Cells) -> CellKinds:
    """The kinds of these cells, by content: names and places do not count."""
    cell, place = cells.of_block[program.template_block], cells.place[program.template_block]
    order = np.lexsort((program.template_config, place, cell))
    first = np.searchsorted(cell[order], np.arange(len(cells) + 1))
    number = np.empty(program.templates, dtype=np.int64)
    number[order] = np.arange(program.templates) - first[cell[order]]
    tables = _tables(program, cells, order, first)

    writing = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    by = np.lexsort((number[writing], program.write_bits, cell[writing]))
    wires_cell, wires_bit, wires_number = cell[writing][by], program.write_bits[by], number[writing][by]
    fresh = np.ones(len(by), dtype=bool)
    fresh[1:] = (wires_cell[1:] != wires_cell[:-1]) | (wires_bit[1:] != wires_bit[:-1])
    begins = np.flatnonzero(fresh)
    sets, port_of = _distinct(wires_number, np.append(begins, len(by)))
    wire_cell, wire_bit = wires_cell[begins], wires_bit[begins]

    pairs = np.unique(np.stack((wire_cell, port_of), axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(len(cells) + 1))
    used = pairs[:, 1]
    found: dict[tuple[int, bytes], int] = {}
    kind_of = np.full(len(cells), -1, dtype=np.int64)
    for x in np.flatnonzero(np.diff(first)).tolist():
        signature = (int(tables[1][x]), used[starts[x] : starts[x + 1]].tobytes())
        kind_of[x] = found.setdefault(signature, len(found))
    kinds, ports = [], []
    for table, own in found:
        ids = np.frombuffer(own, dtype=used.dtype).tolist()
        ranked = sorted(ids, key=lambda one: sets[one])
        kinds.append(Kind(tables[0][table], tuple(sets[one] for one in ranked)))
        ports.append({one: rank for rank, one in enumerate(ranked)})
    by_content = sorted(range(len(kinds)), key=lambda one: kinds[one])
    rank = np.empty(len(kinds) + 1, dtype=np.int64)
    rank[by_content], rank[-1] = np.arange(len(kinds)), -1
    lookup = np.full((max(1, len(kinds)), max(1, len(sets))), -1, dtype=np.int64)
    for one, own_ports in enumerate(ports):
        for number_of_set, port in own_ports.items():
            lookup[one, number_of_set] = port
    wire_port = lookup[kind_of[wire_cell], port_of] if len(wire_cell) else wire_cell
    return CellKinds(
        tuple(kinds[one] for one in by_content), rank[kind_of], number, first, order, wire_cell, wire_port, wire_bit
    )


Table = tuple[tuple[int, tuple[int, ...]], ...]


def _tables(program: Program, cells: Cells, order: IntArray, first: IntArray) -> tuple[list[Table], IntArray]:
    """The different tables of cells (blocks with their bits and configurations), and which each cell has."""
    block = program.template_block[order]
    bits = np.diff(program.block_start)[block]
    rows = np.stack((cells.place[block], bits, program.template_config[order]), axis=1)
    found: dict[bytes, int] = {}
    tables: list[Table] = []
    table_of = np.full(len(cells), -1, dtype=np.int64)
    for x in np.flatnonzero(np.diff(first)).tolist():
        mine = rows[first[x] : first[x + 1]].copy()
        mine[:, 0] = np.cumsum(np.diff(mine[:, 0], prepend=mine[0, 0]) != 0)  # blocks without templates left out
        key = mine.tobytes()
        if key not in found:
            found[key] = len(tables)
            listed: dict[int, tuple[int, list[int]]] = {}
            for at, size, config in mine.tolist():
                listed.setdefault(at, (size, []))[1].append(config)
            tables.append(tuple((size, tuple(configs)) for size, configs in listed.values()))
        table_of[x] = found[key]
    return tables, table_of


def _distinct(values: IntArray, starts: IntArray) -> tuple[list[tuple[int, ...]], IntArray]:
    """The different runs of `values` that begin at `starts`, and which each run is."""
    lengths, which = np.diff(starts), np.empty(len(starts) - 1, dtype=np.int64)
    found: list[tuple[int, ...]] = []
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        runs = values[starts[rows][:, None] + np.arange(length)]
        different, inverse = np.unique(runs, axis=0, return_inverse=True)
        which[rows] = len(found) + inverse.ravel()
        found += [tuple(run) for run in different.tolist()]
    return found, which


def check_same_order(kinds: Sequence[Kind]) -> tuple[int, int] | None:
    """Two kinds that differ only in the order of their blocks, if there are such: a grouping that is not careful."""
    seen: dict[object, int] = {}
    for number, kind in enumerate(kinds):
        unordered = tuple(sorted(_block_views(kind)))
        if unordered in seen:
            return seen[unordered], number
        seen[unordered] = number
    return None


def _block_views(kind: Kind) -> list[tuple[int, tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    """Each block with what its own templates write, ports named by how many templates write them in each block."""
    first, views = 0, []
    shares = [[0] * len(kind.blocks) for _ in kind.ports]
    block_of = [at for at, (_, configs) in enumerate(kind.blocks) for _ in configs]
    for port, templates in zip(shares, kind.ports, strict=True):
        for template in templates:
            port[block_of[template]] += 1
    names = [tuple(sorted(port)) for port in shares]
    for bits, configs in kind.blocks:
        own = range(first, first + len(configs))
        writes = tuple(
            tuple(sorted(hash(names[p]) for p, ts in enumerate(kind.ports) if template in ts)) for template in own
        )
        views.append((bits, configs, writes))
        first += len(configs)
    return views
