"""A source file of the small language to a Function: Python's parser reads it, nothing runs it, and every statement
that is not part of the language is refused with its line and column."""

from __future__ import annotations

import ast
import warnings

from bitwright.bits import shorten
from bitwright.errors import Problem, ProgramError
from bitwright.machines.assembler_text import Problems, TooManyProblemsError, is_name
from bitwright.machines.language_expressions import MAX_DEPTH, Expressions, Refused, shown
from bitwright.machines.language_tree import Always, Assign, Condition, Function, If, Leave, Statement, While

MAX_SOURCE = 100_000  # characters
RESULT = "result"  # the output of `return EXPRESSION`


def read_function(source: str, width: int, name: str) -> Function:
    """The one function of a source; raises ProgramError with every problem."""
    module, problems = parse(source, name), Problems()
    try:
        function = Reader(source, Expressions(width, {}, problems)).module(module)
    except TooManyProblemsError:
        function = None
    if function is None or problems:
        raise problems.error(name)
    return function


def parse(source: str, name: str) -> ast.Module:
    """Python's own tree of a source; raises ProgramError where there is none."""
    if len(source) > MAX_SOURCE:
        message = f"a source has at most {MAX_SOURCE:,} characters, got {len(source):,}"
        raise ProgramError([Problem(1, 1, message)], name)
    try:
        with warnings.catch_warnings():  # what Python would warn about is refused below anyway
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        message = f"Python cannot read this: {shorten(error.msg, 100)}"
        raise ProgramError([Problem(error.lineno or 1, error.offset or 1, message)], name) from None
    except (ValueError, RecursionError, MemoryError):  # a null character, or nesting beyond Python's own limits
        message = "Python cannot read this: it has a null character or nests too deep"
        raise ProgramError([Problem(1, 1, message)], name) from None


