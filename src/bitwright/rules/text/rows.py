"""Evaluates a statement for all combinations of its indices at once; each combination is a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bitwright.common.errors import ProgramError, counted, suggestion
from bitwright.common.scanner import Token, WrongError
from bitwright.rules.assemble import Picks
from bitwright.rules.expressions import ARITHMETIC, COMPARISONS, DIGITS, Combined, Constant, Expression, Named
from bitwright.rules.families import WrittenAt
from bitwright.rules.layout import Field, IntArray, Layout, spread
from bitwright.rules.text import syntax
from bitwright.rules.text.lexer import MAX_NUMBER


@dataclass
class Budget:
    """Limits the rows, conditions and writes of a text, and so its memory."""

    limit: int

    def __post_init__(self) -> None:
        self.left = self.limit

    def spend(self, amount: int, token: Token) -> None:
        """Deducts an amount; raises ProgramError, which ends the expansion, if the budget is exceeded."""
        self.left -= amount
        if self.left < 0:
            message = (
                f"this rule file expands to more than {self.limit:,} rows, conditions and writes; reduce its array "
                "sizes or index ranges"
            )
            raise ProgramError([token.problem(message)])


@dataclass
class Rows:
    """The rows of a statement, with the value of each index in every row."""

    lets: Mapping[str, int]
    layout: Layout
    budget: Budget
    count: int = 1
    indices: dict[str, IntArray] = field(default_factory=dict)

    def expand(self, clauses: syntax.Clauses) -> None:
        """Replaces the single row with all combinations that the clauses allow."""
        for item in clauses.ranges:
            name = item.name
            if name in self.indices or name in self.lets or name in self.layout:
                raise WrongError(item.token, f"the name '{name}' is already in use; choose another index")
            first, last = self.each(item.first), self.each(item.last)
            rows, values = self.spread(first, last, item.token)
            self.indices = {index: array[rows] for index, array in self.indices.items()}
            self.indices[name] = values
            self.count = len(rows)
        for condition in clauses.conditions:
            left, right = self.each(condition.left), self.each(condition.right)
            allowed = COMPARISONS[condition.sign](left, right)
            self.indices = {name: array[allowed] for name, array in self.indices.items()}
            self.count = int(np.count_nonzero(allowed))

    def spread(self, first: IntArray, last: IntArray, token: Token) -> tuple[IntArray, IntArray]:
        """Lists every value of first..last for every entry, as arrays of entries and values."""
        lengths = np.maximum(0, last - first + 1)
        self.budget.spend(int(lengths.sum()) * (1 + len(self.indices)), token)
        entries, places = spread(lengths)
        return entries, first[entries] + places

    def pick(self, reference: syntax.BitRef, origin: WrittenAt, whole: bool = False, written: bool = False) -> Picks:
        """Returns the bits that a reference selects in each row; raises WrongError if an index is out of range.

        Only written bits may have a path.
        """
        declared = self.declared(reference, whole, written)
        parts = reference.parts or tuple(syntax.IndexPart(None, None) for _ in declared.shape)
        rows = np.arange(self.count)
        bit = _constant_bit(declared, parts)
        if bit is not None:
            self.budget.spend(self.count, reference.token)
            return Picks(rows, np.full(self.count, bit))
        chosen: list[IntArray] = []
        for part, extent in zip(parts, declared.shape, strict=True):
            if part.first is part.last and part.first is not None:
                chosen.append(self.each(part.first)[rows])
                continue
            first = np.ones_like(rows) if part.first is None else self.each(part.first)[rows]
            last = np.full_like(rows, extent) if part.last is None else self.each(part.last)[rows]
            entries, values = self.spread(first, last, reference.token)
            rows, chosen = rows[entries], [*(array[entries] for array in chosen), values]
        self.budget.spend(len(rows), reference.token)
        bits = np.broadcast_to(declared.locate(chosen), rows.shape)
        if (bits < 0).any():
            at = int(np.flatnonzero(bits < 0)[0])
            index = ",".join(str(int(array[at])) for array in chosen)
            message = f"index out of range: {declared.name}[{index}], declared as {declared}"
            raise WrongError(reference.token, message + origin.at(int(rows[at])))
        return Picks(rows, bits)

    def declared(self, reference: syntax.BitRef, whole: bool, written: bool = False) -> Field:
        name = reference.key
        if name not in self.layout or (reference.path and not written):
            if reference.path and reference.token.text in self.layout:
                raise WrongError(reference.token, f"'{name}' can only be a target of 'write' in a node program")
            name = reference.token.text
            names, hint = [item.name for item in self.layout.fields if "." not in item.name], "; declare it with 'bits'"
            raise WrongError(reference.token, f"unknown bit '{name}'{suggestion(name, names) or hint}")
        declared = self.layout[name]
        if reference.parts or not declared.shape:
            if len(reference.parts) != len(declared.shape):
                takes = counted(len(declared.shape), "index", "indices")
                raise WrongError(reference.token, f"{declared} takes {takes}, got {len(reference.parts)}")
        elif not whole:
            stars = ",".join("*" * len(declared.shape))
            raise WrongError(reference.token, f"{declared} is an array; write {name}[{stars}] for all of it")
        return declared

    def each(self, expression: Expression) -> IntArray:  # (count,)
        """Evaluates an expression in every row."""
        return np.broadcast_to(np.asarray(self.evaluate(expression), dtype=np.int64), (self.count,))

    def evaluate(self, expression: Expression) -> IntArray:
        """Evaluates an expression; the result is a single number if it does not depend on an index."""
        if isinstance(expression, Constant):
            return np.asarray(expression.value, dtype=np.int64)
        if isinstance(expression, Named):
            return self.named(expression.token)
        assert isinstance(expression, Combined)
        left, right = self.evaluate(expression.left), self.evaluate(expression.right)
        sign = expression.sign
        if sign == DIGITS:
            return np.asarray(_digits(right), dtype=np.int64)
        if sign in ("//", "%") and not np.all(right):
            raise WrongError(expression.token, f"division by zero in '{sign}'")
        value = self.power(expression.token, left, right) if sign == "^" else ARITHMETIC[sign](left, right)
        if np.any(np.abs(value) >= MAX_NUMBER):
            raise WrongError(expression.token, f"the result of '{sign}' must stay below 2^31")
        return np.asarray(value, dtype=np.int64)

    def power(self, token: Token, base: IntArray, exponent: IntArray) -> IntArray:
        if np.any(exponent < 0):
            raise WrongError(token, f"an exponent must be 0 or more, got {int(exponent.min())}")
        size = np.abs(base).astype(np.float64) ** np.minimum(exponent, 32)
        if np.any(size >= MAX_NUMBER):
            raise WrongError(token, "the result of '^' must stay below 2^31")
        return np.power(base, np.where(np.abs(base) > 1, exponent, np.minimum(exponent, 2 + exponent % 2)))

    def named(self, token: Token) -> IntArray:
        name = token.text
        if name in self.indices:
            return self.indices[name]
        if name in self.lets:
            return np.asarray(self.lets[name], dtype=np.int64)
        if name in self.layout:
            raise WrongError(token, f"'{name}' names bits, but a number is needed here")
        hint = suggestion(name, [*self.indices, *self.lets]) or "; give it a value with 'let' or 'for'"
        raise WrongError(token, f"unknown name '{name}'{hint}")


def _constant_bit(declared: Field, parts: tuple[syntax.IndexPart, ...]) -> int | None:
    """Returns the bit at numeric indices; None if an index is a name, a range or out of range."""
    offset = 0
    for part, extent in zip(parts, declared.shape, strict=True):
        index = part.first
        if index is not part.last or not isinstance(index, Constant) or not 1 <= index.value <= extent:
            return None
        offset = offset * extent + index.value - 1
    return declared.offset + offset


def _digits(values: IntArray) -> IntArray:
    """Returns the number of binary digits of each absolute value; 0 has one digit."""
    return np.maximum(1, np.frexp(np.abs(values).astype(np.float64))[1])
