"""The small language compiled to SBN assembly text; docs/reference/sbn.md has the rules.

Every expression is a sum of variables with factors, so an assignment is a few subtractions. A comparison is the sign of
a difference, and so right as long as the difference fits a word. SBN destroys what it subtracts from, so that is copied
first. Three scratch words hold what a statement needs in between: @t (mostly the negative of something to be added), @u
and @v. Code that uses one clears it first, unless nothing has written to it on the way there.
"""

from __future__ import annotations

from itertools import takewhile

from bitwright.bits import shorten
from bitwright.machines.language.coder import Coder, LabelLine, NoteLine, OperationLine, commented, text_of, tidy
from bitwright.machines.language.routines import read_source
from bitwright.machines.language.source import BackEnd
from bitwright.machines.language.statements import RESULT
from bitwright.machines.language.tree import (
    Assign,
    Both,
    Compared,
    Condition,
    LanguageStatement,
    Not,
    Return,
    Routine,
    Sum,
)
from bitwright.machines.sbn.code import MAX_WIDTH
from bitwright.text.scanner import unix_lines

SBN_TARGET = BackEnd(
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


def _body(function: Routine) -> tuple[list[LanguageStatement], tuple[str, ...]]:
    """The statements, with an expression that is returned as an assignment; and the names of the outputs."""
    *body, last = function.body
    assert isinstance(last, Return), last
    pairs = list(zip(last.names, last.values, strict=True))
    body += [Assign(last.line, RESULT, value) for name, value in pairs if name is None]
    return body, tuple(name or RESULT for name, _ in pairs)


def _start_values(body: list[LanguageStatement], inputs: tuple[str, ...]) -> dict[str, int]:
    """The constants that the first statements assign to new variables: memory can start with them."""
    start: dict[str, int] = {}
    for statement in takewhile(lambda one: isinstance(one, Assign) and not one.value.factors, body):
        assert isinstance(statement, Assign)
        if statement.target in start or statement.target in inputs:
            break
        start[statement.target] = statement.value.constant
    return start


SCRATCH = ("@t", "@u", "@v")


class SbnCoder(Coder):
    leaves_at_once = True

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.untouched = set(SCRATCH)  # scratch words that no line above has written to: they are still 0
        self.count = 0

    def labels(self, *kinds: str) -> tuple[str, ...]:
        self.count += 1
        return tuple(f"@{kind}{self.count}" for kind in kinds)

    # Assignments.

    def simple(self, statement: LanguageStatement) -> None:
        assert isinstance(statement, Assign), statement
        target, value = statement.target, statement.value
        own = value.factors.get(target, 0)
        if own > 0:
            self.add(target, value.plus(Sum({target: 1}), -1))
        elif own == 0:
            self.do("clr", target)
            self.add(target, value)
        else:  # the old value is needed after it is gone
            self.zero("@u")
            self.subtract(target, "@u")
            self.zero("@v")
            self.subtract("@u", "@v")
            self.do("clr", target)
            self.add(target, value.plus(Sum({target: own}), -1))
            self.subtract_all({"@v": -own}, target)

    def add(self, target: str, value: Sum) -> None:
        """target += value, where the target itself is not subtracted: what is added is collected, negated, in @t."""
        if value.positive:
            self.zero("@t")
            self.subtract_all(value.positive, "@t")
        self.subtract_all(value.negative, target)
        if value.constant:
            self.subtract(self.constant(-value.constant), target)
        if value.positive:
            self.subtract("@t", target)

    # Conditions.

    def compare(self, condition: Condition, yes: str, no: str, following: str) -> None:
        match condition:
            case Compared("<", value):
                straight = _cost(value) + (following == yes)
                turned = _cost(value.opposite) + (following == no)
                if straight < turned or (straight == turned and following == no):
                    self.go_if_negative(value, yes)
                    self.jump(no, following)
                else:
                    self.go_if_negative(value.opposite, no)
                    self.jump(yes, following)
            case Compared(">", value):
                self.compare(Compared("<", value.times(-1)), yes, no, following)
            case Compared("=", value):
                self.compare_with_zero(value, yes, no, following)

    def compare_with_zero(self, value: Sum, yes: str, no: str, following: str) -> None:
        """Not negative, and the negative of it is not negative either."""
        opposite = value.times(-1)
        variable = value.variable or opposite.variable
        if variable is not None:
            value = Sum({variable: -1})
        elif _cost(opposite) < _cost(value):
            value = opposite
        self.into_scratch(value, no)
        if following == no:
            self.do("sbn", "#1", "@t", to=yes)
        elif variable is not None:
            self.do("jneg", variable, to=no)
        else:
            self.zero("@u")
            self.do("sbn", "@t", "@u", to=no)
            self.untouched.discard("@u")

    def go_if_negative(self, value: Sum, label: str) -> None:
        if value.variable is not None:
            self.do("jneg", value.variable, to=label)
        else:
            self.into_scratch(value, label)

    def into_scratch(self, value: Sum, label: str) -> None:
        """@t = value; then to the label if that is negative."""
        if value.positive:
            self.zero("@u")
            self.subtract_all(value.positive, "@u")
        self.zero("@t")
        self.subtract_all(value.negative, "@t")
        if value.constant:
            self.subtract(self.constant(-value.constant), "@t")
        if value.positive:
            self.subtract("@u", "@t")
        last = self.lines.pop()
        assert isinstance(last, OperationLine)
        self.do("sbn", *last.operands, to=label)

    def saved_if_true_follows(self, condition: Condition) -> int:
        sign = 1
        while isinstance(condition, Both | Not):
            sign = -sign if isinstance(condition, Not) else sign
            condition = condition.condition if isinstance(condition, Not) else condition.second
        match condition:
            case Compared("<", value):
                return sign * (_cost(value) - _cost(value.opposite))
            case Compared(">", value):
                return sign * (_cost(value.times(-1)) - _cost(value.times(-1).opposite))
        return 0

    # Lines.

    def subtract(self, word: str, target: str) -> None:
        super().subtract(word, target)
        self.untouched.discard(target)

    def zero(self, scratch: str) -> None:
        if scratch not in self.untouched:
            self.do("clr", scratch)

    def mark(self, label: str, loop: bool = False) -> None:
        super().mark(label)
        if loop:
            self.untouched = set()


def _cost(value: Sum) -> int:
    """About how many instructions it takes to find out whether a sum is negative."""
    if value.variable is not None:
        return 1
    adding = sum(value.positive.values())
    return (adding + 2 if adding else 0) + sum(value.negative.values()) + (value.constant != 0) + 1
