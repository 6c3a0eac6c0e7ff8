"""Statements of the small language: those that are not part of it, or that the back end cannot do, are refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from bitwright.bits import shorten
from bitwright.machines.assembly.sbn_assembler import is_name
from bitwright.machines.language import tree
from bitwright.machines.language.expressions import BUILT_IN, MAX_DEPTH, PRINT, Expressions
from bitwright.machines.language.source import BackEnd, SourceProblems, shown
from bitwright.machines.language.tree import Condition, LanguageStatement, Sum
from bitwright.text.problems import GiveUpError

RESULT = "result"  # the output of `return EXPRESSION` where there are no routines


class Statements:
    """Follows the statements of a function in order, so that it knows which variables have a value where."""

    def __init__(self, target: BackEnd, width: int, problems: SourceProblems) -> None:
        self.target, self.problems, self.refuse = target, problems, problems.refuse
        self.expressions = Expressions(target, width, problems)
        self.constants, self.signatures = self.expressions.constants, self.expressions.signatures
        self.loops: list[list[frozenset[str] | None]] = []  # for each open loop, what has a value where it is left
        self.last: ast.stmt | None = None  # the last statement of the function that is read

    def block(self, nodes: list[ast.stmt], depth: int = 0) -> tuple[LanguageStatement, ...]:
        found: list[LanguageStatement] = []
        for node in nodes:
            try:
                if depth > MAX_DEPTH:
                    raise self.refuse(node, f"statements nest at most {MAX_DEPTH} deep")
                found += self.statements(node, depth)
            except GiveUpError:
                continue
        return tuple(found)

    def statements(self, node: ast.stmt, depth: int) -> list[LanguageStatement]:
        """The statements for one of the source, after those that have to be done ahead of it."""
        ahead: list[LanguageStatement] = []
        self.expressions.ahead, self.expressions.own = ahead, 0
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Expr(value=ast.Call() as call) if self.target.routines:
                last = list(self.called(call))
            case _:
                last = [self.statement(node, depth)]
        return _joined([*ahead, *last])

    def statement(self, node: ast.stmt, depth: int) -> LanguageStatement:
        match node:
            case ast.While(test=test, body=body, orelse=[]):
                return self.loop(node, test, body, depth)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.choice(node, test, body, orelse, depth)
            case ast.Break() | ast.Continue():
                return self.leave(node)
            case ast.Return():
                return self.give_back(node)
            case ast.Assign() | ast.AugAssign():
                found = (self.array_assignment(node) if self.target.routines else None) or self.assignment(node)
                if found is not None:
                    return found
                raise self.refuse(node, f"an assignment is {self.target.assignments}, found {shown(node)}")
        raise self.refuse(node, f"a statement is {self.target.statements}, found {shown(node)}")

    def assignment(self, node: ast.Assign | ast.AugAssign) -> LanguageStatement | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                sign = 0
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as operator):
                sign = 1 if isinstance(operator, ast.Add) else -1
            case _:
                return None
        if name in self.expressions.arrays:
            message = f"'{shorten(name)}' is an array; change its entries, such as {shorten(name)}[0] = 1"
            raise self.refuse(node, message)
        self.variable(node, name)
        try:
            total = self.expressions.sum(node.value)
            if sign:
                old = ast.copy_location(ast.Name(name, ast.Load()), node)
                total = self.expressions.sum(old).plus(total, sign)
        finally:  # what is wrong with the value is noted; the variable is not to blame further down
            self.expressions.has_value(name)
        return tree.Assign(node.lineno, name, total)

    def array_assignment(self, node: ast.Assign | ast.AugAssign) -> LanguageStatement | None:
        """An assignment that has to do with arrays, or with functions of several results."""
        expressions = self.expressions
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.BinOp(left=ast.List()) as value):
                return self.fill(node, name, value)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=array), slice=index) as entry], value=value):
                total = expressions.sum(value)
                return tree.Store(node.lineno, array, expressions.index(entry, array, index), total)
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=array), slice=index) as entry, op=ast.Add() | ast.Sub() as sign
            ):
                place = expressions.index(entry, array, index)
                old = expressions.entry(entry, array, place)
                total = old.plus(expressions.sum(node.value), 1 if isinstance(sign, ast.Add) else -1)
                return tree.Store(node.lineno, array, place, total)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call() as call):
                return self.several(node, targets, call)
        return None

    def fill(self, node: ast.Assign, name: str, value: ast.List | ast.BinOp) -> LanguageStatement:
        self.variable(node, name)
        match value:
            case ast.List(elts=[_, *_] as entries) | ast.BinOp(left=ast.List(elts=[_] as entries), op=ast.Mult()):
                found = tuple(self.expressions.sum(entry) for entry in entries)
            case _:
                raise self.refuse(node, f"an array is made by [0] * 10 or [3, 1, 4], found {shown(value)}")
        self.expressions.has_value(name)
        return tree.Fill(node.lineno, name, self.expressions.arrays.get(name) or 1, found)

    def several(self, node: ast.Assign, targets: list[ast.expr], value: ast.Call) -> LanguageStatement:
        """q, r = f(...): the results go to the variables when all of them are there, as for any call."""
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        distinct = len(set(names)) == len(targets)
        if not distinct or any(name in self.expressions.arrays for name in names):
            raise self.refuse(node, f"several values go to as many different variables, found {shown(node)}")
        for name in names:
            self.variable(node, name)
        function, arguments = self.expressions.call(value, len(names))
        for name in names:
            self.expressions.has_value(name)
        return tree.Call(node.lineno, tuple(names), function, arguments)

    def called(self, node: ast.Call) -> Iterator[LanguageStatement]:
        """A call that stands alone; what it puts or prints is worked out before anything is printed."""
        match node:
            case ast.Call(func=ast.Name(id="put"), args=[letter], keywords=[]):
                yield tree.Put(node.lineno, self.expressions.sum(letter))
            case ast.Call(func=ast.Name(id="print"), args=numbers, keywords=[]):
                found = [self.expressions.sum(number) for number in numbers]
                for value, end in zip(found, " " * (len(found) - 1) + "\n", strict=False):
                    yield tree.Call(node.lineno, (), PRINT, (value,))
                    yield tree.Put(node.lineno, Sum({}, ord(end)))
                if not found:
                    yield tree.Put(node.lineno, Sum({}, ord("\n")))
            case ast.Call(func=ast.Name(id="get"), args=[], keywords=[]):
                value = self.expressions.sum(node)
                yield tree.Assign(node.lineno, next(iter(value.factors)), value)
            case _:
                yield tree.Call(node.lineno, (), *self.expressions.call(node, None))

    # Ways through a function.

    def loop(self, node: ast.While, test: ast.expr, nodes: list[ast.stmt], depth: int) -> LanguageStatement:
        condition = self.condition(test)
        before = self.expressions.assigned
        self.loops.append([])
        body = self.block(nodes, depth + 1)
        exits = self.loops.pop()
        endless = isinstance(test, ast.Constant) and test.value is True
        self.expressions.assigned = _on_every_way(exits if endless else [before, *exits])
        return tree.While(node.lineno, condition, body)

    def choice(
        self, node: ast.If, test: ast.expr, first: list[ast.stmt], second: list[ast.stmt], depth: int
    ) -> LanguageStatement:
        condition = self.condition(test)
        before = self.expressions.assigned
        body = self.block(first, depth + 1)
        after = self.expressions.assigned
        self.expressions.assigned = before
        otherwise = self.block(second, depth + 1)
        self.expressions.assigned = _on_every_way([after, self.expressions.assigned])
        return tree.If(node.lineno, condition, body, otherwise)

    def condition(self, test: ast.expr) -> Condition:
        """The condition of a statement; where it cannot be read, the statement is read all the same."""
        try:
            return self.expressions.condition(test)
        except GiveUpError:
            return tree.Always(False)

    def leave(self, node: ast.Break | ast.Continue) -> LanguageStatement:
        if not self.loops:
            raise self.refuse(node, f"{shown(node)} stands outside of a loop; remove it")
        if isinstance(node, ast.Break):
            self.loops[-1].append(self.expressions.assigned)
        self.expressions.assigned = None
        return tree.Leave(node.lineno, isinstance(node, ast.Continue))

    def give_back(self, node: ast.Return) -> LanguageStatement:
        if not self.target.routines and node is not self.last:
            raise self.refuse(node, "return is only the last statement of the function; use a variable and break")
        try:
            nodes = returned(node)
            found = tuple(self.expressions.sum(value) for value in nodes)
        finally:  # what is wrong with the values is noted; nothing goes on from here
            self.expressions.assigned = None
        pairs = zip(nodes, found, strict=True)
        named = [(one, one.id if isinstance(one, ast.Name) and total.factors else None) for one, total in pairs]
        if not self.target.routines:
            self.check_outputs(node, named)
        return tree.Return(node.lineno, found, tuple(name for _, name in named))

    def check_outputs(self, node: ast.Return, values: list[tuple[ast.expr, str | None]]) -> None:
        """Refuses values that cannot be outputs, which are named words; each comes with its name, if it has one."""
        if not values:
            raise self.refuse(node, "return at least one value, such as: return x")
        before: list[str | None] = []
        for place, name in values:
            if name is not None and name in before:
                raise self.refuse(place, f"'{shorten(name)}' is returned twice; return it once")
            if name is None and None in before:
                raise self.refuse(place, f"one expression can be returned, as '{RESULT}'; give this one a name before")
            if name is None and RESULT in self.expressions.variables:
                message = f"an expression is returned as '{RESULT}', which is a variable; give it a name before"
                raise self.refuse(place, message)
            before.append(name)

    # Names.

    def variable(self, node: ast.AST, name: str) -> str:
        if self.target.routines and (name in self.signatures or name in BUILT_IN):
            raise self.refuse(node, f"'{shorten(name)}' is a function; choose another name for the variable")
        if name in self.constants:
            raise self.refuse(node, f"'{shorten(name)}' is a constant; choose another name for the variable")
        return self.name(node, name)

    def name(self, node: ast.AST, name: str) -> str:
        if not is_name(name):
            form = "at most 64 letters (a to z), digits and _, and not halt"
            raise self.refuse(node, f"'{shorten(name)}' cannot be a name here; use {form}")
        return name


def _joined(statements: list[LanguageStatement]) -> list[LanguageStatement]:
    """The same statements, but x = @1 right after the statement that sets @1 is joined with it."""
    match statements:
        case [*before, first, tree.Assign(_, name, Sum(variable=str() as copied))] if copied.startswith("@"):
            if isinstance(first, tree.Load | tree.Get) and first.target == copied:
                return [*before, replace(first, target=name)]
            if isinstance(first, tree.Call) and copied in first.targets:
                return [*before, replace(first, targets=tuple(target and name for target in first.targets))]
    return statements


def returned(node: ast.Return) -> list[ast.expr]:
    """The expressions behind `return`."""
    return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value is not None else []


def _on_every_way(ways: list[frozenset[str] | None]) -> frozenset[str] | None:
    """The variables that have a value where several paths meet; None if no path arrives."""
    arriving = [way for way in ways if way is not None]
    return frozenset.intersection(*arriving) if arriving else None
