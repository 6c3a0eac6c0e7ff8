"""The small language on SUBLEQ: programs do what Python does with words that wrap, and everything else is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG, examples

from bitwright.engines.make import make_engine
from bitwright.errors import InputError, ProgramError
from bitwright.machines.sbn.code import wrap
from bitwright.machines.subleq import (
    Assembly,
    Interpreter,
    Shape,
    assemble_sq,
    compile_program,
    find_dialect,
    machine_v,
)
from bitwright.running.computer import Computer

EXAMPLES = Path(__file__).parents[3] / "examples"
WIDTH = 16
LOWEST, HIGHEST = -(2 ** (WIDTH - 1)), 2 ** (WIDTH - 1) - 1
EDGES = (LOWEST, LOWEST, LOWEST + 1, -1, -300, 0, 1, 7, -10, 255, HIGHEST, HIGHEST, 10, 2)

# Python with words: every operation wraps, and a comparison is the sign of the wrapped difference.


class Word(int):
    def __new__(cls, value: int) -> Word:
        return super().__new__(cls, wrap(int(value), WIDTH))

    def __divmod__(self, other: int) -> tuple[Word, Word]:
        quotient, remainder = divmod(int(self), int(other))
        return Word(quotient), Word(remainder)

    def __neg__(self) -> Word:
        return Word(-int(self))


def _arithmetic(name: str) -> Callable[[Word, Any], Any]:
    def operation(self: Word, other: object) -> Any:
        return Word(getattr(int, name)(int(self), int(other))) if isinstance(other, int) else NotImplemented

    return operation


def _comparison(name: str) -> Callable[[Word, int], bool]:
    return lambda self, other: bool(getattr(int, name)(wrap(int(self) - int(other), WIDTH), 0))


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Word, f"__{_name}__", _arithmetic(f"__{_name}__"))
    setattr(Word, f"__r{_name}__", _arithmetic(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Word, f"__{_name}__", _comparison(f"__{_name}__"))


class _Words(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not int:
            return node
        return ast.copy_location(ast.Call(ast.Name("Word", ast.Load()), [node], []), node)


def in_python(source: str, inputs: tuple[int, ...] = (), text: bytes = b"") -> bytes:
    """What print(*f(*inputs)) prints, where f is the last function of the source."""
    said, supply = bytearray(), list(text)
    tree = ast.fix_missing_locations(_Words().visit(ast.parse(source)))
    scope: dict[str, Any] = {
        "Word": Word,
        "get": lambda: Word(supply.pop(0) if supply else -1),
        "put": lambda letter: said.append(letter & 0xFF),
        "print": lambda *numbers: said.extend((" ".join(map(str, map(int, numbers))) + "\n").encode()),
    }
    exec(compile(tree, "<test>", "exec"), scope)  # the sources of this file and of the examples only
    result = list(scope.values())[-1](*map(Word, inputs))
    if result is not None:
        scope["print"](*(result if isinstance(result, tuple) else (result,)))
    return bytes(said)


def interpreted(program: Assembly, inputs: tuple[int, ...] = (), text: bytes = b"") -> tuple[bytes, Interpreter]:
    assert program.words is not None
    assert program.dialect is not None
    said, supply = bytearray(), iter(given_to(inputs) + text)
    shape = Shape(program.words, program.width or 0, find_dialect(program.dialect))
    machine = Interpreter(shape, program.image, lambda: next(supply, None), said.append)
    assert machine.run(3_000_000)
    return bytes(said), machine


def given_to(inputs: tuple[int, ...]) -> bytes:
    return " ".join(map(str, inputs)).encode() + b"\n" * bool(inputs)


def on_machine_v(program: Assembly, engine: str, inputs: tuple[int, ...] = (), text: bytes = b"") -> bytes:
    """What machine V prints; its memory and its instructions are the interpreter's."""
    printed, truth = interpreted(program, inputs, text)
    machine, said, supply = machine_v(truth.shape), bytearray(), iter(given_to(inputs) + text)
    chosen = make_engine(engine, machine.program)
    ending = Computer(machine, chosen, machine.start(program.image), lambda: next(supply, None), said.append).run()
    assert (ending.reason, ending.memory, ending.tally.instructions) == ("halt", truth.memory, truth.executed)
    assert bytes(said) == printed
    return bytes(said)


# The examples.


