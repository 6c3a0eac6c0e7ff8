"""The small language: compiled programs do what Python does with the same source, and everything else is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from cases import for_each
from facts import missing
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from long import LONG
from marked import marked

from bitwright.common.errors import InputError, Problem, ProgramError
from bitwright.machines.assembly.sbn_assembler import assemble
from bitwright.machines.sbn.code import Code, run_interpreter
from bitwright.machines.sbn.compiler import compile_function

SOURCES = Path(__file__).parents[2] / "examples" / "sbn"


class BeyondError(Exception):
    """A number left the range of a word, so that Python and the machine may differ."""


class Checked(int):
    """An 8-bit integer that notices when it, or the difference of two that are compared, leaves the range of a word."""

    def __new__(cls, value: int) -> Checked:
        if not -128 <= int(value) <= 127:
            raise BeyondError
        return super().__new__(cls, value)

    def __add__(self, other: int) -> Checked:
        return Checked(int(self) + int(other))

    def __sub__(self, other: int) -> Checked:
        return Checked(int(self) - int(other))

    def __rsub__(self, other: int) -> Checked:
        return Checked(int(other) - int(self))

    def __mul__(self, other: int) -> Checked:
        return Checked(int(self) * int(other))

    def __neg__(self) -> Checked:
        return Checked(-int(self))

    def __lt__(self, other: int) -> bool:
        return int(self - other) < 0

    def __gt__(self, other: int) -> bool:
        return int(other - self) < 0

    def __le__(self, other: int) -> bool:
        return int(other - self) >= 0

    def __ge__(self, other: int) -> bool:
        return int(self - other) >= 0

    __radd__, __rmul__ = __add__, __mul__


class _CheckedConstants(ast.NodeTransformer):
    """Numbers of the source are words too: without this, sums of constants alone would leave the range unnoticed."""

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                if type(value) is int:
                    return ast.Call(ast.Name("Checked", ast.Load()), [node], [])
        return super().generic_visit(node)


@cache
def meaning(source: str) -> Callable[..., int | tuple[int, ...]]:
    scope: dict[str, Callable[..., int | tuple[int, ...]]] = {"Checked": Checked}
    tree = ast.fix_missing_locations(_CheckedConstants().visit(ast.parse(source)))
    exec(compile(tree, "<test>", "exec"), scope)  # the sources of this file and of the examples only
    return list(scope.values())[-1]


def in_python(source: str, **values: int) -> tuple[int, ...]:
    """What Python's own meaning of the source gives; raises BeyondError where a word would wrap."""
    result = meaning(source)(**{name: Checked(value) for name, value in values.items()})
    return tuple(int(Checked(value)) for value in (result if isinstance(result, tuple) else (result,)))


def on_the_machine(code: Code, **values: int) -> tuple[int, ...]:
    return tuple(run_interpreter(code, values).values())


# Small functions, each over every pair of inputs that stays in range.

FUNCTIONS = {
    "a sum": "return a + b",
    "a difference": "return a - b",
    "a negative": "return -a",
    "factors": "return 3 * a - b * 2 + (a - 4) * -2",
    "parentheses": "return -(a - (b - -7)) + (3 - a)",
    "twice itself": "a = a + a; b = 3 * b - a; a = 0 - a - a - b; return a, b",
    "all comparisons": """
        x = 0
        if a < b: x += 1
        if a <= b: x += 2
        if a > b: x += 4
        if a >= b: x += 8
        if a == b: x += 16
        if a != b: x += 32
        return x""",
    "comparisons with 5": """
        x = 0
        if 5 < b: x += 1
        if 5 <= b: x += 2
        if 5 > b: x += 4
        if 5 >= b: x += 8
        if 5 == b: x += 16
        if 5 != b: x += 32
        return x""",
    "and": """
        x = 0
        if a < b and a > 0 and b != 7: x = 1
        return x""",
    "not": """
        x = 0
        if not (a < b and not b > 0): x = 1
        return x""",
    "a chain": """
        x = 0
        if 0 <= a < b <= 9: x = 1
        return x""",
    "elif": """
        if a < b: x = 1
        elif a == b: x = 2
        else: x = 3
        return x""",
    "constant conditions": """
        x = 0
        if True: x += 1
        if False: x += 2
        if LOW < -2: x += 4
        if not LOW != -3: x += 8
        if HIGH < LOW or a < b: x += 16
        while False: x = 99
        return x""",
    "a loop in a loop": """
        n = 0
        while a > 0:
            i = 0
            while i < b:
                i += 1
                n += 1
            a -= 5
        return n""",
    "break and continue": """
        n = 0
        while True:
            n += 1
            if n == 20:
                b = 0
                break
            if a < n: continue
            if not n < b: break
            a -= 1
        return n, a, b""",
}


