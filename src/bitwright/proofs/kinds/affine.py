"""Affine forms with rational coefficients, and exact elimination of variables from inequalities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

ONE = ""  # the name of the constant among the variables of a form


@dataclass(frozen=True)
class Affine:
    """A sum of variables with coefficients, and a constant: `2*i - l + 1`.

    >>> i, l = Affine.of("i"), Affine.of("l")
    >>> print(2 * i - l + 1, (i - i).constant, (i + 1).put({"i": l}))
    2*i - l + 1 0 l + 1
    """

    terms: tuple[tuple[str, Fraction], ...] = ()  # sorted, without zeros

    @classmethod
    def of(cls, term: str | int | Fraction) -> Affine:
        """Returns the form of a variable or a number."""
        name, factor = (term, Fraction(1)) if isinstance(term, str) else (ONE, Fraction(term))
        return cls(((name, factor),) if factor else ())

    @classmethod
    def total(cls, parts: Iterable[tuple[str, Fraction]]) -> Affine:
        """Returns the sum of terms."""
        total: dict[str, Fraction] = {}
        for name, factor in parts:
            total[name] = total.get(name, Fraction(0)) + factor
        return cls(tuple(sorted((name, factor) for name, factor in total.items() if factor)))

    @cached_property
    def _factors(self) -> dict[str, Fraction]:
        return dict(self.terms)

    def __getitem__(self, name: str) -> Fraction:
        return self._factors.get(name, Fraction(0))

    @property
    def names(self) -> set[str]:
        """The variables."""
        return set(self._factors) - {ONE}

    @property
    def constant(self) -> Fraction | None:
        """The value of a form without variables, otherwise None."""
        return None if self.names else self[ONE]

    @property
    def denominator(self) -> int:
        """The common denominator of the coefficients."""
        return lcm(*(factor.denominator for _, factor in self.terms))

    def __add__(self, other: Affine | int) -> Affine:
        return Affine.total((*self.terms, *(other if isinstance(other, Affine) else Affine.of(other)).terms))

    def __mul__(self, factor: int | Fraction) -> Affine:
        return Affine.total((name, own * factor) for name, own in self.terms)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + -1 * other

    def put(self, values: Mapping[str, Affine]) -> Affine:
        """Returns the form with forms substituted for variables."""
        if not any(name in values for name, _ in self.terms):
            return self
        kept = [(name, own) for name, own in self.terms if name not in values]
        changed = [
            (name, own * factor) for old, own in self.terms if old in values for name, factor in values[old].terms
        ]
        return Affine.total(kept + changed)

    def primitive(self) -> Affine:
        """Returns the smallest positive multiple with integer coefficients, which has the same sign everywhere."""
        scaled = self * self.denominator
        divisor = gcd(*(int(factor) for _, factor in scaled.terms))
        return scaled * Fraction(1, divisor) if divisor else scaled

    def upright(self) -> Affine:
        """Returns the primitive form of this form or of its negative, whichever has a positive first coefficient."""
        form = self.primitive()
        return form if self[min(self.names)] > 0 else -form

    def __str__(self) -> str:
        pieces = []
        for name, factor in sorted(self.terms, key=lambda term: (term[0] == ONE, term[0])):
            size = abs(factor)
            text = str(size) if name == ONE else name if size == 1 else f"{size}*{name}"
            pieces.append(f" {'-' if factor < 0 else '+'} {text}")
        return "".join(pieces).removeprefix(" + ").lstrip() or "0"


class NotExactError(Exception):
    """Raised if the elimination of this variable would not be exact over the integers."""


def eliminate(constraints: Iterable[Affine], names: Iterable[str], exact: bool = True) -> list[Affine] | None:
    """Returns what the constraints `form >= 0` imply for the other variables, or None for a contradiction.

    Uses Fourier-Motzkin elimination. It is exact over the integers if in every pair of bounds one has the coefficient
    1. For any other pair it raises NotExactError if `exact` is set, and is otherwise exact only over the rationals.
    """
    found: set[Affine] | None = _without_constants(constraints)
    for name in sorted(names):
        if found is None:
            return None
        lower = [form for form in found if form[name] > 0]
        upper = [form for form in found if form[name] < 0]
        if exact and any(low[name] != 1 and high[name] != -1 for low in lower for high in upper):
            raise NotExactError(name)
        pairs = (low * -high[name] + high * low[name] for low in lower for high in upper)
        found = _without_constants([*(form for form in found if not form[name]), *pairs])
    return None if found is None else sorted(found, key=str)


def _without_constants(constraints: Iterable[Affine]) -> set[Affine] | None:
    kept: dict[tuple[tuple[str, Fraction], ...], Affine] = {}
    for form in map(Affine.primitive, constraints):
        if form.constant is not None:
            if form.constant < 0:
                return None
            continue
        normal = Affine(tuple(term for term in form.terms if term[0] != ONE)).primitive()
        scale = form[normal.terms[0][0]] / normal.terms[0][1]
        if normal.terms not in kept or form[ONE] / scale < kept[normal.terms][ONE]:  # the strongest in its direction
            kept[normal.terms] = normal + Affine.of(form[ONE] / scale)
    return {form.primitive() for form in kept.values()}


def feasible(constraints: Iterable[Affine]) -> bool:
    """Whether some rational point satisfies `form >= 0` for all forms."""
    constraints = list(constraints)
    return eliminate(constraints, set().union(*(form.names for form in constraints)), exact=False) is not None


def solve(equations: Iterable[Affine], names: Iterable[str]) -> tuple[dict[str, Affine], list[Affine]]:
    """Solves the equations `form = 0` for these variables as far as possible; also returns the remaining equations."""
    values: dict[str, Affine] = {}
    wanted, left = set(names), []
    for equation in equations:
        form = equation.put(values)
        pivot = min(form.names & wanted - values.keys(), default=None)
        if pivot is None:
            left.append(form)
            continue
        solution = Affine.total(term for term in form.terms if term[0] != pivot) * (-1 / form[pivot])
        values = {name: value.put({pivot: solution}) for name, value in values.items()} | {pivot: solution}
    return values, [form.put(values) for form in left if form.terms]