@for_each("engine", ["templates", "limit"])
@for_each(
    ("name", "inputs", "text"),
    [
        ("subleq/letters", (), b"sort\xff this\n"),
        ("subleq/primes", (20,), b""),
        ("sbn/gcd", (84, 36), b""),
    ],
)
def test_the_examples_do_on_machine_v_what_python_does(
    name: str, inputs: tuple[int, ...], text: bytes, engine: str
) -> None:
    source = (EXAMPLES / f"{name}.py").read_text()
    program = assemble_sq(compile_program(source))
    assert program.description
    assert on_machine_v(program, engine, inputs, text) == in_python(source, inputs, text)


@settings(max_examples=examples(25), derandomize=True)
@given(st.binary(max_size=90))
def test_letters_are_sorted(text: bytes) -> None:
    program = assemble_sq(compile_program((EXAMPLES / "subleq" / "letters.py").read_text()))
    assert interpreted(program, text=text)[0] == bytes(sorted(text[:80]))


def test_primes_are_primes() -> None:
    program = assemble_sq(compile_program((EXAMPLES / "subleq" / "primes.py").read_text()))
    primes = [n for n in range(2, 300) if all(n % d for d in range(2, n))]
    assert interpreted(program, (10_000,))[0].decode().split() == [*map(str, primes), str(len(primes))]


# Operations at the edges of a word.


def test_arithmetic_is_pythons_and_wraps() -> None:
    source = "def f(a, b):\n    return a + b, a - b, a * b, a // b, a % b, -a, 100 * a - b, a // -7"
    program = assemble_sq(compile_program(source))
    for a in EDGES[::2]:
        for b in EDGES[1::2]:
            if b:
                assert interpreted(program, (a, b))[0] == in_python(source, (a, b)), (a, b)


def test_a_comparison_is_the_sign_of_the_wrapped_difference() -> None:
    signs = ("<", "<=", ">", ">=", "==", "!=")
    tests = [f"    if a {sign} {other}: x += {1 << at}" for at, sign in enumerate(signs) for other in ("b", "0", "9")]
    source = "\n".join(["def f(a, b):", "    x = 0", *tests, "    return x"])
    program = assemble_sq(compile_program(source))
    for a in EDGES[1:]:
        for b in EDGES[1::2]:
            assert interpreted(program, (a, b))[0] == in_python(source, (a, b)), (a, b)


@pytest.mark.parametrize("width", [13, 64])
def test_other_widths(width: int) -> None:
    program = assemble_sq(compile_program("def f(a, b):\n    return a * b, a // b, a % b", width))
    low = -(2 ** (width - 1))
    for a, b in [(low, -1), (low, low), (low, 3), (-low - 1, low), (-low - 1, -10), (1234, -56)]:
        expected = [wrap(value, width) for value in (a * b, *divmod(a, b))]
        assert interpreted(program, (a, b))[0].decode().split() == list(map(str, expected))


PROGRAMS = {
    "arrays are made anew": """
        def f(a):
            i = 0
            total = 0
            while i < 3:
                t = [a] * 6
                s = [i, a, 5]
                t[i] += 4
                s[i + 0] -= 1
                total += t[0] + t[1] + t[i + 1] + s[1] + s[2]
                i += 1
            return total""",
    "calls keep nothing but their arrays' size": """
        def g(x):
            t = [0] * 7
            t[x] = t[x] + x
            return t[3]
        def f(a): return g(3), g(2), g(3) * g(3)""",
    "arrays are passed on": """
        def h(t: list[int], i): t[i] += 1
        def g(t: list, i):
            h(t, i)
            h(t, i + 1)
            return t[i]
        def f(a):
            t = [a, 1, 2]
            x = t[1] + g(t, 1) + t[1]
            return x, t[0], t[1], t[2]""",
    "from left to right": """
        def f(a):
            x = get() - get() * 2 + a
            y = get() // get()
            print(get(), get())
            return x, y, get()""",
    "a condition stops where it is decided": """
        def f(a):
            n = 0
            while get() != 100 and (a > 5 or get() < 110) and not get() == 32: n += 1
            return n, get()""",
    "early returns": """
        def sign(x):
            if x > 0: return 1
            while x == 0: return 0
            return -1
        def f(a): return sign(a), sign(-a), sign(a - a)""",
    "several results": """
        def g(a, b): return b, a + b
        def f(a):
            b = 1
            a, b = g(b, a)
            a, b = g(a, b)
            q, r = divmod(a, b - 100)
            g(a, b)
            return a, b, q, r""",
    "names that meet": """
        def g_x(y): return y + 1
        def g(x): return g_x(x) + 1
        def add(Z): return g(Z) + 1
        def loop1(T):
            P = [T, 2]
            N = add(T) + P[1]
            return N""",
    "a result and more": """
        def f(a):
            a += a // 3
            b = a // 3
            a -= a % 4
            b = a % 4 - b
            return a, b""",
    "its own old value": """
        def f(a):
            t = [1, 2, 0]
            a = 3 - a
            t[0] = 5 - 2 * t[0]
            a = t[t[t[1]]] - a * 20
            return a, t[0]""",
    "an array that memory starts with": "def f(a):\n    t = [7] * 5\n    return t[0], t[4] * a, t[a % 5]",
    "nothing to say": "def f(): pass",
    "letters": "LAST = -4\ndef f(): put(ord('h')); put(ord('i') + 256); print(); print(-0, LAST)",
    "the last one is called too": """
        def g(x):
            if x < 2: return x
            return x - 1
        def f(a):
            t = [0] * 5
            t[a % 5] = a
            return g(t[1])""",
}


