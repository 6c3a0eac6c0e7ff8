"""A fast path for lines that are written out in full, such as `when p[1]=1 q[1]=0 write p[1]`.

Canonical text consists of such lines. One expression finds them, and bits are looked up by their names. The short way
takes a line only where the full parser would take it for one statement and find it well-formed; and whatever it cannot
look up is given to the full parser after all, so that every problem is found there, with its line and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from bitwright.errors import InputError
from bitwright.program.assemble import BitFamily, Picks, RuleFamily
from bitwright.program.families import WrittenAt
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


class _Remembered(dict[str, int]):
    """Remembers what `find` returns for a text."""

    def __init__(self, find: Callable[[str], int]) -> None:
        self._find = find

    def __missing__(self, text: str) -> int:
        found = self[text] = self._find(text)
        return found


Read = tuple[PlainLine, list[int], list[int]]  # a line, and the numbers left of `write` (or in a block) and right of it
Family = TypeVar("Family", BitFamily, RuleFamily)


class PlainReader:
    """Looks up the bits of plain lines; `fully` reads a line in the long way."""

    def __init__(self, layout: Layout, budget: Budget) -> None:
        self._budget, self._bits = budget, _Remembered(layout.bit)
        self._conditions = _Remembered(self._condition)

    def _condition(self, text: str) -> int:
        """`p[3]=1` or `p[3]!=0` as twice the bit plus its value."""
        name, _, value = text.partition("=")
        return 2 * self._bits[name.removesuffix("!")] + (int(value) ^ name.endswith("!"))

    def blocks(
        self, lines: Sequence[PlainLine], fully: Callable[[PlainLine], Sequence[BitFamily]]
    ) -> Iterator[BitFamily]:
        def family(batch: Sequence[Read]) -> BitFamily:
            return BitFamily(len(batch), Picks.of_rows([left for _, left, _ in batch]), _origins(batch))

        return self._families(lines, self._bits, 1, family, fully)

    def rules(
        self, lines: Sequence[PlainLine], fully: Callable[[PlainLine], Sequence[RuleFamily]]
    ) -> Iterator[RuleFamily]:
        def family(batch: Sequence[Read]) -> RuleFamily:
            when, write = (Picks.of_rows([read[side] for read in batch]) for side in (1, 2))  # type: ignore[misc]
            return RuleFamily(len(batch), Picks(when.rows, when.bits >> 1), when.bits & 1, write, _origins(batch))

        return self._families(lines, self._conditions, 2, family, fully)  # the long way counts a rule's bits twice

    def _families(
        self,
        lines: Sequence[PlainLine],
        left_names: Mapping[str, int],
        cost: int,
        family: Callable[[Sequence[Read]], Family],
        fully: Callable[[PlainLine], Sequence[Family]],
    ) -> Iterator[Family]:
        """Families of lines, each up to one with a bit that cannot be looked up, which is read fully."""
        batch: list[Read] = []
        for line in (*lines, None):
            try:
                if line is not None:
                    left = [left_names[name] for name in line.left.split() if name != "and"]
                    batch.append((line, left, [self._bits[name] for name in line.right.split()]))
                    continue
            except InputError:
                pass
            if self._budget.affords(cost * sum(len(left) + len(right) for _, left, right in batch)):
                yield family(batch)
            else:
                yield from (found for read, _, _ in batch for found in fully(read))
            if line is not None:
                yield from fully(line)
            batch = []


def _origins(batch: Sequence[Read]) -> list[WrittenAt]:
    return [WrittenAt(line.text(), line.line, line.column) for line, _, _ in batch]
