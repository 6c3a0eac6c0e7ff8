"""Expressions of the small language for SUBLEQ: what is no sum (entries of arrays, calls, products, quotients) is done
ahead of the statement it stands in, from left to right, and leaves its value in a variable of the compiler's own."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from bitwright.bits import shorten
from bitwright.machines.assembler_text import Problems
from bitwright.machines.language_expressions import MAX_FACTOR, Expressions, Refused, shown
from bitwright.machines.language_tree import After, Call, Condition, Get, Load, Statement, Sum
from bitwright.machines.sbn import wrap

# Functions of compiler_runtime.py; no source can name them.
MULTIPLY, DIVIDE, PRINT, READ = "@multiply", "@divide", "@print_number", "@read_number"
BUILT_IN = ("put", "get", "print", "divmod", "len", "ord")


@dataclass(frozen=True)
class Signature:
    parameters: tuple[str, ...]
    arrays: frozenset[str]  # those of the parameters that are arrays
    results: int


class SubleqExpressions(Expressions):
    FORM = "integers, variables, entries such as a[i], calls, +, -, *, // and %"

    def __init__(self, width: int, problems: Problems, signatures: Mapping[str, Signature]) -> None:
        super().__init__(width, {}, problems)
        self.signatures = signatures
        self.arrays: dict[str, int | None] = {}  # with their sizes; None for parameters
        self.ahead: list[Statement] | None = None  # what is to be done first; None outside of functions
        self.own = 0  # variables of the compiler's own in this statement
        self.calls: list[tuple[str, ast.expr]] = []

    # Sums.

    def _sum(self, node: ast.expr, depth: int) -> Sum:
        match node:
            case ast.Subscript(value=ast.Name(id=array), slice=index):
                return self.entry(node, array, self.index(node, array, index, depth + 1))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)], keywords=[]) if array in self.arrays:
                size = self.arrays[array]
                if size is None:
                    raise Refused(node, f"the length of the parameter '{shorten(array)}' is not known; pass it along")
                return Sum({}, size)
            case ast.Call(func=ast.Name(id="ord"), args=[ast.Constant(value=str() as letter)], keywords=[]):
                if len(letter) != 1:
                    raise Refused(node, f"ord takes one character, found {shown(node)}")
                return Sum({}, ord(letter))
            case ast.Call(func=ast.Name(id="get"), args=[], keywords=[]):
                target = self._fresh()
                self.do_first(node, Get(node.lineno, target))
                return Sum({target: 1})
            case ast.Call():
                function, arguments = self.call(node, 1, depth)
                target = self._fresh()
                self.do_first(node, Call(node.lineno, (target,), function, arguments))
                return Sum({target: 1})
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operator, right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                self._check_divisor(node, second)
                if not first.factors and not second.factors:
                    results = divmod(first.constant, second.constant)
                    return Sum({}, results[isinstance(operator, ast.Mod)])
                target = self._fresh()
                targets = (None, target) if isinstance(operator, ast.Mod) else (target, None)
                self.do_first(node, Call(node.lineno, targets, DIVIDE, (first, second)))
                return Sum({target: 1})
        return super()._sum(node, depth)

    def _named(self, node: ast.expr, name: str) -> Sum:
        found = super()._named(node, name)
        if name in self.arrays:
            raise Refused(node, f"'{shorten(name)}' is an array; use an entry such as {shorten(name)}[0]")
        return found

    def _product(self, node: ast.expr, first: Sum, second: Sum) -> Sum:
        target = self._fresh()
        self.do_first(node, Call(node.lineno, (target,), MULTIPLY, (first, second)))
        return Sum({target: 1})

    def _with_small_factors(self, node: ast.expr, found: Sum) -> Sum:
        """Large factors are multiplied by, not added up; they may wrap, as the product does anyway."""
        total = Sum({}, found.constant)
        for name, factor in found.factors.items():
            wrapped, variable = wrap(factor, self.width), Sum({name: 1})
            if abs(wrapped) > MAX_FACTOR:
                variable, wrapped = self._product(node, variable, Sum({}, wrapped)), 1
            total = total.plus(variable, wrapped)
        return total

    # Arrays.

    def index(self, node: ast.expr, array: str, index: ast.expr, depth: int = 0) -> Sum:
        """The index in `array[index]`, once it is clear that this is an array."""
        self.known_array(node, array)
        found, size = self.sum(index, depth), self.arrays[array]
        if not found.factors and size is not None and not 0 <= found.constant < size:
            entries = f"0 to {size - 1}"
            raise Refused(node, f"'{shorten(array)}' has the entries {entries}, found {shown(node)}")
        return found

    def known_array(self, node: ast.expr, array: str) -> None:
        super()._named(node, array)
        if array not in self.arrays:
            what = f"'{shorten(array)}' is a number; an array is made by {shorten(array)} = [0] * 10"
            raise Refused(node, f"{what}, and a parameter is one by {shorten(array)}: list[int]")

    def entry(self, node: ast.expr, array: str, index: Sum) -> Sum:
        target = self._fresh()
        self.do_first(node, Load(node.lineno, target, array, index))
        return Sum({target: 1})

    # Calls.

    def call(self, node: ast.Call, wanted: int | None, depth: int = 0) -> tuple[str, tuple[Sum | str, ...]]:
        """The function and its arguments, if it has as many results as are wanted; None for any number of them."""
        match node:
            case ast.Call(func=ast.Name(id="divmod"), args=[left, right], keywords=[]) if wanted == 2:
                dividend, divisor = self.sum(left, depth + 1), self.sum(right, depth + 1)
                self._check_divisor(node, divisor)
                return DIVIDE, (dividend, divisor)
            case ast.Call(func=ast.Name(id=name)) if name in self.signatures:
                signature = self.signatures[name]
            case ast.Call(func=ast.Name(id=name)) if name in BUILT_IN:
                forms = "put(c), print(x, y), x = get(), q, r = divmod(a, b), ord('c'), and len(a) for an array"
                raise Refused(node, f"{shown(node)} does not fit here; the forms are {forms}")
            case ast.Call(func=ast.Name(id=name)):
                hint = self.problems.hint(name, [*self.signatures, *BUILT_IN]) or "; define it in this file"
                raise Refused(node, f"unknown function '{shorten(name)}'{hint}")
            case _:
                raise Refused(node, f"only functions of this file can be called, found {shown(node)}")
        if node.keywords or len(node.args) != len(signature.parameters):
            form = f"{shorten(name)}({shorten(', '.join(signature.parameters))})"
            raise Refused(node, f"the call must have the form {form}, found {shown(node)}")
        if wanted is not None and wanted != signature.results:
            given, needed = values(signature.results), values(wanted)
            raise Refused(node, f"'{shorten(name)}' returns {given}, and {needed} would be needed here")
        pairs = zip(signature.parameters, node.args, strict=True)
        arguments = [self._argument(arg, parameter in signature.arrays, depth) for parameter, arg in pairs]
        self.calls.append((name, node))
        return name, tuple(arguments)

    def _argument(self, node: ast.expr, array: bool, depth: int) -> Sum | str:
        if not array:
            return self.sum(node, depth + 1)
        if not isinstance(node, ast.Name):
            raise Refused(node, f"an array is needed here, found {shown(node)}")
        self.known_array(node, node.id)
        return node.id

    def _check_divisor(self, node: ast.expr, divisor: Sum) -> None:
        if not divisor.factors and divisor.constant == 0:
            raise Refused(node, f"{shown(node)} divides by 0")

    # Conditions.

    def condition(self, node: ast.expr, depth: int = 0) -> Condition:
        """Each part of a condition does what it needs itself, and only when its turn comes."""
        outer, self.ahead = self.ahead, []
        try:
            found = super().condition(node, depth)
            first = tuple(self.ahead)
        finally:
            self.ahead = outer
        if first and isinstance(node, ast.Compare) and len(node.ops) > 1:
            raise Refused(node, f"a chain compares sums of variables only, found {shown(node)}; join two by and")
        return After(first, found) if first else found

    def _difference(self, first: Sum, second: Sum) -> Sum:
        """The difference that the machine would find, also between constants."""
        exact = super()._difference(first, second)
        return Sum(exact.factors, wrap(exact.constant, self.width))

    # What is done ahead.

    def do_first(self, node: ast.expr, statement: Statement) -> None:
        if self.ahead is None:
            raise Refused(node, f"a constant is a sum of constants, found {shown(node)}")
        self.ahead.append(statement)

    def _fresh(self) -> str:
        self.own += 1
        return f"@{self.own}"


def values(count: int) -> str:
    return f"{count or 'no'} value{'s' * (count != 1)}"
