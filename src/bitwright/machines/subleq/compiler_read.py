"""A source of the small language with arrays and several functions, to routines; the last function is the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from bitwright.bits import shorten
from bitwright.machines.assembler_text import Problems, TooManyProblemsError
from bitwright.machines.language_expressions import Refused, shown
from bitwright.machines.language_read import Reader, is_integer, is_text, parse
from bitwright.machines.language_tree import Assign, Call, Fill, Get, Load, Put, Return, Routine, Statement, Store, Sum
from bitwright.machines.subleq.compiler_expressions import BUILT_IN, PRINT, Signature, SubleqExpressions, values

MAX_ARRAY = 1 << 20


def read_program(source: str, width: int, name: str, prefix: str = "") -> tuple[list[Routine], str]:
    """The functions of a source, and its description; raises ProgramError with every problem."""
    module, problems = parse(source, name), Problems()
    try:
        reader = ProgramReader(source, width, problems, prefix)
        routines = reader.program(module)
    except TooManyProblemsError:
        routines = []
    if problems:
        raise problems.error(name)
    last = [node for node in module.body if isinstance(node, ast.FunctionDef)][-1]
    return routines, ast.get_docstring(module) or ast.get_docstring(last) or ""


class ProgramReader(Reader):
    ASSIGNMENTS = "x = ..., a[i] = ..., a = [0] * 10, q, r = f(...), or with += or -="
    STATEMENTS = "an assignment, a call, if, while, break, continue, return or pass"

    def __init__(self, source: str, width: int, problems: Problems, prefix: str) -> None:
        self.signatures: dict[str, Signature] = {}
        super().__init__(source, expressions := SubleqExpressions(width, problems, self.signatures))
        self.reading: SubleqExpressions = expressions
        self.prefix = prefix  # of the names of functions that no source can name
        self.results = 0  # how many values the function that is read returns

    # The file.

    def program(self, module: ast.Module) -> list[Routine]:
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        if not functions:
            place = module.body[0] if module.body else module
            self.problem(Refused(place, "there is no function; write one such as: def twice(x): return x + x"))
            return []
        for node in module.body:
            try:
                if isinstance(node, ast.FunctionDef):
                    self.sign(node)
                else:
                    self.module_statement(node, functions[0])
            except Refused as refusal:
                self.problem(refusal)
        routines, calls = [], dict[str, list[tuple[str, ast.expr]]]()
        for node in functions:
            routines.append(self.routine(node))
            calls[node.name] = self.reading.calls
            self.reading.calls = []
        for caller, found in calls.items():
            for name, call in found:
                if caller in _reachable(name, calls):
                    way = "itself" if name == caller else f"'{shorten(name)}', which comes back to it"
                    message = f"'{shorten(caller)}' calls {way}; there is no recursion here, use a loop and an array"
                    self.problem(Refused(call, message))
        last = self.signatures.get(functions[-1].name)
        if last is not None and last.arrays and not self.prefix:
            message = f"the last function, '{shorten(functions[-1].name)}', is the program, and is given numbers only"
            self.problem(Refused(functions[-1], message))
        return routines

    def sign(self, node: ast.FunctionDef) -> None:
        """What others must know of a function, whose parameters are looked at in `routine`."""
        if node.name in BUILT_IN or node.name in self.signatures or node.name in self.constants:
            raise Refused(node, f"'{shorten(node.name)}' has a meaning already; choose another name")
        given = (*node.args.posonlyargs, *node.args.args)
        arrays = frozenset(arg.arg for arg in given if arg.annotation is not None and _is_array(arg.annotation))
        returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
        counts = [len(_returned(n)) for n in returns]
        for place, count in zip(returns, counts, strict=True):
            if count != counts[0]:
                message = f"'{shorten(node.name)}' returns {values(counts[0])} elsewhere, and {values(count)} here"
                self.problem(Refused(place, message))
        self.signatures[self.name(node, node.name)] = Signature(
            tuple(arg.arg for arg in given), arrays, counts[0] if counts else 0
        )

    # A function.

    def routine(self, node: ast.FunctionDef) -> Routine:
        expressions = self.reading
        parameters = self.parameters(node)
        signature = self.signatures.get(node.name, Signature(parameters, frozenset(), 0))
        stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        expressions.variables = {*parameters, *stored}
        expressions.assigned = frozenset(parameters)
        expressions.arrays = dict.fromkeys(signature.arrays)
        expressions.ahead, self.results = [], signature.results
        self.sizes(node)
        body = self.block(node.body)
        if expressions.assigned is not None and self.results:
            self.problem(Refused(node.body[-1], "the last statement must return something, such as: return x"))
        expressions.ahead = None
        return Routine(self.prefix + node.name, node.lineno, parameters, dict(expressions.arrays), body, self.results)

    def may_annotate(self, note: ast.expr) -> bool:
        return is_integer(note) or _is_array(note) or (isinstance(note, ast.Constant) and note.value is None)

    def sizes(self, node: ast.FunctionDef) -> None:
        """Finds the arrays of a function before it is read, for their sizes never change."""
        for place in ast.walk(node):
            match place:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=entries)):
                    self.size(place, name, ast.copy_location(ast.Constant(len(entries)), place))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.List(), right=size)):
                    self.size(place, name, size)

    def size(self, node: ast.Assign, name: str, size: ast.expr) -> None:
        try:
            if name in self.reading.arrays:
                raise Refused(node, f"'{shorten(name)}' is an array already; change its entries in a loop")
            self.reading.arrays[name] = 1
            found, self.reading.ahead = self.reading.sum(size), []
            if found.factors or not 1 <= found.constant <= MAX_ARRAY:
                raise Refused(size, f"the size of an array is a constant from 1 to {MAX_ARRAY:,}, found {shown(size)}")
            self.reading.arrays[name] = found.constant
        except Refused as refusal:
            self.problem(refusal)

    # Statements.

    def statements(self, node: ast.stmt, depth: int) -> list[Statement]:
        """With what has to be done ahead of it."""
        self.reading.ahead, self.reading.own = [], 0
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and is_text(node.value)):
            return []
        ahead = self.reading.ahead
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            last = list(self.called(node.value))
        else:
            last = [self.statement(node, depth)]
        return _joined([*ahead, *last])

    def statement(self, node: ast.stmt, depth: int) -> Statement:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.BinOp(left=ast.List()) as value):
                return self.fill(node, name, value)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=array), slice=index) as entry], value=value):
                total = self.reading.sum(value)
                return Store(node.lineno, array, self.reading.index(entry, array, index), total)
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=array), slice=index) as entry, op=ast.Add() | ast.Sub() as sign
            ):
                place = self.reading.index(entry, array, index)
                old = self.reading.entry(entry, array, place)
                total = old.plus(self.reading.sum(node.value), 1 if isinstance(sign, ast.Add) else -1)
                return Store(node.lineno, array, place, total)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call() as call):
                return self.several(node, targets, call)
            case ast.Return():
                return self.give_back(node)
        return super().statement(node, depth)

    def assign(self, node: ast.stmt, name: str, value: ast.expr, sign: ast.operator | None) -> Statement:
        if name in self.reading.arrays:
            raise Refused(node, f"'{shorten(name)}' is an array; change its entries, such as {shorten(name)}[0] = 1")
        return super().assign(node, name, value, sign)

    def variable(self, node: ast.AST, name: str) -> str:
        if name in self.signatures or name in BUILT_IN:
            raise Refused(node, f"'{shorten(name)}' is a function; choose another name for the variable")
        return super().variable(node, name)

    def fill(self, node: ast.Assign, name: str, value: ast.List | ast.BinOp) -> Statement:
        self.variable(node, name)
        entries: list[ast.expr] = []
        match value:
            case ast.List(elts=entries) if entries:
                pass
            case ast.BinOp(left=ast.List(elts=[_] as entries), op=ast.Mult()):
                pass
            case _:
                raise Refused(node, f"an array is made by [0] * 10 or [3, 1, 4], found {shown(value)}")
        found = tuple(self.reading.sum(entry) for entry in entries)
        self.has_value(name)
        return Fill(node.lineno, name, self.reading.arrays.get(name) or 1, found)

    def several(self, node: ast.Assign, targets: list[ast.expr], value: ast.Call) -> Statement:
        """q, r = f(...): the results go to the variables when all of them are there, as for any call."""
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) < len(targets) or len(set(names)) < len(names) or any(n in self.reading.arrays for n in names):
            raise Refused(node, f"several values go to as many different variables, found {shown(node)}")
        for name in names:
            self.variable(node, name)
        function, arguments = self.reading.call(value, len(names))
        for name in names:
            self.has_value(name)
        return Call(node.lineno, tuple(names), function, arguments)

    def has_value(self, name: str) -> None:
        if self.reading.assigned is not None:
            self.reading.assigned |= {name}

    def give_back(self, node: ast.Return) -> Statement:
        try:
            return Return(node.lineno, tuple(self.reading.sum(value) for value in _returned(node)))
        finally:  # what is wrong with the values is reported; nothing goes on from here
            self.reading.assigned = None

    def called(self, node: ast.Call) -> Iterator[Statement]:
        """A call that stands alone; what it puts or prints is worked out before anything is printed."""
        match node:
            case ast.Call(func=ast.Name(id="put"), args=[letter], keywords=[]):
                yield Put(node.lineno, self.reading.sum(letter))
            case ast.Call(func=ast.Name(id="print"), args=numbers, keywords=[]):
                found = [self.reading.sum(number) for number in numbers]
                for value, end in zip(found, " " * (len(found) - 1) + "\n", strict=False):
                    yield Call(node.lineno, (), PRINT, (value,))
                    yield Put(node.lineno, Sum({}, ord(end)))
                if not found:
                    yield Put(node.lineno, Sum({}, ord("\n")))
            case ast.Call(func=ast.Name(id="get"), args=[], keywords=[]):
                value = self.reading.sum(node)
                yield Assign(node.lineno, next(iter(value.factors)), value)
            case _:
                yield Call(node.lineno, (), *self.reading.call(node, None))


def _joined(statements: list[Statement]) -> list[Statement]:
    """The same, but x = @1 right behind what gives @1 its value takes the value there."""
    match statements:
        case [*before, first, Assign(_, name, Sum(variable=str() as copied))] if copied.startswith("@"):
            if isinstance(first, Load | Get) and first.target == copied:
                return [*before, replace(first, target=name)]
            if isinstance(first, Call) and copied in first.targets:
                return [*before, replace(first, targets=tuple(target and name for target in first.targets))]
    return statements


def _returned(node: ast.Return) -> list[ast.expr]:
    return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value is not None else []


def _is_array(note: ast.expr) -> bool:
    match note:
        case ast.Name(id="list") | ast.Subscript(value=ast.Name(id="list"), slice=ast.Name(id="int")):
            return True
    return False


def _reachable(name: str, calls: dict[str, list[tuple[str, ast.expr]]]) -> set[str]:
    found, new = {name}, [name]
    while new:
        further = {called for called, _ in calls.get(new.pop(), ())} - found
        found |= further
        new += further
    return found
