"""Polynomials over the integers in normal form, and equations modulo a power of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bitwright.program.algorithm import Algorithm
from bitwright.program.ensures import EnsureLine
from bitwright.program.expressions import Combined, Constant, Expression, Named

Key = TypeVar("Key")
Polynomial = dict[tuple[str, ...], int]  # monomials, their names in order, and coefficients other than 0


def combine(a: Mapping[Key, Any], b: Mapping[Key, Any], factor: int = 1) -> dict[Key, Any]:
    """a + factor * b, for polynomials or any other sums with a number for each key.

    >>> combine({("x",): 2}, {("x",): 1, (): 3}, -2)
    {(): -6}
    """
    total = dict(a)
    for names, value in b.items():
        total[names] = total.get(names, 0) + factor * value
    return {names: value for names, value in total.items() if value}


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """a * b.

    >>> multiply({("x",): 1, (): 1}, {("x",): 1, (): -1})
    {('x', 'x'): 1, (): -1}
    """
    total: Polynomial = {}
    for names, value in a.items():
        total = combine(total, {tuple(sorted(names + other)): value * factor for other, factor in b.items()})
    return total


def substitute(a: Polynomial, given: Mapping[str, Polynomial]) -> Polynomial:
    """a with polynomials for some of its names.

    >>> substitute({("x", "y"): 3}, {"x": {("y",): 1, (): 1}})
    {('y', 'y'): 3, ('y',): 3}
    """
    total: Polynomial = {}
    for names, value in a.items():
        term: Polynomial = {(): value}
        for name in names:
            term = multiply(term, given.get(name, {(name,): 1}))
        total = combine(total, term)
    return total


def inputs_by_name(algorithm: Algorithm, taken: Iterable[str]) -> dict[str, Polynomial]:
    """Inputs as `in.NAME`, for statements that leave out the `in.` where the name is not taken."""
    others = {*(word.name for word in algorithm.inputs)} - {*taken}
    return {name: {(f"in.{name}",): 1} for name in others}


@dataclass(frozen=True)
class Equation:
    """That a polynomial is 0 modulo 2^exponent; without an exponent, that it is 0."""

    difference: Polynomial  # of names; an input is called `in.NAME`
    exponent: int | None


def weaker_equation(statement: EnsureLine) -> Equation | None:
    """What follows from `A == B` or `A == B mod 2^e`; None for any other statement."""
    sides = _sides(statement)
    if sides is None:
        return None
    (left, e), (right, f) = sides
    return Equation(combine(left, right, -1), min((x for x in (e, f) if x is not None), default=None))


def _sides(statement: EnsureLine) -> tuple[tuple[Polynomial, int | None], tuple[Polynomial, int | None]] | None:
    """Both sides of an equation, each with the exponent of its modulus if it has one."""
    truth = statement.truth
    if statement.ranges or not isinstance(truth, Combined) or truth.sign != "==":
        return None
    try:
        return _side(statement, truth.left), _side(statement, truth.right)
    except _NoPolynomialError:
        return None


class _NoPolynomialError(Exception):
    pass


def _side(statement: EnsureLine, side: Expression) -> tuple[Polynomial, int | None]:
    if not isinstance(side, Combined) or side.sign != "%":
        return _polynomial(statement, side), None
    modulus = _polynomial(statement, side.right).get((), 0)
    if modulus < 1 or modulus & modulus - 1:
        raise _NoPolynomialError
    return _polynomial(statement, side.left), modulus.bit_length() - 1


def _polynomial(statement: EnsureLine, expression: Expression) -> Polynomial:
    if isinstance(expression, Constant):
        return {(): expression.value} if expression.value else {}
    if isinstance(expression, Named):
        if expression.index is not None:
            raise _NoPolynomialError
        if not expression.entered and expression.text in statement.lets:
            return {(): statement.lets[expression.text]}
        return {(f"{'in.' * expression.entered}{expression.text}",): 1}
    if not isinstance(expression, Combined):
        raise _NoPolynomialError
    left, right = _polynomial(statement, expression.left), _polynomial(statement, expression.right)
    if expression.sign in "+-":
        return combine(left, right, 1 if expression.sign == "+" else -1)
    if expression.sign == "*":
        return multiply(left, right)
    if expression.sign == "^" and {*left, *right} <= {()}:
        return {(): left.get((), 0) ** right.get((), 0)}
    raise _NoPolynomialError
