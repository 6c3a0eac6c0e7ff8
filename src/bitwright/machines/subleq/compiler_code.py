"""Routines of the small language to lines of SUBLEQ assembly.

Every function has words of its own for its variables (so it cannot be under way twice), for its results, and for the
address it returns to, which the caller writes into the jump at its end. Z, which is 0 between statements, collects
the negative of what is added; T holds a sum that is tested or stored, P the address of an entry, N counts entries.
"""

from __future__ import annotations

from collections.abc import Iterable

from bitwright.machines.language_lines import Line, Mark, Note, Operation, tidy
from bitwright.machines.language_tree import (
    After,
    Always,
    Assign,
    Both,
    Call,
    Condition,
    Fill,
    Get,
    If,
    Leave,
    Load,
    Negative,
    Not,
    Positive,
    Put,
    Return,
    Routine,
    Statement,
    Store,
    Sum,
    While,
    Zero,
)
from bitwright.machines.sbn import wrap
from bitwright.machines.subleq.compiler_names import Names

_MAX_APART = 4  # entries of an array that are filled without a loop


class Coder:
    def __init__(self, routines: dict[str, Routine], names: Names, width: int) -> None:
        self.routines, self.names, self.width = routines, names, width
        self.lines: list[Line] = []
        self.loops: list[tuple[str, str]] = []  # where continue and break go to, innermost last
        self.frame = ""  # the function whose code is made
        self.start: dict[str, tuple[int, ...]] = {}  # words that memory has to start with, for arrays filled once

    def routine(self, routine: Routine, sources: list[str], once: bool) -> list[Line]:
        """The code of a function; `once` if it runs a single time."""
        self.frame, self.lines = routine.name, [Mark(self.names.entrance(routine.name), kept=True)]
        self.block(routine.body, sources, once)
        self.lines.append(Mark(self.names.exit(routine.name), kept=True))
        self.do("subleq", "Z", "Z", "0")
        return tidy(self.lines)

    # Statements.

    def block(self, statements: Iterable[Statement], sources: list[str] | None, once: bool = False) -> None:
        """Statements in order, each with its line of the source as a note, if they are given."""
        quoted = 0
        for statement in statements:
            if sources is not None and statement.line != quoted:
                quoted = statement.line
                self.lines.append(Note(sources[quoted - 1]))
            match statement:
                case Assign(_, target, value):
                    self.assign(self.word(target), self.sum(value))
                case While(_, condition, body):
                    self.loop(condition, body, sources)
                case If(_, condition, body, otherwise):
                    self.choice(condition, body, otherwise, sources)
                case Leave(_, again):
                    self.jump(self.loops[-1][0 if again else 1])
                case Fill():
                    self.fill(statement, once)
                case Load(_, target, array, index):
                    self.load(self.word(target), array, index)
                case Store(_, array, index, value):
                    self.store(array, index, self.sum(value))
                case Call():
                    self.call(statement)
                case Return(_, values):
                    for at, value in enumerate(values):
                        self.assign(self.names.result(self.frame, at), self.sum(value))
                    self.jump(self.names.exit(self.frame))
                case Put(_, value):
                    self.do("out", self.operand(self.sum(value)))
                case Get(_, target):
                    self.do("in", self.word(target))

    def assign(self, target: str, value: Sum) -> None:
        """target = value, over words; what is added is collected, negated, in Z."""
        own = value.factors.get(target, 0)
        if own < 0:  # the old value is needed after it is gone
            self.do("clr", "T")
            self.do("sub", target, "T")
            value = value.plus(Sum({target: 1}), -own).plus(Sum({"T": 1}), -own)
        if own > 0:
            value = value.plus(Sum({target: 1}), -1)
        if own <= 0 and value.variable is not None:
            self.do("mov", value.variable, target)
            return
        self.subtract(value.positive, "Z")
        if own <= 0:
            self.do("clr", target)
        self.subtract(value.negative, target)
        constant = wrap(value.constant, self.width)
        if constant:
            self.do("sub", self.constant(-constant), target)
        if value.positive:
            self.do("sub", "Z", target)
            self.do("clr", "Z")

    def loop(self, condition: Condition, body: tuple[Statement, ...], sources: list[str] | None) -> None:
        top, test, end = self.names.labels("loop", "test", "end")
        self.jump(test)
        self.mark(top)
        self.loops.append((test, end))
        self.block(body, sources)
        self.loops.pop()
        self.mark(test)
        self.branch(condition, top, end, end)
        self.mark(end)

    def choice(
        self,
        condition: Condition,
        body: tuple[Statement, ...],
        otherwise: tuple[Statement, ...],
        sources: list[str] | None,
    ) -> None:
        then, other, end = self.names.labels("then", "else", "end")
        self.branch(condition, then, other, then)
        self.mark(then)
        self.block(body, sources)
        if otherwise:
            self.jump(end)
        self.mark(other)
        self.block(otherwise, sources)
        self.mark(end)

    def call(self, call: Call) -> None:
        """Arguments, the address to come back to, and off; the results are copied from where the function left them."""
        called = self.routines[call.function]
        for parameter, argument in zip(called.parameters, call.arguments, strict=True):
            target = self.names.word(called.name, parameter)
            if isinstance(argument, Sum):
                self.assign(target, self.sum(argument))
            elif self.routines[self.frame].arrays[argument] is None:  # it holds the address itself
                self.do("mov", self.word(argument), target)
            else:
                self.do("mov", f"#{self.word(argument)}", target)
        (back,) = self.names.labels("back")
        self.do("mov", f"#{back}", f"{self.names.exit(called.name)} + 2")
        self.jump(self.names.entrance(called.name))
        self.lines.append(Mark(back, kept=True))
        for at, name in enumerate(call.targets):
            if name is not None:
                self.do("mov", self.names.result(called.name, at), self.word(name))

    # Arrays.

    def fill(self, fill: Fill, once: bool) -> None:
        array = self.word(fill.array)
        values = fill.values * (1 if len(fill.values) > 1 else fill.size)
        if once and not any(value.factors for value in values):  # then memory can start with it
            self.start[array] = tuple(value.constant for value in values)
        elif len(fill.values) > 1 or fill.size <= _MAX_APART:
            for at, value in enumerate(values):
                self.assign(f"{array} + {at}", self.sum(value))
        else:
            each, end = self.names.labels("fill", "end")
            operand = self.operand(self.sum(fill.values[0]))
            self.do("mov", f"#{array}", "P")
            self.do("mov", f"#{fill.size}", "N")
            self.mark(each)
            self.do("store", operand, "P")
            self.do("inc", "P")
            self.do("dec", "N")
            self.lines.append(Operation("jle", ("N",), end))
            self.jump(each)
            self.mark(end)

    def load(self, target: str, array: str, index: Sum) -> None:
        place = self.place(array, index)
        if place is not None:
            self.do("mov", place, target)
            return
        self.point(array, index)
        self.do("load", "P", target)

    def store(self, array: str, index: Sum, value: Sum) -> None:
        place = self.place(array, index)
        if place is not None:
            self.assign(place, value)
            return
        operand = self.operand(value)
        self.point(array, index)
        self.do("store", operand, "P")

    def place(self, array: str, index: Sum) -> str | None:
        """The entry as an operand, if it is always the same."""
        known = not index.factors and self.routines[self.frame].arrays[array] is not None
        return f"{self.word(array)} + {index.constant}" if known else None

    def point(self, array: str, index: Sum) -> None:
        """P = the address of an entry."""
        if self.routines[self.frame].arrays[array] is None:
            self.assign("P", self.sum(index.plus(Sum({array: 1}))))
        else:
            self.assign("P", self.sum(index))
            self.do("sub", f"#-{self.word(array)}", "P")

    # Conditions.

    def branch(self, condition: Condition, yes: str, no: str, following: str) -> None:
        """Goes to `yes` or `no`, one of which is the label that follows."""
        match condition:
            case After(statements, inner):
                self.block(statements, None)
                self.branch(inner, yes, no, following)
            case Always(value):
                self.jump(yes if value else no, following)
            case Not(inner):
                self.branch(inner, no, yes, following)
            case Both(first, second):
                (both,) = self.names.labels("and")
                self.branch(first, both, no, both)
                self.mark(both)
                self.branch(second, yes, no, following)
            case Positive(value):
                words = self.sum(value)
                if words.variable is None:
                    self.assign("T", words)
                self.lines.append(Operation("jle", (words.variable or "T",), no))
                self.jump(yes, following)
            case Negative(value):
                self.below_or_at_zero(self.sum(value), yes, no, no, following)
            case Zero(value):
                words = self.sum(value)
                turned = words.times(-1)
                fewer = min(words, turned, key=lambda found: len(found.positive))
                self.below_or_at_zero(fewer, no, yes, no, following)

    def below_or_at_zero(self, words: Sum, below: str, at: str, above: str, following: str) -> None:
        """A number of 0 or less is below 0 exactly if it is still 0 or less when it has grown by 1."""
        (low,) = self.names.labels("low")
        self.assign("T", words)
        self.lines.append(Operation("jle", ("T",), low))
        self.jump(above)
        self.mark(low)
        self.lines.append(Operation("subleq", ("#-1", "T"), below))
        self.jump(at, following)

    # Words and lines.

    def word(self, variable: str) -> str:
        return self.names.word(self.frame, variable)

    def sum(self, value: Sum) -> Sum:
        """The same sum over the words of this function's variables."""
        return Sum({self.word(name): factor for name, factor in value.factors.items()}, value.constant)

    def operand(self, words: Sum) -> str:
        """A word that holds the sum, for reading only: T, if there is no other."""
        if words.variable is not None:
            return words.variable
        if not words.factors:
            return self.constant(words.constant)
        self.assign("T", words)
        return "T"

    def constant(self, value: int) -> str:
        return f"#{wrap(value, self.width)}"

    def subtract(self, factors: dict[str, int], target: str) -> None:
        for name, times in factors.items():
            for _ in range(times):
                self.do("sub", name, target)

    def do(self, name: str, *operands: str) -> None:
        self.lines.append(Operation(name, operands))

    def jump(self, label: str, following: str | None = None) -> None:
        if label != following:
            self.lines.append(Operation("jmp", (), label))

    def mark(self, label: str) -> None:
        self.lines.append(Mark(label))
