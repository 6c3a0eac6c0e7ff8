"""Atoms: what one configuration of one cell of blocks may write into one array, in every program that fits.

An atom is an index a*i + b*l + c, or a gap of the target array that is written as a whole. It is *sound* if no state at
any size contradicts it. A *demand* is a bit that was turned on, as the atoms of which at least one must be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bitwright.bits import BoolArray
from bitwright.files.executions import Executions
from bitwright.inference.elimination import Elimination, Evidence, pack_rows, unpack_rows
from bitwright.inference.families.blocks import FittedBlocks, NoFamilyError, owners
from bitwright.inference.families.lines import Affine, Array, Indices, LineBounds, LineCell, value
from bitwright.program import Layout

_MOST_DEMANDS = 200_000


class AtomSource(NamedTuple):
    """A configuration of the blocks in one cell of a family."""

    family: int
    cell: int  # of those of the family
    config: int


class Atom(NamedTuple):
    """One way in which a configuration may write into an array."""

    source: AtomSource
    array: int
    target: Affine | LineCell  # a cell: all its positions

    def writes(self, cell: LineCell, size: int) -> Iterable[tuple[int, int]]:
        """Pairs of places: of the block, and of the bit that it writes."""
        if isinstance(self.target, LineCell):
            return [(i, j) for i in cell.places(size) for j in self.target.places(size)]
        return [(i, value(self.target, i, size)) for i in cell.places(size)]


@dataclass
class Evidences:
    """Executions of several sizes, eliminated with the blocks of families."""

    arrays: Sequence[Array]
    families: Sequence[FittedBlocks]
    bounds: LineBounds
    executions: Mapping[int, Executions]
    layouts: Mapping[int, Layout]
    atoms: dict[tuple[AtomSource, int], set[Affine | LineCell]] = field(default_factory=dict)  # sound ones
    seen: set[AtomSource] = field(default_factory=set)
    demands: set[frozenset[Atom]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.indices = Indices(self.bounds, max(array.length[0] for array in self.arrays))
        self.gaps = [
            [c for c in array.cells(self.bounds) if not c.fixed and array.half is None] for array in self.arrays
        ]
        self.sources = [
            AtomSource(number, cell, config)
            for number, family in enumerate(self.families)
            for cell in range(len(family.cells))
            for config in range(1 << len(family.members))
        ]
        views = [self._view(size) for size in self.executions]
        self._find_sound(views)
        for view in views:
            self._demand(view)

    def cell(self, source: AtomSource) -> LineCell:
        """Where the blocks of a source are."""
        return self.families[source.family].cells[source.cell]

    def _view(self, size: int) -> _AtomView:
        """The elimination at one size, with the source of each block."""
        layout, owners, blocks = self.layouts[size], list[tuple[int, int, int]](), list[list[int]]()
        for number, family in enumerate(self.families):
            starts = {i: k for k, cell in enumerate(family.cells) for i in cell.places(size)}
            for i, bits in family.bits(self.arrays, layout, size):
                owners.append((number, starts[i], i))
                blocks.append(bits)
        return _AtomView(size, layout, Elimination(Evidence(self.executions[size]), blocks), owners)

    def _find_sound(self, views: Sequence[_AtomView]) -> None:
        rows: dict[AtomSource, list[tuple[_AtomView, int, BoolArray]]] = {}
        for view in views:
            for (family, number, i), block, kept in zip(
                view.owners, view.elimination.blocks, view.elimination.open, strict=True
            ):
                for config, row in zip(block.configs.tolist(), kept, strict=True):
                    rows.setdefault(AtomSource(family, number, config), []).append((view, i, row))
        self.seen = set(rows)
        valid: dict[tuple[LineCell, int], list[Affine]] = {}
        for source in self.sources:
            cell = self.cell(source)
            for number, array in enumerate(self.arrays):
                if (cell, number) not in valid:
                    valid[cell, number] = list(self.indices.into(cell, array))
                self.atoms[source, number] = self._sound(valid[cell, number], number, rows.get(source, []))

    def _sound(
        self, indices: list[Affine], number: int, rows: Sequence[tuple[_AtomView, int, BoolArray]]
    ) -> set[Affine | LineCell]:
        """The targets in an array that no state contradicts."""
        coefficients = np.array(indices, dtype=np.int64).reshape(-1, 3)
        sound: BoolArray = np.full(len(indices), True)
        slices = list(self.gaps[number])
        for view, i, row in rows:
            bits = row[self.arrays[number].bits(view.layout)]
            sound = sound & bits[coefficients @ np.array([i, view.size, 1]) - 1]
            slices = [gap for gap in slices if _all_on(bits, gap.places(view.size))]
        return {*(indices[k] for k in np.flatnonzero(sound).tolist()), *slices}

    def _through(self, source: AtomSource, i: int, number: int, j: int, size: int) -> Iterable[Atom]:
        """The sound atoms that write one bit."""
        for target in self.atoms[source, number]:
            hit = j in target.places(size) if isinstance(target, LineCell) else value(target, i, size) == j
            if hit:
                yield Atom(source, number, target)

    def _demand(self, view: _AtomView) -> None:
        """One demand for every confirmed write, and for every bit turned on that these do not explain."""
        place = owners(self.arrays, view.layout)
        elimination, size = view.elimination, view.size
        explained = np.zeros_like(elimination.evidence.after)
        known: dict[tuple[int, int, int], frozenset[Atom]] = {}

        def ways(block: int, config: int, bit: int) -> frozenset[Atom]:
            if (block, config, bit) not in known:
                family, cell, i = view.owners[block]
                found = self._through(AtomSource(family, cell, config), i, *place[bit], size)
                known[block, config, bit] = frozenset(found)
            return known[block, config, bit]

        for number, (block, proved) in enumerate(zip(elimination.blocks, elimination.confirmed, strict=True)):
            explained |= pack_rows(proved)[block.of_state]
            for row, bit in np.argwhere(proved).tolist():
                self._add(ways(number, int(block.configs[row]), bit), view, bit)
        left = unpack_rows(elimination.evidence.after & ~explained, elimination.evidence.bits)
        for bit in np.flatnonzero(left.any(axis=0)).tolist():
            states = np.flatnonzero(left[:, bit])
            shown = np.stack(
                [
                    np.where(kept[block.of_state[states], bit], block.of_state[states], -1)
                    for block, kept in zip(elimination.blocks, elimination.open, strict=True)
                ],
                axis=1,
            )  # which configuration of each block may have written it
            for row in np.unique(shown, axis=0).tolist():
                choices = [
                    ways(number, int(elimination.blocks[number].configs[config]), bit)
                    for number, config in enumerate(row)
                    if config >= 0
                ]
                self._add(frozenset[Atom]().union(*choices), view, bit)

    def _add(self, demand: frozenset[Atom], view: _AtomView, bit: int) -> None:
        if not demand:
            name = view.layout.name_of(bit)
            raise NoFamilyError(f"{name} is written at size {view.size}, and by no index that fits the other sizes")
        self.demands.add(demand)
        if len(self.demands) > _MOST_DEMANDS:
            raise NoFamilyError(f"more than {_MOST_DEMANDS:,} different demands; give fewer or more random states")


@dataclass(frozen=True)
class _AtomView:
    size: int
    layout: Layout
    elimination: Elimination
    owners: list[tuple[int, int, int]]  # (blocks,) family, cell and place


def runs(kept: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last of every longest run of true values."""
    edges = [k for k, (a, b) in enumerate(pairwise([False, *kept, False])) if a != b]
    return [(first, last - 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _all_on(bits: BoolArray, places: range) -> bool:
    return bool(bits[places.start - 1 : places.stop - 1].all())
