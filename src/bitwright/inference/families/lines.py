"""Positions in arrays that grow with the size: fixed positions, the gaps between them, and affine indices.

Bounds of ranges are lines s*l + o with |o| <= B. For l >= 2B + 1 these lines do not cross, so every range is a union of
*cells*: a cell is a single line, or the gap between two clusters of lines. An array that grows in two dimensions has a
cell for every pair of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from bitwright.rules import Layout
from bitwright.rules.layout import IntArray

Line = tuple[int, int]  # slope s and offset o of s*l + o
Affine = tuple[int, ...]  # (a, b, c) of a*i + b*l + c; in two dimensions (a, a', b, c) of a*i + a'*j + b*l + c
Place = tuple[int, ...]  # one index per dimension
NAMES = ("i", "j")  # names of the indices of a position
FAR = 10_000  # a linear inequality that holds at the smallest size and at this size holds at every size


@dataclass(frozen=True)
class LineBounds:
    """A class of programs: |a| <= `coefficient` in indices a*i + b*l + c, and |c| <= `offset` in indices and bounds."""

    coefficient: int
    offset: int

    @property
    def first(self) -> int:
        """The smallest size at which bounds do not cross."""
        return 2 * self.offset + 1


class LineCell(NamedTuple):
    """The positions from one line to another."""

    low: Line
    high: Line

    @property
    def fixed(self) -> bool:
        """Whether the cell is a single position at every size."""
        return self.low == self.high

    def places(self, size: int) -> range:
        """Returns the positions at a size."""
        return range(at(self.low, size), at(self.high, size) + 1)


Cell = tuple[LineCell, ...]  # one per dimension


class Wrapped(NamedTuple):
    """An index i + c that wraps around at the end of a ring."""

    shifted: Affine


@dataclass(frozen=True)
class Dimension:
    """A dimension that grows, or the first dimension of an array of constant shape, or every second position of it."""

    length: Line
    half: int | None = None  # 0 for positions 2*i-1 only, 1 for positions 2*i only
    whole: Line = (0, 1)  # the length including all positions

    def cells(self, bounds: LineBounds) -> list[LineCell]:
        """Returns the cells in order; a constant dimension has only fixed positions."""
        slope, rest = self.length
        if slope == 0:
            return [LineCell((0, k), (0, k)) for k in range(1, rest + 1)]
        far, cells = bounds.offset, list[LineCell]()
        for s in range(slope + 1):
            first, last = (1 if s == 0 else -far), (rest if s == slope else far)
            cells += [LineCell((s, o), (s, o)) for o in range(first, last + 1)]
            if s < slope:
                cells.append(LineCell((s, far + 1), (s + 1, -far - 1)))
        return cells

    def position(self, index: Affine) -> Affine:
        """Converts an index to one in the full dimension."""
        if self.half is None:
            return index
        *factors, c = index
        return (*(2 * factor for factor in factors), 2 * c - 1 + self.half)


@dataclass(frozen=True)
class Array:
    """A single bit, or an array along the dimensions that grow, with its lengths at every size."""

    field: int  # its number in the layout
    index: str  # such as m[{},3]; the name of a single bit
    dimensions: tuple[Dimension, ...]
    at: tuple[int | None, ...] = (None,)  # its index in every constant dimension

    @property
    def grows(self) -> bool:
        """Whether the array has more bits at larger sizes."""
        return self.dimensions[0].length[0] > 0

    @property
    def halved(self) -> bool:
        """Whether this is every second position of an array."""
        return any(dimension.half is not None for dimension in self.dimensions)

    @property
    def name(self) -> str:
        """The name in messages."""
        if self.halved:
            halves = {None: "{}", 0: "2*{}-1", 1: "2*{}"}
            shown = zip(self.dimensions, NAMES, strict=False)
            return self.index.format(*(halves[dimension.half].format(name) for dimension, name in shown))
        return self.index.replace("[{}]", "").replace("[{},{}]", "").replace("{}", "*")

    def bits(self, layout: Layout) -> IntArray:
        """Returns the bit numbers at one size, with an axis for each dimension."""
        field = layout.fields[self.field]
        if not field.shape:
            return field.bits()
        along = iter([slice(one.half, None, 1 if one.half is None else 2) for one in self.dimensions])
        return field.bits().reshape(field.shape)[tuple(next(along) if k is None else k - 1 for k in self.at)]

    def cells(self, bounds: LineBounds) -> list[Cell]:
        """Returns the cells in order, with the last dimension varying fastest."""
        return list(product(*(dimension.cells(bounds) for dimension in self.dimensions)))

    def bit(self, index: Iterable[Affine], let: str) -> str:
        """Returns the text of a bit."""
        parts = zip(self.dimensions, index, strict=True)
        return self.index.format(*(affine_text(dimension.position(one), let) for dimension, one in parts))


@dataclass(frozen=True)
class Indices:
    """All indices of a class, by the cell where they are used and the length that bounds them."""

    bounds: LineBounds
    steepest: int  # slope of the lengths
    _cache: dict[tuple[Cell, Line], list[Affine]] = field(default_factory=dict)

    def moving(self, dimensions: int) -> list[Affine]:
        """Returns all a*i + b*l + c and, in two dimensions, all a*j + b*l + c; steeper indices leave every array."""
        a, c, reach = self.bounds.coefficient, self.bounds.offset, self.steepest * (self.bounds.coefficient + 1)
        none = [0] * dimensions
        factors = [none] + [
            [*none[:k], factor, *none[k + 1 :]] for k in range(dimensions) for factor in range(-a, a + 1) if factor
        ]
        return [(*some, s, o) for some in factors for s in range(-reach, reach + 1) for o in range(-c, c + 1)]

    def still(self, dimensions: int) -> list[Affine]:
        """Returns all lines that an index can become at a fixed position."""
        far, none = (self.bounds.coefficient + 1) * self.bounds.offset, [0] * dimensions
        return [(*none, s, o) for s in range(self.steepest + 1) for o in range(-far, far + 1)]

    def into(self, cell: Cell, length: Line) -> list[Affine]:
        """Returns the indices that lead from a cell to a position within a length, at every size of at least 2B + 1."""
        if (cell, length) not in self._cache:
            self._cache[cell, length] = list(self._into(cell, length))
        return self._cache[cell, length]

    def _into(self, cell: Cell, length: Line) -> Iterator[Affine]:
        gaps = [not one.fixed for one in cell]
        if length[0] == 0:
            yield from ((*(0 for _ in cell), 0, k) for k in range(1, length[1] + 1))
            return
        usable = dict.fromkeys(self.moving(len(cell))) if any(gaps) else {}
        if not all(gaps):
            usable |= dict.fromkeys(self.still(len(cell)))
        sizes = (self.bounds.first + any(gaps), FAR)
        for index in usable:
            if any(factor and not gap for factor, gap in zip(index, gaps, strict=False)):
                continue  # at a fixed position the index is a line
            if all(
                1 <= value(index, corner, size) <= at(length, size)
                for size in sizes
                for corner in zip(*((at(one.low, size), at(one.high, size)) for one in cell), strict=True)
            ):
                yield index


def places_of(cell: Cell, size: int) -> list[Place]:
    """Returns the positions of a cell at a size."""
    return list(product(*(one.places(size) for one in cell)))


def at(line: Line, size: int) -> int:
    """Returns the position of a line at a size."""
    return line[0] * size + line[1]


def value(index: Affine, place: Place, size: int) -> int:
    """Evaluates an index at a position and a size."""
    return sum(a * i for a, i in zip(index, place, strict=False)) + index[-2] * size + index[-1]


def unit(dimension: int, dimensions: int) -> Affine:
    """Returns the index i or j."""
    return (*(int(k == dimension) for k in range(dimensions)), 0, 0)


def in_cell(index: Affine, cell: Cell) -> Affine:
    """Restricts an index to a cell; at a fixed position it becomes a line."""
    *factors, b, c = index
    for k, (factor, one) in enumerate(zip(factors, cell, strict=True)):
        if factor and one.fixed:
            factors[k] = 0
            b, c = b + factor * one.low[0], c + factor * one.low[1]
    return (*factors, b, c)


def fit_line(values: dict[int, int]) -> Line | None:
    """Returns the line with integer coefficients through the values at two or more sizes, or None."""
    (first, low), *rest = sorted(values.items())
    far, high = rest[-1]
    slope, left = divmod(high - low, far - first)
    line = (slope, low - slope * first)
    return line if not left and all(at(line, size) == length for size, length in rest) else None


def affine_text(index: Affine, let: str) -> str:
    """Formats an index or a bound as rule text, such as 2*i+l-1."""
    parts = list(zip(index, (*NAMES[: len(index) - 2], let, ""), strict=True))
    parts.sort(key=lambda part: not part[1] or part[0] < 0)
    text = ""
    for factor, name in parts:
        if factor:
            size = name if name and abs(factor) == 1 else f"{abs(factor)}{'*' * bool(name)}{name}"
            text += ("-" if factor < 0 else "+" if text else "") + size
    return text or "0"


def simplest(indices: Sequence[Affine] | set[Affine]) -> Affine:
    """Returns the most readable index."""
    return min(indices, key=lambda index: (awkwardness(index), index))


def awkwardness(index: Affine) -> int:
    """Measures how hard an index is to read; i is the easiest, followed by constants and i+1."""
    *factors, b, c = index
    moving = sum(4 * abs(a) - 3 * (a == 1) + (a < 0) for a in factors)
    return moving + 3 * abs(b) + 2 * abs(c)