@for_each("body", PROGRAMS.values())
def test_programs_do_what_python_does(body: str) -> None:
    source = dedent(body)
    program = assemble_sq(compile_program(source))
    takes = len(ast.parse(source).body[-1].args.args)  # type: ignore[attr-defined]
    for a in (0, 1, 6, -9)[: 1 + 3 * takes]:
        text = b"fdd nothing else"
        assert interpreted(program, (a,) * takes, text)[0] == in_python(source, (a,) * takes, text)


def test_numbers_are_read_as_people_write_them() -> None:
    program = assemble_sq(compile_program("def f(a, b, c): return a, b, c"))
    for text, expected in (
        (b"1 -2,+3", "1 -2 3"),
        (b"\n\n  -32768x 40000\n", "-32768 -25536 0"),
        (b"- 5 007", "5 7 0"),
    ):
        assert interpreted(program, text=text)[0].decode() == expected + "\n"


# Random programs; loops count to a small number in a variable of their own, so that all of them end.

LEAVES = st.integers(-9, 9).map(str) | st.sampled_from([str(LOWEST), str(HIGHEST), "255"])


def expressions(names: tuple[str, ...], entry: str, call: str) -> st.SearchStrategy[str]:
    """`entry` and `call` have {} where expressions go."""
    pair = "({} + {})", "({} - {})", "{} * {}"
    return st.recursive(
        st.sampled_from(names) | LEAVES,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from((*pair, call)), inner, inner).map(lambda t: t[0].format(*t[1:])),
            inner.map(lambda text: f"-{text}"),
            inner.map(entry.format),
            st.tuples(inner, st.sampled_from(["//", "%"]), st.sampled_from(["3", "-7", "100", str(LOWEST)])).map(
                lambda t: f"(({t[0]}) {t[1]} {t[2]})"
            ),
        ),
        max_leaves=3,
    )


@st.composite
def blocks(draw: st.DrawFn, names: tuple[str, ...], sums: st.SearchStrategy[str], depth: int = 0) -> list[str]:
    def condition() -> str:
        parts = [
            f"{draw(sums)} {draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} {draw(sums)}"
            for _ in range(draw(st.integers(1, 2)))
        ]
        return draw(st.sampled_from([" and ", " or ", " and not "])).join(parts)

    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["assign", "add", "entry", "print"] + (["if", "while"] if depth < 2 else [])))
        target, sign = draw(st.sampled_from(names)), draw(st.sampled_from(["=", "+=", "-="]))
        if kind in ("assign", "add"):
            lines.append(f"{target} {sign if kind == 'add' else '='} {draw(sums)}")
        elif kind == "entry":
            lines.append(f"t[({draw(sums)}) % 5] {sign} {draw(sums)}")
        elif kind == "print":
            lines.append(f"print({draw(sums)}, {target})")
        elif kind == "if":
            lines += [f"if {condition()}:", *indented(draw(blocks(names, sums, depth + 1)))]
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(names, sums, depth + 1)))]
        else:
            count = f"i{depth}"
            leave = [f"if {condition()}: {draw(st.sampled_from(['break', 'continue']))}"] * draw(st.booleans())
            lines += [f"{count} = 0", f"while {count} < {draw(st.integers(0, 3))} and ({condition()}):"]
            lines += indented([f"{count} += 1", *leave, *draw(blocks(names, sums, depth + 1))])
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    """g works on numbers, h on an array that it is given, f has two arrays and calls both."""
    plain = expressions(("x", "y"), "({} - 1)", "({} + {})")
    first = ["def g(x, y):", f"    if {draw(plain)} < {draw(plain)}: return {draw(plain)}", f"    return {draw(plain)}"]
    given_array = expressions(("x", "y"), "t[({}) % 5]", "g({}, {})")
    second = ["def h(t: list[int], x, y):", *indented(draw(blocks(("x", "y"), given_array, 1))), "    return x - y"]
    whole = expressions(("a", "b", "c"), "s[({}) % 2]", draw(st.sampled_from(["g({}, {})", "h(t, {}, {})"])))
    third = ["def f(a, b):", "    c = 1", "    t = [0] * 5", "    s = [b, a - 2]"]
    third += indented([*draw(blocks(("a", "b", "c"), whole)), "return a, b, c, t[0], t[4]"])
    return "\n".join([*first, *second, *third])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@settings(max_examples=300 if LONG else 30, deadline=None, derandomize=True)  # one fault in 10 is found
