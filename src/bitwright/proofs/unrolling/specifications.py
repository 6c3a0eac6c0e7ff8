"""Specifications as literals: what an `ensure` or `invariant` line says of symbolic numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bitwright.program.ensures import Constant, EnsureLine, Expression, Named, Negation
from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import AndGraph, Literal
from bitwright.proofs.unrolling.numbers import Number


@dataclass(frozen=True)
class Blasted:
    """Where the names of a statement get their values: the same order of places as in `EnsureLine.value`."""

    graph: AndGraph
    statement: EnsureLine
    inputs: Mapping[str, Number]
    values: Mapping[str, Number]

    def goals(self) -> list[Literal]:
        """Literals that all hold exactly where the statement does; of an equation one for each bit, lowest first."""
        return [goal for row in self.statement.rows() for goal in self._goals(self.statement.truth, row)]

    def _goals(self, truth: Expression, row: Mapping[str, int]) -> list[Literal]:
        sign = getattr(truth, "sign", "")
        if sign == "and":
            return self._goals(truth.left, row) + self._goals(truth.right, row)  # type: ignore[union-attr]
        if sign == "==":
            left, right = (self.number(side, row) for side in (truth.left, truth.right))  # type: ignore[union-attr]
            return numbers.equal_bits(self.graph, left, right)
        return [self._truth(self.number(truth, row))]

    def number(self, expression: Expression, row: Mapping[str, int]) -> Number:
        """The value of an expression; a truth is 0 or 1."""
        if isinstance(expression, Constant):
            return numbers.constant(expression.value)
        if isinstance(expression, Negation):
            return numbers.unsigned([self._truth(self.number(expression.body, row)) ^ 1])
        if isinstance(expression, Named):
            number = self._named(expression, row)
            if expression.index is None:
                return number
            place = self._constant(expression.index, row) - 1
            return numbers.unsigned([number[min(place, len(number) - 1)]])
        left, right = self.number(expression.left, row), self.number(expression.right, row)
        return self._combined(expression.sign, left, right)

    def _named(self, name: Named, row: Mapping[str, int]) -> Number:
        if not name.entered and name.text in row:
            return numbers.constant(row[name.text])
        for place in (self.inputs,) if name.entered else (self.values, self.inputs):
            if name.text in place:
                return place[name.text]
        return numbers.constant(self.statement.lets[name.text])

    def _constant(self, expression: Expression, row: Mapping[str, int]) -> int:
        found = numbers.known(self.number(expression, row))
        assert found is not None  # a statement has only constants for indices, divisors and exponents
        return found

    def _combined(self, sign: str, left: Number, right: Number) -> Number:
        graph = self.graph
        if sign == "+":
            return numbers.add(graph, left, right)
        if sign == "-":
            return numbers.subtract(graph, left, right)
        if sign == "*":
            return numbers.multiply(graph, left, right)
        if sign in ("//", "%", "^"):
            by = numbers.known(right)
            assert by is not None
            if sign == "^":
                base = numbers.known(left)
                assert base is not None
                return numbers.constant(base**by)
            return (numbers.divide if sign == "//" else numbers.remainder)(graph, left, by)
        return numbers.unsigned([self._compared(sign, left, right)])

    def _compared(self, sign: str, left: Number, right: Number) -> Literal:
        graph = self.graph
        if sign in ("and", "or", "=>"):
            a, b = self._truth(left), self._truth(right)
            return graph.both(a, b) if sign == "and" else graph.either(a if sign == "or" else a ^ 1, b)
        if sign in ("==", "!="):
            return graph.all(numbers.equal_bits(graph, left, right)) ^ (sign == "!=")
        swapped = sign in (">", "<=")  # a > b is b < a, and a <= b is its contrary
        less = numbers.less(graph, right, left) if swapped else numbers.less(graph, left, right)
        return less ^ (sign in ("<=", ">="))

    def _truth(self, number: Number) -> Literal:
        return self.graph.any(number)
