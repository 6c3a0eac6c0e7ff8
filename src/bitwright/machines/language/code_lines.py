"""Lines of assembly text that are still to be improved: superfluous jumps and labels go, then they become text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap as wrap_lines

from bitwright.errors import printable


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
    """The same program with fewer lines; a jump that has lost its sense may take another with it, so until none is."""
    lines = _straightened(lines)
    while True:
        shorter = _without_idle_labels(_without_idle_jumps(_without_unreachable(lines)))
        if len(shorter) == len(lines):
            return shorter
        lines = shorter


def _straightened(lines: list[CodeLine]) -> list[CodeLine]:
    """Whatever goes to a jump goes where that jump goes."""
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
    """A jump to the next instruction is none."""
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
