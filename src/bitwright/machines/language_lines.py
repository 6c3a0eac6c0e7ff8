"""Lines of assembly text that are still to be improved: superfluous jumps and labels go, then they become text."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Operation:
    name: str
    operands: tuple[str, ...]
    target: str | None = None

    @property
    def always_leaves(self) -> bool:
        return self.name == "jmp"


@dataclass(frozen=True)
class Mark:
    label: str
    kept: bool = False  # because more than jumps know it


@dataclass(frozen=True)
class Note:
    text: str


Line = Operation | Mark | Note


def tidy(lines: list[Line]) -> list[Line]:
    """The same program with fewer lines; a jump that has lost its sense may take another with it, so until none is."""
    lines = _straightened(lines)
    while True:
        shorter = _without_idle_labels(_without_idle_jumps(_without_unreachable(lines)))
        if len(shorter) == len(lines):
            return shorter
        lines = shorter


def text_of(line: Line) -> str:
    match line:
        case Mark(label):
            return f"{label}:"
        case Note(text):
            return f"; {text}"
        case Operation(name, operands, target):
            return " ".join(("   ", name, *operands, *([target] if target else [])))


def _straightened(lines: list[Line]) -> list[Line]:
    """Whatever goes to a jump goes where that jump goes."""
    onward: dict[str, str] = {}
    following: Line | None = None
    for line in reversed(lines):
        if isinstance(line, Operation):
            following = line
        elif isinstance(line, Mark) and isinstance(following, Operation) and following.always_leaves:
            onward[line.label] = following.target or line.label

    def final(label: str) -> str:
        seen = {label}
        while onward.get(label, label) not in seen:
            label = onward[label]
            seen.add(label)
        return label

    return [replace(x, target=final(x.target)) if isinstance(x, Operation) and x.target else x for x in lines]


def _without_unreachable(lines: list[Line]) -> list[Line]:
    kept: list[Line] = []
    reachable = True
    for line in lines:
        reachable = reachable or isinstance(line, Mark)
        if reachable or isinstance(line, Note):
            kept.append(line)
        if isinstance(line, Operation) and line.always_leaves:
            reachable = False
    return kept


def _without_idle_jumps(lines: list[Line]) -> list[Line]:
    """A jump to the next instruction is none."""
    kept: list[Line] = []
    ahead: set[str] = set()  # the labels in front of the next instruction
    for line in reversed(lines):
        if isinstance(line, Mark):
            ahead.add(line.label)
        elif isinstance(line, Operation):
            if line.target in ahead and line.name in ("jmp", "jneg", "jle"):
                continue
            if line.target in ahead:
                line = Operation("sub", line.operands)
            ahead = set()
        kept.append(line)
    return kept[::-1]


def _without_idle_labels(lines: list[Line]) -> list[Line]:
    wanted = {line.target for line in lines if isinstance(line, Operation)}
    return [line for line in lines if not isinstance(line, Mark) or line.kept or line.label in wanted]
