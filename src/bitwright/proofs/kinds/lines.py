"""The lines of a rule text that say which cells there are, each as cases with affine indices.

Its expressions are affine forms, one for each case of their quotients and remainders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from bitwright.common.scanner import Token
from bitwright.proofs.kinds.affine import Affine, feasible
from bitwright.rules.expressions import DIGITS, Combined, Constant, Expression, Named, Negation
from bitwright.rules.text import RuleText, syntax

MOST_ROWS = 64  # of a range of constant length, which are then taken one by one


class NotCoveredError(Exception):
    """A line, or a text as a whole, that the theorem does not cover."""

    def __init__(self, reason: str, token: Token | None = None) -> None:
        super().__init__(reason if token is None else f"line {token.line}: {reason}".replace("'", ""))  # no marks
        self.token = token


@dataclass(frozen=True)
class Case:
    """What is known of the indices of a line: inequalities `form >= 0`, and remainders of forms."""

    values: Mapping[str, Affine]  # of its indices
    known: tuple[Affine, ...] = ()
    remainders: Mapping[tuple[Affine, int], int] = field(default_factory=dict)

    def where(self, *forms: Affine) -> Iterator[Case]:
        """The case in which these are at least 0 as well; none if that cannot be."""
        fresh = [form for form in forms if form.constant is None]
        if any(form.constant is not None and form.constant < 0 for form in forms):
            return
        found = replace(self, known=(*self.known, *fresh))
        if not fresh or feasible(found.known):
            yield found


class Reader:
    """Reads expressions; `lets` are the expressions of numbers that follow from the sizes."""

    def __init__(self, sizes: Mapping[str, int], lets: Mapping[str, Expression]) -> None:
        self.sizes, self.lets = sizes, lets
        self.left = 20_000  # cases of a text

    def start(self) -> Case:
        """Nothing but the smallest sizes."""
        return Case({}, tuple(Affine.of(name) - least for name, least in self.sizes.items()))

    def rows(self, clauses: syntax.Clauses, mark: str) -> Iterator[Case]:
        """The rows of a line as cases; `mark` makes the variables of this line its own."""
        yield from self._ranges(clauses, mark, self.start(), 0)

    def _ranges(self, clauses: syntax.Clauses, mark: str, case: Case, at: int) -> Iterator[Case]:
        if at == len(clauses.ranges):
            yield from self._conditions(clauses, case, 0)
            return
        item = clauses.ranges[at]
        name = item.name
        for (first, last), now in self.pair(item.first, item.last, case):
            length = (last - first).constant
            if length is not None and length < MOST_ROWS:
                for offset in range(int(length) + 1):
                    row = replace(now, values={**now.values, name: first + offset})
                    yield from self._ranges(clauses, mark, row, at + 1)
                continue
            index = Affine.of(name + mark)
            for row in replace(now, values={**now.values, name: index}).where(index - first, last - index):
                yield from self._ranges(clauses, mark, row, at + 1)

    def _conditions(self, clauses: syntax.Clauses, case: Case, at: int) -> Iterator[Case]:
        if at == len(clauses.conditions):
            self.left -= 1
            if self.left < 0:
                tokens = [*(one.token for one in clauses.conditions), *(one.token for one in clauses.ranges)]
                raise NotCoveredError("the text has too many cases", tokens[0] if tokens else None)
            yield case
            return
        condition = clauses.conditions[at]
        for (left, right), now in self.pair(condition.left, condition.right, case):
            more = left - right
            ways = {"<": [[-more - 1]], "<=": [[-more]], ">": [[more - 1]], ">=": [[more]], "==": [[more, -more]]}
            for way in ways.get(condition.sign, [[more - 1], [-more - 1]]):
                for row in now.where(*way):
                    yield from self._conditions(clauses, row, at + 1)

    def pair(self, first: Expression, second: Expression, case: Case) -> Iterator[tuple[tuple[Affine, Affine], Case]]:
        """The affine forms of two expressions, in each case."""
        for one, now in self.form(first, case):
            for other, then in self.form(second, now):
                yield (one, other), then

    def form(self, expression: Expression, case: Case) -> Iterator[tuple[Affine, Case]]:
        """The affine form of an expression, in each case."""
        if isinstance(expression, Constant):
            yield Affine.of(expression.value), case
        elif isinstance(expression, Named):
            name = expression.text
            if name in case.values:
                yield case.values[name], case
            elif name in self.lets:
                for value, now in self.form(self.lets[name], replace(case, values={})):
                    yield value, replace(now, values=case.values)
            else:
                yield Affine.of(name), case
        elif isinstance(expression, Negation):
            raise NotCoveredError("a truth is used as a number", expression.token)
        else:
            for (left, right), now in self.pair(expression.left, expression.right, case):
                yield from self._operation(expression, left, right, now)

    def _operation(self, part: Combined, left: Affine, right: Affine, case: Case) -> Iterator[tuple[Affine, Case]]:
        token, sign, by, of = part.token, part.sign, right.constant, left.constant
        if sign in "+-":
            yield (left + right if sign == "+" else left - right), case
        elif sign == "*" and (by is not None or of is not None):
            yield (left * by if by is not None else right * (of or 0)), case
        elif sign == "^" and by is not None and of is not None and 0 <= by <= 64:
            yield Affine.of(of ** int(by)), case
        elif sign in ("//", "%") and by is not None:
            yield from self._divided(token, left, int(by), case)
        elif sign in ("//", "%"):
            yield from self._by_a_size(token, left, right, case)
        elif sign == DIGITS:
            if by is None:
                raise NotCoveredError(f"digits({right}) is not affine", token)
            yield Affine.of(max(1, int(abs(by)).bit_length())), case
        else:
            raise NotCoveredError(f"({left}) {sign} ({right}) is not affine", token)

    def _divided(self, token: Token, form: Affine, by: int, case: Case) -> Iterator[tuple[Affine, Case]]:
        """By a number: one case for each remainder."""
        if by == 0:
            return  # not a program
        key = (form, by)
        ways = [case.remainders[key]] if key in case.remainders else range(0, by, 1 if by > 0 else -1)
        if form.constant is not None:
            ways = [int(form.constant) % by]
        self.left -= len(ways) - 1
        if self.left < 0:
            raise NotCoveredError(f"remainders by {by} are too many cases", token)
        for rest in ways:
            now = case if form.constant is not None else replace(case, remainders={**case.remainders, key: rest})
            yield (Affine.of(rest) if token.text == "%" else (form - rest) * Fraction(1, by)), now

    def _by_a_size(self, token: Token, form: Affine, by: Affine, case: Case) -> Iterator[tuple[Affine, Case]]:
        """By a size: the quotient is -1, 0 or 1, if the ranges say so."""
        for outside in ([by * -1], [-1 * by - form - 1], [form - by * 2]):
            if feasible([*case.known, *outside]):
                raise NotCoveredError(f"({form}) {token.text} ({by}) is not between -1 and 1 times ({by})", token)
        for quotient in (-1, 0, 1):
            rest = form - by * quotient
            for now in case.where(rest, by - rest - 1):
                yield (Affine.of(quotient) if token.text == "//" else rest), now


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
        self, rules: RuleText, sizes: Mapping[str, int], lets: Mapping[str, Expression], rest_as_cells: bool
    ) -> None:
        self.text, self.extents = rules, rules.extents
        self.reader = Reader(sizes, lets)
        self.rest_as_cells = rest_as_cells

    @cached_property
    def cells(self) -> list[LineCase]:
        """Without `cell` lines, every block is a cell; in a node program, every block that is in no other."""
        lines: list[syntax.Cell | syntax.Block] = [*self.text.each(syntax.Cell)]
        if not lines or self.rest_as_cells:
            lines += self.text.each(syntax.Block)
        return [found for line in lines for found in self.members(line, "")]

    @cached_property
    def blocks(self) -> list[LineCase]:
        """The blocks; their indices have one mark."""
        return [found for line in self.text.each(syntax.Block) for found in self.members(line, "'")]

    @cached_property
    def rules(self) -> list[LineCase]:
        """The rules; their indices have two marks."""
        return [found for line in self.text.each(syntax.WhenClause) for found in self.rule(line)]

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
        if isinstance(right, Named) and right.text in self.extents:
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
            one = Constant(1, reference.token)
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


def _own(clauses: syntax.Clauses, mark: str) -> frozenset[str]:
    return frozenset(item.name + mark for item in clauses.ranges)
