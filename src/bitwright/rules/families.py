"""Records the source line of each block and template, and its row in that line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bitwright.common.errors import Problem
from bitwright.common.frozen import FrozenArrays, frozen
from bitwright.rules.layout import IntArray


@dataclass(frozen=True)
class WrittenAt:
    """The source position of a family, and the value of each index in each row."""

    text: str
    line: int = 0
    column: int = 0
    place: str = ""
    indices: Mapping[str, IntArray] = field(default_factory=dict)

    def problem(self, message: str, row: int | None = None) -> Problem:
        return Problem(self.line, self.column, message + self.at(row), self.place)

    def at(self, row: int | None) -> str:
        """Formats the indices of a row, such as ` (at i=3, j=1)`; empty without indices."""
        if row is None or not self.indices:
            return ""
        return " (at " + ", ".join(f"{name}={int(values[row])}" for name, values in self.indices.items()) + ")"

    def __str__(self) -> str:
        return self.where or self.text

    @property
    def where(self) -> str:
        """The position, such as `line 7` or `addition.py:49`; empty if unknown."""
        return self.place or (f"line {self.line}" if self.line else "")


Origin = WrittenAt | Sequence[WrittenAt]  # one line, or several one-row lines that are separate families


@dataclass(frozen=True, eq=False)
class Families(FrozenArrays):
    """The families of the blocks or of the templates of a program.

    A line such as `block p[i] q[i] for i in 1..4`, or the corresponding Builder call, is a family of four blocks with
    indices 0 to 3. A line without indices is a family of one. A rule that compares two bits is two families, one for
    each pair of values that satisfies the comparison.

    >>> from bitwright.rules import parse
    >>> lines = ["bits p[3]", "block p[i] for i in 1..3", "when p[1]=1 write p[2]"]
    >>> lines += ["when p[i]=1 write p[1] for i in 2..3"]
    >>> rules = parse(chr(10).join(lines)).program.rule_families
    >>> rules.of.tolist(), rules.index.tolist()
    ([0, 1, 1], [0, 0, 1])
    >>> rules.labels[1], rules.places[1], rules.members(1).tolist()
    ('when p[i]=1 write p[1] for i in 2..3', 'line 4', [1, 2])
    """

    of: IntArray  # the family of each block or template
    index: IntArray  # its position in the family, from 0
    labels: tuple[str, ...]  # the text of each family
    places: tuple[str, ...]  # the position of each family: `line 7`, `addition.py:49`, `block 3` of a table

    def __len__(self) -> int:
        return len(self.labels)

    def followed_by(self, others: Families) -> Families:
        """Appends other families."""
        return Families(
            np.concatenate((self.of, others.of + len(self))),
            np.concatenate((self.index, others.index)),
            self.labels + others.labels,
            self.places + others.places,
        )

    @cached_property
    def sizes(self) -> IntArray:
        """The number of blocks or templates of each family."""
        return frozen(np.bincount(self.of, minlength=len(self)))

    @cached_property
    def _by_family(self) -> tuple[IntArray, IntArray]:
        return np.lexsort((self.index, self.of)), np.concatenate(([0], np.cumsum(self.sizes)))

    def members(self, family: int) -> IntArray:
        """Returns the blocks or templates of one family, in the order of its rows."""
        order, start = self._by_family
        return order[start[family] : start[family + 1]]


class NumberedRows:
    """Numbers the rows of several families consecutively, and finds the family of each row."""

    def __init__(self, parts: Iterable[tuple[int, Origin]]) -> None:
        self.origins: list[WrittenAt] = []
        first, total = [np.zeros(0, dtype=np.int64)], 0
        for count, origin in parts:
            if isinstance(origin, WrittenAt):
                self.origins.append(origin)
                first.append(np.array([total]))
            else:
                self.origins.extend(origin)
                first.append(total + np.arange(count))
            total += count
        self.count = total
        self.first: IntArray = np.append(np.concatenate(first), total)  # the first row of each family, and the end

    def family(self, row: int) -> int:
        return int(np.searchsorted(self.first, row, side="right")) - 1

    def index(self, row: int) -> int:
        """Returns the position of a row in its family."""
        return row - int(self.first[self.family(row)])

    def problem(self, row: int, message: str) -> Problem:
        return self.origins[self.family(row)].problem(message, self.index(row))

    def by_family(self, rows: IntArray) -> list[tuple[int, IntArray]]:
        """Groups the indices into `rows` by family, so that each family is reported once."""
        owners = np.searchsorted(self.first, rows, side="right") - 1
        order = np.argsort(owners, kind="stable")
        present, start = np.unique(owners[order], return_index=True)
        return list(zip(present.tolist(), np.split(order, start[1:]), strict=True)) if len(present) else []

    def families(self, order: IntArray) -> Families:
        """Returns the families of these rows, in the given order."""
        of = np.repeat(np.arange(len(self.origins)), np.diff(self.first))[order]
        before = np.zeros(self.count + 1, dtype=np.int64)  # number of these rows before each row
        before[order + 1] = 1
        before = np.cumsum(before)
        return Families(
            of,
            before[order] - before[self.first[of]],
            tuple(origin.text for origin in self.origins),
            tuple(origin.where for origin in self.origins),
        )
