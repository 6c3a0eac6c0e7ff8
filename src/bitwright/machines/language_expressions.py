"""Expressions and conditions of the small language, from Python's syntax tree to sums and tests; no others."""

from __future__ import annotations

import ast
from itertools import chain

from bitwright.bits import shorten
from bitwright.machines.assembler_text import Problems
from bitwright.machines.language_tree import Always, Both, Condition, Negative, Not, Positive, Sum, Zero, either

MAX_DEPTH = 100
MAX_FACTOR = 16  # a product becomes as many subtractions


class Refused(Exception):  # noqa: N818
    """Carries what is wrong with a piece of the source."""

    def __init__(self, node: ast.AST, message: str) -> None:
        super().__init__(message)
        self.line, self.byte = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


class Expressions:
    """Reads expressions; knows the constants, and at every moment which variables have a value."""

    FORM = "integers, variables, +, - and * by a constant"

    def __init__(self, width: int, constants: dict[str, int], problems: Problems) -> None:
        self.width, self.constants, self.problems = width, constants, problems
        self.variables: set[str] = set()  # that are assigned anywhere
        self.assigned: frozenset[str] | None = frozenset()  # that have a value here; None where nothing arrives

    # Sums.

    def sum(self, node: ast.expr, depth: int = 0) -> Sum:
        """An expression as a sum; constants and sums of constants must fit a word."""
        if depth > MAX_DEPTH:
            raise Refused(node, f"an expression nests at most {MAX_DEPTH} deep; split it")
        found = self._sum(node, depth)
        if not found.factors:
            low, high = -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
            if not low <= found.constant <= high:
                size = f"{self.width} bit{'s' if self.width > 1 else ''}, {low} to {high}"
                raise Refused(node, f"{shorten(found.constant)} does not fit in {size}; choose a larger width")
        return self._with_small_factors(node, found)

    def _with_small_factors(self, node: ast.expr, found: Sum) -> Sum:
        for name, factor in found.factors.items():
            if abs(factor) > MAX_FACTOR:
                raise Refused(node, f"{factor} * {name}: a factor is at most {MAX_FACTOR}; add in a loop instead")
        return found

    def _sum(self, node: ast.expr, depth: int) -> Sum:
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return Sum({}, value)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if not isinstance(value, bool):
                return Sum({}, -value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.sum(operand, depth + 1).times(-1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.sum(left, depth + 1).plus(self.sum(right, depth + 1))
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.sum(left, depth + 1).plus(self.sum(right, depth + 1), -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                if first.factors and second.factors:
                    return self._product(node, first, second)
                return first.times(second.constant) if first.factors else second.times(first.constant)
        raise Refused(node, f"an expression has {self.FORM}, found {shown(node)}")

    def _product(self, node: ast.expr, first: Sum, second: Sum) -> Sum:  # noqa: ARG002
        raise Refused(node, "one factor of '*' must be a constant; multiply two variables in a loop")

    def _named(self, node: ast.expr, name: str) -> Sum:
        if name in self.constants:
            return Sum({}, self.constants[name])
        if name not in self.variables:
            hint = self.problems.hint(name, chain(self.variables, self.constants)) or "; assign it before"
            raise Refused(node, f"unknown name '{shorten(name)}'{hint}")
        if self.assigned is not None and name not in self.assigned:
            raise Refused(node, f"'{shorten(name)}' may have no value yet; assign it on every way to this line")
        return Sum({name: 1})

    # Conditions.

    def condition(self, node: ast.expr, depth: int = 0) -> Condition:
        if depth > MAX_DEPTH:
            raise Refused(node, f"a condition nests at most {MAX_DEPTH} deep; split it")
        match node:
            case ast.Constant(value=bool() as value):
                return Always(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.condition(operand, depth + 1))
            case ast.BoolOp(op=operator, values=values):
                return self._joined(
                    [self.condition(value, depth + 1) for value in values], isinstance(operator, ast.And)
                )
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [left, *others]
                pairs = zip(operators, sides, others, strict=False)
                return self._joined([self._comparison(node, *pair) for pair in pairs], every=True)
        raise Refused(node, f"a condition compares, such as n > 0, found {shown(node)}; for n write n != 0")

    def _joined(self, conditions: list[Condition], every: bool) -> Condition:
        *before, joined = conditions
        for condition in reversed(before):
            joined = Both(condition, joined) if every else either(condition, joined)
        return joined

    def _comparison(self, node: ast.expr, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> Condition:
        difference = self._difference(self.sum(left), self.sum(right))
        condition: Condition
        match operator:
            case ast.Lt():
                condition = Negative(difference)
            case ast.GtE():
                condition = Not(Negative(difference))
            case ast.Gt():
                condition = Positive(difference)
            case ast.LtE():
                condition = Not(Positive(difference))
            case ast.Eq():
                condition = Zero(difference)
            case ast.NotEq():
                condition = Not(Zero(difference))
            case _:
                raise Refused(node, f"a comparison is one of < <= > >= == !=, found {shown(node)}")
        return condition if difference.factors else _decided(condition)

    def _difference(self, first: Sum, second: Sum) -> Sum:
        return first.plus(second, -1)


def _decided(condition: Condition) -> Condition:
    """The same comparison between constants, as what it is."""
    match condition:
        case Not(inner):
            decided = _decided(inner)
            return Always(not decided.value) if isinstance(decided, Always) else condition
        case Negative(value):
            return Always(value.constant < 0)
        case Positive(value):
            return Always(value.constant > 0)
        case Zero(value):
            return Always(value.constant == 0)
    return condition


def shown(node: ast.AST) -> str:
    """A piece of the source as it reads in a message."""
    try:
        return f"'{shorten(ast.unparse(node).partition(chr(10))[0])}'"
    except (RecursionError, ValueError):
        return f"a {type(node).__name__}"
