"""Terms, which are configurations of ranges of cells with their writes, in the form of rule-text lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.inference.families.atoms import Atom, AtomSource, Choices, Evidences
from bitwright.inference.families.lines import Affine, Cell, Dimension, LineCell, Wrapped, awkwardness, in_cell, unit
from bitwright.rules.layout import IntArray

Piece = Affine | LineCell | Wrapped  # a target in one dimension; a LineCell may span several cells of the array
TERM = 1_000  # cost of a term; readability decides between covers with the same number of terms
_SLICE = 40  # readability cost of a slice, and of each bound
_BOUND = 10


class Term(NamedTuple):
    """A configuration of a rectangle of cells of a family, and the bits of an array that it writes."""

    family: int
    config: int
    cells: tuple[tuple[int, int], ...]  # first and last in each dimension
    array: int
    target: tuple[Piece, ...]


class Terms:
    """The terms of a class, with the atoms of each term."""

    def __init__(self, evidence: Evidences) -> None:
        self.evidence = evidence
        self._pieces: dict[tuple[int, int], list[_Pieces]] = {}  # by family and array: one per dimension

    def atoms(self, term: Term) -> list[Atom] | None:
        """Returns the atoms of a term; None if one of them is not sound."""
        found: list[Atom] = []
        for k in cells_in(self.evidence.families[term.family].ranges, term.cells):
            key = (term.family, k, term.array)
            dimensions = self.evidence.arrays[term.array].dimensions
            parts = zip(term.target, dimensions, self.evidence.choices[key], strict=True)
            numbers = [_numbers(piece, dimension, those, self.evidence) for piece, dimension, those in parts]
            for choice in product(*numbers):
                if not self.evidence.sound[key][(term.config, *choice)]:
                    return None
                found.append(Atom(AtomSource(term.family, k, term.config), term.array, choice))
            if not all(numbers):
                return None
        return found

    def longest(self, wanted: Iterable[Atom]) -> Iterator[tuple[Term, int]]:
        """Yields all longest terms with a required atom, with their costs."""
        groups: dict[tuple[int, int, int], list[Atom]] = {}
        for atom in wanted:
            groups.setdefault((atom.source.family, atom.source.config, atom.array), []).append(atom)
        for (family, config, array), atoms in sorted(groups.items()):
            yield from self._ranges(family, config, array, atoms)
            yield from self._of_one_cell(family, config, array, atoms)

    def _ranges(self, family: int, config: int, array: int, atoms: Sequence[Atom]) -> Iterator[tuple[Term, int]]:
        evidence, pieces = self.evidence, self.pieces(family, array)
        ranges = evidence.families[family].ranges
        sound, useful = [], []
        for k in range(len(evidence.families[family].cells)):
            kept_atoms = evidence.sound[family, k, array][config]
            required = np.zeros_like(kept_atoms)
            for atom in atoms:
                if atom.source.cell == k:
                    required[atom.choice] = True
            for axis, own in enumerate(pieces):
                kept_atoms = own.reduced(np.logical_and, kept_atoms, k, axis)
                required = own.reduced(np.logical_or, required, k, axis)
            sound.append(kept_atoms)
            useful.append(required)
        kept, some = np.array(sound), np.array(useful)
        for choice in np.argwhere((kept & some).any(axis=0)).tolist():
            target = tuple(own.all[n] for own, n in zip(pieces, choice, strict=True))
            shape = [len(cells) for cells in ranges]
            at: tuple[Any, ...] = (slice(None), *choice)
            grid, required = kept[at].reshape(shape), some[at].reshape(shape)
            for cells in rectangles(grid):
                if not required[tuple(slice(low, high + 1) for low, high in cells)].any():
                    continue
                ends = sum((a > 0) + (b < len(own) - 1) for (a, b), own in zip(cells, ranges, strict=True))
                if all(
                    not isinstance(piece, Wrapped) or cells[d] == (0, len(ranges[d]) - 1)
                    for d, piece in enumerate(target)
                ):
                    cost = sum(own.costs[n] for own, n in zip(pieces, choice, strict=True))
                    yield Term(family, config, cells, array, target), TERM + cost + ends

    def _of_one_cell(self, family: int, config: int, array: int, atoms: Sequence[Atom]) -> Iterator[tuple[Term, int]]:
        """Yields terms of a single cell, with indices that are lines in this cell."""
        fitted = self.evidence.families[family]
        counts = [len(cells) for cells in fitted.ranges]
        for atom in atoms:
            target = self.evidence.target(atom)
            if any(one.fixed for one in fitted.cells[atom.source.cell]):
                cells = tuple((int(k), int(k)) for k in np.unravel_index(atom.source.cell, counts))
                cost = sum(_SLICE if isinstance(one, LineCell) else awkwardness(one) for one in target)
                yield Term(family, config, cells, array, target), TERM + 2 + cost

    def pieces(self, family: int, array: int) -> list[_Pieces]:
        """Returns the pieces of the targets of a family in an array, for each dimension."""
        if (family, array) not in self._pieces:
            dimensions = self.evidence.arrays[array].dimensions
            self._pieces[family, array] = [_Pieces(self.evidence, family, array, d) for d in range(len(dimensions))]
        return self._pieces[family, array]


@dataclass(frozen=True)
class _Pieces:
    evidence: Evidences
    family: int
    array: int
    dimension: int

    @cached_property
    def all(self) -> list[Piece]:
        return [piece for piece, _ in self._costed]

    @cached_property
    def costs(self) -> list[int]:
        return [cost for _, cost in self._costed]

    @cached_property
    def _costed(self) -> list[tuple[Piece, int]]:
        """The pieces that are an index or a slice in some cell, with their costs."""
        cells = range(len(self.evidence.families[self.family].cells))
        return [one for one in self._tried() if any(self._in(one[0], k) for k in cells)]

    def _tried(self) -> Iterator[tuple[Piece, int]]:
        ranges, array = self.evidence.families[self.family].ranges, self.evidence.arrays[self.array]
        for index in self.evidence.indices.moving(len(ranges)):
            yield index, awkwardness(index)
        cells = array.dimensions[self.dimension].cells(self.evidence.bounds)
        for low, first in enumerate(cells):
            for high in range(low, len(cells)):
                if not array.halved and any(not cell.fixed for cell in cells[low : high + 1]):
                    yield LineCell(first.low, cells[high].high), _SLICE + _BOUND * ((low > 0) + (high < len(cells) - 1))
        if self.dimension < len(ranges) and not array.halved:
            own, length = ranges[self.dimension], array.dimensions[self.dimension].length
            if own[0].low == (0, 1) and own[-1].high == length and length[0]:
                far, i = self.evidence.bounds.offset, unit(self.dimension, len(ranges))
                yield from ((Wrapped((*i[:-1], c)), 20 + awkwardness((*i[:-1], c))) for c in range(-far, far + 1) if c)

    def _in(self, piece: Piece, cell: int) -> list[int]:
        array = self.evidence.arrays[self.array]
        those = self.evidence.choices[self.family, cell, self.array][self.dimension]
        return _numbers(piece, array.dimensions[self.dimension], those, self.evidence)

    def reduced(self, how: np.ufunc, over: BoolArray, cell: int, axis: int) -> BoolArray:
        """Reduces the values of choices to values of pieces."""
        flat, starts, valid = self._numbers[cell]
        if not len(starts):
            return np.zeros((*over.shape[:axis], 0, *over.shape[axis + 1 :]), dtype=bool)
        found: BoolArray = how.reduceat(over.take(flat, axis=axis), starts, axis=axis)
        return found & valid.reshape([-1 if k == axis else 1 for k in range(over.ndim)])

    @cached_property
    def _numbers(self) -> list[tuple[IntArray, IntArray, BoolArray]]:
        """For each cell, the choices of all pieces, the start of each piece's choices, and whether it has choices."""
        found = []
        for k in range(len(self.evidence.families[self.family].cells)):
            numbers = [self._in(piece, k) for piece in self.all]
            starts = np.cumsum([0, *(max(1, len(own)) for own in numbers)])[:-1]
            flat = np.array([n for own in numbers for n in own or [0]], dtype=np.int64)
            found.append((flat, starts, np.array([bool(own) for own in numbers], dtype=bool)))
        return found


