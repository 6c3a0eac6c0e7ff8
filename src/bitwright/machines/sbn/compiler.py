"""A small part of Python, compiled to SBN assembly text and never executed; docs/reference/sbn.md has the rules.

Every expression is a sum of variables with factors, so an assignment is a few subtractions. A comparison is the sign of
a difference, and so right as long as the difference fits a word. SBN overwrites what it subtracts from, so values are
first copied to scratch words: @t (mostly the negative of something to be added), @u and @v.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from textwrap import wrap as wrap_lines

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, printable
from bitwright.common.problems import GiveUpError, Problems, TooManyProblemsError
from bitwright.common.scanner import unix_lines
from bitwright.machines.assembly.sbn_assembler import is_name
from bitwright.machines.sbn.code import MAX_WIDTH, wrap

MAX_SOURCE = 100_000  # characters
MAX_DEPTH = 100
MAX_FACTOR = 16  # a product becomes that many subtractions
RESULT = "result"  # the output of `return EXPRESSION`
SCRATCH = ("@t", "@u", "@v")


@dataclass(frozen=True)
class Sum:
    """A sum of variables, each with a factor that is not 0, and a constant."""

    factors: Mapping[str, int] = field(default_factory=dict)
    constant: int = 0

    def plus(self, other: Sum, times: int = 1) -> Sum:
        factors = dict(self.factors)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, 0) + times * factor
        return Sum({name: f for name, f in factors.items() if f}, self.constant + times * other.constant)

    def words(self, sign: int) -> list[str]:
        """The variables whose factor has this sign, each as often as its factor says."""
        return [name for name, factor in self.factors.items() for _ in range(sign * factor)]


def compile_function(source: str, width: int = 8, name: str = "program") -> str:
    """Assembly text for the function in `source`; raises ProgramError with every problem, by line and column.

    >>> print(compile_function("def f(x, y): return x").partition(".word")[0].rstrip())
    .width 8
    .in x y
    .out x
    """
    if not 1 <= width <= MAX_WIDTH:
        raise InputError(f"a word has between 1 and {MAX_WIDTH} bits, got {width}")
    problems, text = _SourceProblems(unix_lines(source)), ""
    with suppress(GiveUpError, TooManyProblemsError):
        text = _Compiler(problems, width).text(_parse(problems))
    if problems:
        raise problems.error(name)
    return text


class _SourceProblems(Problems):
    """Problems at nodes of Python's tree."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.lines = source, source.split("\n")

    def refuse(self, node: ast.AST, message: str) -> GiveUpError:
        """Notes what is wrong with a piece of the source; raise what this returns to give it up."""
        line, byte = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)  # Python counts bytes
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        self.note(line, len(text.encode()[:byte].decode(errors="ignore")) + 1, message)
        return GiveUpError()


def _parse(problems: _SourceProblems) -> ast.Module:
    if len(problems.source) > MAX_SOURCE:
        message = f"a source has at most {MAX_SOURCE:,} characters, got {len(problems.source):,}"
        raise problems.refuse(ast.Pass(), message)
    try:
        with warnings.catch_warnings():  # what Python would warn about is refused anyway
            warnings.simplefilter("ignore")
            return ast.parse(problems.source)
    except SyntaxError as error:
        problems.note(error.lineno or 1, error.offset or 1, f"Python cannot read this: {shorten(error.msg, 100)}")
    except (ValueError, RecursionError, MemoryError):  # a null character, or nesting beyond Python's own limits
        problems.note(1, 1, "Python cannot read this: it has a null character or nests too deep")
    raise GiveUpError


def _shown(node: ast.AST) -> str:
    try:
        return f"'{shorten(ast.unparse(node).partition(chr(10))[0])}'"
    except (RecursionError, ValueError):
        return f"a {type(node).__name__}"