@given(programs(), st.lists(st.tuples(*[st.integers(-20, 20) | st.sampled_from(EDGES)] * 2), min_size=2, max_size=2))
def test_random_programs_do_what_python_does(source: str, inputs: list[tuple[int, int]]) -> None:
    try:
        program = assemble_sq(compile_program(source))
    except ProgramError as refusal:  # sums of constants, that are looked at when they are compiled
        assert all("does not fit" in problem.message for problem in refusal.problems)  # noqa: PT017
        return
    for values in inputs:
        assert interpreted(program, values)[0] == in_python(source, values)


@settings(max_examples=10 if LONG else 3, derandomize=True)
@given(programs(), st.tuples(*[st.integers(-20, 20)] * 2))
def test_random_programs_on_machine_v(source: str, inputs: tuple[int, int]) -> None:
    try:
        program = assemble_sq(compile_program(source))
    except ProgramError:
        return
    assert on_machine_v(program, "templates", inputs) == in_python(source, inputs)


# Text.


def test_the_text_names_the_lines_of_the_source() -> None:
    source = '"""Doubles."""\nBY = 2\ndef f():\n    x = get()\n    while x < BY:  # é\n        x += x\n    put(x)\n'
    assert compile_program(source) == (
        "; Doubles.\n.words 128\n.width 16\n.dialect howerj\n\n"
        "; f()\n    mov #back1, f_exit + 2\n    jmp f\nback1:\n    halt\n\n"
        "; def f():\nf:\n\n; line 4: x = get()\n    in f_x\n\n; line 5: while x < BY:  # é\n    jmp test2\nloop2:\n\n"
        "; line 6: x += x\n    sub f_x, Z\n    sub Z, f_x\n    clr Z\ntest2:\n    sub f_x, Z\n    clr T\n"
        "    sub #2, T\n    sub Z, T\n    clr Z\n    jle T, low3\n    jmp end2\nlow3:\n"
        "    subleq #-1, T, loop2\nend2:\n\n"
        "; line 7: put(x)\n    out f_x\nf_exit:\n    subleq Z, Z, 0\n\nT: .data 0\nf_x: .data 0\n"
    )


# Problems. A ¦ in the source marks the line and column that must be reported.

