"""Statements of the small language to lines of assembly: what SBN destroys is copied first, and only then.

Three scratch words hold what a statement needs in between: @t (mostly the negative of something to be added), @u and
@v. Whoever uses one makes sure that it is 0, unless nothing has written to it on the way here.
"""

from __future__ import annotations

from bitwright.machines.language_lines import Line, Mark, Note, Operation, tidy
from bitwright.machines.language_tree import (
    Always,
    Assign,
    Both,
    Condition,
    If,
    Leave,
    Negative,
    Not,
    Positive,
    Statement,
    Sum,
    While,
    Zero,
)
from bitwright.machines.sbn import wrap

SCRATCH = ("@t", "@u", "@v")


def lines_of(body: tuple[Statement, ...], sources: list[str], width: int) -> list[Line]:
    """The code of a function's statements, with a note that quotes the source before each."""
    coder = _Coder(sources, width)
    coder.block(body)
    return tidy(coder.lines)


class _Coder:
    def __init__(self, sources: list[str], width: int) -> None:
        self.sources, self.width = sources, width
        self.lines: list[Line] = []
        self.untouched = set(SCRATCH)  # scratch words that no line above has written to: they are still 0
        self.labels = 0
        self.loops: list[tuple[str, str]] = []  # where continue and break go to, innermost last

    # Statements.

    def block(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self.lines.append(Note(f"line {statement.line}: {self.sources[statement.line - 1]}"))
            match statement:
                case Assign(_, target, value):
                    self.assign(target, value)
                case While(_, condition, body):
                    self.loop(condition, body)
                case If(_, condition, body, otherwise):
                    self.choice(condition, body, otherwise)
                case Leave(_, again):
                    self.jump(self.loops[-1][0 if again else 1])

    def assign(self, target: str, value: Sum) -> None:
        own = value.factors.get(target, 0)
        if own > 0:
            self.add(target, value.plus(Sum({target: 1}), -1))
        elif own == 0:
            self.empty(target)
            self.add(target, value)
        else:  # the old value is needed after it is gone
            self.zero("@u")
            self.subtract(target, "@u")
            self.zero("@v")
            self.subtract("@u", "@v")
            self.empty(target)
            self.add(target, value.plus(Sum({target: own}), -1))
            for _ in range(-own):
                self.subtract("@v", target)

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

    def loop(self, condition: Condition, body: tuple[Statement, ...]) -> None:
        """The test stands behind the body, so that a round has one jump, unless it is shorter in front."""
        self.labels += 1
        top, test, end = (f"@{word}{self.labels}" for word in ("loop", "test", "end"))
        in_front = _saved_if_true_follows(condition) > 0
        if in_front:
            self.mark(test, loop=True)
            self.branch(condition, top, end, top)
        else:
            self.jump(test)
        self.mark(top, loop=not in_front)
        self.loops.append((test, end))
        self.block(body)
        self.loops.pop()
        if in_front:
            self.jump(test)
        else:
            self.mark(test)
            self.branch(condition, top, end, end)
        self.mark(end)

    def choice(self, condition: Condition, body: tuple[Statement, ...], otherwise: tuple[Statement, ...]) -> None:
        self.labels += 1
        then, other, end = (f"@{word}{self.labels}" for word in ("then", "else", "end"))
        if len(body) == 1 and isinstance(body[0], Leave):  # the jump is the branch itself
            self.branch(condition, self.loops[-1][0 if body[0].again else 1], other, other)
            self.mark(other)
            self.block(otherwise)
            return
        first, second = (then, body), (other, otherwise)
        if otherwise and _saved_if_true_follows(condition) < 0:
            first, second = second, first
        self.branch(condition, then, other, first[0])
        self.mark(first[0])
        self.block(first[1])
        if otherwise:
            self.jump(end)
        self.mark(second[0])
        self.block(second[1])
        self.mark(end)

    # Conditions.

    def branch(self, condition: Condition, yes: str, no: str, following: str) -> None:
        """Goes to `yes` or `no`, one of which is the label that follows."""
        match condition:
            case Always(value):
                self.jump(yes if value else no, following)
            case Not(inner):
                self.branch(inner, no, yes, following)
            case Both(first, second):
                self.labels += 1
                both = f"@and{self.labels}"
                self.branch(first, both, no, both)
                self.mark(both)
                self.branch(second, yes, no, following)
            case Negative(value):
                straight = _cost(value) + (following == yes)
                turned = _cost(value.opposite) + (following == no)
                if straight < turned or (straight == turned and following == no):
                    self.go_if_negative(value, yes)
                    self.jump(no, following)
                else:
                    self.go_if_negative(value.opposite, no)
                    self.jump(yes, following)
            case Positive(value):
                self.branch(Negative(value.times(-1)), yes, no, following)
            case Zero(value):
                self.branch_if_zero(value, yes, no, following)

    def branch_if_zero(self, value: Sum, yes: str, no: str, following: str) -> None:
        """Not negative, and the negative of it is not negative either."""
        opposite = value.times(-1)
        variable = value.variable or opposite.variable
        if variable is not None:
            value = Sum({variable: -1})
        elif _cost(opposite) < _cost(value):
            value = opposite
        self.into_scratch(value, no)
        if following == no:
            self.subtract("#1", "@t", yes)
        elif variable is not None:
            self.lines.append(Operation("jneg", (variable,), no))
        else:
            self.zero("@u")
            self.subtract("@t", "@u", no)

    def go_if_negative(self, value: Sum, label: str) -> None:
        if value.variable is not None:
            self.lines.append(Operation("jneg", (value.variable,), label))
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
        assert isinstance(last, Operation)
        self.lines.append(Operation("sbn", last.operands, label))

    # Lines.

    def subtract_all(self, factors: dict[str, int], target: str) -> None:
        for name, times in factors.items():
            for _ in range(times):
                self.subtract(name, target)

    def subtract(self, word: str, target: str, label: str | None = None) -> None:
        self.lines.append(Operation("sbn" if label else "sub", (word, target), label))
        self.untouched.discard(target)

    def zero(self, scratch: str) -> None:
        if scratch not in self.untouched:
            self.empty(scratch)

    def empty(self, word: str) -> None:
        self.lines.append(Operation("clr", (word,)))

    def constant(self, value: int) -> str:
        return f"#{wrap(value, self.width)}"

    def jump(self, label: str, following: str | None = None) -> None:
        if label != following:
            self.lines.append(Operation("jmp", (), label))

    def mark(self, label: str, loop: bool = False) -> None:
        self.lines.append(Mark(label))
        if loop:  # lines below may lead here too
            self.untouched = set()


def _saved_if_true_follows(condition: Condition) -> int:
    """How many instructions fewer it takes to go away if the condition is false than if it is true."""
    match condition:
        case Not(inner):
            return -_saved_if_true_follows(inner)
        case Both(_, second):
            return _saved_if_true_follows(second)
        case Negative(value):
            return _cost(value) - _cost(value.opposite)
        case Positive(value):
            return _saved_if_true_follows(Negative(value.times(-1)))
    return 0


def _cost(value: Sum) -> int:
    """About how many instructions it takes to find out whether a sum is negative."""
    if value.variable is not None:
        return 1
    adding = sum(value.positive.values())
    return (adding + 2 if adding else 0) + sum(value.negative.values()) + (value.constant != 0) + 1
