"""Values of a program at every size: what they are at a few sizes, with affine forms in the size in place of numbers.

The size is l, and the row of a stretch is i, or k where only every second, third or fourth row counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from bitwright.proofs.kinds.affine import ONE, Affine
from bitwright.proofs.kinds.lines import Case, NotCoveredError, Reader
from bitwright.rules.expressions import Combined, Expression, Negation

FITTED = range(9, 14)  # sizes whose values give the forms
SIZE, ROW = Affine.of("l"), Affine.of("i")


class NotAffineError(Exception):
    """The program is no set of families of the form that can be written; the message says what is not."""


def at_every_size(values: Mapping[int, Any]) -> Any:
    """The value that is these at some sizes: its forms may grow with the size, all else is the same at every size.

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
        raise NotAffineError("rules, cells or words of different sizes are not of the same form")
    return first


def _growing(values: Mapping[int, Affine]) -> Affine:
    (l, one), (more, other), *_ = values.items()
    growth = ((other - one) * Fraction(1, more - l)).constant
    found = one + (SIZE - l) * (growth or 0)
    if growth is None or any(found.put({"l": Affine.of(l)}) != value for l, value in values.items()):
        raise NotAffineError("a number is no affine function of the size")
    return found


def value_at(form: Affine, l: int, i: int = 0) -> int:
    """A form at a size, in a row."""
    return int(form["l"] * l + form["i"] * i + form[ONE])


def form_of(part: Expression, size: str, index: str = "") -> Affine | None:
    """An expression of the size, an index and constants; None for any other."""
    with suppress(NotCoveredError, ValueError):
        ((form, _),) = Reader({}, {}).form(part, Case({}))
        known = {size: SIZE} | ({index: ROW} if index else {})
        if form.names <= known.keys():
            return form.put(known)
    return None


def text_of(part: Expression, leaf: Callable[[Expression], str | None], signs: Mapping[str, str], refusal: str) -> str:
    """An expression in Rocq.

    Args:
        leaf: the text of a part that it knows; other parts are a sign and what it joins.
        signs: the texts of signs, each with a place `{}` for every operand.
        refusal: the message of the NotAffineError about any other part.
    """
    if (found := leaf(part)) is not None:
        return found
    sign, operands = "", []
    if isinstance(part, Negation):
        sign, operands = "not", [part.body]
    elif isinstance(part, Combined):
        sign, operands = part.sign, [part.left, part.right]
    if sign not in signs:
        raise NotAffineError(refusal)
    return signs[sign].format(*(text_of(one, leaf, signs, refusal) for one in operands))


def natural(form: Affine) -> str:
    """A form as natural numbers."""
    return natural_sum([*((int(form[name]), [name]) for name in sorted(form.names)), (int(form[ONE]), [])])


def argument(form: Affine) -> str:
    """A form as natural numbers, in brackets where it is not a single word."""
    text = natural(form)
    return f"({text})" if " " in text else text


def natural_sum(terms: Sequence[tuple[int, Sequence[str]]]) -> str:
    """Products with factors, as natural numbers: what is added first, then what is subtracted, which is never more.

    >>> natural_sum([(4, ["l", "l"]), (-1, ["l"]), (-3, [])])
    '4 * l * l - l - 3'
    """
    shown = [(n, " * ".join([*[str(abs(n))] * (abs(n) != 1 or not names), *names])) for n, names in terms if n]
    added, taken = [text for n, text in shown if n > 0], [text for n, text in shown if n < 0]
    return " + ".join(added or ["0"]) + "".join(f" - {text}" for text in taken)