def function(body: str) -> str:
    lines = dedent(body).strip().splitlines()
    return "\n".join(["LOW = -3", "HIGH = LOW + 10", "def f(a: int, b: int):", *indented(lines)]) + "\n"


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


VALUES = (*(range(-9, 12) if LONG else range(-2, 5)), -128, -65, -64, 63, 64, 127)


@for_each("body", FUNCTIONS.values())
def test_a_function_does_what_python_does(body: str) -> None:
    source = function(body)
    code, tried = assemble(compile_function(source)), 0
    for a in VALUES:
        for b in VALUES:
            try:
                expected = in_python(source, a=a, b=b)
            except BeyondError:
                continue
            assert on_the_machine(code, a=a, b=b) == expected, (a, b)
            tried += 1
    assert tried > 40


@for_each(
    ("name", "width", "inputs"),
    [
        ("gcd", 8, [(a, b) for a in range(1, 128, 11) for b in range(1, 128, 13)]),
        ("collatz", 16, [(n,) for n in (*range(1, 8), 27)]),
        ("prime", 8, [(n,) for n in range(0, 128, 3)]),
    ],
)
def test_the_examples_do_what_python_does(name: str, width: int, inputs: list[tuple[int, ...]]) -> None:
    source = (SOURCES / f"{name}.py").read_text()
    code = assemble(compile_function(source, width))
    assert code.description
    scope: dict[str, Callable[..., int]] = {}
    exec(compile(source, name, "exec"), scope)
    for values in inputs:
        assert on_the_machine(code, **dict(zip(code.inputs, values, strict=True))) == (scope[name](*values),)


# Random programs: loops count to a small number in a variable of their own, so that all of them end.

SETTLED = ("a", "b", "c")


def sums(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    atoms = st.sampled_from(names) | st.integers(-9, 9).map(str)
    return st.recursive(
        atoms,
        lambda inner: (
            st.tuples(inner, st.sampled_from("+-"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
            | inner.map(lambda text: f"-{text}")
            | st.tuples(st.integers(-3, 3), inner).map(lambda t: f"{t[0]} * {t[1]}")
        ),
        max_leaves=4,
    )


def conditions() -> st.SearchStrategy[str]:
    comparison = st.tuples(sums(SETTLED), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), sums(SETTLED)).map(
        " ".join
    )
    return st.recursive(
        comparison | st.sampled_from(["True", "False"]),
        lambda inner: (
            st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map(lambda t: f"({''.join(t)})")
            | inner.map(lambda text: f"not ({text})")
        ),
        max_leaves=3,
    )


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0, in_loop: bool = False) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["assign", "assign", "add"] + (["if", "while"] if depth < 3 else []) + (["leave"] if in_loop else [])
        kind = draw(st.sampled_from(kinds))
        target = draw(st.sampled_from(SETTLED))
        if kind == "assign":
            lines.append(f"{target} = {draw(sums(SETTLED))}")
        elif kind == "add":
            lines.append(f"{target} {draw(st.sampled_from(['+=', '-=']))} {draw(sums(SETTLED))}")
        elif kind == "if":
            lines += [f"if {draw(conditions())}:", *indented(draw(blocks(depth + 1, in_loop)))]
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(depth + 1, in_loop)))]
        elif kind == "while":
            count = f"i{depth}"
            lines += [f"{count} = 0", f"while {count} < {draw(st.integers(0, 4))} and {draw(conditions())}:"]
            lines += indented([f"{count} += 1", *draw(blocks(depth + 1, True))])
        else:
            lines.append(f"if {draw(conditions())}: {draw(st.sampled_from(['break', 'continue']))}")
    return lines


