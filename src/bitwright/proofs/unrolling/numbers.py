"""Integers made of literals, and what `ensure` and `invariant` lines say of them.

They are two's complement, the sign bit last, as wide as needed, so that nothing ever overflows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Constant, Expression, Named, Negation

Number = tuple[Literal, ...]  # least significant bit first; the last one counts negative


def unsigned(bits: Sequence[Literal]) -> Number:
    """The number with these binary digits.

    >>> unsigned([TRUE, TRUE])
    (1, 1, 0)
    """
    return _trimmed((*bits, FALSE))


def constant(value: int) -> Number:
    """A known integer.

    >>> constant(-2), constant(2)
    ((0, 1, 1), (0, 1, 0))
    """
    return tuple(value >> place & 1 for place in range(value.bit_length() + 1))


def known(number: Number) -> int | None:
    """The integer that a number is, if it does not depend on anything."""
    if any(bit > TRUE for bit in number):
        return None
    return sum(bit << place for place, bit in enumerate(number[:-1])) - (number[-1] << len(number) - 1)


def add(graph: AndGraph, a: Number, b: Number, carry: Literal = FALSE) -> Number:
    """a + b, plus one if the carry is on."""
    width = max(len(a), len(b)) + 1
    total = []
    for x, y in zip(_widened(a, width), _widened(b, width), strict=True):
        half = graph.differ(x, y)
        total.append(graph.differ(half, carry))
        carry = graph.either(graph.both(x, y), graph.both(half, carry))
    return _trimmed(tuple(total))


def invert(a: Number) -> Number:
    """-a - 1."""
    return tuple(bit ^ 1 for bit in a)


def subtract(graph: AndGraph, a: Number, b: Number) -> Number:
    """a - b."""
    return add(graph, a, invert(b), TRUE)


def multiply(graph: AndGraph, a: Number, b: Number) -> Number:
    """a * b, by shifting a for every bit of b; a constant factor is better the second."""
    if known(a) is not None:
        a, b = b, a
    product = constant(0)
    for place, bit in enumerate(b[:-1]):
        product = add(graph, product, (FALSE,) * place + tuple(graph.both(bit, x) for x in a))
    negative = (FALSE,) * (len(b) - 1) + tuple(graph.both(b[-1], x) for x in a)
    return subtract(graph, product, negative)


def power_remainder(a: Number, exponent: int) -> Number:
    """a mod 2^exponent.

    >>> power_remainder(constant(-1), 2)
    (1, 1, 0)
    """
    return unsigned(_widened(a, max(len(a), exponent))[:exponent])


def divide(graph: AndGraph, a: Number, by: Number) -> tuple[Number, Number]:
    """a // by, rounded down, and a % by, for by >= 0; they are 0 and a where by is 0.

    >>> divide(AndGraph(), constant(-7), constant(3))[1] == constant(2)
    True
    """
    fixed = known(by) or 0
    if fixed.bit_count() == 1:
        return a[min(fixed.bit_length(), len(a)) - 1 :], power_remainder(a, fixed.bit_length() - 1)
    sign, rest, quotient, some = a[-1], constant(0), [], graph.any(by)
    for bit in reversed(a[:-1]):  # of a, or of -a - 1 if it is negative
        rest = unsigned((graph.differ(bit, sign), *rest[:-1]))
        short = subtract(graph, rest, by)
        quotient.append(short[-1] ^ 1)
        rest = unsigned(_widened(choose(graph, short[-1], rest, short), len(by))[: len(by) - 1])  # it is below `by`
    whole = _trimmed(tuple(graph.both(some, graph.differ(bit, sign)) for bit in (*reversed(quotient), FALSE)))
    return whole, choose(graph, some, choose(graph, sign, add(graph, by, invert(rest)), rest), a)


def less(graph: AndGraph, a: Number, b: Number) -> Literal:
    """Whether a < b."""
    return subtract(graph, a, b)[-1]


def equal_bits(graph: AndGraph, a: Number, b: Number) -> list[Literal]:
    """One literal for each place, lowest first, that says that a and b agree there."""
    width = max(len(a), len(b))
    return [graph.differ(x, y) ^ 1 for x, y in zip(_widened(a, width), _widened(b, width), strict=True)]


def choose(graph: AndGraph, condition: Literal, then: Number, otherwise: Number) -> Number:
    """`then` if the condition holds, else `otherwise`."""
    width = max(len(then), len(otherwise))
    pairs = zip(_widened(then, width), _widened(otherwise, width), strict=True)
    return _trimmed(tuple(graph.choose(condition, x, y) for x, y in pairs))


def _widened(a: Number, width: int) -> Number:
    return a + a[-1:] * (width - len(a))


def _trimmed(a: Number) -> Number:
    """Without sign bits that only repeat the one before."""
    width = len(a)
    while width > 1 and a[width - 1] == a[width - 2]:
        width -= 1
    return a[:width]


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
        assert found is not None  # a statement has only constants for indices and exponents
        return found

    def _combined(self, sign: str, left: Number, right: Number) -> Number:
        graph = self.graph
        if sign == "+":
            return numbers.add(graph, left, right)
        if sign == "-":
            return numbers.subtract(graph, left, right)
        if sign == "*":
            return numbers.multiply(graph, left, right)
        if sign in ("//", "%"):
            return numbers.divide(graph, left, right)[sign == "%"]
        if sign == "^":
            base, exponent = numbers.known(left), numbers.known(right)
            assert base is not None
            assert exponent is not None
            return numbers.constant(base**exponent)
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
