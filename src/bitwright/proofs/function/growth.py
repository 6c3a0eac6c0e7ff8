"""Polynomials in the size l, and whether they are never negative."""

from __future__ import annotations

from flint import fmpz_poly

from bitwright.proofs.function.affine import IndexForm, NoChainError, SizeReader, outside
from bitwright.rules.expressions import Combined, Expression

Growth = fmpz_poly


def never_negative(a: Growth, least: int) -> bool:
    """Whether a is 0 or more at `least` and above: all coefficients in x - least are. A no may be wrong.

    >>> never_negative(Growth([-1, 1]), 1), never_negative(Growth([-2, 1]), 1), never_negative(Growth([1, -2, 1]), 0)
    (True, False, False)
    """
    return all(coefficient >= 0 for coefficient in a(Growth([least, 1])).coeffs())


def growth_of(reader: SizeReader, part: Expression) -> Growth:
    """An expression of a rule text as a polynomial in its size; raises NoChainError for any other."""
    if isinstance(part, Combined):
        sign, left, right = part.sign, growth_of(reader, part.left), growth_of(reader, part.right)
        if sign == "^":
            if right.degree() > 0 or not 0 <= right[0] <= 8:
                outside(part.token, "this power is no polynomial in the size")
            return left ** int(right[0])
        if sign == "*":
            return left * right
        if sign in "+-":
            return left + right if sign == "+" else left - right
        outside(part.token, f"'{sign}' is no polynomial in the size")
    return affine_growth(reader.form(part, {}))


def affine_growth(form: IndexForm) -> Growth:
    """a * l + b as a polynomial."""
    if form.index:
        raise NoChainError("an index where a number of the size is wanted")
    return Growth([form.constant, form.size])
