"""The small language with arrays and functions, compiled to SUBLEQ assembly; docs/reference/subleq.md has the rules.

The tree and most of the reading is that of the SBN compiler. The program reads its parameters from the input as
decimal numbers, and prints what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from bitwright.bits import shorten
from bitwright.errors import InputError, ProgramError
from bitwright.machines.assembly.subleq_assembler import MAX_WORDS, assemble_sq
from bitwright.machines.language.coder import CodeLine, NoteLine, OperationLine, commented, text_of
from bitwright.machines.language.expressions import PRINT, READ
from bitwright.machines.language.routines import read_source
from bitwright.machines.language.source import BackEnd
from bitwright.machines.language.subleq_code import SubleqCoder, WordNames
from bitwright.machines.language.tree import (
    After,
    Both,
    Call,
    Condition,
    If,
    LanguageStatement,
    Not,
    Put,
    Routine,
    Sum,
    While,
)
from bitwright.machines.subleq.dialect import MAX_WIDTH
from bitwright.text.scanner import unix_lines

RUNTIME = '''
def multiply(a, b):
    """From the top bit of b down; the product wraps."""
    product = 0
    bits = WIDTH
    while bits > 0:
        product += product
        if b < 0:
            product += a
        b += b
        bits -= 1
    return product

def divide(n, d):
    """Bits of n so far = q * size + r, with 0 <= r < size: so for every n, and every d but 0, also the lowest."""
    size = d
    if d < 0:
        size = -d
    q = 0
    r = 0
    if n < 0:
        q = -1
        r = size - 1
    bits = WIDTH - 1
    while bits > 0:
        n += n
        q += q
        r += r - size
        if n < 0:
            r += 1
        if r < 0:
            r += size
        else:
            q += 1
        bits -= 1
    if d < 0:
        q = -q
        if r != 0:
            q -= 1
            r += d
    return q, r

def print_number(n):
    digits = [0] * DIGITS
    count = 0
    if n < 0:
        put(45)
        n, digit = divmod(n, -10)
        digits[0] = -digit
        count = 1
    while n != 0 or count == 0:
        n, digit = divmod(n, 10)
        digits[count] = digit
        count += 1
    while count > 0:
        count -= 1
        put(digits[count] + 48)

def read_number():
    """The next number of the input; 0 where there is none."""
    sign = 1
    letter = get()
    while letter != -1 and (letter < 48 or letter > 57):
        sign = 1
        if letter == 45:
            sign = -1
        letter = get()
    n = 0
    while letter >= 48 and letter <= 57:
        n = 10 * n + letter - 48
        letter = get()
    if sign < 0:
        n = -n
    return n
'''


@lru_cache(maxsize=8)
def runtime(target: BackEnd, width: int) -> tuple[tuple[Routine, ...], str]:
    """The routines for words of this width, and their source."""
    source = f"WIDTH = {width}\nDIGITS = {len(str(1 << (width - 1)))}\n" + RUNTIME
    return tuple(read_source(source, target, width, "runtime", prefix="@")[0]), source


SUBLEQ_TARGET = BackEnd(
    name="for SUBLEQ ",
    least_width=8,  # words hold characters
    most_width=MAX_WIDTH,
    routines=True,
    expressions="integers, variables, entries such as a[i], calls, +, -, *, // and %",
    assignments="x = ..., a[i] = ..., a = [0] * 10, q, r = f(...), or with += or -=",
    statements="an assignment, a call, if, while, break, continue, return or pass",
)
_START = "@start"
_MACROS = {
    "load": """.macro load pointer, word     ; word = M[pointer]
    mov pointer, @get
    clr word
@get:
    subleq 0, Z
    sub Z, word
    clr Z
.end""",
    "store": """.macro store word, pointer    ; M[pointer] = word
    mov pointer, @clear
    mov pointer, @clear + 1
    mov pointer, @put + 1
    sub word, Z
@clear:
    subleq 0, 0
@put:
    subleq Z, 0
    clr Z
