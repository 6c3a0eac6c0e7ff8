"""Integers whose bits are literals, and `ensure` and `where` lines about them as goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Constant, Expression, Named, Negation, combined


class Number:
    """An integer in two's complement, lowest bit first, with as many bits as needed to avoid overflow.

    A comparison returns the number 1 or 0.

    >>> graph = AndGraph()
    >>> (Number.of(graph, -7) * 3).known, (Number.of(graph, 2) < 3).known, Number.of(graph, -2).bits
    (-21, 1, (0, 1))
    """

    def __init__(self, graph: AndGraph, bits: Sequence[Literal], signed: bool = True) -> None:
        bits = tuple(bits) if signed else (*bits, FALSE)
        width = len(bits)
        while width > 1 and bits[width - 1] == bits[width - 2]:
            width -= 1
        self.graph, self.bits = graph, bits[:width]

    @classmethod
    def of(cls, graph: AndGraph, value: int | Number) -> Number:
        """Returns a constant as a number; returns a number unchanged."""
        if isinstance(value, Number):
            return value
        return cls(graph, [value >> place & 1 for place in range(value.bit_length() + 1)])

    @property
    def known(self) -> int | None:
        """The value, if it is constant, otherwise None."""
        if any(bit > TRUE for bit in self.bits):
            return None
        return sum(bit << place for place, bit in enumerate(self.bits[:-1])) - (self.bits[-1] << len(self.bits) - 1)

    @property
    def truth(self) -> Literal:
        """Whether the number is nonzero."""
        return self.graph.any(self.bits)

    def bit(self, place: int) -> Number:
        """Returns a bit, counted from 0, as the number 1 or 0."""
        return Number(self.graph, [self.bits[min(place, len(self.bits) - 1)]], signed=False)

    def _wide(self, width: int) -> tuple[Literal, ...]:
        return self.bits + self.bits[-1:] * (width - len(self.bits))

    def _plus(self, other: Number, carry: Literal) -> Number:
        graph, width, total = self.graph, max(len(self.bits), len(other.bits)) + 1, []
        for x, y in zip(self._wide(width), other._wide(width), strict=True):
            half = graph.differ(x, y)
            total.append(graph.differ(half, carry))
            carry = graph.either(graph.both(x, y), graph.both(half, carry))
        return Number(graph, total)

    def __invert__(self) -> Number:
        return Number(self.graph, [bit ^ 1 for bit in self.bits])

    def __add__(self, other: Number | int) -> Number:
        return self._plus(Number.of(self.graph, other), FALSE)

    def __sub__(self, other: Number | int) -> Number:
        return self._plus(~Number.of(self.graph, other), TRUE)

    def __mul__(self, other: Number | int) -> Number:
        """Adds up shifted copies of one factor, one for each bit of the other, preferably a constant."""
        a, b, graph = self, Number.of(self.graph, other), self.graph
        if a.known is not None:
            a, b = b, a
        rows = [
            Number(graph, (FALSE,) * at + tuple(graph.both(bit, x) for x in a.bits)) for at, bit in enumerate(b.bits)
        ]
        return sum(rows[:-1], Number.of(graph, 0)) - rows[-1]

    def __pow__(self, exponent: Number) -> Number:
        base, power = self.known, exponent.known
        assert base is not None
        assert power is not None  # powers in a line are constants
        return Number.of(self.graph, base**power)

    def divided(self, by: Number) -> tuple[Number, Number]:
        """Returns the quotient, rounded down, and the remainder for a nonnegative divisor.

        Division by 0 returns 0 and the number itself.

        >>> graph = AndGraph()
        >>> [number.known for number in Number.of(graph, -7).divided(Number.of(graph, 3))]
        [-3, 2]
        """
        graph, a, fixed = self.graph, self.bits, by.known or 0
        if fixed.bit_count() == 1:
            power = fixed.bit_length() - 1
            return Number(graph, a[min(power, len(a) - 1) :]), Number(graph, self._wide(power)[:power], signed=False)
        sign, rest, quotient = a[-1], Number.of(graph, 0), list[Literal]()
        for bit in reversed(a[:-1]):  # of the number, or of -1 minus the number if it is negative
            rest = Number(graph, (graph.differ(bit, sign), *rest.bits[:-1]), signed=False)
            short = rest - by
            quotient.append(short.bits[-1] ^ 1)
            rest = _chosen(short.bits[-1], rest, short)
            rest = Number(
                graph, rest._wide(len(by.bits))[: len(by.bits) - 1], signed=False
            )  # the remainder is below `by`
        bits = [graph.both(by.truth, graph.differ(bit, sign)) for bit in (*reversed(quotient), FALSE)]
        return Number(graph, bits), _chosen(by.truth, _chosen(sign, by + ~rest, rest), self)

    def same_bits(self, other: Number | int) -> list[Literal]:
        """Returns a literal for each bit, lowest first, that is true if both numbers agree in it."""
        other = Number.of(self.graph, other)
        width = max(len(self.bits), len(other.bits))
        return [self.graph.differ(x, y) ^ 1 for x, y in zip(self._wide(width), other._wide(width), strict=True)]

    def _truth(self, literal: Literal) -> Number:
        return Number(self.graph, [literal], signed=False)

    def __eq__(self, other: object) -> Number:  # type: ignore[override]
        assert isinstance(other, Number | int)
        return self._truth(self.graph.all(self.same_bits(other)))

    def __ne__(self, other: object) -> Number:  # type: ignore[override]
        return self._truth((self == other).bits[0] ^ 1)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Number | int) -> Number:
        return self._truth((self - other).bits[-1])

    def __gt__(self, other: Number | int) -> Number:
        return Number.of(self.graph, other) < self

    def __ge__(self, other: Number | int) -> Number:
        return (self < other) == 0

    def __le__(self, other: Number | int) -> Number:
        return (self > other) == 0

    def __and__(self, other: Number) -> Number:
        return self._truth(self.graph.both(self.truth, other.truth))

    def __or__(self, other: Number) -> Number:
        return self._truth(self.graph.either(self.truth, other.truth))


def _chosen(condition: Literal, then: Number, otherwise: Number) -> Number:
    """Returns `then` if the condition is true, and `otherwise` if it is false."""
    width = max(len(then.bits), len(otherwise.bits))
    pairs = zip(then._wide(width), otherwise._wide(width), strict=True)
    return Number(then.graph, [then.graph.choose(condition, x, y) for x, y in pairs])


Numbers = Mapping[str, Number]


def goals(graph: AndGraph, line: EnsureLine, inputs: Numbers, values: Numbers) -> list[Literal]:
    """Returns literals that are all true exactly if the line is; an equation has one for each bit, lowest first."""
    return [goal for row in line.rows() for goal in _goals(line.truth, _Reader(graph, line, inputs, values, row))]


def _goals(truth: Expression, number: _Reader) -> Iterator[Literal]:
    if isinstance(truth, Combined) and truth.sign == "and":
        yield from _goals(truth.left, number)
        yield from _goals(truth.right, number)
    elif isinstance(truth, Combined) and truth.sign == "==":
        yield from number(truth.left).same_bits(number(truth.right))
    else:
        yield number(truth).truth


class _Reader:
    """Evaluates expressions; names are looked up in the same order as in `EnsureLine.value`."""

    def __init__(
        self, graph: AndGraph, line: EnsureLine, inputs: Numbers, values: Numbers, row: Mapping[str, int]
    ) -> None:
        self.graph = graph
        self.entered: tuple[Mapping[str, Number | int], ...] = (inputs,)
        self.places: tuple[Mapping[str, Number | int], ...] = (row, values, inputs, line.lets)

    def __call__(self, part: Expression) -> Number:
        if isinstance(part, Constant):
            return Number.of(self.graph, part.value)
        if isinstance(part, Negation):
            return self(part.body) == 0
        if isinstance(part, Named):
            values = next(place for place in (self.entered if part.entered else self.places) if part.text in place)
            number = Number.of(self.graph, values[part.text])
            index = None if part.index is None else self(part.index).known
            return number if index is None else number.bit(index - 1)
        left, right = self(part.left), self(part.right)
        if part.sign in ("//", "%"):
            return left.divided(right)[part.sign == "%"]
        return combined(part.sign, left, right)  # type: ignore[no-any-return]
