"""Fits values of a program at every size to those at a few sizes, with affine forms in the size in place of numbers.

The size is l, and the row of a stretch is i, or k if only every second, third or fourth row belongs to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bitwright.proofs.kinds.affine import ONE, Affine

FITTED = range(9, 14)  # sizes at which forms are fitted
SIZE, ROW = Affine.of("l"), Affine.of("i")


class NotAffineError(Exception):
    """Raised if a program does not consist of families that can be exported; the message gives the reason."""


def at_every_size(values: Mapping[int, Any]) -> Any:
    """Fits a value at every size to values at some sizes: its forms may grow, and everything else must be equal.

    >>> at_every_size({2: (Affine.of(1), "p"), 3: (Affine.of(3), "p")})
    (Affine(terms=(('', Fraction(-3, 1)), ('l', Fraction(2, 1)))), 'p')
    """
    first, *others = values.values()
    if all(isinstance(value, Affine) for value in values.values()):
        return _growing(values)
    if isinstance(first, tuple) and all(type(one) is type(first) and len(one) == len(first) for one in others):
        parts = [at_every_size(dict(zip(values, part, strict=True))) for part in zip(*values.values(), strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if any(one != first for one in others):
        raise NotAffineError("rules, cells or words have different forms at different sizes")
    return first


def _growing(values: Mapping[int, Affine]) -> Affine:
    (l, one), (more, other), *_ = values.items()
    growth = ((other - one) * Fraction(1, more - l)).constant
    found = one + (SIZE - l) * (growth or 0)
    if growth is None or any(found.put({"l": Affine.of(l)}) != value for l, value in values.items()):
        raise NotAffineError("an index or a length is not an affine function of the size")
    return found


def value_at(form: Affine, l: int, i: int = 0) -> int:
    """Evaluates a form at a size and row."""
    return int(form["l"] * l + form["i"] * i + form[ONE])


def natural(form: Affine) -> str:
    """Formats a form in natural numbers: first the terms to add, then the terms to subtract, whose sum is never larger.

    >>> natural(SIZE * 4 - ROW - 3)
    '4 * l - i - 3'
    """
    numbers = [(int(form[name]), name) for name in (*sorted(form.names), ONE) if form[name]]
    shown = [(n, " * ".join(filter(None, [str(abs(n)) * (abs(n) != 1 or not name), name]))) for n, name in numbers]
    added, taken = [text for n, text in shown if n > 0], [text for n, text in shown if n < 0]
    return " + ".join(added or ["0"]) + "".join(f" - {text}" for text in taken)


def argument(form: Affine) -> str:
    """Formats a form in natural numbers, in parentheses unless it is a single word."""
    text = natural(form)
    return f"({text})" if " " in text else text