class _Compiler:
    """Follows a function in the order of its text, and knows everywhere which variables have a value."""

    def __init__(self, problems: _SourceProblems, width: int) -> None:
        self.problems, self.refuse, self.width = problems, problems.refuse, width
        self.constants: dict[str, int] = {}
        self.variables: set[str] = set()  # that are assigned anywhere
        self.assigned: frozenset[str] | None = frozenset()  # that have a value here; None where nothing arrives
        self.loops: list[tuple[str, str, list[frozenset[str] | None]]] = []  # top, end, what has a value at each break
        self.lines: list[str] = []
        self.untouched = set(SCRATCH)  # scratch words that no line above has written to: they are still 0
        self.labels = 0

    # The file and its function.

    def text(self, module: ast.Module) -> str:
        function = self.module(module)
        inputs = self.parameters(function)
        stored = (n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.variables, self.assigned = {*inputs, *stored}, frozenset(inputs)
        *body, last = function.body
        self.block(body if isinstance(last, ast.Return) else function.body)
        if not isinstance(last, ast.Return):
            raise self.refuse(last, "the last statement must return something, such as: return x")
        outputs = self.outputs(last)
        if not any(line.startswith(" ") for line in self.lines):
            self.do("halt")
        about = " ".join((ast.get_docstring(function) or ast.get_docstring(module) or "").split())
        head = [*(f"; {line}" for line in wrap_lines(printable(about), 110)), f".width {self.width}"]
        for directive, names in ((".in", inputs), (".out", outputs)):
            head += [f"{directive} {' '.join(names[at : at + 20])}" for at in range(0, len(names), 20)]
        head += [f".word {name} 0" for name in dict.fromkeys((*inputs, *outputs))]
        return "\n".join([*head, *self.lines]) + "\n"

    def module(self, module: ast.Module) -> ast.FunctionDef:
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        if not functions:
            place = module.body[0] if module.body else module
            raise self.refuse(place, "there is no function; write one such as: def twice(x): return x + x")
        function, *others = functions
        for node in module.body:
            match node:
                case ast.FunctionDef(name=name):
                    if node in others:
                        self.refuse(node, f"a file has one function, '{function.name}'; remove '{shorten(name)}'")
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    with suppress(GiveUpError):
                        if node.lineno > function.lineno:
                            raise self.refuse(node, f"constants such as '{shorten(name)}' stand before the function")
                        if name in self.constants:
                            raise self.refuse(node, f"'{shorten(name)}' has a value already ({self.constants[name]})")
                        self.constants[self.variable(node, name)] = self.sum(value).constant
                case _ if not _is_comment(node):
                    self.refuse(node, f"outside of the function only constants such as LIMIT = 5, found {_shown(node)}")
        return function

    def parameters(self, node: ast.FunctionDef) -> list[str]:
        a, found = node.args, list[str]()
        odd = [*node.decorator_list, *a.defaults, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]
        notes = [arg.annotation for arg in (*a.posonlyargs, *a.args)] + [node.returns]
        for piece in [*odd, *(note for note in notes if note is not None and not _is_integer(note))]:
            self.refuse(piece, f"a function has plain parameters, such as def f(a, b), found {_shown(piece)}")
        for arg in (*a.posonlyargs, *a.args):
            with suppress(GiveUpError):
                if arg.arg in found:
                    raise self.refuse(arg, f"two parameters are called '{shorten(arg.arg)}'; rename one of them")
                found.append(self.variable(arg, arg.arg))
        return found

    def outputs(self, node: ast.Return) -> list[str]:
        """The names of the outputs: variables, and one expression at most."""
        nodes = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value else []
        if not nodes:
            raise self.refuse(node, "return at least one value, such as: return x")
        names = list[str]()
        for place, value in [(place, self.sum(place)) for place in nodes]:
            name = place.id if isinstance(place, ast.Name) and value.factors else None
            if name is not None and name in names:
                raise self.refuse(place, f"'{shorten(name)}' is returned twice; return it once")
            if name is None and RESULT in {*names, *self.variables}:
                message = f"one expression can be returned, as '{RESULT}'; give this one another name before"
                raise self.refuse(place, message)
            if name is None:
                self.note(node)
                self.assign(RESULT, value)
            names.append(name or RESULT)
        return names

    def variable(self, node: ast.AST, name: str) -> str:
        if name in self.constants:
            raise self.refuse(node, f"'{shorten(name)}' is a constant; choose another name for the variable")
        if not is_name(name):
            form = "at most 64 letters (a to z), digits and _, and not halt"
            raise self.refuse(node, f"'{shorten(name)}' cannot be a name here; use {form}")
        return name

    # Statements.

    def block(self, nodes: Sequence[ast.stmt], depth: int = 0) -> None:
        for node in nodes:
            if isinstance(node, ast.Pass) or _is_comment(node):
                continue
            with suppress(GiveUpError):
                if depth > MAX_DEPTH:
                    raise self.refuse(node, f"statements nest at most {MAX_DEPTH} deep")
                self.note(node)
                self.statement(node, depth)

    def statement(self, node: ast.stmt, depth: int) -> None:
        match node:
            case ast.While(test=test, body=body, orelse=[]):
                self.loop(test, body, depth)
            case ast.If(test=test, body=body, orelse=orelse):
                self.choice(test, body, orelse, depth)
            case ast.Break() | ast.Continue():
                if not self.loops:
                    raise self.refuse(node, f"{_shown(node)} stands outside of a loop; remove it")
                top, end, exits = self.loops[-1]
                exits += [self.assigned] if isinstance(node, ast.Break) else []
                self.assigned = None
                self.do("jmp", end if isinstance(node, ast.Break) else top)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.assignment(node, name, 0)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as sign):
                self.assignment(node, name, 1 if isinstance(sign, ast.Add) else -1)
            case ast.Assign() | ast.AugAssign():
                raise self.refuse(node, f"an assignment is x = ..., x += ... or x -= ..., found {_shown(node)}")
            case ast.Return():
                raise self.refuse(node, "return is only the last statement of the function; use a variable and break")
            case _:
                kinds = "an assignment, if, while, break, continue or pass"
                raise self.refuse(node, f"a statement is {kinds}, found {_shown(node)}")

    def assignment(self, node: ast.Assign | ast.AugAssign, name: str, sign: int) -> None:
        self.variable(node, name)
        try:
            value = self.sum(node.value)
            if sign:
                value = self.sum(ast.copy_location(ast.Name(name, ast.Load()), node)).plus(value, sign)
        finally:  # what is wrong with the value is noted; the variable is not to blame further down
            self.assigned = None if self.assigned is None else self.assigned | {name}
        self.assign(name, value)

    def loop(self, test: ast.expr, nodes: list[ast.stmt], depth: int) -> None:
        top, end = self.label("loop"), self.label("end")
        self.lines.append(f"{top}:")
        self.untouched = set()  # lines below lead here too
        self.skip_unless(test, end)
        before = self.assigned
        self.loops.append((top, end, []))
        self.block(nodes, depth + 1)
        exits = self.loops.pop()[2]
        self.do("jmp", top)
        self.lines.append(f"{end}:")
        endless = isinstance(test, ast.Constant) and test.value is True
        self.assigned = _on_every_way(exits if endless else [before, *exits])

    def choice(self, test: ast.expr, first: list[ast.stmt], second: list[ast.stmt], depth: int) -> None:
        other, end = self.label("else"), self.label("end")
        self.skip_unless(test, other)
        before = self.assigned
        self.block(first, depth + 1)
        after, self.assigned = self.assigned, before
        if second:
            self.do("jmp", end)
        self.lines.append(f"{other}:")
        self.block(second, depth + 1)
        self.lines.append(f"{end}:")
        self.assigned = _on_every_way([after, self.assigned])

    def skip_unless(self, test: ast.expr, label: str) -> None:
        with suppress(GiveUpError):  # what the condition guards is read all the same
            self.jump_if(False, test, label)

    def assign(self, target: str, value: Sum) -> None:
        own = value.factors.get(target, 0)
        if own > 0:
            self.add(target, value.plus(Sum({target: 1}), -1))
            return
        if own < 0:  # the old value is needed after it is gone
            self.set_scratch("@u", [target])
            self.set_scratch("@v", ["@u"])
        self.do("clr", target)
        self.add(target, value.plus(Sum({target: 1}), -own))
        self.subtract(["@v"] * -own, target)

    def add(self, target: str, value: Sum) -> None:
        """target += value, where the target itself is not subtracted: what is added is collected, negated, in @t."""
        if value.words(1):
            self.set_scratch("@t", value.words(1))
        self.subtract(value.words(-1), target)
        self.subtract([self.constant(-value.constant)] if value.constant else [], target)
        self.subtract(["@t"] if value.words(1) else [], target)

    # Conditions.

    def jump_if(self, wanted: bool, node: ast.expr, label: str, depth: int = 0) -> None:
        """Goes to the label if the condition is as wanted, and to the next line otherwise."""
        if depth > MAX_DEPTH:
            raise self.refuse(node, f"a condition nests at most {MAX_DEPTH} deep; split it")
        match node:
            case ast.Constant(value=bool() as value):
                if value == wanted:
                    self.do("jmp", label)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.jump_if(not wanted, operand, label, depth + 1)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self.compare(wanted, node, left, operator, right, label)
            case ast.Compare(left=left, ops=operators, comparators=others):
                pairs = zip([left, *others], operators, others, strict=False)
                nodes = [ast.copy_location(ast.Compare(a, [operator], [b]), node) for a, operator, b in pairs]
                self.jump_if(wanted, ast.BoolOp(ast.And(), list(nodes)), label, depth)
            case ast.BoolOp(op=operator, values=[*nodes, last]):
                decides = isinstance(operator, ast.Or)  # one part that is so decides
                past = label if decides == wanted else self.label("past")
                for part in nodes:
                    self.jump_if(decides, part, past, depth + 1)
                self.jump_if(wanted, last, label, depth + 1)
                self.lines += [f"{past}:"] if past != label else []
            case _:
                message = f"a condition compares, such as n > 0, found {_shown(node)}; for n write n != 0"
                raise self.refuse(node, message)

    def compare(
        self, wanted: bool, node: ast.expr, left: ast.expr, operator: ast.cmpop, right: ast.expr, label: str
    ) -> None:
        difference = self.sum(left).plus(self.sum(right), -1)
        if type(operator) not in _TESTS:
            raise self.refuse(node, f"a comparison is one of < <= > >= == !=, found {_shown(node)}")
        sign, holds = _TESTS[type(operator)]
        wanted = wanted == holds
        value = Sum().plus(difference, sign or 1)  # is it negative, or, without a sign, is it 0?
        if not value.factors:
            if (value.constant < 0 if sign else value.constant == 0) == wanted:
                self.do("jmp", label)
        elif sign:  # -1 - x is negative exactly where x is not, and fits a word whenever x does
            self.jump_if_negative(value if wanted else Sum({}, -1).plus(value, -1), label)
        elif wanted:
            past = self.label("past")
            self.jump_if_negative(value, past, keep=True)
            self.do("sbn", self.constant(1), "@t", label)
            self.lines.append(f"{past}:")
        else:
            self.jump_if_negative(value, label, keep=True)
            self.set_scratch("@u", [])
            self.do("sbn", "@t", "@u", label)

    def jump_if_negative(self, value: Sum, label: str, keep: bool = False) -> None:
        """With `keep`, the value is in @t behind this line."""
        if not keep and value.constant == 0 and list(value.factors.values()) == [1]:
            self.do("jneg", *value.factors, label)
            return
        if value.words(1):
            self.set_scratch("@u", value.words(1))
        constant = [self.constant(-value.constant)] if value.constant else []
        *words, last = [*value.words(-1), *constant, *(["@u"] if value.words(1) else [])]
        self.set_scratch("@t", words)
        self.do("sbn", last, "@t", label)

    # Expressions.

    def sum(self, node: ast.expr, depth: int = 0) -> Sum:
        """An expression as a sum; constants and sums of constants must fit a word."""
        if depth > MAX_DEPTH:
            raise self.refuse(node, f"an expression nests at most {MAX_DEPTH} deep; split it")
        found = self.any_sum(node, depth)
        low, high = -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
        if not found.factors and not low <= found.constant <= high:
            size = f"{self.width} bit{'s' if self.width > 1 else ''}, {low} to {high}"
            raise self.refuse(node, f"{shorten(found.constant)} does not fit in {size}; choose a larger width")
        for name, factor in found.factors.items():
            if abs(factor) > MAX_FACTOR:
                message = f"{shorten(factor)} * {name}: a factor is at most {MAX_FACTOR}; add in a loop instead"
                raise self.refuse(node, message)
        return found

    def any_sum(self, node: ast.expr, depth: int) -> Sum:
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return Sum({}, value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if not isinstance(value, bool):
                return Sum({}, -value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Sum().plus(self.sum(operand, depth + 1), -1)
            case ast.Name(id=name):
                return self.value_of(node, name)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
                first, second = self.sum(left, depth + 1), self.sum(right, depth + 1)
                if not isinstance(operator, ast.Mult):
                    return first.plus(second, 1 if isinstance(operator, ast.Add) else -1)
                if first.factors and second.factors:
                    raise self.refuse(node, "one factor of '*' must be a constant; multiply two variables in a loop")
                return Sum().plus(*((first, second.constant) if first.factors else (second, first.constant)))
        form = "integers, variables, +, - and * by a constant"
        raise self.refuse(node, f"an expression has {form}, found {_shown(node)}")

    def value_of(self, node: ast.expr, name: str) -> Sum:
        if name in self.constants:
            return Sum({}, self.constants[name])
        if name not in self.variables:
            hint = self.problems.hint(name, sorted({*self.variables, *self.constants})) or "; assign it before"
            raise self.refuse(node, f"unknown name '{shorten(name)}'{hint}")
        if self.assigned is not None and name not in self.assigned:
            raise self.refuse(node, f"'{shorten(name)}' may have no value yet; assign it on every way to this line")
        return Sum({name: 1})

    # Lines.

    def do(self, *words: str) -> None:
        self.lines.append(f"    {' '.join(words)}")
        if words[0] in ("sub", "sbn"):
            self.untouched.discard(words[2])

    def subtract(self, words: Sequence[str], target: str) -> None:
        for word in words:
            self.do("sub", word, target)

    def set_scratch(self, scratch: str, words: Sequence[str]) -> None:
        """The scratch word becomes the negative of the sum of these words."""
        if scratch not in self.untouched:
            self.do("clr", scratch)
        self.subtract(words, scratch)

    def constant(self, value: int) -> str:
        return f"#{wrap(value, self.width)}"

    def label(self, kind: str) -> str:
        self.labels += 1
        return f"@{kind}{self.labels}"

    def note(self, node: ast.stmt) -> None:
        text = shorten(self.problems.lines[node.lineno - 1].strip(), 100)
        self.lines += ["", f"; line {node.lineno}: {text}"]


_TESTS: dict[type[ast.cmpop], tuple[int, bool]] = {  # the sign with which the difference is negative where it holds
    ast.Lt: (1, True),
    ast.GtE: (1, False),
    ast.Gt: (-1, True),
    ast.LtE: (-1, False),
    ast.Eq: (0, True),
    ast.NotEq: (0, False),
}


def _is_comment(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_integer(note: ast.expr) -> bool:
    """Whether an annotation says int, or tuple[int, int] for what is returned."""
    return bool(re.fullmatch(r"'(int|tuple\[int(, int)*\])'", _shown(note)))


def _on_every_way(ways: list[frozenset[str] | None]) -> frozenset[str] | None:
    """The variables that have a value where several paths meet; None if no path arrives."""
    arriving = [way for way in ways if way is not None]
    return frozenset.intersection(*arriving) if arriving else None