.end""",
}


def compile_program(source: str, width: int = 16, name: str = "program") -> str:
    """Assembly text for the functions in `source`; raises ProgramError with every problem, by line and column.

    >>> print(compile_program("def hi():" + chr(10) + "    put(ord('!'))"))
    .words 32
    .width 16
    .dialect howerj
    <BLANKLINE>
    ; hi()
        mov #back1, hi_exit + 2
        jmp hi
    back1:
        halt
    <BLANKLINE>
    ; def hi():
    hi:
    <BLANKLINE>
    ; line 2: put(ord('!'))
        out #33
    hi_exit:
        subleq Z, Z, 0
    <BLANKLINE>
    """
    SUBLEQ_TARGET.check_width(width)
    source = unix_lines(source)
    routines, description = read_source(source, SUBLEQ_TARGET, width, name)
    library, library_source = runtime(SUBLEQ_TARGET, width)
    known = {routine.name: routine for routine in (*routines, *library)}
    text = _SubleqText(known, routines[-1], width).text({"": source, "@": library_source})
    head = commented(description or routines[-1].description)
    try:
        size, most = len(assemble_sq(text).image), min(1 << (width - 1), MAX_WORDS)
    except ProgramError as error:  # the user has not seen this text, so a place in it would not help
        raise InputError(f"the program is too large: {error.problems[0].message}") from None
    if size > most:
        raise InputError(
            f"the program takes {size:,} words, and with {width} bits there are at most {most:,}; choose a larger width"
        )
    words = max(4, 1 << (size - 1).bit_length())
    return "\n".join([*head, f".words {words}", f".width {width}", ".dialect howerj", "", text])


class _SubleqText:
    """A start that calls the last function of the source, and all functions that are called from there."""

    def __init__(self, known: dict[str, Routine], main: Routine, width: int) -> None:
        self.known, self.main, self.names = known, main, WordNames()
        results = tuple(f"@{at}" for at in range(main.results))
        self.first = Routine(_START, 0, main.parameters, {}, tuple(_start(main, results)), 0)
        for routine in known.values():  # functions have the first choice of names
            self.names.entrance(routine.name)
        self.coder = SubleqCoder({**known, _START: self.first}, self.names, width)
        self.coder.frame = _START

    def text(self, sources: dict[str, str]) -> str:
        """`sources`: the source of the functions whose names begin so."""
        quoted = {prefix: [shorten(line.strip(), 100) for line in text.split("\n")] for prefix, text in sources.items()}
        notes = {"@": quoted["@"], "": [f"line {at}: {line}" for at, line in enumerate(quoted[""], start=1)]}
        self.coder.block(self.first.body, None)
        parameters = ", ".join(self.main.parameters)
        pieces = [[NoteLine(f"{self.main.name}({shorten(parameters)})"), *self.coder.lines, OperationLine("halt", ())]]
        wanted = list(dict.fromkeys(_called(self.first.body)))
        callers = {name: set(_called(routine.body)) for name, routine in self.known.items()}
        for name in wanted:  # it grows
            routine, prefix = self.known[name], "@" if name.startswith("@") else ""
            wanted += [called for called in dict.fromkeys(_called(routine.body)) if called not in wanted]
            alone = name == self.main.name and not any(name in called for called in callers.values())
            code = self.coder.routine(routine, notes[prefix], once=alone)
            pieces.append([NoteLine(quoted[prefix][routine.line - 1]), *code])
        text = "\n".join(text_of(line, ", ", "\n") for piece in pieces for line in piece).lstrip("\n")
        used = {line.name for piece in pieces for line in piece if isinstance(line, OperationLine)}
        macros = [f"{body}\n" for macro, body in _MACROS.items() if macro in used]
        return "\n".join([*macros, text, "", *self._data(pieces)]).rstrip("\n") + "\n"

    def _data(self, pieces: list[list[CodeLine]]) -> list[str]:
        """The words of all variables."""
        words = {o for piece in pieces for line in piece if isinstance(line, OperationLine) for o in line.operands}
        lines = [f"{scratch}: .data 0" for scratch in ("T", "P", "N") if scratch in words]
        for function, variable, label in self.names.words():
            routine = self.coder.routines[function]
            start = self.coder.start.get(label)
            if start is not None and any(start):
                lines.append(f"{label}:")
                lines += [f"    .data {', '.join(map(str, start[at : at + 16]))}" for at in range(0, len(start), 16)]
            else:
                lines.append(f"{label}: .{f'space {size}' if (size := routine.arrays.get(variable)) else 'data 0'}")
        return lines


def _start(main: Routine, results: tuple[str, ...]) -> list[LanguageStatement]:
    """print(*main(...)), with numbers from the input for the parameters."""
    found: list[LanguageStatement] = [Call(0, (parameter,), READ, ()) for parameter in main.parameters]
    found.append(Call(0, results, main.name, tuple(Sum({parameter: 1}) for parameter in main.parameters)))
    for result, end in zip(results, " " * (len(results) - 1) + "\n", strict=False):
        found += [Call(0, (), PRINT, (Sum({result: 1}),)), Put(0, Sum({}, ord(end)))]
    return found


def _called(body: Iterable[LanguageStatement]) -> Iterator[str]:
    """The names of the functions that statements call, in their order."""
    ahead: list[LanguageStatement | Condition] = [*reversed([*body])]
    while ahead:
        match ahead.pop():
            case Call(function=function):
                yield function
            case While(condition=condition, body=inner):
                ahead += [*inner[::-1], condition]
            case If(condition=condition, body=inner, otherwise=otherwise):
                ahead += [*otherwise[::-1], *inner[::-1], condition]
            case After(statements, condition):
                ahead += [condition, *statements[::-1]]
            case Not(condition):
                ahead.append(condition)
            case Both(first, second):
                ahead += [second, first]
