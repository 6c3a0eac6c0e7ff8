"""Writes families of blocks and terms as rule text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bitwright.inference.families.atoms import Atom, AtomSource, Evidences
from bitwright.inference.families.blocks import FittedBlocks
from bitwright.inference.families.lines import (
    NAMES,
    Affine,
    Cell,
    Dimension,
    LineCell,
    Wrapped,
    affine_text,
    in_cell,
)
from bitwright.inference.families.terms import Piece, Term


def rule_lines(evidence: Evidences, terms: Sequence[Term], let: str) -> list[str]:
    """Returns the lines for bits, blocks and rules."""
    writer = Writer(evidence, let)
    return [writer.bits(), *map(writer.block, evidence.families), "", *writer.rules(terms)]


def open_line(evidence: Evidences, atom: Atom, let: str) -> str:
    """Formats an atom as a rule."""
    source, writer = atom.source, Writer(evidence, let)
    cells = writer.rectangle(source)
    return next(writer.rules([Term(source.family, source.config, cells, atom.array, evidence.target(atom))]))


def unseen_lines(evidence: Evidences, sources: Sequence[AtomSource], let: str) -> Iterator[str]:
    """Yields configurations as conditions, each with the range in which it was not observed."""
    writer = Writer(evidence, let)
    for source in sources:
        cells = writer.rectangle(source)
        yield f"{writer.condition(source.family, source.config, cells)}{writer.range(source.family, cells)}"


Rectangle = tuple[tuple[int, int], ...]


class Writer:
    """Formats lines of rule text."""

    def __init__(self, evidence: Evidences, let: str) -> None:
        self.arrays, self.families, self.let = evidence.arrays, evidence.families, let
        self.first = evidence.bounds.first
        self.along = next(name for name in ("k", "n") if name != let)

    def bits(self) -> str:
        shown: dict[int, str] = {}  # by field; its last array has the largest constant indices
        for array in self.arrays:
            shown[array.field] = array.index.format(*(self._text(one.whole) for one in array.dimensions))
        return f"bits {' '.join(shown.values())}"

    def block(self, family: FittedBlocks) -> str:
        number, whole = self.families.index(family), tuple((0, len(cells) - 1) for cells in family.ranges)
        return f"block {' '.join(self._members(number, whole))}{self.range(number, whole)}"

    def rules(self, terms: Sequence[Term]) -> Iterator[str]:
        """Yields a line for the terms of each configuration and cells; all but the first are `also` lines."""
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
        """Converts the cell of a source to a rectangle."""
        counts = [len(cells) for cells in self.families[source.family].ranges]
        return tuple((int(k), int(k)) for k in np.unravel_index(source.cell, counts))

    def _cell(self, family: int, cells: Rectangle) -> Cell:
        """Merges a rectangle of cells into a single cell."""
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
        """Returns the dimension of a slice that is empty at the smallest size, or None."""
        ends = enumerate(term.target)
        return next((d for d, one in ends if isinstance(one, LineCell) and not one.places(self.first)), None)

    def _row(self, term: Term, rows: str) -> tuple[str, str]:
        """Returns the target and ranges of a term; a slice that may be empty becomes an index with its own range."""
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
