"""A program as packed cells: one word for the bits of a cell, and one entry for the result of each value.

The results come from the rules or from a network, right or wrong. A cell's own next bits are in its entry; the bits it
sets elsewhere are a row of wires, one row for each set of ports that can be on together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules import Program
from bitwright.rules.cells import CellKinds, Cells, Kind, LocalStates, cell_kinds, distinct, each_block
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray

WORD = 16  # the maximum number of bits of a packed cell
HOLD, N, SET = 16, 17, 37  # in an entry: own next bits, whether it only keeps them, n (20 bits), wire row
_ENTRIES, _RECORDS = 1 << 24, 1 << 26  # the most entries and wires
Units = NDArray[np.int32]  # indices of cells or of their kinds
Answers = Callable[[int], BoolArray]  # maps a kind to its ports, (local states, ports)


class PackedTables(NamedTuple):
    """The input of the compiled loop."""

    entries: NDArray[np.uint64]
    table: NDArray[np.uint32]  # (units,) the first entry of each cell
    base: NDArray[np.uint32]  # (units,) the row before the first of its wires
    rows: NDArray[np.uint32]  # (rows + 2,) the first wire of each row; row 0 is empty
    wires: NDArray[np.uint64]  # a cell << WORD | the bits to set in it
    always: NDArray[np.uint32]  # cells that act even if all their bits are off


class PackedCells:
    """The cells of a program, and its blocks without templates, as units of at most 16 bits."""

    def __init__(self, program: Program, cells: Cells, found: CellKinds, answers: Answers) -> None:
        self.program, self.found = program, found
        self.unit, self.place, self.units = _places(program, cells)
        self._dead_bits = self.place[self.unit >= len(cells)].max(initial=0) + 1  # of blocks without templates
        target, wire_cell = self.unit[found.wire_bit], found.wire_cell.astype(np.int32)
        own = target == wire_cell
        refined, of = self._refine(wire_cell, own)
        self.refined, self.of = refined, of  # kinds and which of its ports set which of its own bits; of each unit
        outside = np.flatnonzero(~own)
        self._entries(refined, self._outer_ports(refined, of[wire_cell[outside]], found.wire_port[outside]), answers)
        self._wire(wire_cell[outside], target[outside], outside)

    def _refine(self, wire_cell: Units, own: BoolArray) -> tuple[list[tuple[int, tuple[int, ...]]], Units]:
        """Splits kinds by the ports that set their own bits: (kind, port << 4 | place, ...)."""
        found = self.found
        mine = np.flatnonzero(own)
        values = found.wire_port[mine] << 4 | self.place[found.wire_bit[mine]]
        starts = np.searchsorted(wire_cell[mine], np.arange(len(found.of) + 1))
        ways, way = distinct(values, starts)
        used = np.flatnonzero(found.of >= 0)
        which, of_used = np.unique(found.of[used] * len(ways) + way[used], return_inverse=True)
        of = np.zeros(self.units, dtype=np.int32)  # 0: no effect
        of[used] = of_used + 1
        return [(-1, ()), *((one // len(ways), ways[one % len(ways)]) for one in which.tolist())], of

    def _outer_ports(self, refined: Sequence[tuple[int, tuple[int, ...]]], of: Units, port: IntArray) -> list[IntArray]:
        """Returns, for each refined kind, the ports that set bits elsewhere."""
        most = max((len(kind.ports) for kind in self.found.kinds), default=0) or 1
        noted = np.zeros(len(refined) * most, dtype=bool)
        noted[of.astype(np.int64) * most + port] = True
        return [np.flatnonzero(row) for row in noted.reshape(len(refined), most)]

    def _entries(
        self, refined: Sequence[tuple[int, tuple[int, ...]]], outer: Sequence[IntArray], answers: Answers
    ) -> None:
        dead = 1 << int(self._dead_bits)
        parts = [np.zeros(dead, dtype=np.uint64)]
        self.numbers: list[IntArray] = [np.zeros(dead, dtype=np.int64)]  # local state of each value
        self.sets: list[list[IntArray]] = [[]]  # the sets of outer ports, by refined kind
        always = [False]
        for (kind, ways), ports in zip(refined[1:], outer[1:], strict=True):
            entries, numbers, sets = _entries_of(self.found.kinds[kind], answers(kind), ways, ports)
            parts.append(entries)
            self.numbers.append(numbers)
            self.sets.append(sets)
            always.append(bool(entries[0]))
        self.start = np.cumsum([0, *map(len, parts)])
        self._table_of = np.concatenate(parts)
        self._always = np.flatnonzero(np.array(always)[self.of])

    def _wire(self, wire_cell: Units, target: Units, outside: IntArray) -> None:
        from bitwright.engines.table.loop import wire_up  # compiled: only where it is used

        found = self.found
        records = np.asarray(target.astype(np.uint64) << np.uint64(WORD)) | np.uint64(1) << self.place[
            found.wire_bit[outside]
        ].astype(np.uint64)
        sets = [len(own) for own in self.sets]
        lengths = [len(ports) for own in self.sets for ports in own]
        rows, base, wires = wire_up(
            self.of,
            np.searchsorted(wire_cell, np.arange(self.units + 1)),
            found.wire_port[outside].astype(np.int32),
            records,
            np.concatenate(([0], np.cumsum(sets))),
            np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
            np.concatenate([np.zeros(0, dtype=np.int64), *(ports for own in self.sets for ports in own)]),
        )
        self.tables = PackedTables(
            self._table_of,
            self.start[self.of].astype(np.uint32),
            base.astype(np.uint32),
            np.append(np.uint32(0), rows.astype(np.uint32)),
            wires,
            self._always.astype(np.uint32),
        )

    def words(self, state: BoolArray) -> NDArray[np.uint32]:  # (k,) -> (units,)
        """Converts a state to the words of its cells."""
        on = np.flatnonzero(state)
        words = np.zeros(self.units, dtype=np.uint32)
        np.bitwise_or.at(words, self.unit[on], np.uint32(1) << self.place[on].astype(np.uint32))
        return words

    def places(self, bits: Sequence[int]) -> NDArray[np.int64]:  # (bits, 2)
        """Returns unit and mask of each bit."""
        at = np.array(bits, dtype=np.int64)
        return np.stack((self.unit[at].astype(np.int64), 1 << self.place[at].astype(np.int64)), axis=1).reshape(-1, 2)

    @cached_property
    def margins_of_limit(self) -> FloatArray:  # (entries,)
        """Returns the margins in the limit: zhat is an integer, so 1/2 where anything matches; infinite elsewhere."""
        matched = self.tables.entries >> np.uint64(N) & np.uint64((1 << SET - N) - 1)
        return np.where(matched > 0, 0.5, np.inf)


def fits(kinds: Sequence[Kind]) -> bool:
    """Whether cells of these kinds can be packed."""
    bits = [sum(own for own, _ in kind.blocks) for kind in kinds]
    return max(bits, default=0) <= WORD and sum(1 << own for own in bits) <= _ENTRIES


Entries = tuple[NDArray[np.uint64], IntArray, list[IntArray]]
_kept: OrderedDict[object, tuple[BoolArray, Entries]] = (
    OrderedDict()
)  # entries of small kinds by their ports, reused for graphs
_KEPT, _SMALL = 256, 1 << 10


def _entries_of(kind: Kind, answers: BoolArray, ways: tuple[int, ...], ports: IntArray) -> Entries:
    """Returns the entries of a refined kind, the local state of each, and the possible sets of outer ports."""
    key = (id(answers), ways, tuple(ports.tolist()))
    if key not in _kept:
        numbers, n = local_numbers(kind)
        on = answers[numbers]  # (values, ports)
        values, own = np.arange(len(on)), np.zeros(len(on), dtype=np.int64)
        for way in ways:
            own |= on[:, way >> 4].astype(np.int64) << (way & 15)
        sets, which = _distinct_rows(on[:, ports])
        hold = (own == values) & (which == 0) & (values > 0)
        own |= hold.astype(np.int64) << HOLD | n << N
        entries = own.astype(np.uint64) | which.astype(np.uint64) << np.uint64(SET)
        found = entries, numbers, [ports[row] for row in sets[1:]]
        if len(entries) > _SMALL:
            return found
        _kept[key] = answers, found  # keeps the answers alive so that their id stays unique
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
        return found
    return _kept[key][1]


def local_numbers(kind: Kind) -> tuple[IntArray, IntArray]:  # (2 ** bits,) both
    """Returns the local state of every value of a cell's bits, and the number of matching templates."""
    local = LocalStates(kind)
    numbers, n = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for (bits, configs), value in zip(kind.blocks, local.value.tolist(), strict=True):
        digit, found = np.zeros(1 << bits, dtype=np.int64), np.zeros(1 << bits, dtype=np.int64)
        digit[list(configs)] = np.arange(len(configs)) + (len(configs) < 1 << bits)
        found[list(configs)] = 1
        numbers = (digit[:, None] * value + numbers).ravel()  # the first block has the lowest bits
        n = (found[:, None] + n).ravel()
    return numbers, n


