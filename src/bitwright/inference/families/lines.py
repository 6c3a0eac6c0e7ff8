"""Positions of arrays that grow with the size: fixed positions, the gaps between them, and affine indices.

Bounds of ranges are lines s*l + o with |o| <= B. From l = 2B + 1 on these lines never cross, so every range is a union
of *cells*: a cell is one line, or the gap between two clusters of lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bitwright.program import Layout
from bitwright.program.layout import IntArray

Line = tuple[int, int]  # slope s and offset o of s*l + o
Affine = tuple[int, int, int]  # a*i + b*l + c
_FAR = 10_000  # a linear inequality that holds at the smallest size and here holds at every size


@dataclass(frozen=True)
class LineBounds:
    """The class of programs: |a| <= `coefficient` in indices a*i + b*l + c, and |c| <= `offset`, also in bounds."""

    coefficient: int
    offset: int

    @property
    def first(self) -> int:
        """The smallest size at which bounds do not cross."""
        return 2 * self.offset + 1


@dataclass(frozen=True)
class LineCell:
    """The positions from one line to another."""

    low: Line
    high: Line

    @property
    def fixed(self) -> bool:
        """Whether it is one position, at every size."""
        return self.low == self.high

    def places(self, size: int) -> range:
        """Its positions at a size."""
        return range(at(self.low, size), at(self.high, size) + 1)


@dataclass(frozen=True)
class Array:
    """A single bit, or an array along the one dimension that grows, and its length at every size.

    It may also be every second position of such an array, from the first or from the second on."""

    field: int  # of the layout
    index: str  # such as m[{},3]; of a single bit its name
    length: Line
    at: tuple[int | None, ...] = (None,)  # its index in every constant dimension
    half: int | None = None  # 0: positions 2*i-1 alone, 1: positions 2*i
    whole: Line = (0, 1)  # the length with all positions

    @property
    def name(self) -> str:
        """How messages call it."""
        if self.half is not None:
            return self.index.format("2*i" if self.half else "2*i-1")
        return self.index.replace("[{}]", "").replace("{}", "*")

    def bits(self, layout: Layout) -> IntArray:
        """Its bit numbers at one size, in order."""
        field = layout.fields[self.field]
        if not field.shape:
            return field.bits()
        along = slice(self.half, None, 1 if self.half is None else 2)
        return field.bits().reshape(field.shape)[tuple(along if k is None else k - 1 for k in self.at)].ravel()

    def cells(self, bounds: LineBounds) -> list[LineCell]:
        """Its cells in order; an array of constant length has only fixed positions."""
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

    def bit(self, index: Affine, let: str) -> str:
        """The text of one bit."""
        if self.half is not None:
            a, b, c = index
            index = 2 * a, 2 * b, 2 * c - 1 + self.half
        return self.index.format(affine_text(index, let))


@dataclass(frozen=True)
class Indices:
    """All indices of a class, by the cell that they are used in and the array that they lead to."""

    bounds: LineBounds
    steepest: int  # of the lengths

    @cached_property
    def moving(self) -> list[Affine]:
        """All a*i + b*l + c."""
        a, c, reach = self.bounds.coefficient, self.bounds.offset, self.steepest * (self.bounds.coefficient + 1)
        return [
            (i, s, o) for i in range(-a, a + 1) for s in range(-reach, reach + 1) for o in range(-c, c + 1)
        ]  # steeper ones leave every array

    @cached_property
    def still(self) -> list[Affine]:
        """All lines that such an index can be at a fixed position."""
        far = (self.bounds.coefficient + 1) * self.bounds.offset
        return [(0, s, o) for s in range(self.steepest + 1) for o in range(-far, far + 1)]

    def into(self, cell: LineCell, array: Array) -> Iterator[Affine]:
        """Those that lead from a cell into an array at every size from 2B + 1 on."""
        if array.length[0] == 0:
            yield from ((0, 0, k) for k in range(1, array.length[1] + 1))
            return
        sizes = (self.bounds.first + (not cell.fixed), _FAR)
        for index in self.still if cell.fixed else self.moving:
            if all(
                1 <= value(index, at(end, size), size) <= at(array.length, size)
                for size in sizes
                for end in (cell.low, cell.high)
            ):
                yield index


def at(line: Line, size: int) -> int:
    """The position of a line at a size."""
    return line[0] * size + line[1]


def value(index: Affine, place: int, size: int) -> int:
    """An index at a place and a size."""
    return index[0] * place + index[1] * size + index[2]


def in_cell(index: Affine, cell: LineCell) -> Affine:
    """An index as it is used in a cell: at a fixed position it is a line."""
    if not cell.fixed:
        return index
    (a, b, c), (s, o) = index, cell.low
    return 0, a * s + b, a * o + c


def fit_line(values: dict[int, int]) -> Line | None:
    """The line through values at two sizes or more; None where there is none of integers."""
    (first, low), *rest = sorted(values.items())
    far, high = rest[-1]
    slope, left = divmod(high - low, far - first)
    line = (slope, low - slope * first)
    return line if not left and all(at(line, size) == found for size, found in rest) else None


def affine_text(index: Affine, let: str) -> str:
    """An index as rule text: 2*i+l-1."""
    parts = [(index[0], "i"), (index[1], let), (index[2], "")]
    parts.sort(key=lambda part: not part[1] or part[0] < 0)
    text = ""
    for factor, name in parts:
        if factor:
            size = name if name and abs(factor) == 1 else f"{abs(factor)}{'*' * bool(name)}{name}"
            text += ("-" if factor < 0 else "+" if text else "") + size
    return text or "0"


def line_text(line: Line, let: str) -> str:
    """A bound as rule text."""
    return affine_text((0, *line), let)


def simplest(indices: Sequence[Affine] | set[Affine]) -> Affine:
    """The one that reads most easily."""
    return min(indices, key=awkwardness)


def awkwardness(index: Affine) -> int:
    """How hard an index is to read: i is the easiest, then constants, then i+1."""
    a, b, c = index
    return 4 * abs(a) - 3 * (a == 1) + 3 * abs(b) + 2 * abs(c) + (a < 0)