def _numbers(piece: Piece, dimension: Dimension, those: Choices, evidence: Evidences) -> list[int]:
    """Returns the choices of a piece in a cell; empty if a choice is not in the class."""
    wanted: list[Affine | LineCell]
    if isinstance(piece, LineCell):
        cells = dimension.cells(evidence.bounds)
        low = next(k for k, one in enumerate(cells) if one.low == piece.low)
        high = next(k for k, one in enumerate(cells) if one.high == piece.high)
        none = [0] * len(those.cell)
        wanted = [(*none, *one.low) if one.fixed else one for one in cells[low : high + 1]]
    elif isinstance(piece, Wrapped):
        wanted = [_wrap(piece.shifted, those.cell, dimension)]
    else:
        wanted = [in_cell(piece, those.cell)]
    found = [those.number(one) for one in wanted]
    return [n for n in found if n is not None] if None not in found else []


def _wrap(index: Affine, cell: Cell, dimension: Dimension) -> Affine:
    """Reduces an index i + c of a ring dimension to an index without a remainder."""
    *factors, s, o = in_cell(index, cell)
    if any(factors):
        return (*factors, s, o)
    slope, rest = dimension.length
    if s == 0 and o < 1:
        return (*factors, slope, o + rest)
    return (*factors, 0, o - rest) if s == slope and o > rest else (*factors, s, o)


def cells_in(ranges: Sequence[Sequence[LineCell]], cells: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the numbers of the cells in a rectangle."""
    counts = [len(own) for own in ranges]
    inside = product(*(range(first, last + 1) for first, last in cells))
    return [int(np.ravel_multi_index(one, counts)) for one in inside]


def rectangles(grid: BoolArray) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields the first and last index along each dimension of every maximal rectangle of true values."""
    if grid.ndim == 1:
        yield from ((run,) for run in runs(grid.tolist()))
        return
    if grid.all():
        yield tuple((0, length - 1) for length in grid.shape)
        return
    rows = len(grid)
    for top in range(rows):
        for bottom in range(top, rows):
            for first, last in runs(np.logical_and.reduce(grid[top : bottom + 1]).tolist()):
                own = [bool(row[first : last + 1].all()) for row in grid]
                if not (top > 0 and own[top - 1]) and not (bottom < rows - 1 and own[bottom + 1]):
                    yield (top, bottom), (first, last)


def runs(kept: Sequence[bool]) -> list[tuple[int, int]]:
    """Returns the first and last index of every maximal run of true values."""
    edges = [k for k, (a, b) in enumerate(pairwise([False, *kept, False])) if a != b]
    return [(first, last - 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]