_packed: list[tuple[ref[Program], PackedCells]] = []  # recent programs, which are often run again


def pack_rules(program: Program) -> PackedCells:
    """Packs the rules of a program by cells or, if these are too large, by blocks."""
    for known, packed in _packed:
        if known() is program:
            return packed
    packed = _pack_rules(program)
    _packed[:] = [(ref(program), packed), *_packed[:3]]
    return packed


def _pack_rules(program: Program) -> PackedCells:
    cells, found = program.cells, program.kinds
    if not fits(found.kinds):
        cells = each_block(program.block_families)
        found = cell_kinds(program, cells)
    return PackedCells(program, cells, found, lambda kind: _truth_of(found.kinds[kind]))


@lru_cache(256)
def _truth_of(kind: Kind) -> BoolArray:
    local = LocalStates(kind)
    return local.truth(local.matched(np.arange(local.count)))


def _places(program: Program, cells: Cells) -> tuple[Units, NDArray[np.uint8], int]:
    """Returns the unit and position of every bit; cells come first, then blocks without templates."""
    sizes = np.diff(program.block_start)
    live = program.live
    lengths = np.where(live, sizes, 0)[cells.blocks]
    before = np.cumsum(lengths) - lengths
    offset = np.zeros(program.blocks, dtype=np.uint8)
    offset[cells.blocks] = before - np.repeat(before[cells.start[:-1]], np.diff(cells.start))
    offset[~live] = 0
    unit = cells.of_block.astype(np.int32)
    dead = np.flatnonzero(~live)
    unit[dead] = len(cells) + np.arange(len(dead))
    inside = program.position if cells.bit_place is None else cells.bit_place
    return unit[program.block_of], offset[program.block_of] + inside.astype(np.uint8), len(cells) + len(dead)


def _distinct_rows(rows: BoolArray) -> tuple[BoolArray, IntArray]:
    """Returns the distinct rows, starting with the empty row, and the index of each row among them."""
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    rows = np.vstack((np.zeros((1, rows.shape[1]), dtype=bool), rows))
    keys = np.ascontiguousarray(np.packbits(rows, axis=1))
    _, first, which = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return rows[first], which.ravel()[1:]
