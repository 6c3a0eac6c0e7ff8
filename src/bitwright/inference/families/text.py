"""Families of blocks and terms as rule text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bitwright.inference.families.atoms import Atom, AtomSource
from bitwright.inference.families.blocks import FittedBlocks
from bitwright.inference.families.cover import Term
from bitwright.inference.families.lines import (
    Array,
    LineCell,
    affine_text,
    in_cell,
    line_text,
)


def rule_lines(arrays: Sequence[Array], families: Sequence[FittedBlocks], terms: Sequence[Term], let: str) -> list[str]:
    """The lines of bits, blocks and rules."""
    writer = _Writer(arrays, families, let)
    return [writer.bits(), *map(writer.block, families), "", *writer.rules(terms)]


def open_line(arrays: Sequence[Array], families: Sequence[FittedBlocks], atom: Atom, let: str) -> str:
    """An atom as a rule."""
    source, writer = atom.source, _Writer(arrays, families, let)
    term = Term(source.family, source.config, source.cell, source.cell, atom.array, atom.target)
    return next(writer.rules([term]))


def unseen_lines(
    arrays: Sequence[Array], families: Sequence[FittedBlocks], sources: Sequence[AtomSource], let: str
) -> list[str]:
    """Configurations as conditions, each with where it was not seen."""
    writer = _Writer(arrays, families, let)
    return [
        f"{writer.condition(s.family, s.config, s.cell, s.cell)}{writer.range(s.family, s.cell, s.cell)}"
        for s in sources
    ]


class _Writer:
    def __init__(self, arrays: Sequence[Array], families: Sequence[FittedBlocks], let: str) -> None:
        self.arrays, self.families, self.let = arrays, families, let

    def bits(self) -> str:
        shown: dict[int, str] = {}  # by field: the last of its arrays has the largest constant indices
        for array in self.arrays:
            shown[array.field] = array.index.format(line_text(array.whole, self.let))
        return f"bits {' '.join(shown.values())}"

    def block(self, family: FittedBlocks) -> str:
        number, last = self.families.index(family), len(family.cells) - 1
        return f"block {' '.join(self._members(number, 0, last))}{self.range(number, 0, last)}"

    def rules(self, terms: Sequence[Term]) -> Iterator[str]:
        """One line for the terms of a configuration over the same cells; the first is no `also`."""
        groups: dict[tuple[int, int, int, int], list[Term]] = {}
        for term in sorted(terms, key=lambda t: (t.family, t.config, t.first, t.last, t.array)):
            groups.setdefault((term.family, term.config, term.first, term.last), []).append(term)
        said: set[tuple[int, int]] = set()
        for (family, config, first, last), those in groups.items():
            also = "also " if (family, config) in said else ""
            said.add((family, config))
            when = self.condition(family, config, first, last)
            writes = " ".join(map(self._target, those))
            yield f"{also}when {when} write {writes}{self.range(family, first, last)}"

    def condition(self, family: int, config: int, first: int, last: int) -> str:
        names = self._members(family, first, last)
        return " ".join(f"{name}={config >> k & 1}" for k, name in enumerate(names))

    def range(self, family: int, first: int, last: int) -> str:
        cells = self.families[family].cells
        low, high = cells[first].low, cells[last].high
        if low == high:
            return ""
        return f" for i in {line_text(low, self.let)}..{line_text(high, self.let)}"

    def _members(self, family: int, first: int, last: int) -> list[str]:
        one = self.families[family]
        cell = LineCell(one.cells[first].low, one.cells[last].high)
        return [
            self.arrays[m].bit(in_cell(index, cell), self.let)
            for m, index in zip(one.members, one.indices, strict=True)
        ]

    def _target(self, term: Term) -> str:
        array, cells = self.arrays[term.array], self.families[term.family].cells
        if isinstance(term.target, LineCell):
            low, high = term.target.low, term.target.high
            if low == (0, 1) and high == array.length:
                return array.index.format("*")
            return array.index.format(f"{line_text(low, self.let)}..{line_text(high, self.let)}")
        if term.wrapped:
            shifted = affine_text((1, 0, term.target[2] - 1), self.let)
            inner = shifted if shifted == "i" else f"({shifted})"
            length = line_text(array.length, self.let)
            return array.index.format(f"{inner}%{length if length.isalnum() else f'({length})'}+1")
        return array.bit(in_cell(term.target, LineCell(cells[term.first].low, cells[term.last].high)), self.let)
