"""The rule of a cellular automaton from boards before and after a step: each cell of each board is an example.

One step of rules cannot read overlapping neighbourhoods, so every cell keeps copies of its neighbours: a block of the
whole neighbourhood, whose templates write the cell's next value to its copies around it. So all cells are of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted, suggestion
from bitwright.common.files.executions import Executions
from bitwright.inference.rules import InferredRules
from bitwright.rules.layout import IntArray

Offsets = tuple[tuple[int, int], ...]  # rows down and columns right of a cell

NEIGHBOURHOODS: Mapping[str, Offsets] = {
    "moore": tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)),
    "von-neumann": ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)),
    "line": ((0, -1), (0, 0), (0, 1)),
}


@dataclass(frozen=True)
class Disagreement:
    """Two cells with the same neighbourhood and different next values. Places are (state, row, column), from 0."""

    config: int
    on: tuple[int, int, int]
    off: tuple[int, int, int]
    times_on: int
    times_off: int


@dataclass(frozen=True, eq=False, repr=False)
class LocalRule(InferredRules):
    """A table from neighbourhoods to next values, as far as boards showed it. Bit j of a configuration is offset j.

    >>> from bitwright import Executions, infer, parse
    >>> boards = np.random.default_rng(0).random((50, 8)) < 0.5
    >>> after = np.roll(boards, 1, axis=1)  # everything moves to the right
    >>> states = Executions(boards, after, tuple(f"x[{i}]" for i in range(1, 9)))
    >>> rule = infer(states, grid=(1, 8), neighbourhood="line")
    >>> rule.writes, parse(rule.text())
    ([1, 3, 5, 7], NodeProgram 'program': 3 bits of nodes, 4 templates)
    """

    neighbourhood: str
    height: int
    width: int
    examples: int  # cells of boards
    on: IntArray  # (2^m,) how often each configuration was followed by 1
    off: IntArray  # (2^m,) and by 0
    disagreement: Disagreement | None

    @property
    def offsets(self) -> Offsets:
        """The cells of the neighbourhood."""
        return NEIGHBOURHOODS[self.neighbourhood]

    @property
    def writes(self) -> list[int]:
        """The configurations that are followed by 1."""
        return np.flatnonzero((self.on > 0) & (self.off == 0)).tolist()

    @property
    def seen(self) -> int:
        """The number of configurations that some cell showed."""
        return int(((self.on > 0) | (self.off > 0)).sum())

    @property
    def unseen(self) -> list[int]:
        """The configurations that no cell showed."""
        return np.flatnonzero((self.on == 0) & (self.off == 0)).tolist()

    def further_cells(self) -> int:
        """Cells of random boards, each a fair coin, until less than half a configuration is expected to be unseen."""
        left, size = len(self.unseen), len(self.on)
        return 0 if not left else int(np.ceil(np.log(2 * left) / -np.log1p(-1 / size)))

    def text(self) -> str:
        """A node program for boards and tori of any size; raises InputError where no cell is ever turned on."""
        if not self.writes:
            raise InputError("no neighbourhood is followed by 1 in these boards, so there is no rule to write")
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        offsets = self.offsets
        m, centre = len(offsets), offsets.index((0, 0)) + 1
        # the cell at offset (d, e) of another sees that one at (-d, -e): copy j of each neighbour lies opposite
        copies = [
            f"{_way(-down, -right)}near[{place}]" for place, (down, right) in enumerate(offsets, 1) if place != centre
        ]
        yield f"# a cellular automaton, inferred from {counted(self.examples, 'cell')} of boards"
        yield f"# neighbourhood {self.neighbourhood}: {self.seen:,} of {len(self.on):,} configurations seen, "
        yield f"# {len(self.writes):,} of them followed by 1; those that were not seen are followed by 0"
        yield "let generations = 1"
        yield f"bits near[{m}]  # the cell's copies of its neighbourhood"
        yield "block near[*]"
        for config in self.writes:
            tests = " ".join(f"near[{place + 1}]={config >> place & 1}" for place in range(m))
            yield f"when {tests} write near[{centre}] {' '.join(copies)}"
        yield f"input alive = near[{centre}], {' '.join(copies)}"
        yield f"output alive = near[{centre}]"
        yield "steps generations"

    @property
    def inferred(self) -> bool:
        """Whether one rule explains all boards."""
        return self.disagreement is None

    def report(self) -> Iterator[str]:
        if self.disagreement is not None:
            yield from self._disagreed(self.disagreement)
            return
        boards = self.examples // (self.height * self.width)
        yield (
            f"INFERRED: a rule of {counted(len(self.writes), 'configuration')} that turn a cell on, "
            f"from {counted(self.examples, 'cell')} of {counted(boards, 'board')}"
        )
        around = f"configurations of the neighbourhood {self.neighbourhood}"
        yield f"  seen        {self.seen:,} of {len(self.on):,} {around}"
        if self.unseen:
            yield f"  not seen    {len(self.unseen):,}, taken to turn a cell off"
            more = self.further_cells()
            yield f"  to come     about {more:,} cells more of boards of which every cell is a fair coin"

    def _disagreed(self, found: Disagreement) -> Iterator[str]:
        value, others = (1, found.times_off) if found.times_on <= found.times_off else (0, found.times_on)
        rare, usual = (found.on, found.off) if value else (found.off, found.on)
        few = counted(found.times_on + found.times_off - others, "time")
        yield "CONTRADICTION: two cells have the same neighbourhood and different next values"
        yield f"  neighbourhood {found.config:0{len(self.offsets)}b}, the last cell first"
        yield f"  followed by {value} at {_place(rare)}, {few}"
        yield f"  followed by {1 - value} at {_place(usual)}, {counted(others, 'time')}"
        yield "  the data have a wrong bit, or the neighbourhood is larger"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright infer --grid --json` prints it, but for the names of files."""
        found = self.disagreement
        return {
            "inferred": self.inferred,
            "reason": None if found is None else "contradiction",
            "grid": [self.height, self.width],
            "neighbourhood": self.neighbourhood,
            "cells": self.examples,
            "configurations": len(self.on),
            "seen": self.seen,
            "on": self.writes,
            "not_seen": self.unseen,
            "further_cells": self.further_cells(),
            "contradiction": None
            if found is None
            else {
                "configuration": found.config,
                "on_at": [at + 1 for at in found.on],
                "off_at": [at + 1 for at in found.off],
                "times_on": found.times_on,
                "times_off": found.times_off,
            },
        }


