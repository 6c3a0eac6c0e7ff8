"""The lines of a rule text that say which cells there are, each as cases with affine indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from bitwright.program.text import syntax
from bitwright.program.text.parser import SyntaxTree
from bitwright.proofs.kinds.affine import Affine
from bitwright.proofs.kinds.cases import MOST_ROWS, Case, NotCoveredError, Reader
from bitwright.text.scanner import Token


@dataclass(frozen=True)
class BitBox:
    """A box of bits of an array: in each coordinate all from the first to the last."""

    array: str
    ranges: tuple[tuple[Affine, Affine], ...]

    def put(self, values: Mapping[str, Affine]) -> BitBox:
        """The bits with these forms in place of variables."""
        return BitBox(self.array, tuple((first.put(values), last.put(values)) for first, last in self.ranges))

    @property
    def names(self) -> set[str]:
        """The variables that occur."""
        return set().union(*(first.names | last.names for first, last in self.ranges))


@dataclass(frozen=True)
class LineCase:
    """A line in one case: the bits that it groups or tests, the values it tests for, and the bits that it writes."""

    token: Token
    case: Case
    indices: frozenset[str]  # the variables that are its own
    bits: tuple[BitBox, ...]
    values: tuple[Affine, ...] = ()
    targets: tuple[BitBox, ...] = ()


Line = TypeVar("Line", syntax.Cell, syntax.Block, syntax.WhenClause, syntax.BitsDeclaration)


class Lines:
    """Cells, blocks and rules of a text, given its sizes with their smallest values and the numbers that follow."""

    def __init__(
        self, tree: SyntaxTree, sizes: Mapping[str, int], lets: Mapping[str, syntax.Expression], rest_as_cells: bool
    ) -> None:
        self.tree, self.sizes = tree, sizes
        self.extents = {
            token.text: extents for item in self.each(syntax.BitsDeclaration) for token, extents in item.items
        }
        self.reader = Reader(sizes, lets)
        self.rest_as_cells = rest_as_cells

    @cached_property
    def cells(self) -> list[LineCase]:
        """Without `cell` lines, every block is a cell; in a node program, every block that is in no other."""
        lines: list[syntax.Cell | syntax.Block] = [*self.each(syntax.Cell)]
        if not lines or self.rest_as_cells:
            lines += self.each(syntax.Block)
        return [found for line in lines for found in self.members(line, "")]

    @cached_property
    def blocks(self) -> list[LineCase]:
        """The blocks; their indices have one mark."""
        return [found for line in self.each(syntax.Block) for found in self.members(line, "'")]

    @cached_property
    def rules(self) -> list[LineCase]:
        """The rules; their indices have two marks."""
        return [found for line in self.each(syntax.WhenClause) for found in self.rule(line)]

    def members(self, line: syntax.Cell | syntax.Block, mark: str) -> Iterator[LineCase]:
        """The cases of a line that groups bits."""
        for row in self.reader.rows(line.clauses, mark):
            for bits, case in self.several(line.members, row, constant=True):
                yield LineCase(line.token, case, _own(line.clauses, mark), bits)

    def rule(self, line: syntax.WhenClause) -> Iterator[LineCase]:
        """The cases of a rule; comparisons between bits test for 0 and for 1, which is the same to the theorem."""
        for row in self.reader.rows(line.clauses, "''"):
            for tested, values, case in self.tests(line.tests, row):
                for targets, now in self.several(line.targets, case, constant=False):
                    yield LineCase(line.token, now, _own(line.clauses, "''"), tested, values, targets)

    def tests(
        self, tests: Sequence[syntax.Test], case: Case
    ) -> Iterator[tuple[tuple[BitBox, ...], tuple[Affine, ...], Case]]:
        """The bits that a rule tests, and what it computes to compare them with."""
        if not tests:
            yield (), (), case
            return
        right = tests[0].right
        if isinstance(right, syntax.Name) and right.token.text in self.extents:
            right = syntax.BitRef(right.token, ())
        references = [tests[0].left, *([right] if isinstance(right, syntax.BitRef) else [])]
        for bits, now in self.several(references, case, constant=True):
            compared: list[tuple[tuple[Affine, ...], Case]] = [((), now)]
            if right is not None and not isinstance(right, syntax.BitRef):
                compared = [((value,), then) for value, then in self.reader.form(right, now)]
            for value, then in compared:
                for more, values, last in self.tests(tests[1:], then):
                    yield (*bits, *more), (*value, *values), last

    def several(
        self, references: Sequence[syntax.BitRef], case: Case, constant: bool
    ) -> Iterator[tuple[tuple[BitBox, ...], Case]]:
        """What these references stand for; with `constant`, bit by bit."""
        if not references:
            yield (), case
            return
        for boxes, now in self.boxes(references[0], case, constant):
            for more, then in self.several(references[1:], now, constant):
                yield (*boxes, *more), then

    def boxes(self, reference: syntax.BitRef, case: Case, constant: bool) -> Iterator[tuple[tuple[BitBox, ...], Case]]:
        """The boxes of bits that one reference stands for, in each case."""
        extents = self.extents[reference.token.text]
        parts = reference.parts or tuple(syntax.IndexPart(None, None) for _ in extents)
        found: list[tuple[tuple[tuple[Affine, Affine], ...], Case]] = [((), case)]
        for part, extent in zip(parts, extents, strict=True):
            one = syntax.Number(reference.token, 1)
            first, last = part.first or one, part.last or extent
            found = [
                ((*ranges, ends), now)
                for ranges, before in found
                for ends, now in (
                    [((form, form), now) for form, now in self.reader.form(first, before)]
                    if part.first is part.last and part.first is not None
                    else self.reader.pair(first, last, before)
                )
            ]
        for ranges, now in found:
            boxes = [BitBox(reference.key, ())]
            for first_form, last_form in ranges:
                length = (last_form - first_form).constant
                if not constant or length == 0:
                    boxes = [BitBox(box.array, (*box.ranges, (first_form, last_form))) for box in boxes]
                    continue
                if length is None or length >= MOST_ROWS:
                    raise NotCoveredError(
                        f"how many bits {reference.key}[...] has depends on the size", reference.token
                    )
                ends = [(first_form + k, first_form + k) for k in range(int(length) + 1)]
                boxes = [BitBox(box.array, (*box.ranges, end)) for box in boxes for end in ends]
            yield tuple(boxes), now

    def extents_at_least_one(self) -> list[Affine]:
        """What must not be negative, so that the text is a program: each extent less one."""
        found = []
        for extents in self.extents.values():
            for extent in extents:
                forms = [form for form, _ in self.reader.form(extent, self.reader.start())]
                found += [form - 1 for form in forms if len(forms) == 1]
        return found

    def each(self, kind: type[Line]) -> Iterator[Line]:
        """The statements of one sort."""
        return (item for item in self.tree.statements if isinstance(item, kind))


def _own(clauses: syntax.Clauses, mark: str) -> frozenset[str]:
    return frozenset(item.token.text + mark for item in clauses.ranges)
