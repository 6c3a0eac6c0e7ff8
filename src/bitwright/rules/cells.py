"""Cells, which group the blocks of a program as blocks group bits. By default every block is a cell.

The ports of a cell are the distinct nonempty sets of its templates that write a common bit. A port is wired to every
bit that exactly these templates write, anywhere in the program. Cells with the same table are of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count, groupby
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted
from bitwright.common.frozen import FrozenArrays, frozen
from bitwright.rules.families import Families
from bitwright.rules.layout import IntArray, spread

if TYPE_CHECKING:
    from bitwright.rules.program import Program

Tile = int | Literal["all"]  # number of neighbouring cells combined into one


@dataclass(frozen=True, eq=False)
class Cells(FrozenArrays):
    """The blocks of each cell in the order of its declaration, and the source lines of the cells.

    The bits within a block also follow the order in the cell, so the order of declarations does not matter.
    """

    start: IntArray  # (cells + 1,) cell x has blocks[start[x]:start[x + 1]]
    blocks: IntArray  # (b,)
    families: Families
    bit_place: IntArray | None = None  # (k,) position of each bit in its block; None for the program's order

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def of_block(self) -> IntArray:  # (b,)
        """The cell of each block."""
        owner = np.empty(len(self.blocks), dtype=np.int64)
        owner[self.blocks] = spread(np.diff(self.start))[0]
        return frozen(owner)

    @cached_property
    def place(self) -> IntArray:  # (b,)
        """The position of each block in its cell."""
        place = np.empty(len(self.blocks), dtype=np.int64)
        place[self.blocks] = spread(np.diff(self.start))[1]
        return frozen(place)

    def members(self, cell: int) -> IntArray:
        """Returns the blocks of a cell, in the cell's order."""
        return self.blocks[self.start[cell] : self.start[cell + 1]]

    def bits(self, cell: int, program: Program) -> list[list[int]]:
        """Returns the bits of a cell, block by block, in the cell's order."""
        return [self.bits_in(block, program) for block in self.members(cell).tolist()]

    def bits_in(self, block: int, program: Program) -> list[int]:
        """Returns the bits of a block, in the order of its cell."""
        bits: list[int] = program.block_members(block).tolist()
        place = self.bit_place
        return bits if place is None else sorted(bits, key=lambda bit: int(place[bit]))

    def tiled(self, tile: Tile) -> Cells:
        """Combines every `tile` consecutive cells of a family into one; the last cell of a family may be smaller.

        With "all" there is a single cell, with every block in the program's order.
        """
        if tile == "all":
            count = np.array([0, len(self.blocks)])
            none = np.zeros(1, dtype=np.int64)
            family_of_one = Families(none, none, ("the whole state",), ("the whole state",))
            return Cells(count, np.arange(len(self.blocks)), family_of_one)
        if tile < 1:
            raise InputError(f"a tile must have at least 1 cell, got {tile}")
        if tile == 1:
            return self
        members = np.lexsort((self.families.index, self.families.of))  # cells, family by family
        family = self.families.of[members]
        row = (np.arange(len(members)) - np.searchsorted(family, family)) // tile
        begins = np.flatnonzero(_fresh(family, row))
        lengths = np.diff(self.start)[members]
        entry, within = spread(lengths)
        blocks = self.blocks[self.start[members][entry] + within]
        families = Families(family[begins], row[begins], self.families.labels, self.families.places)
        starts = (np.cumsum(lengths) - lengths)[begins]
        return Cells(np.append(starts, len(blocks)), blocks, families, self.bit_place)


def each_block(families: Families) -> Cells:
    """Returns cells of one block each."""
    count = len(families.of)
    return Cells(np.arange(count + 1), np.arange(count), families)


@dataclass(frozen=True, order=True)
class Kind:
    """The table of a cell: the number of bits and the configurations of each block, and the ports as sets of templates.

    Blocks without templates are omitted. Templates are numbered consecutively across blocks, from 0.
    """

    blocks: tuple[tuple[int, tuple[int, ...]], ...]
    ports: tuple[tuple[int, ...], ...]  # sorted

    @property
    def templates(self) -> int:
        """The number of templates, which are the training examples of a network."""
        return sum(len(configurations) for _, configurations in self.blocks)

    @property
    def choices(self) -> tuple[int, ...]:
        """The number of choices of each block: its templates, plus one if some configuration has no template."""
        return tuple(len(configs) + (len(configs) < 1 << bits) for bits, configs in self.blocks)

    @property
    def local_states(self) -> int:
        """The number of local states: one choice in each block."""
        return prod(self.choices)

    def __str__(self) -> str:
        return (
            f"{counted(len(self.blocks), 'block')}, {counted(self.templates, 'example')}, "
            f"{counted(len(self.ports), 'port')}, {counted(self.local_states, 'local state')}"
        )


