"""Statements of the small language to lines of assembly: what back ends have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from bitwright.machines.language.code_lines import CodeLine, LabelLine, NoteLine, OperationLine
from bitwright.machines.language.tree import Always, Both, Condition, If, Leave, Not, Statement, While
from bitwright.machines.sbn.code import wrap


class Coder(ABC):
    """Loops, choices and joined conditions; what an assignment and a comparison become is left to a back end."""

    leaves_at_once = False  # whether `if ...: break` is one branch

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[CodeLine] = []
        self.loops: list[tuple[str, str]] = []  # where continue and break go to, innermost last

    # What a back end makes.

    @abstractmethod
    def simple(self, statement: Statement) -> None:
        """A statement that has no others inside."""

    @abstractmethod
    def compare(self, condition: Condition, yes: str, no: str, following: str) -> None:
        """Goes to `yes` or `no`, one of which is the label that follows; the condition is not joined of others."""

    @abstractmethod
    def labels(self, *kinds: str) -> tuple[str, ...]:
        """New names for places in the code that belong together."""

    def saved_if_true_follows(self, condition: Condition) -> int:  # noqa: ARG002
        """How many instructions fewer it takes to go away if the condition is false than if it is true."""
        return 0

    # Statements.

    def block(self, statements: Iterable[Statement], sources: list[str] | None) -> None:
        """Statements in order, each with its line of the source as a note, if they are given."""
        quoted = 0
        for statement in statements:
            if sources is not None and statement.line != quoted:
                quoted = statement.line
                self.lines.append(NoteLine(sources[quoted - 1]))
            match statement:
                case While(_, condition, body):
                    self.loop(condition, body, sources)
                case If(_, condition, body, otherwise):
                    self.choice(condition, body, otherwise, sources)
                case Leave(_, to_next_round):
                    self.jump(self.loops[-1][0 if to_next_round else 1])
                case _:
                    self.simple(statement)

    def loop(self, condition: Condition, body: tuple[Statement, ...], sources: list[str] | None) -> None:
        """The test stands behind the body, so that a round has one jump, unless it is shorter in front."""
        top, test, end = self.labels("loop", "test", "end")
        in_front = self.saved_if_true_follows(condition) > 0
        if in_front:
            self.mark(test, loop=True)
            self.branch(condition, top, end, top)
        else:
            self.jump(test)
        self.mark(top, loop=not in_front)
        self.loops.append((test, end))
        self.block(body, sources)
        self.loops.pop()
        if in_front:
            self.jump(test)
        else:
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
        then, other, end = self.labels("then", "else", "end")
        if self.leaves_at_once and len(body) == 1 and isinstance(body[0], Leave):
            self.branch(condition, self.loops[-1][0 if body[0].to_next_round else 1], other, other)
            self.mark(other)
            self.block(otherwise, sources)
            return
        first, second = (then, body), (other, otherwise)
        if otherwise and self.saved_if_true_follows(condition) < 0:
            first, second = second, first
        self.branch(condition, then, other, first[0])
        self.mark(first[0])
        self.block(first[1], sources)
        if otherwise:
            self.jump(end)
        self.mark(second[0])
        self.block(second[1], sources)
        self.mark(end)

    def branch(self, condition: Condition, yes: str, no: str, following: str) -> None:
        """Goes to `yes` or `no`, one of which is the label that follows; any number of conditions may be joined."""
        while isinstance(condition, Both | Not):
            if isinstance(condition, Not):
                condition, yes, no = condition.condition, no, yes
                continue
            (both,) = self.labels("and")
            self.branch(condition.first, both, no, both)
            self.mark(both)
            condition = condition.second
        if isinstance(condition, Always):
            self.jump(yes if condition.value else no, following)
        else:
            self.compare(condition, yes, no, following)

    # Lines.

    def do(self, name: str, *operands: str, to: str | None = None) -> None:
        self.lines.append(OperationLine(name, operands, to))

    def subtract_all(self, factors: dict[str, int], target: str) -> None:
        for name, times in factors.items():
            for _ in range(times):
                self.subtract(name, target)

    def subtract(self, word: str, target: str) -> None:
        self.do("sub", word, target)

    def constant(self, value: int) -> str:
        return f"#{wrap(value, self.width)}"

    def jump(self, label: str, following: str | None = None) -> None:
        if label != following:
            self.do("jmp", to=label)

    def mark(self, label: str, loop: bool = False) -> None:  # noqa: ARG002
        """`loop`: lines below may lead here too."""
        self.lines.append(LabelLine(label))
