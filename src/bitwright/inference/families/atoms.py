"""Atoms, the possible writes of a configuration of a cell of blocks into an array, in any consistent program.

An atom has one *choice* for each dimension of the target array: an index a*i + b*l + c, or a gap that is written
entirely. It is *sound* if no state at any size contradicts it. A *demand* is a set of atoms for a bit that was turned
on; a program must contain at least one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.files.executions import Executions
from bitwright.inference import Elimination, Evidence, pack_rows, unpack_rows
from bitwright.inference.families.blocks import FittedBlocks, NoFamilyError, indices_of, owners
from bitwright.inference.families.lines import Affine, Array, Cell, LineBounds, LineCell, Place, places_of
from bitwright.rules import Layout
from bitwright.rules.layout import IntArray

_MOST_DEMANDS = 200_000


class AtomSource(NamedTuple):
    """A configuration of the blocks in a cell of a family."""

    family: int
    cell: int  # number of the cell in the family
    config: int


class Atom(NamedTuple):
    """A possible write of a configuration into an array."""

    source: AtomSource
    array: int
    choice: tuple[int, ...]  # the number of an index or gap in each dimension


@dataclass(frozen=True)
class Choices:
    """The choices of a block in a cell for a dimension of an array: indices, followed by gaps."""

    cell: Cell
    indices: tuple[Affine, ...]
    gaps: tuple[LineCell, ...]

    def __len__(self) -> int:
        return len(self.indices) + len(self.gaps)

    def __getitem__(self, number: int) -> Affine | LineCell:
        count = len(self.indices)
        return self.indices[number] if number < count else self.gaps[number - count]

    def number(self, choice: Affine | LineCell) -> int | None:
        """Returns the number of a choice, or None if it is not in the class."""
        return self._number_of.get(choice)

    def positions(self, place: Place, size: int) -> IntArray:
        """Returns the target of each index at a position, counted from 0."""
        return np.asarray(self._coefficients @ np.array([*place, size, 1]) - 1)

    def writes(self, size: int, length: int) -> BoolArray:  # (places, choices, length)
        """Returns the positions that each choice writes, for every position in the cell."""
        places = places_of(self.cell, size)
        writes: BoolArray = np.zeros((len(places), len(self), length), dtype=bool)
        for row, place in enumerate(places):
            writes[row, np.arange(len(self.indices)), self.positions(place, size)] = True
        for number, gap in enumerate(self.gaps, len(self.indices)):
            writes[:, number, gap.places(size).start - 1 : gap.places(size).stop - 1] = True
        return writes

    def through(self, place: Place, size: int, position: int) -> list[int]:
        """Returns the choices that write to a position."""
        gaps = [n for n, gap in enumerate(self.gaps, len(self.indices)) if position in gap.places(size)]
        return [*np.flatnonzero(self.positions(place, size) == position - 1).tolist(), *gaps]

    def all_on(self, bits: BoolArray, axis: int, place: Place, size: int) -> BoolArray:
        """Reduces bits along an axis to choices: true if all bits that a choice writes are on."""
        gaps = []
        for gap in self.gaps:
            low, high = gap.places(size).start - 1, gap.places(size).stop - 1
            gaps.append(bits.take(np.arange(low, high), axis=axis).all(axis=axis, keepdims=True))
        return np.concatenate([bits.take(self.positions(place, size), axis=axis), *gaps], axis=axis)

    @cached_property
    def _number_of(self) -> dict[Affine | LineCell, int]:
        return {self[number]: number for number in range(len(self))}

    @cached_property
    def _coefficients(self) -> IntArray:
        return np.array(self.indices, dtype=np.int64).reshape(len(self.indices), len(self.cell) + 2)


Key = tuple[int, int, int]  # family, cell and array


@dataclass
class Evidences:
    """Executions at several sizes, after elimination with the blocks of families."""

    arrays: Sequence[Array]
    families: Sequence[FittedBlocks]
    bounds: LineBounds
    executions: Mapping[int, Executions]
    layouts: Mapping[int, Layout]
    choices: dict[Key, tuple[Choices, ...]] = field(default_factory=dict)  # one per dimension
    sound: dict[Key, BoolArray] = field(default_factory=dict)  # (configurations, choices, ...)
    seen: set[AtomSource] = field(default_factory=set)
    demands: set[frozenset[Atom]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.indices = indices_of(self.arrays, self.bounds)
        for number, family in enumerate(self.families):
            for k, cell in enumerate(family.cells):
                for m, array in enumerate(self.arrays):
                    choices = tuple(
                        Choices(cell, tuple(self.indices.into(cell, dimension.length)), self.gaps(array, d))
                        for d, dimension in enumerate(array.dimensions)
                    )
                    shape = (1 << len(family.members), *map(len, choices))
                    self.choices[number, k, m] = choices
                    self.sound[number, k, m] = np.full(shape, True)
        views = [self._view(size) for size in self.executions]
        for view in views:
            self._find_sound(view)
        for view in views:
            self._demand(view)

    def gaps(self, array: Array, dimension: int) -> tuple[LineCell, ...]:
        """Returns the gaps of a dimension that can be written entirely."""
        if array.halved:
            return ()
        return tuple(cell for cell in array.dimensions[dimension].cells(self.bounds) if not cell.fixed)

    @property
    def sources(self) -> Iterable[AtomSource]:
        """Every configuration of every cell."""
        return (
            AtomSource(number, cell, config)
            for number, family in enumerate(self.families)
            for cell in range(len(family.cells))
            for config in range(1 << len(family.members))
        )

    def target(self, atom: Atom) -> tuple[Affine | LineCell, ...]:
        """Returns the target of an atom: an index or gap in each dimension."""
        dimensions = self.choices[atom.source.family, atom.source.cell, atom.array]
        return tuple(choices[number] for choices, number in zip(dimensions, atom.choice, strict=True))

    def sound_atoms(self) -> int:
        """Returns the number of atoms that no state contradicts."""
        return sum(int(sound.sum()) for sound in self.sound.values())

    def _view(self, size: int) -> _AtomView:
        """Runs elimination at one size, and records the source of each block."""
        layout, owners, blocks = self.layouts[size], list[tuple[int, int, Place]](), list[list[int]]()
        for number, family in enumerate(self.families):
            for cell, place, bits in family.bits(self.arrays, layout, size):
                owners.append((number, cell, place))
                blocks.append(bits)
        return _AtomView(size, layout, Elimination(Evidence(self.executions[size]), blocks), owners)

    def _find_sound(self, view: _AtomView) -> None:
        """Keeps the atoms that do not write any bit that stayed off."""
        bits = [array.bits(view.layout) for array in self.arrays]
        for (family, cell, place), block, kept in zip(
            view.owners, view.elimination.blocks, view.elimination.open, strict=True
        ):
            self.seen.update(AtomSource(family, cell, config) for config in block.configs.tolist())
            for number, array_bits in enumerate(bits):
                on = kept[:, array_bits]
                for axis, choices in enumerate(self.choices[family, cell, number], 1):
                    on = choices.all_on(on, axis, place, view.size)
                self.sound[family, cell, number][block.configs] &= on

    def _through(self, source: AtomSource, place: Place, number: int, target: Place, size: int) -> Iterable[Atom]:
        """Yields the sound atoms that write a bit."""
        key = (source.family, source.cell, number)
        sound = self.sound[key][source.config]
        ways = [choices.through(place, size, j) for choices, j in zip(self.choices[key], target, strict=True)]
        return (Atom(source, number, choice) for choice in product(*ways) if sound[choice])

    def _demand(self, view: _AtomView) -> None:
        """Adds a demand for every confirmed write and for every other bit that was turned on."""
        place = owners(self.arrays, view.layout)
        elimination, size = view.elimination, view.size
        explained = np.zeros_like(elimination.evidence.after)
        cache: dict[tuple[int, int, int], frozenset[Atom]] = {}

        def ways(block: int, config: int, bit: int) -> frozenset[Atom]:
            if (block, config, bit) not in cache:
                family, cell, i = view.owners[block]
                cache[block, config, bit] = frozenset(
                    self._through(AtomSource(family, cell, config), i, *place[bit], size)
                )
            return cache[block, config, bit]

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
            )  # configurations of each block that may have written the bit
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
            raise NoFamilyError(f"{name} is written at size {view.size}, but no index for it fits the other sizes")
        self.demands.add(demand)
        if len(self.demands) > _MOST_DEMANDS:
            raise NoFamilyError(
                f"more than {_MOST_DEMANDS:,} different demands; give fewer states, or more random ones"
            )


@dataclass(frozen=True)
class _AtomView:
    size: int
    layout: Layout
    elimination: Elimination
    owners: list[tuple[int, int, Place]]  # (blocks,) family, cell and place
