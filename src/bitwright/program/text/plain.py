"""Lines that are written out in full, such as `when p[1]=1 q[1]=0 write p[1]`: a short way for long texts.

Canonical text consists of such lines. One expression finds them, and bits are looked up by their names. The short way
takes a line only where the full parser would take it for one statement and find it well-formed; and whatever it cannot
look up is given to the full parser after all, so that every problem is found there, with its line and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from bitwright.errors import InputError
from bitwright.program.assemble import BlockFamily, Picks, RuleFamily
from bitwright.program.families import WrittenAt, WrittenOut
from bitwright.program.layout import KEYWORDS, Layout
from bitwright.program.text.rows import Budget
from bitwright.program.text.syntax import PlainLine, PlainLines
from bitwright.text.scanner import Token

_BIT = rf"(?!(?:{'|'.join(sorted(KEYWORDS))})\b)[A-Za-z_][A-Za-z0-9_]{{0,63}}(?:\[[0-9]{{1,9}}(?:,[0-9]{{1,9}})*\])?"
_TEST = rf"{_BIT}!?=[01]"
_PLAIN = re.compile(
    rf"^[ \t]*(?:when(?P<tests>[ \t]+{_TEST}(?:[ \t]+(?:and[ \t]+)?{_TEST})*)[ \t]+write(?P<writes>(?:[ \t]+{_BIT})+)"
    rf"|block(?P<members>(?:[ \t]+{_BIT})+))[ \t\r]*(?:#[^\n]*)?$",
    re.MULTILINE,
)


def split_plain(text: str) -> tuple[str, dict[int, PlainLines]]:
    """The text with a lone `when` and empty lines for every run of plain lines, and the runs by their first line."""
    runs: dict[int, PlainLines] = {}
    rest: list[str] = []
    line, at = 1, 0  # line `line` holds the character `at`, behind the last plain line
    run: PlainLines | None = None
    for found in _PLAIN.finditer(text):
        start = found.start()
        between = text[at:start]
        if text.endswith(("\\\n", "\\\r\n"), 0, start):
            continue  # the line above goes on in this one
        line += between.count("\n")
        members = found["members"]
        keyword = "when" if members is None else "block"
        column = text.index(keyword, start) - start + 1
        if run is None or between.strip(" \t\r\n"):
            run = runs[line] = PlainLines(Token("name", keyword, line, column), [], [])
            rest += [between, "when"]
        else:
            rest.append("\n" * between.count("\n"))
        at = found.end()
        plain = PlainLine(line, column, found.group(), members or found["tests"], found["writes"] or "")
        (run.rules if members is None else run.blocks).append(plain)
    rest.append(text[at:])
    return "".join(rest), runs


class _BitsByName(dict[str, int]):
    """`p[3]` to its bit, remembered."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __missing__(self, name: str) -> int:
        bit = self[name] = self._layout.bit(name)
        return bit


class _ConditionsByName(dict[str, int]):
    """`p[3]=1` or `p[3]!=0` to twice its bit plus the value, remembered."""

    def __init__(self, bits: _BitsByName) -> None:
        self._bits = bits

    def __missing__(self, condition: str) -> int:
        name, _, value = condition.partition("=")
        bit = self._bits[name.removesuffix("!")]
        code = self[condition] = 2 * bit + (int(value) ^ name.endswith("!"))
        return code


@dataclass
class _Batch:
    """Lines whose bits were all found, as numbers; left of `write` (or in a block), and right of it."""

    lines: list[PlainLine] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    left_counts: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    right_counts: list[int] = field(default_factory=list)

    def add(self, line: PlainLine, left: list[int], right: list[int]) -> None:
        self.lines.append(line)
        self.left += left
        self.left_counts.append(len(left))
        self.right += right
        self.right_counts.append(len(right))

    def origins(self) -> WrittenOut:
        return WrittenOut([WrittenAt(line.text(), line.line, line.column) for line in self.lines])


Family = TypeVar("Family", BlockFamily, RuleFamily)


class PlainReader:
    """Looks up the bits of plain lines; `fully` reads a line in the long way."""

    def __init__(self, layout: Layout, budget: Budget) -> None:
        self._budget = budget
        self._bits = _BitsByName(layout)
        self._conditions = _ConditionsByName(self._bits)

    def blocks(
        self, lines: Sequence[PlainLine], fully: Callable[[PlainLine], Sequence[BlockFamily]]
    ) -> Iterator[BlockFamily]:
        def family(batch: _Batch) -> BlockFamily:
            return BlockFamily(len(batch.lines), _picks(batch.left_counts, batch.left), batch.origins())

        return self._families(lines, self._bits, 1, family, fully)

    def rules(
        self, lines: Sequence[PlainLine], fully: Callable[[PlainLine], Sequence[RuleFamily]]
    ) -> Iterator[RuleFamily]:
        def family(batch: _Batch) -> RuleFamily:
            when, write = _picks(batch.left_counts, batch.left), _picks(batch.right_counts, batch.right)
            conditions = Picks(when.rows, when.bits >> 1)
            return RuleFamily(len(batch.lines), conditions, when.bits & 1, write, batch.origins())

        return self._families(lines, self._conditions, 2, family, fully)  # the long way counts a rule's bits twice

    def _families(
        self,
        lines: Sequence[PlainLine],
        left_names: Mapping[str, int],
        cost: int,
        family: Callable[[_Batch], Family],
        fully: Callable[[PlainLine], Sequence[Family]],
    ) -> Iterator[Family]:
        for batch, unknown in self._batches(lines, left_names):
            if self._budget.affords(cost * (len(batch.left) + len(batch.right))):
                yield family(batch)
            else:
                for line in batch.lines:
                    yield from fully(line)
            if unknown is not None:
                yield from fully(unknown)

    def _batches(
        self, lines: Sequence[PlainLine], left_names: Mapping[str, int]
    ) -> Iterator[tuple[_Batch, PlainLine | None]]:
        """Lines up to one with a bit that cannot be looked up, and that line; at last those behind all of them."""
        batch = _Batch()
        for line in lines:
            try:
                left = [left_names[name] for name in line.left.split() if name != "and"]
                right = [self._bits[name] for name in line.right.split()]
            except InputError:
                yield batch, line
                batch = _Batch()
            else:
                batch.add(line, left, right)
        yield batch, None


def _picks(counts: list[int], bits: list[int]) -> Picks:
    rows = np.repeat(np.arange(len(counts)), counts)
    return Picks(rows, np.array(bits, dtype=np.int64))
