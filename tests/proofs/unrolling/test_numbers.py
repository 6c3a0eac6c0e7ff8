"""Symbolic integers against Python's."""

from itertools import product
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

import pytest

from bitwright.proofs.unrolling.graph import AndGraph
from bitwright.proofs.unrolling.numbers import Number, goals
from bitwright.rules.ensure_text import read


def value(number, values):
    bits = [values[literal >> 1] ^ (literal & 1) for literal in number.bits]
    return sum(bit << place for place, bit in enumerate(bits[:-1])) - (bits[-1] << len(bits) - 1)


def signed_pairs(width):
    """Two signed numbers of a graph, and the values of all nodes for each of their values."""
    graph = AndGraph()
    a, b = (Number(graph, [graph.input() for _ in range(width)]) for _ in range(2))
    return graph, a, b


def every(graph):
    for given in product((0, 1), repeat=len(graph.inputs)):
        yield graph.evaluate(given)


@pytest.mark.parametrize("sign", [add, sub, mul, lt, le, gt, ge, eq, ne])
def test_arithmetic_is_that_of_python(sign):
    graph, a, b = signed_pairs(4)
    found = sign(a, b)
    for values in every(graph):
        assert value(found, values) == sign(value(a, values), value(b, values))


@pytest.mark.parametrize("by", [1, 2, 3, 5, 8, 11])
def test_quotients_and_remainders_round_down_as_in_python(by):
    graph, a, _ = signed_pairs(5)
    quotient, rest = a.divided(Number.of(graph, by))
    for values in every(graph):
        assert value(quotient, values) == value(a, values) // by
        assert value(rest, values) == value(a, values) % by


def test_quotients_by_a_word_are_those_of_python_and_0_by_0():
    graph, a, _ = signed_pairs(4)
    by = Number(graph, [graph.input() for _ in range(3)], signed=False)
    quotient, rest = a.divided(by)
    for values in every(graph):
        x, y = value(a, values), value(by, values)
        assert (value(quotient, values), value(rest, values)) == (divmod(x, y) if y else (0, x))


LINES = [
    "x % y == 2 or x // y > 1",
    "(x - 4) % y == y // (x[1])",
    "x == 3*y - 2",
    "x % 3 == y // 2 and not x < y",
    "x[1] == (y[2] != y[3])",
    "x >= 2 => y <= 5 or x == y",
    "(x < y) == (y > x)",
    "(x - y) mod 2^2 == -y % 4 + x",
    "x[i] == y[i] for i in 1..2",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_means_what_its_own_evaluation_says(line):
    statement, graph = read(line), AndGraph()
    x, y = (Number(graph, [graph.input() for _ in range(3)], signed=False) for _ in range(2))
    wanted = goals(graph, statement, {"y": y}, {"x": x})
    seen = set()
    for values in every(graph):
        found = all(values[goal >> 1] ^ (goal & 1) for goal in wanted)
        assert found == statement.holds({"y": value(y, values)}, {"x": value(x, values)})
        seen.add(found)
    assert seen == {True, False} or line == "(x < y) == (y > x)"
