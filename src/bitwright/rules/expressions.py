"""Expressions in rule text: indices, sizes, conditions, and the formulas of `ensure` and `invariant` lines.

An expression is a tree of Constant, Named, Combined and Negation. Its value is a number or a truth value; an unsigned
one-bit number is both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub
from typing import Any

from bitwright.common.scanner import Token

ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod}
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
DIGITS = "digits"
CONNECTIVES = ("and", "or", "=>")
NOWHERE = Token("end", "", 0, 0)
_BINDS = {"=>": 1, "or": 2, "and": 3, "not": 4, **dict.fromkeys(COMPARISONS, 5)}
_BINDS |= {"+": 6, "-": 6, "*": 7, "//": 7, "%": 7, "^": 9}


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal number."""

    value: int
    token: Token = field(default=NOWHERE, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Named:
    """A word, one of its bits (`index`), an index, or a number of the rule text; `entered` marks `in.NAME`."""

    text: str
    entered: bool = False
    index: Expression | None = None
    token: Token = field(default=NOWHERE, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Combined:
    """Two expressions joined by an operator: + - * // % ^, a comparison, `and`, `or` or `=>`; `mod` is stored as %.

    Rules can also use `digits(E)`, the number of binary digits of E, at least 1. E is `right`, the base is `left`.
    """

    sign: str
    left: Expression
    right: Expression
    token: Token = field(default=NOWHERE, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`not` followed by a condition."""

    body: Expression
    token: Token = field(default=NOWHERE, repr=False, compare=False)


Expression = Constant | Named | Combined | Negation


@dataclass(frozen=True, slots=True)
class IndexRange:
    """`for i in first..last`."""

    name: str
    first: Expression
    last: Expression
    token: Token = field(default=NOWHERE, repr=False, compare=False)


def names_in(expression: Expression, inside: bool = True) -> Iterator[Named]:
    """Yields the names in an expression, in order; `inside` includes those in an index."""
    if isinstance(expression, Named):
        yield expression
        if expression.index is not None and inside:
            yield from names_in(expression.index)
    elif isinstance(expression, Negation):
        yield from names_in(expression.body, inside)
    elif isinstance(expression, Combined):
        yield from names_in(expression.left, inside)
        yield from names_in(expression.right, inside)


def shown(expression: Expression, lets: Mapping[str, int] | None = None, around: int = 0) -> str:
    """Formats an expression as text, with as few parentheses as possible."""
    lets = lets or {}
    if isinstance(expression, Constant):
        return str(expression.value)
    if isinstance(expression, Named):
        if not expression.entered and expression.index is None and expression.text in lets:
            value = lets[expression.text]
            return str(value) if value >= 0 else f"({value})"
        index = "" if expression.index is None else f"[{shown(expression.index, lets)}]"
        return f"{'in.' * expression.entered}{expression.text}{index}"
    if isinstance(expression, Negation):
        text, binds = f"not {shown(expression.body, lets, _BINDS['not'])}", _BINDS["not"]
    else:
        if expression.sign == DIGITS:
            return f"digits({shown(expression.right, lets)})"
        sign, binds = expression.sign, _BINDS[expression.sign]
        tight = sign in COMPARISONS or sign in ("=>", "^")  # the left side must bind tighter
        left = shown(expression.left, lets, binds + tight)
        right = shown(expression.right, lets, binds + (sign not in ("=>", "and", "or", "+", "*")))
        if sign == "-" and expression.left == Constant(0):
            text, binds = f"-{shown(expression.right, lets, 8)}", 8
        else:
            text = f"{left}^{right}" if sign == "^" else f"{left} {sign} {right}"
    return f"({text})" if binds < around else text


def evaluate(expression: Expression, value_of: Callable[[Named], Any]) -> Any:
    """Evaluates an expression, using `value_of` for its names; arrays give arrays."""
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Named):
        return value_of(expression)
    if isinstance(expression, Negation):
        return evaluate(expression.body, value_of) == 0  # element by element for an array
    return combined(expression.sign, evaluate(expression.left, value_of), evaluate(expression.right, value_of))


def combined(sign: str, left: Any, right: Any) -> Any:
    """Applies an operator, element by element for arrays."""
    if sign in ("//", "%"):  # x // 0 = 0 and x % 0 = x, as in SMT-LIB
        quotient = (left // (right + (right == 0))) * (right != 0)
        return quotient if sign == "//" else left - right * quotient
    if sign in ARITHMETIC:
        return ARITHMETIC[sign](left, right)
    if sign in COMPARISONS:
        return COMPARISONS[sign](left, right)
    if sign == "^":
        return left**right
    if sign == DIGITS:
        return max(1, abs(right).bit_length())
    left, right = left != 0, right != 0
    if sign == "and":
        return left & right
    return (left | right) if sign == "or" else (left == 0) | right