@dataclass(frozen=True, eq=False)
class CellKinds(FrozenArrays):
    """The kinds of a program's cells, and the wiring of each cell's ports."""

    kinds: tuple[Kind, ...]  # sorted
    of: IntArray  # (cells,) -1 for a cell without templates
    template: IntArray  # (K,) the number of each template within its cell
    first_template: IntArray  # (cells + 1,) start of each cell's templates in `order`
    order: IntArray  # (K,) templates by cell, then by their number in it
    wire_cell: IntArray  # (wires,) sorted; with the two below: port `wire_port` of this cell sets `wire_bit`
    wire_port: IntArray  # (wires,)
    wire_bit: IntArray  # (wires,)

    @cached_property
    def counts(self) -> IntArray:
        """The number of cells of each kind."""
        return frozen(np.bincount(self.of[self.of >= 0], minlength=len(self.kinds)))


def cell_kinds(program: Program, cells: Cells) -> CellKinds:
    """Groups cells into kinds by content; names and positions are ignored."""
    cell, place = cells.of_block[program.template_block], cells.place[program.template_block]
    config = program.template_config if cells.bit_place is None else _configurations(program, cells.bit_place)
    order = np.lexsort((config, place, cell))
    first = np.searchsorted(cell[order], np.arange(len(cells) + 1))
    number = np.empty(program.templates, dtype=np.int64)
    number[order] = np.arange(program.templates) - first[cell[order]]
    tables, table_of = distinct(_table_rows(program, config, order, first, cell), first)

    # A wire connects a cell to a bit that it writes; the templates that write the bit are a port.
    writing, bits = _writes(program, order)
    by = np.argsort(cell[writing] * max(1, program.bits) + bits, kind="stable")
    writing, bits = writing[by], bits[by]
    begins = np.flatnonzero(_fresh(cell[writing], bits))
    wire_cell, wire_bit = cell[writing][begins], bits[begins]
    ports, port_of = distinct(number[writing], np.append(begins, len(by)))

    # Ports are numbered by content, so the ports of a cell are in the order of its kind.
    pairs, pair = np.unique(wire_cell * len(ports) + port_of, return_inverse=True)
    start = np.searchsorted(pairs, np.arange(len(cells) + 1) * len(ports))
    port_lists, list_of = distinct(pairs % max(1, len(ports)), start)
    wire_port = pair - start[wire_cell]

    used = np.flatnonzero(np.diff(first))
    signature, which = np.unique(table_of[used] * len(port_lists) + list_of[used], return_inverse=True)
    kinds = [
        Kind(_read_table(tables[table]), tuple(ports[port] for port in port_lists[number]))
        for table, number in (divmod(pair, len(port_lists)) for pair in signature.tolist())
    ]
    by_content = sorted(range(len(kinds)), key=kinds.__getitem__)
    rank = np.empty(len(kinds), dtype=np.int64)
    rank[by_content] = np.arange(len(kinds))
    of = np.full(len(cells), -1, dtype=np.int64)
    of[used] = rank[which]
    return CellKinds(
        tuple(map(kinds.__getitem__, by_content)), of, number, first, order, wire_cell, wire_port, wire_bit
    )


_CONFIG, _BITS = 16, 5  # a table row as one number: block position, number of bits, configuration


def _configurations(program: Program, bit_place: IntArray) -> IntArray:
    """Returns the configurations of all templates, with the given position of each bit in its block."""
    block, configs = program.template_block, np.zeros(program.templates, dtype=np.int64)
    sizes = np.diff(program.block_start)[block]
    for place in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > place)
        bit = program.block_bits[program.block_start[block[has]] + place]
        configs[has] |= (program.template_config[has] >> place & 1) << bit_place[bit]
    return configs


def _table_rows(program: Program, config: IntArray, order: IntArray, first: IntArray, cell: IntArray) -> IntArray:
    """Encodes each template as a number, ordered by cell; blocks without templates are skipped."""
    block = program.template_block[order]
    running = np.cumsum(_fresh(cell[order], block), dtype=np.int64)
    place = running - running[first[cell[order]]]
    bits = np.diff(program.block_start)[block]
    return np.asarray(((place << _BITS | bits) << _CONFIG) | config[order], dtype=np.int64)