STATEMENTS = {
    "x = ¦f(a)": "'f' calls itself; there is no recursion here, use a loop and an array",
    "x = ¦g(a, 1)": "the call must have the form g(y), found 'g(a, 1)'",
    "x = ¦g(y=a)": "the call must have the form g(y)",
    "x = ¦gg(a)": "unknown function 'gg'; did you mean 'g'?",
    "x = ¦nothing(a)": "'nothing' returns no values, and 1 value would be needed here",
    "x, a = ¦g(a)": "'g' returns 1 value, and 2 values would be needed here",
    "¦x, x = g(a)": "several values go to as many different variables",
    "x = ¦t": "'t' is an array; use an entry such as t[0]",
    "x = ¦a[0]": "'a' is a number; an array is made by a = [0] * 10, and a parameter is one by a: list[int]",
    "x = ¦u[0]": "unknown name 'u'",
    "x = ¦t[3]": "'t' has the entries 0 to 2, found 't[3]'",
    "¦t[-1] = 0": "'t' has the entries 0 to 2",
    "¦t = 3": "'t' is an array; change its entries, such as t[0] = 1",
    "¦t = [1, 2]": "'t' is an array already; change its entries in a loop",
    "v = [0] * ¦a": "the size of an array is a constant from 1 to 1,048,576, found 'a'",
    "v = [0] * ¦0": "the size of an array is a constant",
    "¦v = [0, 1] * 2": "an array is made by [0] * 10 or [3, 1, 4], found '[0, 1] * 2'",
    "if a == 1: v = [0] * 2\n    x = ¦v[0]": "'v' may have no value yet; assign it on every way to this line",
    "x = total(¦a)": "'a' is a number; an array is made by",
    "x = total(¦3)": "an array is needed here, found '3'",
    "x = ¦len(a)": "'len(a)' does not fit here",
    "x = ¦put(3)": "'put(3)' does not fit here; the forms are put(c)",
    "x = ¦ord('ab')": "ord takes one character, found",
    "x = ¦a // 0": "'a // 0' divides by 0",
    "x = a % ¦40000": "40000 does not fit in 16 bits",
    "x = ¦a / 2": "an expression has integers, variables, entries such as a[i], calls, +, -, *, // and %",
    "x = ¦a.b(3)": "only functions of this file can be called",
    "¦put = 3": "'put' is a function; choose another name for the variable",
    "if ¦0 < t[0] < 3: x = 1": "a chain compares sums of variables only, found '0 < t[0] < 3'; join two by and",
    "¦for i in a: pass": "a statement is an assignment, a call, if, while, break, continue, return or pass",
    "¦x *= 2": "an assignment is x = ..., a[i] = ..., a = [0] * 10, q, r = f(...), or with += or -=, found",
}
FILES = {
    "¦": "there is no function",
    "def f(a):\n    if a > 0: ¦return a, a\n    return a": "'f' returns 1 value elsewhere, and 2 values here",
    "def f(a):\n    if a > 0: return 1\n    ¦a = 1": "the last statement must return something",
    "def f(a): return ¦g(a)\ndef g(a): return ¦f(a)": "'f' calls 'g', which comes back to it; there is no recursion",
    "¦def f(t: list[int]): return t[0]": "the last function, 'f', is the program, and is given numbers only",
    "def f(t: list[int]): return ¦len(t)\ndef g(): pass": "the length of the parameter 't' is not known; pass it",
    "def f(): pass\n¦def f(): pass": "'f' has a meaning already; choose another name",
    "¦def get(): pass": "'get' has a meaning already",
    "A = ¦get()\ndef f(): pass": "a constant is a sum of constants, found 'get()'",
    "def f(t: ¦str): pass": "a function has plain parameters",
}
HEAD = "def g(y): return y\ndef nothing(y): pass\ndef total(t: list[int]): return t[0]\n"


CASES = FILES | {
    f"{HEAD}def f(a):\n    x = 0\n    t = [1, 2, 3]\n    {statement}\n    return x\n": piece
    for statement, piece in STATEMENTS.items()
}


@for_each(("source", "piece"), CASES.items())
def test_whatever_is_not_the_language_is_refused_at_its_place(source: str, piece: str) -> None:
    before = source.partition("¦")[0]
    with pytest.raises(ProgramError) as refusal:
        compile_program(source.replace("¦", ""))
    first = refusal.value.problems[0]
    assert piece in first.message
    assert (first.line, first.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert all(str(problem).isprintable() for problem in refusal.value.problems)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match=r"between 8 and 64 bits, got 7"):
        compile_program("def f(): pass", 7)
    with pytest.raises(InputError, match=r"the program takes .* words, and with 8 bits there are at most 128"):
        compile_program("def f(): print(1)", 8)
    with pytest.raises(ProgramError, match="nests at most 100 deep"):
        compile_program("def f(a):\n    t = [0]\n    return " + "t[" * 150 + "a" + "]" * 150)
    arrays = "".join(f"    t{at} = [0] * 1048576\n" for at in range(17))
    with pytest.raises(InputError, match="the program is too large: a program has at most 16,777,216 words"):
        compile_program(f"def f(a):\n{arrays}    return a", 32)


def test_any_number_of_comparisons_may_be_joined() -> None:
    chain = "def f(a):\n    if " + "a < 1 and " * 1_500 + "a < 2: a = 7\n    return a"
    assert interpreted(assemble_sq(compile_program(chain, 32)), (0,))[0] == b"7\n"
