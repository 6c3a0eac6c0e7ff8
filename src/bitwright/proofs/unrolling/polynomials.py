"""Polynomials over the integers in normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from bitwright.rules.algorithm import Algorithm
from bitwright.rules.expressions import Combined, Constant, Expression, Named

Key = TypeVar("Key")
Polynomial = dict[tuple[str, ...], int]  # sorted names of each monomial, and its nonzero coefficient


def combine(a: Mapping[Key, Any], b: Mapping[Any, Any], factor: int = 1) -> dict[Key, Any]:
    """Returns a + factor * b, for polynomials or any other sums with a number for each key.

    >>> combine({("x",): 2}, {("x",): 1, (): 3}, -2)
    {(): -6}
    """
    total = dict(a)
    for names, value in b.items():
        total[names] = total.get(names, 0) + factor * value
    return {names: value for names, value in total.items() if value}


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """Returns a * b.

    >>> multiply({("x",): 1, (): 1}, {("x",): 1, (): -1})
    {('x', 'x'): 1, (): -1}
    """
    total: Polynomial = {}
    for names, value in a.items():
        total = combine(total, {tuple(sorted(names + other)): value * factor for other, factor in b.items()})
    return total


def substitute(a: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
    """Returns a with polynomials substituted for some of its names.

    >>> substitute({("x", "y"): 3}, {"x": {("y",): 1, (): 1}})
    {('y', 'y'): 3, ('y',): 3}
    """
    total: Polynomial = {}
    for names, value in a.items():
        term: Polynomial = {(): value}
        for name in names:
            term = multiply(term, values.get(name, {(name,): 1}))
        total = combine(total, term)
    return total


def inputs_by_name(algorithm: Algorithm, taken: Iterable[str]) -> dict[str, Polynomial]:
    """Returns inputs as `in.NAME`, for statements that omit the `in.` of names that are not taken."""
    others = {*(word.name for word in algorithm.inputs)} - {*taken}
    return {name: {(f"in.{name}",): 1} for name in others}


class NoPolynomialError(Exception):
    """Raised if an expression is not a polynomial."""


def polynomial(expression: Expression, power: Callable[[Expression], Polynomial | None] = lambda _: None) -> Polynomial:
    """Returns an expression as a polynomial, with inputs as `in.NAME`; raises NoPolynomialError if it is not one.

    `power` returns a power of 2 with the given exponent, or None.
    """
    if isinstance(expression, Constant):
        return {(): expression.value} if expression.value else {}
    if isinstance(expression, Named) and expression.index is None:
        return {(f"{'in.' * expression.entered}{expression.text}",): 1}
    if not isinstance(expression, Combined):
        raise NoPolynomialError
    if expression.sign == "^" and expression.left == Constant(2) and (known := power(expression.right)) is not None:
        return known
    left, right = polynomial(expression.left, power), polynomial(expression.right, power)
    if expression.sign in "+-":
        return combine(left, right, 1 if expression.sign == "+" else -1)
    if expression.sign == "*":
        return multiply(left, right)
    if expression.sign == "^" and {*left, *right} <= {()}:
        return {(): left.get((), 0) ** right.get((), 0)}
    raise NoPolynomialError