def _read_table(rows: tuple[int, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    blocks = groupby(rows, key=lambda row: row >> _CONFIG)
    return tuple(
        (head & (1 << _BITS) - 1, tuple(row & (1 << _CONFIG) - 1 for row in members)) for head, members in blocks
    )


def _writes(program: Program, order: IntArray) -> tuple[IntArray, IntArray]:
    """Returns pairs of a template, in this order, and a bit that it writes, as two arrays."""
    entry, place = spread(np.diff(program.write_start)[order])
    return order[entry], program.write_bits[program.write_start[order][entry] + place]


def _fresh(*columns: IntArray) -> NDArray[np.bool_]:
    """Returns whether each row differs from the previous row."""
    fresh = np.ones(len(columns[0]), dtype=bool)
    fresh[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return fresh


def distinct(values: IntArray, starts: IntArray) -> tuple[list[tuple[int, ...]], IntArray]:
    """Returns the sorted distinct runs of `values` that begin at `starts`, and the index of each run among them.

    Runs are hashed, and equal hashes are compared value by value.

    >>> distinct(np.array([5, 6, 7, 5, 6]), np.array([0, 2, 3, 5]))
    ([(5, 6), (7,)], array([0, 1, 0]))
    """
    lengths = np.diff(starts)
    run = np.repeat(np.arange(len(lengths)), lengths)
    offset = np.arange(len(values)) - starts[run]
    for salt in count():
        mixed = _mix(_mix(values.astype(np.uint64) + np.uint64(salt)) + offset.astype(np.uint64))
        sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)))
        _, first, inverse = np.unique(sums[starts[1:]] - sums[starts[:-1]], return_index=True, return_inverse=True)
        same = first[inverse]
        if np.array_equal(lengths[same], lengths) and np.array_equal(values[starts[same][run] + offset], values):
            break
    runs = [tuple(values[starts[index] : starts[index + 1]].tolist()) for index in first.tolist()]
    order = sorted(range(len(runs)), key=runs.__getitem__)
    rank = np.empty(len(runs), dtype=np.int64)
    rank[order] = np.arange(len(runs))
    return [runs[index] for index in order], rank[inverse]


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes 64-bit numbers with the finalizer of splitmix64, which is bijective."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ values >> np.uint64(31))


# Local states.


_KEY = np.uint32  # type of a choice in a key
_INT64 = 1 << 63  # local states beyond this count have Python integers as numbers


@dataclass(frozen=True)
class LocalStates:
    """The local states of a kind. Digit 0 means no match, if possible; the digit of the first block varies fastest."""

    kind: Kind

    @property
    def count(self) -> int:
        return self.kind.local_states

    @cached_property
    def radix(self) -> IntArray:  # (blocks,)
        return np.array(self.kind.choices, dtype=np.int64)

    @cached_property
    def value(self) -> IntArray:  # (blocks,)
        """The weight of the digit of each block, as Python integers if the count exceeds int64."""
        values = list(accumulate(self.kind.choices[:-1], mul, initial=1))
        return np.array(values, dtype=np.int64 if self.count <= _INT64 else object)

    @cached_property
    def block_of(self) -> IntArray:  # (templates,)
        return np.repeat(np.arange(len(self.kind.blocks)), [len(configs) for _, configs in self.kind.blocks])

    @cached_property
    def digit(self) -> IntArray:  # (templates,)
        """The digit of each template."""
        spare = [int(len(configs) < 1 << bits) for bits, configs in self.kind.blocks]
        parts = [np.arange(len(configs)) + more for (_, configs), more in zip(self.kind.blocks, spare, strict=True)]
        return np.concatenate(parts)

    @cached_property
    def writes(self) -> BoolArray:  # (templates, ports)
        writes = np.zeros((self.kind.templates, len(self.kind.ports)), dtype=bool)
        for port, templates in enumerate(self.kind.ports):
            writes[list(templates), port] = True
        return writes

    def of_digits(self, digits: IntArray) -> NDArray[Any]:  # (..., blocks) -> (...)
        """Returns the local states with these choices: as numbers, or as keys if the numbers exceed int64."""
        if self.count <= _INT64:
            return np.asarray(digits @ self.value)
        keys = np.ascontiguousarray(digits, dtype=_KEY)
        return keys.view(np.dtype((np.void, keys.shape[-1] * keys.itemsize)))[..., 0]

    def matched(self, numbers: NDArray[Any]) -> BoolArray:  # (states,) -> (states, templates)
        """Returns which templates each local state matches; states are numbers or keys."""
        if numbers.dtype.kind == "V":
            return self.matching(np.ascontiguousarray(numbers).view(_KEY).reshape(len(numbers), -1).astype(np.int64))
        value = self.value
        if value.dtype == object and numbers.dtype != object:  # int64 numbers have no higher digits
            value = np.array([min(weight, _INT64 - 1) for weight in value.tolist()], dtype=np.int64)
        return self.matching(numbers[:, None] // value % self.radix)

    def matching(self, digits: IntArray) -> BoolArray:  # (states, blocks) -> (states, templates)
        """Returns which templates match for the given choice in each block."""
        return np.asarray(digits[:, self.block_of] == self.digit, dtype=bool)

    def truth(self, matched: BoolArray) -> BoolArray:  # (states, templates) -> (states, ports)
        """Returns which ports the rules set."""
        return matched.astype(np.float32) @ self.writes.astype(np.float32) > 0


def draw_numbers(rng: np.random.Generator, count: int, many: int) -> IntArray:  # (many,)
    """Draws random numbers from 0 to `count` - 1, which may exceed int64."""
    if count <= _INT64:
        return rng.integers(0, count, many)
    octets = count.bit_length() // 8 + 8  # extra bytes make the remainder practically uniform
    return np.array([int.from_bytes(rng.bytes(octets), "little") % count for _ in range(many)], dtype=object)
