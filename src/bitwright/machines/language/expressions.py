"""Expressions and conditions of the small language, from Python's syntax tree to sums and tests.

What is no sum (entries of arrays, calls, products, quotients) is done ahead of the statement it stands in, from left to
right, and leaves its value in a variable of the compiler's own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from operator import eq, gt, lt
from typing import Literal

from bitwright.bits import shorten
from bitwright.machines.language import tree
from bitwright.machines.language.source import BackEnd, SourceProblems, shown
from bitwright.machines.language.tree import Condition, LanguageStatement, Sum
from bitwright.machines.sbn.code import wrap

MAX_DEPTH = 100
MAX_FACTOR = 16  # a product becomes that many subtractions

# Functions of runtime.py; no source can name them.
MULTIPLY, DIVIDE, PRINT, READ = "@multiply", "@divide", "@print_number", "@read_number"
BUILT_IN = ("put", "get", "print", "divmod", "len", "ord")


@dataclass(frozen=True)
class Signature:
    parameters: tuple[str, ...]
    arrays: frozenset[str]  # those of the parameters that are arrays
    results: int


class Expressions:
    """Reads expressions; knows the constants, and at every moment which variables have a value."""

    def __init__(self, target: BackEnd, width: int, problems: SourceProblems) -> None:
        self.target, self.width, self.problems, self.refuse = target, width, problems, problems.refuse
        self.constants: dict[str, int] = {}
        self.signatures: dict[str, Signature] = {}
        self.variables: set[str] = set()  # that are assigned anywhere
        self.assigned: frozenset[str] | None = frozenset()  # that have a value here; None where nothing arrives
        self.arrays: dict[str, int | None] = {}  # with their sizes; None for parameters
        self.ahead: list[LanguageStatement] | None = None  # what is to be done first; None outside of functions
        self.own = 0  # variables of the compiler's own in this statement
        self.calls: list[tuple[str, ast.expr]] = []

    def has_value(self, name: str) -> None:
        if self.assigned is not None:
            self.assigned |= {name}

    # Sums.

    def sum(self, node: ast.expr, depth: int = 0) -> Sum:
        """An expression as a sum; constants and sums of constants must fit a word."""
        if depth > MAX_DEPTH:
            raise self.refuse(node, f"an expression nests at most {MAX_DEPTH} deep; split it")
        found = self._sum(node, depth)
        if not found.factors:
            low, high = -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
            if not low <= found.constant <= high:
                size = f"{self.width} bit{'s' if self.width > 1 else ''}, {low} to {high}"
                raise self.refuse(node, f"{shorten(found.constant)} does not fit in {size}; choose a larger width")
        return self._with_small_factors(node, found)

    def _with_small_factors(self, node: ast.expr, found: Sum) -> Sum:
        """Large factors are multiplied by, not added up; they may wrap, as the product does anyway."""
        if all(abs(factor) <= MAX_FACTOR for factor in found.factors.values()):
            return found
        total = Sum({}, found.constant)
        for name, factor in found.factors.items():
            if not self.target.routines and abs(factor) > MAX_FACTOR:
                raise self.refuse(node, f"{factor} * {name}: a factor is at most {MAX_FACTOR}; add in a loop instead")
            wrapped, variable = wrap(factor, self.width), Sum({name: 1})
            if abs(wrapped) > MAX_FACTOR:
                variable, wrapped = self._product(node, variable, Sum({}, wrapped)), 1
            total = total.plus(variable, wrapped)
        return total

    def _sum(self, node: ast.expr, depth: int) -> Sum:
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return Sum({}, value)
            case ast.Name(id=name):
                if name in self.constants:
                    return Sum({}, self.constants[name])
                self._check_value(node, name)
                if name in self.arrays:
                    raise self.refuse(node, f"'{shorten(name)}' is an array; use an entry such as {shorten(name)}[0]")
                return Sum({name: 1})
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if not isinstance(value, bool):
                return Sum({}, -value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.sum(operand, depth + 1).times(-1)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                return first.plus(second, 1 if isinstance(sign, ast.Add) else -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                if first.factors and second.factors:
                    return self._product(node, first, second)
                return first.times(second.constant) if first.factors else second.times(first.constant)
            case _ if self.target.routines:
                return self._no_sum(node, depth)
        raise self._unreadable(node)

    def _no_sum(self, node: ast.expr, depth: int) -> Sum:
        """Expressions that are evaluated ahead of the statement, or are constants."""
        match node:
            case ast.Subscript(value=ast.Name(id=array), slice=index):
                return self.entry(node, array, self.index(node, array, index, depth + 1))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)], keywords=[]) if array in self.arrays:
                size = self.arrays[array]
                if size is None:
                    message = f"the length of the parameter '{shorten(array)}' is not known; pass it along"
                    raise self.refuse(node, message)
                return Sum({}, size)
            case ast.Call(func=ast.Name(id="ord"), args=[ast.Constant(value=str() as letter)], keywords=[]):
                if len(letter) != 1:
                    raise self.refuse(node, f"ord takes one character, found {shown(node)}")
                return Sum({}, ord(letter))
            case ast.Call(func=ast.Name(id="get"), args=[], keywords=[]):
                return self._ahead(node, tree.Get(node.lineno, self._fresh()))
            case ast.Call():
                function, arguments = self.call(node, 1, depth)
                return self._ahead(node, tree.Call(node.lineno, (self._fresh(),), function, arguments))
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operator, right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                self._check_divisor(node, second)
                if not first.factors and not second.factors:
                    results = divmod(first.constant, second.constant)
                    return Sum({}, results[isinstance(operator, ast.Mod)])
                target = self._fresh()
                targets = (None, target) if isinstance(operator, ast.Mod) else (target, None)
                return self._ahead(node, tree.Call(node.lineno, targets, DIVIDE, (first, second)))
        raise self._unreadable(node)

    def _unreadable(self, node: ast.expr) -> Exception:
        return self.refuse(node, f"an expression has {self.target.expressions}, found {shown(node)}")

    def _product(self, node: ast.expr, first: Sum, second: Sum) -> Sum:
        if not self.target.routines:
            raise self.refuse(node, "one factor of '*' must be a constant; multiply two variables in a loop")
        return self._ahead(node, tree.Call(node.lineno, (self._fresh(),), MULTIPLY, (first, second)))

    def _check_value(self, node: ast.expr, name: str) -> None:
        """Gives up a name that has no value here."""
        if name not in self.variables:
            hint = self.problems.hint(name, sorted({*self.variables, *self.constants})) or "; assign it before"
            raise self.refuse(node, f"unknown name '{shorten(name)}'{hint}")
        if self.assigned is not None and name not in self.assigned:
            raise self.refuse(node, f"'{shorten(name)}' may have no value yet; assign it on every way to this line")

    def _check_divisor(self, node: ast.expr, divisor: Sum) -> None:
        if not divisor.factors and divisor.constant == 0:
            raise self.refuse(node, f"{shown(node)} divides by 0")

    # What is done ahead.

    def _ahead(self, node: ast.expr, statement: tree.Get | tree.Load | tree.Call) -> Sum:
        """Has a statement done first; its value is then in its target."""
        if self.ahead is None:
            raise self.refuse(node, f"a constant is a sum of constants, found {shown(node)}")
        self.ahead.append(statement)
        return Sum({f"@{self.own}": 1})

    def _fresh(self) -> str:
        self.own += 1
        return f"@{self.own}"

    # Arrays.

    def index(self, node: ast.expr, array: str, index: ast.expr, depth: int = 0) -> Sum:
        """The index in `array[index]`, once it is clear that this is an array."""
        self._check_array(node, array)
        found, size = self.sum(index, depth), self.arrays[array]
        if not found.factors and size is not None and not 0 <= found.constant < size:
            raise self.refuse(node, f"'{shorten(array)}' has the entries 0 to {size - 1}, found {shown(node)}")
        return found

    def entry(self, node: ast.expr, array: str, index: Sum) -> Sum:
        return self._ahead(node, tree.Load(node.lineno, self._fresh(), array, index))

    def _check_array(self, node: ast.expr, array: str) -> None:
        if array not in self.constants:
            self._check_value(node, array)
        if array not in self.arrays:
            what = f"'{shorten(array)}' is a number; an array is made by {shorten(array)} = [0] * 10"
            raise self.refuse(node, f"{what}, and a parameter is one by {shorten(array)}: list[int]")

    # Calls.

    def call(self, node: ast.Call, wanted: int | None, depth: int = 0) -> tuple[str, tuple[Sum | str, ...]]:
        """The function and its arguments; refuses a wrong number of results, unless `wanted` is None."""
        match node:
            case ast.Call(func=ast.Name(id="divmod"), args=[left, right], keywords=[]) if wanted == 2:
                dividend, divisor = self.sum(left, depth + 1), self.sum(right, depth + 1)
                self._check_divisor(node, divisor)
                return DIVIDE, (dividend, divisor)
            case ast.Call(func=ast.Name(id=name)) if name in self.signatures:
                signature = self.signatures[name]
            case ast.Call(func=ast.Name(id=name)) if name in BUILT_IN:
                forms = "put(c), print(x, y), x = get(), q, r = divmod(a, b), ord('c'), and len(a) for an array"
                raise self.refuse(node, f"{shown(node)} does not fit here; the forms are {forms}")
            case ast.Call(func=ast.Name(id=name)):
                hint = self.problems.hint(name, [*self.signatures, *BUILT_IN]) or "; define it in this file"
                raise self.refuse(node, f"unknown function '{shorten(name)}'{hint}")
            case _:
                raise self.refuse(node, f"only functions of this file can be called, found {shown(node)}")
        if node.keywords or len(node.args) != len(signature.parameters):
            form = f"{shorten(name)}({shorten(', '.join(signature.parameters))})"
            raise self.refuse(node, f"the call must have the form {form}, found {shown(node)}")
        if wanted is not None and wanted != signature.results:
            given, needed = values(signature.results), values(wanted)
            raise self.refuse(node, f"'{shorten(name)}' returns {given}, and {needed} would be needed here")
        pairs = zip(signature.parameters, node.args, strict=True)
        arguments = [self._argument(arg, parameter in signature.arrays, depth) for parameter, arg in pairs]
        self.calls.append((name, node))
        return name, tuple(arguments)

    def _argument(self, node: ast.expr, array: bool, depth: int) -> Sum | str:
        if not array:
            return self.sum(node, depth + 1)
        if not isinstance(node, ast.Name):
            raise self.refuse(node, f"an array is needed here, found {shown(node)}")
        self._check_array(node, node.id)
        return node.id

    # Conditions.

    def condition(self, node: ast.expr, depth: int = 0) -> Condition:
        """Each part of a condition does what it needs itself, and only when its turn comes."""
        outer, self.ahead = self.ahead, []
        try:
            found = self._condition(node, depth)
            first = tuple(self.ahead)
        finally:
            self.ahead = outer
        if first and isinstance(node, ast.Compare) and len(node.ops) > 1:
            raise self.refuse(node, f"a chain compares sums of variables only, found {shown(node)}; join two by and")
        return tree.After(first, found) if first else found

    def _condition(self, node: ast.expr, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise self.refuse(node, f"a condition nests at most {MAX_DEPTH} deep; split it")
        match node:
            case ast.Constant(value=bool() as value):
                return tree.Always(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return tree.Not(self.condition(operand, depth + 1))
            case ast.BoolOp(op=operator, values=nodes):
                return _joined([self.condition(one, depth + 1) for one in nodes], isinstance(operator, ast.And))
            case ast.Compare(left=left, ops=operators, comparators=others):
                pairs = zip(operators, [left, *others], others, strict=False)
                return _joined([self._comparison(node, *pair) for pair in pairs], every=True)
        raise self.refuse(node, f"a condition compares, such as n > 0, found {shown(node)}; for n write n != 0")

    def _comparison(self, node: ast.expr, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> Condition:
        difference = self.sum(left).plus(self.sum(right), -1)
        if self.target.routines:  # the difference that the machine would find, also between constants
            difference = Sum(difference.factors, wrap(difference.constant, self.width))
        if type(operator) not in _TESTS:
            raise self.refuse(node, f"a comparison is one of < <= > >= == !=, found {shown(node)}")
        sign, wanted = _TESTS[type(operator)]
        if not difference.factors:
            holds = {"<": lt, ">": gt, "=": eq}[sign](difference.constant, 0)
            return tree.Always(holds == wanted)
        return tree.Compared(sign, difference) if wanted else tree.Not(tree.Compared(sign, difference))


_TESTS: dict[type[ast.cmpop], tuple[Literal["<", ">", "="], bool]] = {
    ast.Lt: ("<", True),
    ast.GtE: ("<", False),
    ast.Gt: (">", True),
    ast.LtE: (">", False),
    ast.Eq: ("=", True),
    ast.NotEq: ("=", False),
}


def _joined(conditions: list[Condition], every: bool) -> Condition:
    *before, joined = conditions
    for condition in reversed(before):
        joined = tree.Both(condition, joined) if every else tree.either(condition, joined)
    return joined


def values(count: int) -> str:
    return f"{count or 'no'} value{'s' * (count != 1)}"