@settings(max_examples=300 if LONG else 24, deadline=None)  # of 24, a fault in one program of 8 is found with 96%
@given(blocks(), st.lists(st.tuples(*[st.integers(-20, 20)] * 3), min_size=4, max_size=4))
def test_random_programs_do_what_python_does(body: list[str], inputs: list[tuple[int, int, int]]) -> None:
    source = "\n".join(["def f(a, b, c):", *indented([*body, "return a, b, c"])])
    try:
        code, tried = assemble(compile_function(source)), 0
    except ProgramError as refusal:
        limits = ("a factor is at most", "does not fit")
        assert all(any(limit in problem.message for limit in limits) for problem in refusal.problems)  # noqa: PT017
        assume(False)
    for values in inputs:
        named = dict(zip(SETTLED, values, strict=True))
        try:
            expected = in_python(source, **named)
        except BeyondError:
            continue
        assert on_the_machine(code, **named) == expected
        tried += 1
    assume(tried > 0)


# What the text looks like.


def test_the_text_names_the_lines_of_the_source() -> None:
    source = '"""Doubles."""\nBY = 2\ndef f(x, unused):\n    while x < BY:  # é\n        x += x\n    return x\n'
    assert compile_function(source, 5) == (
        "; Doubles.\n.width 5\n.in x unused\n.out x\n.word x 0\n.word unused 0\n\n"
        "; line 4: while x < BY:  # é\n@loop1:\n    clr @t\n    sub x @t\n    sbn #-1 @t @end2\n\n"
        "; line 5: x += x\n    clr @t\n    sub x @t\n    sub @t x\n    jmp @loop1\n@end2:\n"
    )


# Problems. A ¦ in the source marks the line and column that must be reported.

HEAD = "LIMIT = 5\ndef f(a, b):\n    x = a\n"
STATEMENTS = {
    "¦f(a)": "'f(a)'",
    "¦for i in a: pass": "for",
    "¦import os": "statement",
    "¦def g(): pass": "statement",
    "¦del x": "statement",
    "¦global x": "statement",
    "¦assert a < b": "statement",
    "¦while a < b: pass\n    else: pass": "statement",
    "¦return x": "return last",
    "if a < b:\n        ¦return a": "return last",
    "¦x *= 2": "2",
    "¦x, b = b, a": "x,",
    "¦x = b = 0": "assignment",
    "¦x[0] = a": "assignment",
    "¦x.y = a": "assignment",
    "¦x: int = a": "statement",
    "x = ¦a * b": "'*'",
    "x = ¦a // 2": "// 2",
    "x = a + ¦abs(b)": "'abs(b)'",
    "x = ¦+a": "expression",
    "x = ¦~a": "expression",
    "x = ¦a < b": "expression",
    "x = ¦1.5": "expression",
    "x = ¦'one'": "expression",
    "x = ¦True": "expression",
    "x = -¦True": "expression",
    "x = ¦a if a < b else b": "expression",
    "x = (¦y := 1)": "expression",
    "x = ¦[i for i in a][0]": "expression",
    "x = ¦128": "128 8 -128 127",
    "x = a - ¦-129": "-129 8",
    "x = (¦100 + 100) - a": "200 8",
    "x = ¦17 * a": "17 16",
    "x = ¦9 * a + 9 * a": "18 16",
    "x = ¦y": "'y'",
    "x = ¦LIMTI": "'LIMTI' 'LIMIT'",
    "if a < b: y = 1\n    x = ¦y": "'y'",
    "while a < b:\n        a += 1\n        y = 1\n    x = ¦y": "'y'",
    "while True:\n        if a < b: break\n        y = 1\n        break\n    x = ¦y": "'y'",
    "¦y += 1": "'y'",
    "¦LIMIT = 3": "'LIMIT'",
    "¦halt = 3": "'halt'",
    "¦é = 3": "'é'",
    "if a == b: ¦é = 3": "'é'",
    "if ¦a: pass": "0",
    "while ¦1: pass": "condition compares",
    "while a < b and ¦x: pass": "condition compares",
    "if ¦a in b: pass": "a",
    "if ¦a is b: pass": "comparison",
    "if a < ¦128: pass": "128 8",
    "'é'; x = ¦y": "'y'",
}
FILES = {
    "¦": "there function",
    "¦LIMIT = 5": "there function",
    "¦import os\ndef f(a): return a": "import",
    "def f(a): return a\n¦def g(a): return a": "'g'",
    "def f(a): return a\n¦LIMIT = 5": "'LIMIT'",
    "A = 1\n¦A = 2\ndef f(a): return a": "'A' 1",
    "A = ¦B\ndef f(a): return a": "'B'",
    "A = ¦[1]\ndef f(a): return a": "expression",
    "def f(a): ¦pass": "return something",
    "def f(a):\n    ¦while True: pass": "statement something",
    "def f(a): ¦return": "return least",
    "def f(a): ¦return ()": "return least",
    "def f(a): return a, ¦a": "'a'",
    "def f(a): return a + 1, ¦a + 2": "'result'",
    "def f(result): return ¦result + 1": "'result'",
    "def f(a): return ¦b": "'b'",
    "def f(a, *¦b): return a": "plain parameters",
    "def f(a=¦1): return a": "'1'",
    "def f(*, ¦a): return 1": "function parameters",
    "def f(a: ¦str): return a": "'str'",
    "def f(a) -> ¦str: return a": "function parameters",
    "@¦cache\ndef f(a): return a": "function parameters",
    "def f(a, ¦a): return a": "'a'",
    "def f(¦halt): return 1": "'halt'",
    "A = 1\ndef f(¦A): return 1": "'A'",
    "def f(a):\n    x = ¦(a\n    return x": "'('",
    "def f(a):\n    ¦break\n    return a": "'break'",
}


