"""Reads the lines of a rule text that define its cells as cases with affine indices.

Expressions become affine forms, one for each case of their quotients and remainders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from typing import TypeVar

from bitwright.common.scanner import Token
from bitwright.proofs.kinds.affine import Affine, feasible
from bitwright.rules.expressions import DIGITS, Combined, Constant, Expression, IndexRange, Named, Negation
from bitwright.rules.text import RuleText, syntax

Item = TypeVar("Item")
Part = TypeVar("Part")
MOST_ROWS = 64  # longer ranges of constant length are not enumerated


class NotCoveredError(Exception):
    """Raised for a line or an entire text that the theorem does not cover."""

    def __init__(self, reason: str, token: Token | None = None) -> None:
        # Quotes are marks of variables.
        super().__init__(reason if token is None else f"line {token.line}: {reason}".replace("'", ""))
        self.token = token


@dataclass(frozen=True)
class Case:
    """A case of a line: the values of its indices, inequalities `form >= 0`, and remainders of forms."""

    values: Mapping[str, Affine]  # of its indices
    known: tuple[Affine, ...] = ()
    remainders: Mapping[tuple[Affine, int], int] = field(default_factory=dict)

    def with_value(self, name: str, value: Affine) -> Case:
        """Returns the case in which an index has this value."""
        return replace(self, values={**self.values, name: value})

    def where(self, *forms: Affine) -> Iterator[Case]:
        """Yields the case in which these forms are also nonnegative, if it is possible."""
        fresh = [form for form in forms if form.constant is None]
        if any(form.constant is not None and form.constant < 0 for form in forms):
            return
        case = replace(self, known=(*self.known, *fresh))
        if not fresh or feasible(case.known):
            yield case


def through(
    items: Iterable[Item], case: Case, read: Callable[[Item, Case], Iterable[tuple[Part, Case]]]
) -> Iterator[tuple[tuple[Part, ...], Case]]:
    """Yields the results of `read` for all items in each case; conditions carry over to the next item."""
    results: Iterator[tuple[tuple[Part, ...], Case]] = iter([((), case)])

    def extended(
        item: Item, before: Iterator[tuple[tuple[Part, ...], Case]]
    ) -> Iterator[tuple[tuple[Part, ...], Case]]:
        for parts, now in before:
            yield from (((*parts, part), then) for part, then in read(item, now))

    for item in items:
        results = extended(item, results)
    return results


class Reader:
    """Reads expressions; `lets` are expressions for numbers derived from the sizes."""

    def __init__(self, sizes: Mapping[str, int], lets: Mapping[str, Expression]) -> None:
        self.sizes, self.lets = sizes, lets
        self.left = 20_000  # cases that the text may still have

    def start(self) -> Case:
        """Returns the case with only the smallest sizes as conditions."""
        return Case({}, tuple(Affine.of(name) - least for name, least in self.sizes.items()))

    def rows(self, clauses: syntax.Clauses, mark: str) -> Iterator[Case]:
        """Yields the rows of a line as cases; `mark` distinguishes the variables of this line."""
        cases: Iterator[Case] = iter([self.start()])
        for item in clauses.ranges:
            cases = self._in_range(item, mark, cases)
        for condition in clauses.conditions:
            cases = self._where(condition, cases)
        for case in cases:
            self.left -= 1
            if self.left < 0:
                tokens = [*(test.token for test in clauses.conditions), *(item.token for item in clauses.ranges)]
                raise NotCoveredError("the text has too many cases", tokens[0] if tokens else None)
            yield case

    def _in_range(self, item: IndexRange, mark: str, cases: Iterator[Case]) -> Iterator[Case]:
        for (first, last), now in (row for case in cases for row in self.forms((item.first, item.last), case)):
            length = (last - first).constant
            if length is not None and length < MOST_ROWS:
                yield from (now.with_value(item.name, first + offset) for offset in range(int(length) + 1))
            else:
                index = Affine.of(item.name + mark)
                yield from now.with_value(item.name, index).where(index - first, last - index)

    def _where(self, condition: Combined, cases: Iterator[Case]) -> Iterator[Case]:
        for (left, right), now in (
            row for case in cases for row in self.forms((condition.left, condition.right), case)
        ):
            more = left - right
            ways = {"<": [[-more - 1]], "<=": [[-more]], ">": [[more - 1]], ">=": [[more]], "==": [[more, -more]]}
            for way in ways.get(condition.sign, [[more - 1], [-more - 1]]):
                yield from now.where(*way)

    def forms(self, parts: Sequence[Expression], case: Case) -> Iterator[tuple[tuple[Affine, ...], Case]]:
        """Yields the affine forms of expressions in each case."""
        return through(parts, case, self.form)

    def form(self, expression: Expression, case: Case) -> Iterator[tuple[Affine, Case]]:
        """Yields the affine form of an expression in each case."""
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
            raise NotCoveredError("a comparison is used as a number", expression.token)
        else:
            for (left, right), now in self.forms((expression.left, expression.right), case):
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
        """Divides by a number, with a case for each remainder."""
        if by == 0:
            return  # the text is not a program
        key = (form, by)
        ways = [case.remainders[key]] if key in case.remainders else range(0, by, 1 if by > 0 else -1)
        if form.constant is not None:
            ways = [int(form.constant) % by]
        self.left -= len(ways) - 1
        if self.left < 0:
            raise NotCoveredError(f"remainders modulo {by} give too many cases", token)
        for rest in ways:
            now = case if form.constant is not None else replace(case, remainders={**case.remainders, key: rest})
            yield (Affine.of(rest) if token.text == "%" else (form - rest) * Fraction(1, by)), now

    def _by_a_size(self, token: Token, form: Affine, by: Affine, case: Case) -> Iterator[tuple[Affine, Case]]:
        """Divides by a size; the ranges must imply that the quotient is -1, 0 or 1."""
        for outside in ([by * -1], [-1 * by - form - 1], [form - by * 2]):
            if feasible([*case.known, *outside]):
                raise NotCoveredError(
                    f"in ({form}) {token.text} ({by}), the first operand must be at least -1 times and less than 2 "
                    "times the second",
                    token,
                )
        for quotient in (-1, 0, 1):
            rest = form - by * quotient
            for now in case.where(rest, by - rest - 1):
                yield (Affine.of(quotient) if token.text == "//" else rest), now


@dataclass(frozen=True)
class BitBox:
    """A box of bits of an array, with a first and a last index in each coordinate."""

    array: str
    ranges: tuple[tuple[Affine, Affine], ...]

    def put(self, values: Mapping[str, Affine]) -> BitBox:
        """Returns the bits with these forms substituted for variables."""
        return BitBox(self.array, tuple((first.put(values), last.put(values)) for first, last in self.ranges))


@dataclass(frozen=True)
class LineCase:
    """A line in one case: the bits that it groups or tests, the values it tests for, and the bits that it writes."""

    token: Token
    case: Case
    indices: frozenset[str]  # the variables of this line
    bits: tuple[BitBox, ...]
    values: tuple[Affine, ...] = ()
    targets: tuple[BitBox, ...] = ()


_Tested = tuple[tuple[BitBox, ...], tuple[Affine, ...]]


class Lines:
    """The cells, blocks and rules of a text, given the smallest values of its sizes and the derived numbers."""

    def __init__(
        self, rules: RuleText, sizes: Mapping[str, int], lets: Mapping[str, Expression], rest_as_cells: bool
    ) -> None:
        self.text, self.extents = rules, rules.extents
        self.reader = Reader(sizes, lets)
        self.rest_as_cells = rest_as_cells

    @cached_property
    def cells(self) -> list[LineCase]:
        """The cells. Without `cell` lines every block is a cell; in a node program, so is every remaining block."""
        lines: list[syntax.Cell | syntax.Block] = [*self.text.each(syntax.Cell)]
        if not lines or self.rest_as_cells:
            lines += self.text.each(syntax.Block)
        return [case for line in lines for case in self.members(line, "")]

    @cached_property
    def blocks(self) -> list[LineCase]:
        """The blocks, whose indices have one mark."""
        return [case for line in self.text.each(syntax.Block) for case in self.members(line, "'")]

    @cached_property
    def rules(self) -> list[LineCase]:
        """The rules, whose indices have two marks."""
        return [case for line in self.text.each(syntax.WhenClause) for case in self.rule(line)]

    def members(self, line: syntax.Cell | syntax.Block, mark: str) -> Iterator[LineCase]:
        """Yields the cases of a line that groups bits."""
        for row in self.reader.rows(line.clauses, mark):
            for bits, case in through(line.members, row, self.single_bits):
                yield LineCase(line.token, case, _own(line.clauses, mark), tuple(chain(*bits)))

    def rule(self, line: syntax.WhenClause) -> Iterator[LineCase]:
        """Yields the cases of a rule; comparisons of bits test for 0 and 1, which is equivalent for the theorem."""
        for row in self.reader.rows(line.clauses, "''"):
            for tests, case in through(line.tests, row, self.tested):
                tested = tuple(bit for bits, _ in tests for bit in bits)
                values = tuple(value for _, compared in tests for value in compared)
                for targets, now in through(line.targets, case, self.box):
                    yield LineCase(line.token, now, _own(line.clauses, "''"), tested, values, targets)

    def tested(
        self, test: syntax.Test, case: Case
    ) -> Iterator[tuple[tuple[tuple[BitBox, ...], tuple[Affine, ...]], Case]]:
        """Yields the bits that a rule tests, and the values that it compares them with."""
        right = test.right
        if isinstance(right, Named) and right.text in self.extents:
            right = syntax.BitRef(right.token, ())
        compared = right is not None and not isinstance(right, syntax.BitRef)
        references = [test.left, *([right] if isinstance(right, syntax.BitRef) else [])]
        for bits, now in through(references, case, self.single_bits):
            for value, then in self.reader.forms([right] if compared else [], now):  # type: ignore[list-item]
                yield (tuple(chain(*bits)), value), then

    def box(self, reference: syntax.BitRef, case: Case) -> Iterator[tuple[BitBox, Case]]:
        """Yields the box of bits of a reference in each case."""
        extents = self.extents[reference.token.text]
        parts = reference.parts or tuple(syntax.IndexPart(None, None) for _ in extents)

        def ends(part: tuple[syntax.IndexPart, Expression], now: Case) -> Iterator[tuple[tuple[Affine, ...], Case]]:
            (index, extent), one = part, Constant(1, reference.token)
            if index.first is index.last and index.first is not None:
                return (((form, form), then) for form, then in self.reader.form(index.first, now))
            return self.reader.forms((index.first or one, index.last or extent), now)

        for ranges, now in through(zip(parts, extents, strict=True), case, ends):
            yield BitBox(reference.key, ranges), now  # type: ignore[arg-type]

    def single_bits(self, reference: syntax.BitRef, case: Case) -> Iterator[tuple[list[BitBox], Case]]:
        """Yields the bits of a box individually."""
        for box, now in self.box(reference, case):
            lengths = [(last - first).constant for first, last in box.ranges]
            if any(length is None or length >= MOST_ROWS for length in lengths):
                raise NotCoveredError(f"the number of bits of {box.array}[...] depends on the size", reference.token)
            places = product(*(range(int(length or 0) + 1) for length in lengths))
            bits = [[first + k for (first, _), k in zip(box.ranges, place, strict=True)] for place in places]
            yield [BitBox(box.array, tuple((form, form) for form in bit)) for bit in bits], now

    def extents_at_least_one(self) -> list[Affine]:
        """Returns the forms that must not be negative in a program: each extent minus one."""
        lengths = []
        for extents in self.extents.values():
            for extent in extents:
                forms = [form for form, _ in self.reader.form(extent, self.reader.start())]
                lengths += [form - 1 for form in forms if len(forms) == 1]
        return lengths


def _own(clauses: syntax.Clauses, mark: str) -> frozenset[str]:
    return frozenset(item.name + mark for item in clauses.ranges)
