"""Specifications: `ensure sum == p + q` must hold at the end of a run, `invariant p <= in.p + in.q` throughout.

`where b < m` restricts both to some inputs. In an `ensure` line a name is an output or, if there is no such output, an
input; `in.NAME` is always an input. In an `invariant` line a name is an array or a bit of the program, and `in.NAME` is
an input. Numbers of the rule text (`let l = 4`) and indices (`for i in 1..l`) are constants. `x[i]` is one bit of a
number; `x[1]` is the lowest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, shorten
from bitwright.common.errors import counted, listing, suggestion
from bitwright.common.scanner import WrongError
from bitwright.rules.expressions import (
    ARITHMETIC,
    COMPARISONS,
    CONNECTIVES,
    Combined,
    Constant,
    Expression,
    IndexRange,
    Named,
    Negation,
    evaluate,
    names_in,
    shown,
)

Kind = Literal["number", "truth", "bit"]  # a bit is a one-digit number, and also a truth value
MAX_EXPONENT = 10_000_000
MOST_CHECKED = 100  # values per index for which bit positions are checked in advance


@dataclass(frozen=True)
class EnsureLine:
    """An `ensure`, `invariant` or `where` line: a formula that must be true for all values of its indices.

    >>> from bitwright.rules.ensure_text import read
    >>> line = read("difference == (a - b) mod 2^l").with_lets({"l": 4})
    >>> print(line, line.holds({"a": 3, "b": 5}, {"difference": 14}), sep="; ")
    difference == (a - b) % 2^l; True
    """

    truth: Expression
    ranges: tuple[IndexRange, ...] = ()
    at: Named | None = None  # the bit of `invariant at BIT: ...`, which applies where it is on
    lets: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)  # numbers of the rule text

    def with_lets(self, lets: Mapping[str, int]) -> EnsureLine:
        return EnsureLine(self.truth, self.ranges, self.at, dict(lets))

    def under(self, conditions: Iterable[EnsureLine]) -> EnsureLine:
        """Returns the line, restricted to where these conditions hold.

        >>> from bitwright.rules.ensure_text import read
        >>> print(read("a > 0 => r == b % m").under([read("b < m")]))
        b < m and a > 0 => r == b % m
        """
        truth = self.truth
        for condition in reversed([*conditions]):
            if isinstance(truth, Combined) and truth.sign == "=>":
                truth = Combined("=>", Combined("and", condition.truth, truth.left), truth.right, truth.token)
            else:
                truth = Combined("=>", condition.truth, truth, truth.token)
        return replace(self, truth=truth)

    def holds(self, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Returns whether the line is true for these inputs and for these outputs, or for these numbers in a state."""
        if self.at is not None and not self.value(self.at, inputs, values):
            return True
        return all(bool(self.value(self.truth, inputs, values, row)) for row in self.rows())

    def rows(self, row: Mapping[str, int] | None = None, most: int = 0) -> Iterator[Mapping[str, int]]:
        """Yields every choice of index values; with `most`, only that many from both ends of longer ranges."""
        row = {} if row is None else row
        if len(row) == len(self.ranges):
            yield row
            return
        item = self.ranges[len(row)]
        first, last = (self.value(bound, {}, {}, row) for bound in (item.first, item.last))
        values: Iterable[int] = range(first, last + 1)
        if most and last - first >= most:
            values = (*range(first, first + most // 2), *range(last - most // 2, last + 1))
        for value in values:
            yield from self.rows({**row, item.name: value}, most)

    def value(
        self,
        expression: Expression,
        inputs: Mapping[str, Any],
        values: Mapping[str, Any],
        row: Mapping[str, int] | None = None,
    ) -> Any:
        """Evaluates an expression; arrays of numbers give arrays."""

        def value_of(name: Named) -> Any:
            places = (inputs,) if name.entered else (row or {}, values, inputs, self.lets)
            number = next(place[name.text] for place in places if name.text in place)
            return number if name.index is None else number >> (evaluate(name.index, value_of) - 1) & 1

        return evaluate(expression, value_of)

    @property
    def names(self) -> set[Named]:
        """All names in the line, including lets and indices."""
        parts = [self.truth, *(bound for item in self.ranges for bound in (item.first, item.last))]
        return {name for part in (*parts, *([self.at] if self.at else ())) for name in names_in(part)}

    def line(self) -> str:
        """Returns the line in canonical form, without its first word and with values in place of `let` names."""
        return self._shown(self.lets)

    def __str__(self) -> str:
        return self._shown({})

    def _shown(self, lets: Mapping[str, int]) -> str:
        where = f"at {shown(self.at, lets)}: " if self.at else ""
        ranges = ", ".join(f"{r.name} in {shown(r.first, lets)}..{shown(r.last, lets)}" for r in self.ranges)
        return f"{where}{shown(self.truth, lets)}{' for ' * bool(ranges)}{ranges}"


def joined(lines: Sequence[EnsureLine | str]) -> str:
    """Joins lines of a specification with `and`, with parentheses around those that contain `or`, `=>` or `for`.

    >>> joined(["a >= b => m == a", "c == (a < b)"])
    '(a >= b => m == a) and c == (a < b)'
    """
    texts = [str(line) for line in lines]
    loose = (" => ", " or ", " for ")
    return " and ".join(f"({t})" if len(texts) > 1 and any(word in t for word in loose) else t for t in texts)


# Checks of names and of types.


@dataclass(frozen=True)
class Scope:
    """The names that a statement may use, with the number of bits in each word.

    A signed one-bit word is 0 or -1, so it is a number and not a truth value.
    """

    inputs: Mapping[str, int]
    values: Mapping[str, int]  # outputs for `ensure`, arrays and bits for `invariant`, empty for `where`
    lets: Mapping[str, int]
    what: str = "an input or output"
    signed_inputs: Container[str] = ()
    signed_values: Container[str] = ()

    def check(self, line: EnsureLine) -> None:
        """Raises WrongError unless the statement has a truth value for every value of its indices."""
        known: set[str] = set()
        if line.at is not None and self._kind(line.at, known) != "bit":
            raise WrongError(line.at.token, f"'at' takes a single bit, but {line.at.text} has several")
        for item in line.ranges:
            if item.name in {*known, *self.values, *self.inputs, *self.lets}:
                raise WrongError(item.token, f"the name '{item.name}' is already in use; choose another index")
            for bound in (item.first, item.last):
                self._constant(bound, known, "a bound of 'for'")
            known.add(item.name)
        if self._kind(line.truth, known) == "number":
            raise WrongError(line.truth.token, "this is a number, not a condition; compare it, as in sum == p + q")
        self._check_values(line.with_lets(self.lets))

    def _kind(self, expression: Expression, indices: set[str]) -> Kind:
        if isinstance(expression, Constant):
            return "bit" if expression.value in (0, 1) else "number"
        if isinstance(expression, Named):
            return self._kind_of_name(expression, indices)
        if isinstance(expression, Negation):
            self._truth(expression.body, indices, "not")
            return "truth"
        sign = expression.sign
        if sign in CONNECTIVES:
            self._truth(expression.left, indices, sign)
            self._truth(expression.right, indices, sign)
            return "truth"
        if sign == "^":
            self._constant(expression, indices, "'^'")
            return "number"
        left, right = self._kind(expression.left, indices), self._kind(expression.right, indices)
        if sign in ("==", "!=") and {left, right} <= {"truth", "bit"}:
            return "truth"
        for side, kind in ((expression.left, left), (expression.right, right)):
            if kind == "truth":
                raise WrongError(side.token, f"'{sign}' takes numbers, but {_brief(side)} is true or false")
        if sign in ("//", "%"):
            self._divisor(expression.right, indices)
        return "truth" if sign in COMPARISONS else "number"

    def _kind_of_name(self, name: Named, indices: set[str]) -> Kind:
        if name.text in indices and not name.entered and name.index is None:
            return "number"
        widths = self.inputs if name.entered else {**self.inputs, **self.values}
        if name.text not in widths:
            if name.text in self.lets and not name.entered and name.index is None:
                return "number"
            allowed = "an input" if name.entered else f"{self.what}, or a number in the text"
            known = [*widths] if name.entered else [*widths, *self.lets, *indices]
            hint = suggestion(name.text, known) or f"; choose from {listing(known)}" * bool(known)
            raise WrongError(name.token, f"'{shorten(name.text)}' is not {allowed}{hint}")
        if name.index is not None:
            self._constant(name.index, indices, "an index")
            return "bit"
        entered = name.entered or name.text not in self.values
        signed = name.text in (self.signed_inputs if entered else self.signed_values)
        return "bit" if widths[name.text] == 1 and not signed else "number"

    def _truth(self, expression: Expression, indices: set[str], sign: str) -> None:
        if self._kind(expression, indices) == "number":
            raise WrongError(expression.token, f"'{sign}' takes a condition, but {_brief(expression)} is a number")

    def _divisor(self, expression: Expression, indices: set[str]) -> None:
        """Raises WrongError for a divisor that is neither a constant nor an unsigned number."""
        if not isinstance(expression, Named) or expression.index is not None:
            return self._constant(expression, indices, "a compound divisor")
        entered = expression.entered or expression.text not in self.values
        if expression.text in (self.signed_inputs if entered else self.signed_values):
            raise WrongError(expression.token, f"a divisor must be unsigned, but {expression.text} is signed")
        return None

    def _constant(self, expression: Expression, indices: set[str], what: str) -> None:
        """Raises WrongError for an expression that depends on an input or output, or is not a number."""
        if isinstance(expression, Negation):
            raise WrongError(expression.token, f"{what} must be a number")
        if isinstance(expression, Named):
            self._kind_of_name(expression, indices)
            free = expression.text in indices or expression.text not in {**self.inputs, **self.values}
            if expression.entered or expression.index is not None or not free:
                raise WrongError(expression.token, f"{what} must be a constant, but {_brief(expression)} is not")
        elif isinstance(expression, Combined):
            if expression.sign not in (*ARITHMETIC, "^"):
                raise WrongError(expression.token, f"{what} must be a number")
            self._constant(expression.left, indices, what)
            self._constant(expression.right, indices, what)

    def _check_values(self, line: EnsureLine) -> None:
        """Checks bit positions, divisors and exponents in every row."""
        for row in line.rows(most=MOST_CHECKED):
            for part in (line.truth, *([line.at] if line.at else ())):
                self._check_row(part, line, row)

    def _check_row(self, part: Expression, line: EnsureLine, row: Mapping[str, int]) -> None:
        if isinstance(part, Negation):
            self._check_row(part.body, line, row)
        elif isinstance(part, Combined):
            self._check_row(part.left, line, row)
            self._check_row(part.right, line, row)
            constants = {*row, *line.lets}
            if part.sign in ("//", "%", "^") and all(name.text in constants for name in names_in(part.right)):
                right = line.value(part.right, {}, {}, row)
                if part.sign != "^" and right < 1:
                    raise WrongError(part.token, f"the divisor of '{part.sign}' must be at least 1, got {right}")
                if part.sign == "^" and not 0 <= right <= MAX_EXPONENT:
                    raise WrongError(part.token, f"an exponent must be between 0 and {MAX_EXPONENT:,}, got {right}")
        elif isinstance(part, Named) and part.index is not None:
            index = line.value(part.index, {}, {}, row)
            width = (self.inputs if part.entered else {**self.inputs, **self.values})[part.text]
            if not 1 <= index <= width:
                at = "".join(f" (at {name}={value})" for name, value in row.items())
                message = f"index out of range: {part.text}[{index}], but {part.text} has {counted(width, 'bit')}{at}"
                raise WrongError(part.token, message)


def _brief(expression: Expression) -> str:
    return f"'{shorten(shown(expression))}'"


# Checks of many runs at once.

Arrays = Mapping[str, NDArray[Any]]
_MOST_BITS = 62  # the sum of two such values still fits in an int64


class Runs:
    """The inputs of many runs and the outputs of those that ended, by name.

    >>> from bitwright.rules.ensure_text import read
    >>> runs = Runs(4, {"x": np.arange(4)}, {"y": np.array([0, 1, 2, 2])})
    >>> runs.broken(read("y == x and y != 1"))
    array([False,  True, False,  True])
    """

    def __init__(self, count: int, inputs: Arrays, outputs: Arrays) -> None:
        self._count, self._inputs, self._outputs = count, inputs, outputs
        self._most: dict[str, int] = {}  # the largest absolute value of each name
        for name, numbers in (*inputs.items(), *outputs.items()):
            largest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
            self._most[name] = max(largest, self._most.get(name, 0))

    def broken(self, line: EnsureLine) -> BoolArray:  # (count,)
        """Returns which runs violate the line."""
        broken = np.zeros(self._count, dtype=bool)
        for row in line.rows():
            broken |= np.asarray(self.value(line, line.truth, row) == 0, dtype=bool)
        return broken

    def all_hold(self, lines: Iterable[EnsureLine]) -> BoolArray:  # (count,)
        """Returns which runs satisfy all of these lines."""
        allowed = np.ones(self._count, dtype=bool)
        for line in lines:
            allowed &= ~self.broken(line)
        return allowed

    def value(self, line: EnsureLine, part: Expression, row: Mapping[str, int] | None = None) -> Any:
        """Evaluates an expression exactly: in machine words if all values fit, otherwise in Python integers."""
        known = {**line.lets, **self._most, **(row or {})}
        fits = _sizes(line, part, known, row or {})[1] >> _MOST_BITS == 0
        return line.value(part, *((self._inputs, self._outputs) if fits else self._exact), row)

    @cached_property
    def _exact(self) -> tuple[Arrays, Arrays]:
        inputs, outputs = (
            {name: numbers.astype(object) for name, numbers in named.items()} for named in (self._inputs, self._outputs)
        )
        return inputs, outputs


def _sizes(line: EnsureLine, part: Expression, known: Mapping[str, int], row: Mapping[str, int]) -> tuple[int, int]:
    """Returns bounds on the absolute value of an expression, and on all values that occur in it."""
    if isinstance(part, Constant):
        return abs(part.value), abs(part.value)
    if isinstance(part, Named):
        most = abs(known[part.text])
        return (most if part.index is None else 1), most
    if isinstance(part, Negation):
        return 1, _sizes(line, part.body, known, row)[1]
    if part.sign == "^":  # of constants
        power = abs(line.value(part, {}, {}, row))
        return power, power
    (left, most), (right, more) = (_sizes(line, side, known, row) for side in (part.left, part.right))
    bounds = {"+": left + right, "-": left + right, "*": left * right, "//": left + 1, "%": max(left, right)}
    bound = bounds.get(part.sign, 1)
    return bound, max(bound, most, more)
