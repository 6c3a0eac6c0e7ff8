"""A small language above the assembly: one function in a subset of Python, compiled to assembly text.

The source is read with Python's own parser and never run. Every expression is a sum of variables with factors, so that
an assignment is a few subtractions; a comparison is the sign of a difference, and so right as long as the difference
fits a word. docs/sbn.md has the rules.
"""

from __future__ import annotations

from textwrap import wrap as wrap_lines

from bitwright.bits import printable, shorten
from bitwright.errors import InputError
from bitwright.machines.language_code import lines_of
from bitwright.machines.language_lines import Mark, Note, Operation, text_of
from bitwright.machines.language_read import read_function
from bitwright.machines.language_tree import Assign, Function
from bitwright.machines.sbn import MAX_WIDTH
from bitwright.program.text.files import unix_lines


def compile_function(source: str, width: int = 8, name: str = "program") -> str:
    """Assembly text for the function in `source`; raises ProgramError with every problem, by line and column.

    >>> print(compile_function("def f(x, y):" + chr(10) + "    x = x - y" + chr(10) + "    return x"))
    .width 8
    .in x y
    .out x
    <BLANKLINE>
    ; line 2: x = x - y
        sub y x
    <BLANKLINE>
    """
    if not 1 <= width <= MAX_WIDTH:
        raise InputError(f"a word has between 1 and {MAX_WIDTH} bits, got {width}")
    source = unix_lines(source)
    function = read_function(source, width, name)
    start = _start_values(function)
    sources = [shorten(line.strip(), 100) for line in source.split("\n")]
    lines = lines_of(function.body[len(start) :], sources, width)
    if not any(isinstance(line, Operation) for line in lines):
        lines.append(Operation("halt", ()))
    used = {word for line in lines if isinstance(line, Operation) for word in line.operands}
    words = {**dict.fromkeys((*function.inputs, *function.outputs), 0), **start}
    declared = {word: value for word, value in words.items() if value or word not in used}
    head = [f"; {line}" for line in wrap_lines(printable(" ".join(function.description.split())), 110)]
    head.append(f".width {width}")
    for directive, names in ((".in", function.inputs), (".out", function.outputs)):
        head += [f"{directive} {' '.join(names[at : at + 20])}" for at in range(0, len(names), 20)]
    head += [f".word {word} {value}" for word, value in declared.items()]
    body = []
    for before, line in zip([None, *lines], lines, strict=False):
        apart = isinstance(line, Note) and not isinstance(before, Mark)
        body.append(("\n" if apart else "") + text_of(line))
    return "\n".join([*head, *body]) + "\n"


def _start_values(function: Function) -> dict[str, int]:
    """What the first statements assign, as far as they give new variables constants: memory can start with that."""
    start: dict[str, int] = {}
    for statement in function.body:
        if (
            not isinstance(statement, Assign)
            or statement.value.factors
            or statement.target in start
            or statement.target in function.inputs
        ):
            break
        start[statement.target] = statement.value.constant
    return start
