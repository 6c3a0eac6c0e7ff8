"""Writes families of blocks and terms as rule text, with input, start, steps and halt lines from whole runs.

Rows of a file form a run if each row starts with the final state of the row before it; otherwise a new run begins.
Bits that differ between the first states of runs are inputs, bits that are on in all of them are `start` bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.files.executions import Executions
from bitwright.inference.families.atoms import Atom, AtomSource, Evidences
from bitwright.inference.families.blocks import FittedBlocks
from bitwright.inference.families.lines import (
    NAMES,
    Affine,
    Array,
    Cell,
    Dimension,
    LineCell,
    Place,
    Wrapped,
    affine_text,
    at,
    fit_line,
    in_cell,
)
from bitwright.inference.families.terms import Piece, Term
from bitwright.rules import Layout


def rule_lines(evidence: Evidences, terms: Sequence[Term], let: str) -> list[str]:
    """The lines of bits, blocks and rules."""
    writer = Writer(evidence, let)
    return [writer.bits(), *map(writer.block, evidence.families), "", *writer.rules(terms)]


def open_line(evidence: Evidences, atom: Atom, let: str) -> str:
    """An atom as a rule."""
    source, writer = atom.source, Writer(evidence, let)
    cells = writer.rectangle(source)
    return next(writer.rules([Term(source.family, source.config, cells, atom.array, evidence.target(atom))]))


def unseen_lines(evidence: Evidences, sources: Sequence[AtomSource], let: str) -> Iterator[str]:
    """Configurations as conditions, each with the range in which it was not seen."""
    writer = Writer(evidence, let)
    for source in sources:
        cells = writer.rectangle(source)
        yield f"{writer.condition(source.family, source.config, cells)}{writer.range(source.family, cells)}"


Rectangle = tuple[tuple[int, int], ...]


class Writer:
    """Writes lines of a rule text."""

    def __init__(self, evidence: Evidences, let: str) -> None:
        self.arrays, self.families, self.let = evidence.arrays, evidence.families, let
        self.first = evidence.bounds.first
        self.along = next(name for name in ("k", "n") if name != let)

    def bits(self) -> str:
        shown: dict[int, str] = {}  # by field: its last array has the largest constant indices
        for array in self.arrays:
            shown[array.field] = array.index.format(*(self._text(one.whole) for one in array.dimensions))
        return f"bits {' '.join(shown.values())}"

    def block(self, family: FittedBlocks) -> str:
        number, whole = self.families.index(family), tuple((0, len(cells) - 1) for cells in family.ranges)
        return f"block {' '.join(self._members(number, whole))}{self.range(number, whole)}"

    def rules(self, terms: Sequence[Term]) -> Iterator[str]:
        """One line for the terms of a configuration over the same cells; all but the first are `also` lines."""
        groups: dict[tuple[int, int, Rectangle], list[Term]] = {}
        for term in sorted(terms, key=lambda t: (t.family, t.config, t.cells, t.array)):
            groups.setdefault((term.family, term.config, term.cells), []).append(term)
        written: set[tuple[int, int]] = set()
        for (family, config, cells), those in groups.items():
            when, rows = self.condition(family, config, cells), self.range(family, cells)
            lines = [(" ".join(map(self._target, those)), rows)]
            if all(self._thin(term) is not None for term in those):  # a rule must write a bit at every size
                lines = [self._row(term, rows) for term in those]
            for writes, ranges in lines:
                yield f"{'also ' if (family, config) in written else ''}when {when} write {writes}{ranges}"
                written.add((family, config))

    def condition(self, family: int, config: int, cells: Rectangle) -> str:
        names = self._members(family, cells)
        return " ".join(f"{name}={config >> k & 1}" for k, name in enumerate(names))

    def range(self, family: int, cells: Rectangle) -> str:
        rows = [
            f"{name} in {self._text(one.low)}..{self._text(one.high)}"
            for name, one in zip(NAMES, self._cell(family, cells), strict=False)
            if not one.fixed
        ]
        return f" for {', '.join(rows)}" if rows else ""

    def rectangle(self, source: AtomSource) -> Rectangle:
        """The cell of a source as a rectangle."""
        counts = [len(cells) for cells in self.families[source.family].ranges]
        return tuple((int(k), int(k)) for k in np.unravel_index(source.cell, counts))

    def _cell(self, family: int, cells: Rectangle) -> Cell:
        """A rectangle of cells as a single cell."""
        ranges = zip(self.families[family].ranges, cells, strict=True)
        return tuple(LineCell(own[first].low, own[last].high) for own, (first, last) in ranges)

    def _members(self, family: int, cells: Rectangle) -> list[str]:
        one, cell = self.families[family], self._cell(family, cells)
        return [
            array.index.format(
                *(self._text(d.position(in_cell(part, cell))) for d, part in zip(array.dimensions, index, strict=True))
            )
            for array, index in zip((self.arrays[m] for m in one.members), one.indices, strict=True)
        ]

    def _text(self, index: Affine) -> str:
        return affine_text(index, self.let)

    def _thin(self, term: Term) -> int | None:
        """The dimension of a slice that is empty at the smallest size."""
        ends = enumerate(term.target)
        return next((d for d, one in ends if isinstance(one, LineCell) and not one.places(self.first)), None)

    def _row(self, term: Term, rows: str) -> tuple[str, str]:
        """The target and ranges of a term; a slice that may be empty becomes an index with its own range."""
        d = self._thin(term)
        parts = self._parts(term)
        more = f"{self.along} in {parts[d or 0]}"
        parts[d or 0] = self.along
        return self.arrays[term.array].index.format(*parts), f"{rows}, {more}" if rows else f" for {more}"

    def _target(self, term: Term) -> str:
        return self.arrays[term.array].index.format(*self._parts(term))

    def _parts(self, term: Term) -> list[str]:
        dimensions, cell = self.arrays[term.array].dimensions, self._cell(term.family, term.cells)
        return [self._piece(one, dimension, cell) for one, dimension in zip(term.target, dimensions, strict=True)]

    def _piece(self, piece: Piece, dimension: Dimension, cell: Cell) -> str:
        if isinstance(piece, LineCell):
            if piece.low == (0, 1) and piece.high == dimension.length:
                return "*"
            return f"{self._text(piece.low)}..{self._text(piece.high)}"
        if isinstance(piece, Wrapped):
            index: Affine = (*piece.shifted[:-1], piece.shifted[-1] - 1)
            shifted, length = self._text(index), self._text(dimension.length)
            inner = shifted if shifted in NAMES else f"({shifted})"
            return f"{inner}%{length if length.isalnum() else f'({length})'}+1"
        return self._text(dimension.position(in_cell(piece, cell)))


_FEWEST = 4  # fewest runs per size that distinguish constant bits from inputs


@dataclass(frozen=True)
class SeenRuns:
    """The first states of the runs in one file, their number of steps, and whether they end at a fixed point."""

    starts: BoolArray  # (runs, k)
    steps: int | None  # None if they differ
    still: bool


def find_runs(executions: Executions) -> SeenRuns | None:
    """The runs formed by these rows; None if most rows are unrelated."""
    first = np.r_[True, (executions.before[1:] != executions.after[:-1]).any(axis=1)]
    begins = np.flatnonzero(first)
    if 2 * len(begins) > len(first):
        return None
    ends = np.r_[begins[1:], len(first)] - 1
    still = bool((executions.before[ends] == executions.after[ends]).all())
    shortest = int((ends + 1 - begins).min())
    if ((ends + 1 - begins) % shortest).any():
        return SeenRuns(executions.before[begins], None, still)
    begins = np.arange(0, len(first), shortest)  # a run may begin with the final state of the previous one
    return SeenRuns(executions.before[begins], shortest, still)


def lines_of_runs(
    arrays: Sequence[Array],
    layouts: Mapping[int, Layout],
    runs: Mapping[int, SeenRuns],
    inputs: Mapping[int, Sequence[int]] | None,
    let: str,
) -> dict[str, list[str]]:
    """Lines by their keyword; `inputs` are the bits of given input lines, by size."""
    found: dict[str, list[str]] = {}
    steps = {size: run.steps for size, run in runs.items() if run.steps is not None}
    if all(run.still for run in runs.values()):
        found["halt"] = ["halt at fixed point"]
    elif len(steps) == len(runs) and (text := polynomial(steps, let)) is not None:
        found["steps"] = [f"steps {text}"]
    if any(len(run.starts) < _FEWEST for run in runs.values()):
        return found
    entered: dict[int, BoolArray] = {}
    for size, run in runs.items():
        entered[size] = np.asarray(run.starts.any(axis=0) & ~run.starts.all(axis=0))
        if inputs is not None:
            entered[size][:] = False
            entered[size][list(inputs[size])] = True
    if inputs is None:
        found["input"] = []
        for array in arrays:
            places = _places(array, layouts, entered)
            if (piece := _piece(array, places, let, filled=False)) is not None:
                found["input"].append(f"input {array.name}{f' = {piece}' if piece else ''}")
                for size, layout in layouts.items():
                    inside = tuple(slice(min(own) - 1, max(own)) for own in zip(*places[size], strict=True))
                    entered[size][array.bits(layout)[inside]] = True
            elif any(places.values()):
                del found["input"]
                return found
    on = {size: run.starts.all(axis=0) & ~entered[size] for size, run in runs.items()}
    bits = [text for array in arrays for text in _started(array, _places(array, layouts, on), let)]
    if bits:
        found["start"] = [f"start {' '.join(bits)}"]
    return found


def polynomial(values: Mapping[int, int], let: str) -> str | None:
    """The affine or quadratic expression with these values, or None.

    An expression that fits only because any two or three values have one counts only if no number in it is negative."""
    sizes = sorted(values)
    if (line := fit_line(dict(values))) is not None and (len(sizes) > 2 or min(line) >= 0):
        return affine_text(line, let)
    if len(sizes) < 3:
        return None
    u, v, w = sizes[0], sizes[1], sizes[-1]
    low, high = (Fraction(values[y] - values[x], y - x) for x, y in ((u, v), (v, w)))
    square = (high - low) / (w - u)
    slope = low - square * (u + v)
    rest = values[u] - square * u * u - slope * u
    if any(number.denominator > 1 for number in (square, slope, rest)):
        return None
    a, b, c = int(square), int(slope), int(rest)
    if (len(sizes) == 3 and min(a, b, c) < 0) or any(
        a * size * size + b * size + c != value for size, value in values.items()
    ):
        return None
    text = affine_text((b, c), let)
    power = f"{'-' if a < 0 else ''}{'' if abs(a) == 1 else f'{abs(a)}*'}{let}^2"
    return power if text == "0" else f"{power}{'' if text.startswith('-') else '+'}{text}"


def _places(array: Array, layouts: Mapping[int, Layout], chosen: Mapping[int, BoolArray]) -> dict[int, list[Place]]:
    """The places of an array that are chosen, at each size."""
    found = {size: np.argwhere(those[array.bits(layouts[size])]) + 1 for size, those in chosen.items()}
    return {size: [tuple(place) for place in those.tolist()] for size, those in found.items()}


def _piece(array: Array, places: Mapping[int, Sequence[Place]], let: str, filled: bool) -> str | None:
    """The slice from the first to the last place; empty for a whole array, None if no slice fits.

    With `filled`, all positions of the slice must be among these places; slices in two dimensions always are."""
    if not all(places.values()):
        return None
    ends = []
    for d in range(len(array.dimensions)):
        own = {size: [place[d] for place in those] for size, those in places.items()}
        low, high = (fit_line({size: end(those) for size, those in own.items()}) for end in (min, max))
        if low is None or high is None:
            return None
        ends.append((low, high))
    if filled or len(ends) > 1:
        for size, those in places.items():
            lengths = [at(high, size) - at(low, size) + 1 for low, high in ends]
            if len(those) != np.prod(lengths):
                return None
    if all(own == ((0, 1), one.length) for own, one in zip(ends, array.dimensions, strict=True)):
        return "" if not filled else array.index.format(*("*" for _ in ends))
    return array.index.format(*(f"{affine_text(low, let)}..{affine_text(high, let)}" for low, high in ends))


def _started(array: Array, places: Mapping[int, Sequence[Place]], let: str) -> Iterator[str]:
    """An array's bits that are on at the start: some positions, or all between two."""
    if len({len(those) for those in places.values()}) == 1:
        for one in zip(*places.values(), strict=True):
            lines = [fit_line(dict(zip(places, own, strict=True))) for own in zip(*one, strict=True)]
            if None not in lines:
                yield array.index.format(*(affine_text(line, let) for line in lines if line is not None))
        return
    if (piece := _piece(array, places, let, filled=True)) is not None:
        yield piece
