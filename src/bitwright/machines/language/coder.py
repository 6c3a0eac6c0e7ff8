"""Statements of the small language to lines of assembly: what back ends have in common, and how lines get fewer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from textwrap import wrap as wrap_lines

from bitwright.errors import printable
from bitwright.machines.language.tree import Always, Both, Condition, If, LanguageStatement, Leave, Not, While
from bitwright.machines.sbn.code import wrap


@dataclass(frozen=True)
class OperationLine:
    name: str
    operands: tuple[str, ...]
    target: str | None = None

    @property
    def always_leaves(self) -> bool:
        return self.name == "jmp"


@dataclass(frozen=True)
class LabelLine:
    label: str
    kept: bool = False  # because more than jumps know it


@dataclass(frozen=True)
class NoteLine:
    text: str


CodeLine = OperationLine | LabelLine | NoteLine


class Coder(ABC):
    """Loops, choices and joined conditions; what an assignment and a comparison become is left to a back end."""

    leaves_at_once = False  # whether `if ...: break` is one branch

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[CodeLine] = []
        self.loops: list[tuple[str, str]] = []  # where continue and break go to, innermost last

    # What a back end makes.

    @abstractmethod
    def simple(self, statement: LanguageStatement) -> None:
        """A statement that has no others inside."""

    @abstractmethod
    def compare(self, condition: Condition, yes: str, no: str, following: str) -> None:
        """Goes to `yes` or `no`, one of which is the label that follows; the condition is not joined of others."""

    @abstractmethod
    def labels(self, *kinds: str) -> tuple[str, ...]:
        """New names for places in the code that belong together."""

    def saved_if_true_follows(self, condition: Condition) -> int:  # noqa: ARG002
        """The instructions saved if the code for a true condition follows, rather than that for a false one."""
        return 0

    # Statements.

    def block(self, statements: Iterable[LanguageStatement], sources: list[str] | None) -> None:
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

    def loop(self, condition: Condition, body: tuple[LanguageStatement, ...], sources: list[str] | None) -> None:
        """The test follows the body, so that a round has one jump, unless it is shorter before it."""
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
        body: tuple[LanguageStatement, ...],
        otherwise: tuple[LanguageStatement, ...],
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


def text_of(line: CodeLine, between: str, above: str = "") -> str:
    """A line of assembly text, with this between operands and above notes."""
    match line:
        case LabelLine(label):
            return f"{label}:"
        case NoteLine(text):
            return f"{above}; {text}"
        case OperationLine(name, operands, target):
            return f"    {name} {between.join((*operands, *([target] if target else [])))}".rstrip()


def commented(description: str) -> list[str]:
    """A description as the comment that opens a text."""
    return [f"; {line}" for line in wrap_lines(printable(" ".join(description.split())), 110)]


def tidy(lines: list[CodeLine]) -> list[CodeLine]:
    """The same program with fewer lines; removing one may make another superfluous, so it repeats until none is."""
    lines = _straightened(lines)
    while True:
        shorter = _without_idle_labels(_without_idle_jumps(_without_unreachable(lines)))
        if len(shorter) == len(lines):
            return shorter
        lines = shorter


def _straightened(lines: list[CodeLine]) -> list[CodeLine]:
    """Redirects jumps to a jump to where that one goes."""
    onward: dict[str, str] = {}
    following: CodeLine | None = None
    for line in reversed(lines):
        if isinstance(line, OperationLine):
            following = line
        elif isinstance(line, LabelLine) and isinstance(following, OperationLine) and following.always_leaves:
            onward[line.label] = following.target or line.label

    def final(label: str) -> str:
        seen = {label}
        while onward.get(label, label) not in seen:
            label = onward[label]
            seen.add(label)
        return label

    return [replace(x, target=final(x.target)) if isinstance(x, OperationLine) and x.target else x for x in lines]


def _without_unreachable(lines: list[CodeLine]) -> list[CodeLine]:
    kept: list[CodeLine] = []
    reachable = True
    for line in lines:
        reachable = reachable or isinstance(line, LabelLine)
        if reachable or isinstance(line, NoteLine):
            kept.append(line)
        if isinstance(line, OperationLine) and line.always_leaves:
            reachable = False
    return kept


def _without_idle_jumps(lines: list[CodeLine]) -> list[CodeLine]:
    """Removes jumps to the next instruction."""
    kept: list[CodeLine] = []
    ahead: set[str] = set()  # the labels in front of the next instruction
    for line in reversed(lines):
        if isinstance(line, LabelLine):
            ahead.add(line.label)
        elif isinstance(line, OperationLine):
            if line.target in ahead and line.name in ("jmp", "jneg", "jle"):
                continue
            if line.target in ahead:
                line = OperationLine("sub", line.operands)
            ahead = set()
        kept.append(line)
    return kept[::-1]


def _without_idle_labels(lines: list[CodeLine]) -> list[CodeLine]:
    wanted = {line.target for line in lines if isinstance(line, OperationLine)}
    return [line for line in lines if not isinstance(line, LabelLine) or line.kept or line.label in wanted]