def problems_of(source: str, width: int = 8) -> tuple[Problem, ...]:
    with pytest.raises(ProgramError) as refusal:
        compile_function(source, width, "mine")
    assert all(str(problem).isprintable() and len(str(problem)) < 300 for problem in refusal.value.problems)
    return refusal.value.problems


CASES = {f"{HEAD}    {statement}\n    return x\n": piece for statement, piece in STATEMENTS.items()} | FILES


@for_each(("source", "piece"), CASES.items())
def test_whatever_is_not_the_language_is_refused_at_its_place(source: str, piece: str) -> None:
    whole, line, column = marked(source)
    problems = problems_of(whole)
    assert [(problem.line, problem.column) for problem in problems] == [(line, column)], problems
    assert missing(problems[0].message, piece) == []


def test_all_problems_are_listed_in_order() -> None:
    source = "import os\ndef f(a, halt):\n    x = a // 2\n    if a:\n        y = 300\n    f(x)\n    return x, z\n"
    places = [(problem.line, problem.column) for problem in problems_of(source)]
    assert places == [(1, 1), (2, 10), (3, 9), (4, 8), (5, 13), (6, 5), (7, 15)]


def test_the_width_must_be_one_of_a_machine() -> None:
    for width in (0, 65):
        with pytest.raises(InputError, match=r"word.*1.*64"):
            compile_function("def f(a): return a", width)


MANY = 5_000
HOSTILE = {
    "nested parentheses": "def f(a): return " + "(" * MANY + "a" + ")" * MANY,
    "nested signs": "def f(a): return " + "-" * MANY + "a",
    "a sum of 200": "def f(a): return " + "a-a+" * 100 + "a",
    "a long chain": "def f(a):\n  if " + "a < " * MANY + "a: pass\n  x = a * a\n  return a",
    "a giant number": "def f(a): return " + "9" * 4000,
    "many unknown names": "def f(a):\n" + "".join(f" x{i} = y{i}\n" for i in range(1200)) + " return a",
    "too large": "#" * 100_001,
}


@for_each("source", HOSTILE.values())
def test_sources_that_ask_for_too_much_are_refused(source: str) -> None:
    assert problems_of(source)