class Reader:
    """Follows the statements in order, so that it knows which variables have a value where."""

    ASSIGNMENTS = "x = ..., x += ... or x -= ..."
    STATEMENTS = "an assignment, if, while, break, continue or pass"

    def __init__(self, source: str, expressions: Expressions) -> None:
        self.lines, self.expressions = source.split("\n"), expressions
        self.problems, self.constants = expressions.problems, expressions.constants
        self.loops: list[list[frozenset[str] | None]] = []  # for each open loop, what has a value where it is left

    def problem(self, refusal: Refused) -> None:
        line = self.lines[refusal.line - 1] if refusal.line <= len(self.lines) else ""
        column = len(line.encode()[: refusal.byte].decode(errors="ignore")) + 1
        self.problems.add(Problem(refusal.line, column, str(refusal)))

    # The file.

    def module(self, module: ast.Module) -> Function | None:
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        if not functions:
            place = module.body[0] if module.body else module
            self.problem(Refused(place, "there is no function; write one such as: def twice(x): return x + x"))
            return None
        for node in module.body:
            try:
                self.module_statement(node, functions[0])
            except Refused as refusal:
                self.problem(refusal)
        description = ast.get_docstring(functions[0]) or ast.get_docstring(module) or ""
        return self.function(functions[0], description)

    def module_statement(self, node: ast.stmt, function: ast.FunctionDef) -> None:
        match node:
            case ast.FunctionDef(name=name):
                if node is not function:
                    raise Refused(node, f"a file has one function, '{function.name}'; remove '{shorten(name)}'")
            case ast.Expr(value=ast.Constant(value=str())):
                pass  # a comment
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if node.lineno > function.lineno:
                    raise Refused(node, f"constants such as '{shorten(name)}' stand before the function")
                if name in self.constants:
                    raise Refused(node, f"'{shorten(name)}' has a value already ({self.constants[name]})")
                self.constants[self.name(node, name)] = self.expressions.sum(value).constant
            case _:
                raise Refused(node, f"outside of the function only constants such as LIMIT = 5, found {shown(node)}")

    # The function.

    def function(self, node: ast.FunctionDef, description: str) -> Function | None:
        inputs = self.parameters(node)
        stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.expressions.variables = {*inputs, *stored}
        self.expressions.assigned = frozenset(inputs)
        *body, last = node.body
        statements = self.block(body)
        if not isinstance(last, ast.Return):
            self.block([last])
            self.problem(Refused(last, "the last statement must return something, such as: return x"))
            return None
        try:
            final, outputs = self.returned(last)
        except Refused as refusal:
            self.problem(refusal)
            return None
        return Function(description, inputs, (*statements, *final), outputs)

    def parameters(self, node: ast.FunctionDef) -> tuple[str, ...]:
        a = node.args
        found: list[str] = []
        odd = [*node.decorator_list, *a.defaults, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]
        notes = [arg.annotation for arg in (*a.posonlyargs, *a.args)] + [node.returns]
        odd += [note for note in notes if note is not None and not self.may_annotate(note)]
        for piece in odd:
            self.problem(Refused(piece, f"a function has plain parameters, such as def f(a, b), found {shown(piece)}"))
        for arg in (*a.posonlyargs, *a.args):
            try:
                if arg.arg in found:
                    raise Refused(arg, f"two parameters are called '{shorten(arg.arg)}'; rename one of them")
                found.append(self.variable(arg, arg.arg))
            except Refused as refusal:
                self.problem(refusal)
        return tuple(found)

    def may_annotate(self, note: ast.expr) -> bool:
        return is_integer(note)

    def returned(self, node: ast.Return) -> tuple[list[Statement], tuple[str, ...]]:
        """What is returned: names are outputs as they are, and one expression may be called result."""
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value else []
        if not values:
            raise Refused(node, "return at least one value, such as: return x")
        statements: list[Statement] = []
        outputs: list[str] = []
        for value in values:
            total = self.expressions.sum(value)
            if isinstance(value, ast.Name) and value.id in total.factors:
                if value.id in outputs:
                    raise Refused(value, f"'{shorten(value.id)}' is returned twice; return it once")
                outputs.append(value.id)
                continue
            if statements:
                raise Refused(value, f"one expression can be returned, as '{RESULT}'; give this one a name before")
            if RESULT in self.expressions.variables:
                raise Refused(
                    value, f"an expression is returned as '{RESULT}', which is a variable; give it a name before"
                )
            statements.append(Assign(node.lineno, RESULT, total))
            outputs.append(RESULT)
        return statements, tuple(outputs)

    # Statements.

    def block(self, nodes: list[ast.stmt], depth: int = 0) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for node in nodes:
            try:
                if depth > MAX_DEPTH:
                    raise Refused(node, f"statements nest at most {MAX_DEPTH} deep")
                found += self.statements(node, depth)
            except Refused as refusal:
                self.problem(refusal)
        return tuple(found)

    def statements(self, node: ast.stmt, depth: int) -> list[Statement]:
        """What a statement of the source becomes: one, or none where it does nothing."""
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and is_text(node.value)):
            return []
        return [self.statement(node, depth)]

    def statement(self, node: ast.stmt, depth: int) -> Statement:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self.assign(node, name, value, None)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as sign, value=value):
                return self.assign(node, name, value, sign)
            case ast.While(test=test, body=body, orelse=[]):
                return self.loop(node, test, body, depth)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.choice(node, test, body, orelse, depth)
            case ast.Break() | ast.Continue():
                return self.leave(node)
            case ast.Return():
                raise Refused(node, "return is only the last statement of the function; use a variable and break")
            case ast.Assign() | ast.AugAssign():
                raise Refused(node, f"an assignment is {self.ASSIGNMENTS}, found {shown(node)}")
        raise Refused(node, f"a statement is {self.STATEMENTS}, found {shown(node)}")

    def leave(self, node: ast.Break | ast.Continue) -> Statement:
        if not self.loops:
            raise Refused(node, f"{shown(node)} stands outside of a loop; remove it")
        if isinstance(node, ast.Break):
            self.loops[-1].append(self.expressions.assigned)
        self.expressions.assigned = None
        return Leave(node.lineno, isinstance(node, ast.Continue))

    def assign(self, node: ast.stmt, name: str, value: ast.expr, sign: ast.operator | None) -> Statement:
        self.variable(node, name)
        try:
            total = self.expressions.sum(value)
            if sign is not None:
                old = ast.copy_location(ast.Name(name, ast.Load()), node)
                total = self.expressions.sum(old).plus(total, 1 if isinstance(sign, ast.Add) else -1)
        finally:  # what is wrong with the value is reported; the variable is not to blame further down
            if self.expressions.assigned is not None:
                self.expressions.assigned |= {name}
        return Assign(node.lineno, name, total)

    def loop(self, node: ast.While, test: ast.expr, nodes: list[ast.stmt], depth: int) -> Statement:
        condition = self.condition(test)
        before = self.expressions.assigned
        self.loops.append([])
        body = self.block(nodes, depth + 1)
        exits = self.loops.pop()
        endless = isinstance(test, ast.Constant) and test.value is True
        self.expressions.assigned = _on_every_way(exits if endless else [before, *exits])
        return While(node.lineno, condition, body)

    def choice(
        self, node: ast.If, test: ast.expr, first: list[ast.stmt], second: list[ast.stmt], depth: int
    ) -> Statement:
        condition = self.condition(test)
        before = self.expressions.assigned
        body = self.block(first, depth + 1)
        after = self.expressions.assigned
        self.expressions.assigned = before
        otherwise = self.block(second, depth + 1)
        self.expressions.assigned = _on_every_way([after, self.expressions.assigned])
        return If(node.lineno, condition, body, otherwise)

    def condition(self, test: ast.expr) -> Condition:
        """The condition of a statement; one that cannot be read is reported, and the statement is read all the same."""
        try:
            return self.expressions.condition(test)
        except Refused as refusal:
            self.problem(refusal)
            return Always(False)

    # Names.

    def variable(self, node: ast.AST, name: str) -> str:
        if name in self.constants:
            raise Refused(node, f"'{shorten(name)}' is a constant; choose another name for the variable")
        return self.name(node, name)

    def name(self, node: ast.AST, name: str) -> str:
        if not is_name(name):
            form = "at most 64 letters (a to z), digits and _, and not halt"
            raise Refused(node, f"'{shorten(name)}' cannot be a name here; use {form}")
        return name


def is_text(node: ast.expr) -> bool:
    """Whether this is a text, which as a statement is a comment."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_integer(note: ast.expr) -> bool:
    """Whether an annotation says int, or tuple[int, ...] for what is returned."""
    match note:
        case ast.Name(id="int"):
            return True
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            return all(isinstance(element, ast.Name) and element.id == "int" for element in elements)
    return False


def _on_every_way(ways: list[frozenset[str] | None]) -> frozenset[str] | None:
    """What has a value where several ways meet; None if none of them arrives."""
    arriving = [way for way in ways if way is not None]
    return frozenset.intersection(*arriving) if arriving else None
