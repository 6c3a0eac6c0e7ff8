"""The small language compiled to SBN assembly text; docs/reference/sbn.md has the rules.

Every expression is a sum of variables with factors, so that an assignment is a few subtractions; a comparison is the
sign of a difference, and so right as long as the difference fits a word.
"""

from __future__ import annotations

import ast
from itertools import takewhile

from bitwright.bits import shorten
from bitwright.machines.language.code_lines import LabelLine, NoteLine, OperationLine, commented, text_of, tidy
from bitwright.machines.language.routines import read_source
from bitwright.machines.language.sbn_code import SbnCoder
from bitwright.machines.language.source import SourceProblems, Target
from bitwright.machines.language.tree import Assign, Return, Routine, Statement
from bitwright.machines.sbn.code import MAX_WIDTH
from bitwright.text.scanner import unix_lines

RESULT = "result"  # the output of `return EXPRESSION`


class _SbnTarget(Target):
    """The outputs of an SBN program are words, by their names."""

    def check_return(
        self, problems: SourceProblems, node: ast.Return, values: list[tuple[ast.expr, str | None]], variables: set[str]
    ) -> None:
        if not values:
            raise problems.refuse(node, "return at least one value, such as: return x")
        before: list[str | None] = []
        for place, name in values:
            if name is not None and name in before:
                raise problems.refuse(place, f"'{shorten(name)}' is returned twice; return it once")
            if name is None and None in before:
                message = f"one expression can be returned, as '{RESULT}'; give this one a name before"
                raise problems.refuse(place, message)
            if name is None and RESULT in variables:
                message = f"an expression is returned as '{RESULT}', which is a variable; give it a name before"
                raise problems.refuse(place, message)
            before.append(name)


SBN_TARGET = _SbnTarget(
    name="",
    least_width=1,
    most_width=MAX_WIDTH,
    routines=False,
    expressions="integers, variables, +, - and * by a constant",
    assignments="x = ..., x += ... or x -= ...",
    statements="an assignment, if, while, break, continue or pass",
)


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
    SBN_TARGET.check_width(width)
    source = unix_lines(source)
    (function,), description = read_source(source, SBN_TARGET, width, name)
    body, outputs = _body(function)
    start = _start_values(body, function.parameters)
    coder = SbnCoder(width)
    quoted = [f"line {at}: {shorten(line.strip(), 100)}" for at, line in enumerate(source.split("\n"), start=1)]
    coder.block(body[len(start) :], quoted)
    lines = tidy(coder.lines)
    if not any(isinstance(line, OperationLine) for line in lines):
        lines.append(OperationLine("halt", ()))
    used = {word for line in lines if isinstance(line, OperationLine) for word in line.operands}
    words = {**dict.fromkeys((*function.parameters, *outputs), 0), **start}
    text = [*commented(function.description or description), f".width {width}"]
    for directive, names in ((".in", function.parameters), (".out", outputs)):
        text += [f"{directive} {' '.join(names[at : at + 20])}" for at in range(0, len(names), 20)]
    text += [f".word {word} {value}" for word, value in words.items() if value or word not in used]
    for before, line in zip([None, *lines], lines, strict=False):
        text += [""] if isinstance(line, NoteLine) and not isinstance(before, LabelLine) else []
        text.append(text_of(line, " "))
    return "\n".join(text) + "\n"


def _body(function: Routine) -> tuple[list[Statement], tuple[str, ...]]:
    """The statements, with an expression that is returned as an assignment; and the names of the outputs."""
    *body, last = function.body
    assert isinstance(last, Return), last
    pairs = list(zip(last.names, last.values, strict=True))
    body += [Assign(last.line, RESULT, value) for name, value in pairs if name is None]
    return body, tuple(name or RESULT for name, _ in pairs)


def _start_values(body: list[Statement], inputs: tuple[str, ...]) -> dict[str, int]:
    """What the first statements assign, as far as they give new variables constants: memory can start with that."""
    start: dict[str, int] = {}
    for statement in takewhile(lambda one: isinstance(one, Assign) and not one.value.factors, body):
        assert isinstance(statement, Assign)
        if statement.target in start or statement.target in inputs:
            break
        start[statement.target] = statement.value.constant
    return start
