"""Polynomials in the size l, or in 2^l, and whether they are never negative."""

from __future__ import annotations

from math import comb

from bitwright.program.text import syntax
from bitwright.proofs.function.affine import IndexForm, NoChainError, SizeReader, outside

Growth = tuple[int, ...]  # coefficients, the constant first


def plus(a: Growth, b: Growth, factor: int = 1) -> Growth:
    """a + factor * b.

    >>> plus((1, 2), (0, 0, 3), 2)
    (1, 2, 6)
    """
    width = max(len(a), len(b))
    return tuple(x + factor * y for x, y in zip(a + (0,) * (width - len(a)), b + (0,) * (width - len(b)), strict=True))


def times(a: Growth, b: Growth) -> Growth:
    """a * b.

    >>> times((1, 1), (-1, 1))
    (-1, 0, 1)
    """
    total = [0] * max(len(a) + len(b) - 1, 0)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            total[i + j] += x * y
    return tuple(total)


def never_negative(a: Growth, least: int) -> bool:
    """Whether a is 0 or more at `least` and above: all coefficients in x - least are. A no may be wrong.

    >>> never_negative((-1, 1), 1), never_negative((-2, 1), 1), never_negative((1, -2, 1), 0)
    (True, False, False)
    """
    shifted = [
        sum(value * comb(power, low) * least ** (power - low) for power, value in enumerate(a) if power >= low)
        for low in range(len(a))
    ]
    return all(value >= 0 for value in shifted)


def growth_of(reader: SizeReader, part: syntax.Expression) -> Growth:
    """An expression of a rule text as a polynomial in its size; raises NoChainError for any other."""
    if isinstance(part, syntax.Operation):
        sign, left = part.token.text, growth_of(reader, part.left)
        if sign == "^":
            power = growth_of(reader, part.right)
            if any(power[1:]) or not 0 <= power[0] <= 8:
                outside(part.token, "this power is no polynomial in the size")
            total: Growth = (1,)
            for _ in range(power[0]):
                total = times(total, left)
            return total
        right = growth_of(reader, part.right)
        if sign == "*":
            return times(left, right)
        if sign in "+-":
            return plus(left, right, 1 if sign == "+" else -1)
        outside(part.token, f"'{sign}' is no polynomial in the size")
    return affine_growth(reader.form(part, {}))


def affine_growth(form: IndexForm) -> Growth:
    """a * l + b as a polynomial."""
    if form.index:
        raise NoChainError("an index where a number of the size is wanted")
    return form.constant, form.size


def power_growth(exponent: Growth, most: int = 16) -> Growth | None:
    """2^(a*l + b) as a polynomial in 2^l; None where it is none.

    >>> power_growth((1, 2))
    (0, 0, 2)
    """
    constant, rate = (*exponent, 0)[:2]
    if any(exponent[2:]) or constant < 0 or not 0 <= rate <= most:
        return None
    return (0,) * rate + (1 << constant,)
