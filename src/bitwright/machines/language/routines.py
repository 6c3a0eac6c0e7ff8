"""A source of the small language to routines: functions, their parameters and the sizes of their arrays."""

from __future__ import annotations

import ast

from bitwright.bits import shorten
from bitwright.machines.language.expressions import BUILT_IN, Signature, values
from bitwright.machines.language.source import BackEnd, SourceProblems, parse, shown
from bitwright.machines.language.statements import Statements, returned
from bitwright.machines.language.tree import Routine
from bitwright.text.problems import GiveUpError, TooManyProblemsError

MAX_ARRAY = 1 << 20


def read_source(source: str, target: BackEnd, width: int, name: str, prefix: str = "") -> tuple[list[Routine], str]:
    """The functions of a source, and its own description; raises ProgramError with every problem.

    `prefix`: of the names of functions that no source can name.
    """
    problems = SourceProblems(source)
    try:
        module = parse(source, problems)
        routines, description = _SourceReader(target, width, problems, prefix).module(module), ast.get_docstring(module)
    except (TooManyProblemsError, GiveUpError):
        routines, description = [], None
    if problems:
        raise problems.error(name)
    return routines, description or ""


class _SourceReader(Statements):
    def __init__(self, target: BackEnd, width: int, problems: SourceProblems, prefix: str) -> None:
        super().__init__(target, width, problems)
        self.prefix = prefix

    # The file.

    def module(self, module: ast.Module) -> list[Routine]:
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        if not functions:
            place = module.body[0] if module.body else module
            raise self.refuse(place, "there is no function; write one such as: def twice(x): return x + x")
        for node in module.body:
            try:
                self.module_statement(node, functions[0])
            except GiveUpError:
                continue
        routines, calls = [], dict[str, list[tuple[str, ast.expr]]]()
        for node in functions[: None if self.target.routines else 1]:
            routines.append(self.routine(node))
            calls[node.name] = self.expressions.calls
            self.expressions.calls = []
        self.check_recursion(calls)
        last = self.signatures.get(functions[-1].name)
        if last is not None and last.arrays and not self.prefix:
            message = f"the last function, '{shorten(functions[-1].name)}', is the program, and is given numbers only"
            self.refuse(functions[-1], message)
        return routines

    def module_statement(self, node: ast.stmt, first: ast.FunctionDef) -> None:
        match node:
            case ast.FunctionDef(name=name):
                if self.target.routines:
                    self.sign(node)
                elif node is not first:
                    raise self.refuse(node, f"a file has one function, '{first.name}'; remove '{shorten(name)}'")
            case ast.Expr(value=ast.Constant(value=str())):
                pass  # a comment
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if node.lineno > first.lineno:
                    raise self.refuse(node, f"constants such as '{shorten(name)}' stand before the function")
                if name in self.constants:
                    raise self.refuse(node, f"'{shorten(name)}' has a value already ({self.constants[name]})")
                self.constants[self.name(node, name)] = self.expressions.sum(value).constant
            case _:
                message = f"outside of the function only constants such as LIMIT = 5, found {shown(node)}"
                raise self.refuse(node, message)

    def sign(self, node: ast.FunctionDef) -> None:
        """Records the signature of a function; `routine` checks its parameters."""
        if node.name in BUILT_IN or node.name in self.signatures or node.name in self.constants:
            raise self.refuse(node, f"'{shorten(node.name)}' has a meaning already; choose another name")
        given = (*node.args.posonlyargs, *node.args.args)
        arrays = frozenset(arg.arg for arg in given if arg.annotation is not None and _is_array(arg.annotation))
        returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
        counts = [len(returned(n)) for n in returns]
        for place, count in zip(returns, counts, strict=True):
            if count != counts[0]:
                message = f"'{shorten(node.name)}' returns {values(counts[0])} elsewhere, and {values(count)} here"
                self.refuse(place, message)
        parameters = tuple(arg.arg for arg in given)
        self.signatures[self.name(node, node.name)] = Signature(parameters, arrays, counts[0] if counts else 0)

    def check_recursion(self, calls: dict[str, list[tuple[str, ast.expr]]]) -> None:
        for caller, found in calls.items():
            for name, call in found:
                if caller in _reachable(name, calls):
                    way = "itself" if name == caller else f"'{shorten(name)}', which comes back to it"
                    message = f"'{shorten(caller)}' calls {way}; there is no recursion here, use a loop and an array"
                    self.refuse(call, message)

    # A function.

    def routine(self, node: ast.FunctionDef) -> Routine:
        expressions, problems = self.expressions, self.problems
        parameters = self.parameters(node)
        signature = self.signatures.get(node.name, Signature(parameters, frozenset(), 0))
        stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        expressions.variables = {*parameters, *stored}
        expressions.assigned = frozenset(parameters)
        expressions.arrays = dict.fromkeys(signature.arrays)
        expressions.ahead, self.last = [], node.body[-1]
        if self.target.routines:
            self.sizes(node)
        body = self.block(node.body)
        arrives = expressions.assigned is not None and signature.results > 0
        if arrives if self.target.routines else not isinstance(self.last, ast.Return):
            problems.refuse(self.last, "the last statement must return something, such as: return x")
        expressions.ahead = None
        return Routine(
            self.prefix + node.name,
            node.lineno,
            parameters,
            dict(expressions.arrays),
            body,
            signature.results,
            ast.get_docstring(node) or "",
        )

    def parameters(self, node: ast.FunctionDef) -> tuple[str, ...]:
        a = node.args
        found: list[str] = []
        odd = [*node.decorator_list, *a.defaults, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]
        notes = [arg.annotation for arg in (*a.posonlyargs, *a.args)] + [node.returns]
        odd += [note for note in notes if note is not None and not self.may_annotate(note)]
        for piece in odd:
            self.refuse(piece, f"a function has plain parameters, such as def f(a, b), found {shown(piece)}")
        for arg in (*a.posonlyargs, *a.args):
            try:
                if arg.arg in found:
                    raise self.refuse(arg, f"two parameters are called '{shorten(arg.arg)}'; rename one of them")
                found.append(self.variable(arg, arg.arg))
            except GiveUpError:
                continue
        return tuple(found)

    def may_annotate(self, note: ast.expr) -> bool:
        nothing = isinstance(note, ast.Constant) and note.value is None
        return _is_integer(note) or (self.target.routines and (_is_array(note) or nothing))

    def sizes(self, node: ast.FunctionDef) -> None:
        """Finds the arrays of a function before it is read, for their sizes never change."""
        for place in ast.walk(node):
            match place:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=entries)):
                    size: ast.expr = ast.copy_location(ast.Constant(len(entries)), place)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.List(), right=size)):
                    pass
                case _:
                    continue
            try:
                self.size(place, name, size)
            except GiveUpError:
                continue

    def size(self, node: ast.Assign, name: str, size: ast.expr) -> None:
        if name in self.expressions.arrays:
            raise self.refuse(node, f"'{shorten(name)}' is an array already; change its entries in a loop")
        self.expressions.arrays[name] = 1
        found, self.expressions.ahead = self.expressions.sum(size), []
        if found.factors or not 1 <= found.constant <= MAX_ARRAY:
            raise self.refuse(size, f"the size of an array is a constant from 1 to {MAX_ARRAY:,}, found {shown(size)}")
        self.expressions.arrays[name] = found.constant


def _is_integer(note: ast.expr) -> bool:
    """Whether an annotation says int, or tuple[int, ...] for what is returned."""
    match note:
        case ast.Name(id="int"):
            return True
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            return all(isinstance(element, ast.Name) and element.id == "int" for element in elements)
    return False


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
