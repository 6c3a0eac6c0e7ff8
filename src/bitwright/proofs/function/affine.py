"""Checks that every index of a rule text is near an end of its array, or at a fixed distance from a position.

`p[i+1] for i in 1..l-1` satisfies this; `p[l+1-i]`, `p[i*i]` and `for i in 1..l//2` do not. If all indices do, the
rules at a position depend only on its distances from both ends, up to a bound that follows from the text. A few small
sizes then cover every case (see `chain.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NoReturn

from flint import fmpz_poly

from bitwright.common.errors import InputError
from bitwright.common.scanner import Token
from bitwright.proofs.kinds.affine import ONE, Affine
from bitwright.proofs.kinds.lines import Case, NotCoveredError, Reader
from bitwright.rules.expressions import DIGITS, Combined, Constant, Expression, Named
from bitwright.rules.text import RuleText, syntax

MAX_ROWS = 5_000  # of ranges of constant length


class NoChainError(InputError):
    """Raised if a text is not a chain of positions with the same classes at every size; the message says where."""


def outside(place: Token, why: str) -> NoReturn:
    """Raises NoChainError with the position of a token."""
    raise NoChainError(f"line {place.line}, column {place.column}: {why}")


@dataclass(frozen=True)
class IndexForm:
    """The form size * l + index * i + constant, for the size l and an index i."""

    size: int
    constant: int
    index: Mapping[str, int]

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return not self.size and not self.index


class _OneCase(Reader):
    """Reads expressions that are a single affine form; refuses quotients and remainders with several cases."""

    def _operation(self, part: Combined, left: Affine, right: Affine, case: Case) -> Iterator[tuple[Affine, Case]]:
        if part.sign in ("//", "%") and (left.constant is None or not right.constant):
            raise NotCoveredError("this has several cases", part.token)
        return super()._operation(part, left, right, case)


class SizeReader:
    """Reads expressions of a text as affine forms in its size; `lets` are the values of other numbers."""

    def __init__(self, rules: RuleText, size: str, lets: Mapping[str, int]) -> None:
        self.size, self.rules = size, rules
        values = {name: Constant(lets[name]) if name in lets else value for name, value in rules.lets.items()}
        self._reader = _OneCase({size: 0}, {name: value for name, value in values.items() if name != size})

    def form(self, part: Expression, known: Mapping[str, int] | None = None) -> IndexForm:
        """Returns an expression of a rule or `ensure` line as an affine form; raises NoChainError if it is not affine.

        Names that are neither known nor numbers of the text count as indices.
        """
        case = Case({name: Affine.of(value) for name, value in (known or {}).items()})
        try:
            ((form, _),) = self._reader.form(part, case)
        except NotCoveredError as error:
            token = error.token or part.token
            if token.text == DIGITS:
                outside(token, f"digits(...) is not a linear function of {self.size}")
            part_text = f"'{token.text}' of an index or of {self.size}" if token.kind == "sign" else "this index"
            outside(token, f"{part_text} is not at a fixed distance from a position")
        index = {name: int(form[name]) for name in form.names - {self.size}}
        return IndexForm(int(form[self.size]), int(form[ONE]), index)

    @property
    def forms(self) -> dict[str, tuple[int, int]]:
        """The affine numbers of the text, with (a, b) for a * size + b."""
        found = {}
        for name in self.rules.lets:
            with suppress(NoChainError):
                form = self.form(Named(name))
                found[name] = form.size, form.constant
        return found

    def first(self) -> int:
        """Returns the first size at which no array is empty; below it the text is not a program."""
        extents = (self.form(extent) for several in self.rules.extents.values() for extent in several)
        return max(-((form.constant - 1) // form.size) for form in extents if form.size > 0)


@dataclass
class Reach:
    """How each array of a text grows, and the largest distance of an index from a position or an end."""

    size: str
    unit: int  # every array grows by a multiple of this when the size grows by one
    growth: Mapping[str, int]  # of each array, in units; 0 for an array of fixed length
    margin: int  # the largest distance in the text


def reach(reader: SizeReader, items: Sequence[syntax.Statement]) -> Reach:
    """Returns the growth and distances of a text.

    Raises NoChainError unless every index is near an end or at a fixed distance from a position.
    """
    size = reader.size
    grows: dict[str, int] = {}
    margin = 1
    for item in items:
        if isinstance(item, syntax.BitsDeclaration):
            for token, extents in item.items:
                forms = [reader.form(extent) for extent in extents]
                if len(forms) > 1 and any(form.size for form in forms):
                    outside(token, f"'{token.text}' has several extents, one of which grows with {size}")
                grows[token.text] = forms[0].size if forms else 0
                margin = max(margin, *(abs(form.constant) for form in forms if form.size), 1)
    if not any(grows.values()):
        raise NoChainError(f"no array of the text grows with {size}")
    unit = min(growth for growth in grows.values() if growth)
    if any(growth % unit for growth in grows.values()):
        raise NoChainError("the arrays of the text grow at different rates")
    found = Reach(size, unit, {name: growth // unit for name, growth in grows.items()}, margin)
    for item in items:
        found.margin = max(found.margin, _margin(item, reader, found))
    return found


def _margin(item: syntax.Statement, reader: SizeReader, found: Reach) -> int:
    """Returns the largest distance in a statement."""
    if isinstance(item, syntax.Block | syntax.Start | syntax.PortLine):
        references = list(item.members)
    elif isinstance(item, syntax.WhenClause):
        references = [*(test.left for test in item.tests), *item.targets]
        references += [test.right for test in item.tests if isinstance(test.right, syntax.BitRef)]
    elif isinstance(item, syntax.Halt):
        references = [item.bit] if item.bit else []
    else:
        return 0
    clauses = getattr(item, "clauses", syntax.Clauses())
    margin = 0
    for known, swept in _rows(clauses, reader, found):
        for condition in clauses.conditions:
            form = reader.form(Combined("-", condition.left, condition.right, condition.token), known)
            margin = max(margin, _distance(form, swept, None, found, condition.token))
        for reference in references:
            growth = found.growth.get(reference.token.text, 0)
            for part in reference.parts:
                for end in (part.first, part.last):
                    if end is not None:
                        form = reader.form(end, known)
                        margin = max(margin, _distance(form, swept, growth, found, reference.token))
        if isinstance(item, syntax.WhenClause):
            for test in item.tests:
                right = test.right
                if right is not None and not isinstance(right, syntax.BitRef):
                    bits = isinstance(right, Named) and right.text in found.growth
                    if not bits and not reader.form(right, known).fixed:
                        outside(test.left.token, "a bit is compared with a value that depends on its position")
        margin = max(
            [margin, *(abs(bound) for _, (low, high) in swept.items() for bound in (low.constant, high.constant))]
        )
    return margin


def _rows(
    clauses: syntax.Clauses, reader: SizeReader, found: Reach
) -> Iterator[tuple[dict[str, int], dict[str, tuple[IndexForm, IndexForm]]]]:
    """Yields the values of indices with fixed ranges, and the bounds of the index that ranges over positions."""
    swept: dict[str, tuple[IndexForm, IndexForm]] = {}
    fixed: list[tuple[str, range]] = []
    for item in clauses.ranges:
        low, high = reader.form(item.first), reader.form(item.last)
        if low.index or high.index:
            outside(item.token, f"the range of '{item.name}' depends on another index")
        if low.fixed and high.fixed:
            fixed.append((item.name, range(low.constant, high.constant + 1)))
            continue
        growth = max(low.size, high.size)
        if swept or growth % found.unit or min(low.size, high.size) not in (0, growth):
            outside(item.token, f"'{item.name}' must range from one end of the positions to the other")
        swept[item.name] = (low, high)
    rows = prod(len(values) for _, values in fixed)
    if rows > MAX_ROWS:
        outside(clauses.ranges[0].token, f"the ranges of fixed length have {rows:,} rows, more than {MAX_ROWS:,}")
    for chosen in product(*(values for _, values in fixed)):
        yield {name: value for (name, _), value in zip(fixed, chosen, strict=True)}, swept


def _distance(
    form: IndexForm,
    swept: Mapping[str, tuple[IndexForm, IndexForm]],
    growth: int | None,
    found: Reach,
    token: Token,
) -> int:
    """Returns the distance of an index from a position or an end.

    `growth` is that of its array, or None for a condition on indices.
    """
    unknown = set(form.index) - set(swept)
    if unknown:
        outside(token, f"unknown index '{min(unknown)}'")
    why = "this index is neither near an end nor at a fixed distance from a position"
    if form.index:
        (name, factor), *_ = form.index.items()
        step = max(bound.size for bound in swept[name]) // found.unit
        if growth is None:  # a condition such as i < l-3
            ends = -form.size == factor * step * found.unit or form.size == 0
        else:
            ends = factor * step == growth and form.size == 0
        if not ends:
            outside(token, why)
    elif growth is not None and form.size not in (0, growth * found.unit):
        outside(token, why)
    return abs(form.constant)


# Polynomials in the size.

Growth = fmpz_poly  # a polynomial in the size


def never_negative(a: Growth, least: int) -> bool:
    """Whether no coefficient of a in x - least is negative, which implies a >= 0 at all sizes from `least` on.

    The converse is false.

    >>> never_negative(Growth([-1, 1]), 1), never_negative(Growth([-2, 1]), 1), never_negative(Growth([1, -2, 1]), 0)
    (True, False, False)
    """
    return all(coefficient >= 0 for coefficient in a(Growth([least, 1])).coeffs())


def growth_of(reader: SizeReader, part: Expression) -> Growth:
    """Returns an expression of a rule text as a polynomial in its size; raises NoChainError for any other."""
    if isinstance(part, Combined):
        sign, left, right = part.sign, growth_of(reader, part.left), growth_of(reader, part.right)
        if sign == "^":
            if right.degree() > 0 or not 0 <= right[0] <= 8:
                outside(part.token, "this power is not a polynomial in the size")
            return left ** int(right[0])
        if sign == "*":
            return left * right
        if sign in "+-":
            return left + right if sign == "+" else left - right
        outside(part.token, f"'{sign}' does not give a polynomial in the size")
    return affine_growth(reader.form(part, {}))


def affine_growth(form: IndexForm) -> Growth:
    """Returns a * l + b as a polynomial; raises NoChainError for a form with an index."""
    if form.index:
        raise NoChainError(f"'{min(form.index)}' is an index, but a number or the size is expected here")
    return Growth([form.constant, form.size])
