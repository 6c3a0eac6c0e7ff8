"""The wiring of a program's cells: from states to local states, and from ports back to bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import OtherKindError, counted, listing
from bitwright.rules import Program
from bitwright.rules.cells import CellKinds, Cells, Kind, LocalStates, Tile, cell_kinds
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern

_TILES = 16  # the most neighbouring cells to try as one


@dataclass(frozen=True, eq=False)
class WiredKind:
    """All cells of one kind, with their blocks and the bits that their ports set."""

    kind: int  # in the pattern
    blocks: IntArray  # (cells, blocks)
    local: LocalStates
    wire_cell: IntArray  # (wires,) which of these cells
    wire_port: IntArray  # (wires,)
    wire_bit: IntArray  # (wires,)


class Wiring:
    """A program as cells of a pattern's kinds; raises InputError if it has a cell of another kind.

    With a `tile`, the pattern consists of cells of this program with that tile.
    """

    def __init__(self, program: Program, pattern: Pattern, tile: Tile | None = None) -> None:
        self.program, self.pattern = program, pattern
        self.tile: Tile
        if pattern.whole is not None or tile is None:
            self.tile, self.cells = tile_of(program, pattern)
        else:
            self.tile, self.cells = tile, program.cells.tiled(tile)
        if pattern.whole is not None:
            self.found = _whole_state(pattern)
        else:
            self.found = program.kinds if self.cells is program.cells else cell_kinds(program, self.cells)
        places = [pattern.place_of(kind) for kind in self.found.kinds]
        assert None not in places
        self.places = [place for place in places if place is not None]  # positions of these kinds in the pattern

    @cached_property
    def kinds(self) -> list[WiredKind]:
        program, found, cells = self.program, self.found, self.cells
        kinds = []
        occupied = cells.blocks[np.bincount(program.template_block, minlength=program.blocks)[cells.blocks] > 0]
        begins = np.searchsorted(cells.of_block[occupied], np.arange(len(cells)))  # blocks come cell by cell
        for own, place in enumerate(self.places):
            members = np.flatnonzero(found.of == own)
            local = LocalStates(found.kinds[own])
            mine = np.flatnonzero(found.of[found.wire_cell] == own)
            kinds.append(
                WiredKind(
                    place,
                    occupied[begins[members][:, None] + np.arange(len(local.kind.blocks))],
                    local,
                    np.searchsorted(members, found.wire_cell[mine]),
                    found.wire_port[mine],
                    found.wire_bit[mine],
                )
            )
        return kinds

    @cached_property
    def _digit(self) -> IntArray:  # (K,)
        """The digit that selects each template."""
        found, digit = self.found, np.zeros(self.program.templates, dtype=np.int64)
        for own, kind in enumerate(found.kinds):
            members = np.flatnonzero(found.of == own)
            templates = found.order[found.first_template[members][:, None] + np.arange(kind.templates)]
            digit[templates] = LocalStates(kind).digit
        return digit

    def numbers(self, states: BoolArray) -> list[IntArray]:  # (batch, k) -> (batch, cells) for each kind
        """Returns the local state of every cell."""
        program = self.program
        configs = program.configurations(states)  # (batch, b)
        found = program.lookup(np.tile(np.arange(program.blocks), len(states)), configs.ravel()).reshape(configs.shape)
        digits = np.where(found >= 0, self._digit[found], 0)
        return [wired.local.of_digits(digits[:, wired.blocks]) for wired in self.kinds]

    def numbers_of(self, matched: BoolArray) -> list[IntArray]:  # (batch, K) -> (batch, cells) for each kind
        """Returns the local state of every cell, given the matching templates."""
        digits = np.zeros((len(matched), self.program.blocks), dtype=np.int64)
        row, template = np.nonzero(matched)
        digits[row, self.program.template_block[template]] = self._digit[template]
        return [wired.local.of_digits(digits[:, wired.blocks]) for wired in self.kinds]

    def written(self, ports: list[BoolArray], batch: int) -> BoolArray:  # (batch, cells, ports) each -> (batch, k)
        """Returns the next states: a bit is on if any port wired to it is on."""
        following = np.zeros((batch, self.program.bits), dtype=bool)
        for wired, on in zip(self.kinds, ports, strict=True):
            set_now = on[:, wired.wire_cell, wired.wire_port]  # (batch, wires)
            rows, wires = np.nonzero(set_now)
            following[rows, wired.wire_bit[wires]] = True
        return following


def _whole_state(pattern: Pattern) -> CellKinds:
    """Returns the whole state as one cell, whose port i sets bit i."""
    program = pattern.program
    bits, templates = np.arange(program.bits), np.arange(program.templates)
    first, none = np.array([0, program.templates]), np.zeros_like(bits)
    return CellKinds(pattern.kinds, np.zeros(1, dtype=np.int64), templates, first, templates, none, bits, bits)


def tile_of(program: Program, pattern: Pattern) -> tuple[Tile, Cells]:
    """Returns how many neighbouring cells of the program form one cell of the pattern, and these cells."""
    if pattern.whole is not None:
        if pattern.whole != program:
            raise OtherKindError(
                f"this network is for the whole state of another program: its id is {pattern.whole.id[:13]}..., "
                f"this program's is {program.id[:13]}..."
            )
        return "all", program.cells.tiled("all")
    missing = None
    most = max((len(kind.blocks) for kind in pattern.kinds), default=1)
    for tile in range(1, min(_TILES, most) + 1):
        cells = program.cells.tiled(tile)
        found = program.kinds if tile == 1 else cell_kinds(program, cells)
        lacking = [number for number, kind in enumerate(found.kinds) if pattern.place_of(kind) is None]
        if not lacking:
            return tile, cells
        if missing is None:
            kind, first = found.kinds[lacking[0]], int(np.flatnonzero(found.of == lacking[0])[0])
            missing = f"{_name(program, cells, first)} ({kind}); {_nearest(pattern, kind)}"
    raise OtherKindError(f"this network has no cell like {missing}; train one on the cells of this program too")


def _nearest(pattern: Pattern, wanted: Kind) -> str:
    """Describes the network's kind closest to a missing one, and the difference."""

    def apart(kind: Kind) -> tuple[bool, int, int, int]:
        lengths = (len(kind.blocks) - len(wanted.blocks), kind.templates - wanted.templates)
        return kind.blocks != wanted.blocks, abs(lengths[0]), abs(lengths[1]), abs(len(kind.ports) - len(wanted.ports))

    kind = min(pattern.kinds, key=apart)
    which = "its only kind" if len(pattern.kinds) == 1 else f"the nearest of its {len(pattern.kinds):,} kinds"
    if kind.blocks != wanted.blocks:
        return f"{which} has {kind}" if str(kind) != str(wanted) else f"{which} has as many, but other examples"
    ports = counted(len(kind.ports), "port")
    wired = "wired differently" if len(kind.ports) == len(wanted.ports) else ports
    return f"{which} has the same examples, but {wired}"


def _name(program: Program, cells: Cells, cell: int) -> str:
    names = [
        name for block in cells.blocks[cells.start[cell] : cells.start[cell + 1]] for name in program.block_names(block)
    ]
    return f"that of {listing(names, 6)}"