def infer_local_rule(executions: Executions, height: int, width: int, neighbourhood: str = "moore") -> LocalRule:
    """The table that boards of this size, row by row in the bits of a state, show; they are tori.

    `neighbourhood` is moore, von-neumann or line; `text()` of the rule is a node program for any board.

    >>> boards = np.random.default_rng(0).random((200, 9)) < 0.5
    >>> same = Executions(boards, boards, tuple(f"x[{i}]" for i in range(1, 10)))
    >>> infer_local_rule(same, 3, 3, "von-neumann").seen
    32
    """
    offsets = NEIGHBOURHOODS.get(neighbourhood)
    if offsets is None:
        known = list(NEIGHBOURHOODS)
        raise InputError(
            f"there is no neighbourhood '{neighbourhood}'; choose {', '.join(known)}{suggestion(neighbourhood, known)}"
        )
    least = (3 if any(down for down, _ in offsets) else 1, 3)
    if height < least[0] or width < least[1]:
        raise InputError(
            f"a torus needs at least {least[0]}x{least[1]} cells for the neighbourhood {neighbourhood}, "
            f"so that no cell is its own neighbour, got {height}x{width}"
        )
    if height * width != len(executions.names):
        raise InputError(
            f"boards of {height}x{width} have {height * width:,} cells, but these states have "
            f"{counted(len(executions.names), 'bit')}"
        )
    boards = executions.before.reshape(-1, height, width)
    config = np.zeros(boards.shape, dtype=np.int64)
    for place, (down, right) in enumerate(offsets):
        config |= np.roll(boards, (-down, -right), axis=(1, 2)).astype(np.int64) << place
    after, flat = executions.after.ravel(), config.ravel()
    size = 1 << len(offsets)
    on, off = np.bincount(flat[after], minlength=size), np.bincount(flat[~after], minlength=size)
    return LocalRule(
        neighbourhood, height, width, len(flat), on, off, _disagreement(flat, after, on, off, (height, width))
    )


def _disagreement(
    flat: IntArray, after: BoolArray, on: NDArray[np.int64], off: NDArray[np.int64], shape: tuple[int, int]
) -> Disagreement | None:
    both = np.flatnonzero((on > 0) & (off > 0))
    if not len(both):
        return None
    config = int(both[np.argmax(np.abs(on - off)[both])])  # where one side is most alone: a wrong bit stands out

    def place(value: bool) -> tuple[int, int, int]:
        cell = int(np.flatnonzero((flat == config) & (after == value))[0])
        state, rest = divmod(cell, shape[0] * shape[1])
        return state, *divmod(rest, shape[1])

    return Disagreement(config, place(True), place(False), int(on[config]), int(off[config]))


def _place(place: tuple[int, int, int]) -> str:
    state, row, column = (at + 1 for at in place)
    return f"row {row:,}, column {column:,} after state {state:,}"


def _way(down: int, right: int) -> str:
    """The path to a neighbour: `north.east.`; none to the cell itself."""
    row, column = ("", "south", "north")[down], ("", "east", "west")[right]
    return "".join(f"{part}." for part in (row, column) if part)
