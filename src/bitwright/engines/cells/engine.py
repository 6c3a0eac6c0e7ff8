"""The cell engine: evaluates one small network in every cell.

The network is evaluated once on every local state, and all steps use this table of its outputs, right or wrong
(docs/explanation/cells.md). If there are too many local states, those that occur are evaluated and cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import counted, thousandths
from bitwright.common.workers.linear_algebra import NUMPY
from bitwright.engines.cells import Decider
from bitwright.engines.cells.network import PART, CellTables, are_few, cell_tables, network_decider
from bitwright.engines.cells.wiring import Wiring
from bitwright.engines.protocol import ArrayBatch, Batch, Engine
from bitwright.engines.rules import LARGE, PackedBatch, RuleEngine, loops_pay, one_by_one
from bitwright.engines.table import PackedCells, fits
from bitwright.networks import IntegerNetwork
from bitwright.rules import Program
from bitwright.rules.cells import Tile
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.decisions import Decisions, decide
from bitwright.theory.encoding import Words, unpack

_TOGETHER = 1 << 10  # states of a batch, if they are evaluated
_KEPT = 1 << 20  # local states whose outputs are cached, if there are more


class CellEngine(Engine):
    """Steps a program cell by cell, by one network (engines/cells)."""

    name = "network"
    networks = 1
    examples: int

    def __init__(
        self,
        program: Program,
        pattern: Pattern,
        by: Decider | IntegerNetwork,
        tile: Tile | None = None,
    ) -> None:
        self.program = program
        decider = by if isinstance(by, Decider) else network_decider(pattern, by)
        self.decider, self.pattern = decider, pattern
        self.wiring = Wiring(program, pattern, tile)
        self.rounding = decider.rounding
        self.library = None if decider.exact else NUMPY
        self.examples, self.kind = decider.examples, decider.kind
        self.seed, self.digests = decider.seed, decider.digests
        self._known: dict[int, tuple[IntArray, BoolArray, FloatArray]] = {}  # outputs, if there are no tables

    def __getstate__(self) -> dict[str, object]:
        """Pickles without the data that other processes can pack again."""
        return {name: value for name, value in vars(self).items() if name not in ("packed", "answered")}

    @cached_property
    def tables(self) -> CellTables | None:
        """The network's outputs on every local state of the kinds that occur; None if there are too many."""
        kinds = tuple(self.wiring.places)
        return cell_tables(self.decider, kinds) if are_few(self.pattern, self.decider.width, kinds) else None

    @cached_property
    def packed(self) -> PackedCells | None:
        """The network's outputs packed for the compiled loop; None if there are too many, or a cell is too large."""
        tables, found = self.tables, self.wiring.found
        if tables is None or not fits(found.kinds):
            return None
        places = self.wiring.places
        return PackedCells(self.program, self.wiring.cells, found, lambda own: tables.of(places[own])[0])

    @cached_property
    def answered(self) -> AnsweredEngine | None:
        """An engine in packed words that steps many states at once; None unless every output agrees with the rules."""
        return AnsweredEngine(self) if self.right else None

    @property
    def right(self) -> bool:
        """Whether the output in every local state agrees with the rules, and so does every step."""
        return self.tables is not None and not self.tables.wrong

    @property
    def proved(self) -> bool:
        """Whether this holds in exact arithmetic and therefore on every machine."""
        return self.right and self.decider.exact

    @property
    def cell_facts(self) -> dict[str, object]:
        """The number of kinds and local states, and the result of checking all of them."""
        kinds, tables = self.wiring.places, self.tables
        return {
            "kinds": len(kinds),
            "local_states": sum(self.pattern.kinds[kind].local_states for kind in kinds),
            "tile": self.wiring.tile,
            "width": self.decider.width,
            "proved": self.proved,
            "wrong": None if tables is None else tables.wrong,
            "margin": None if tables is None or np.isinf(tables.margin) else tables.margin,
        }

    def describe(self) -> dict[str, object]:
        return super().describe() | self.decider.describe()

    @property
    def fallible(self) -> bool:
        return not self.right

    @property
    def costly(self) -> bool:
        return self.tables is None

    @property
    def decisions(self) -> Decisions | None:
        return None if not self.right else decide(self.program, self.examples, None)

    @property
    def chunk(self) -> int:
        if self.answered is None:
            return max(1, min(_TOGETHER, (1 << 22) // self.program.bits))
        return self.answered.chunk

    def together(self, states: BoolArray) -> int:
        return 1 if self.packed is not None and one_by_one(self.program, states) else self.chunk

    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        if self.tables is None:
            return ArrayBatch(self, states)
        if len(states) == 1 and (long or self.program.templates >= LARGE or loops_pay()) and self.packed is not None:
            from bitwright.engines.table.batch import TableBatch  # compiled loops, imported only when used

            return TableBatch(self.packed, states[0], self._margins)
        return ArrayBatch(self, states) if self.answered is None else PackedBatch(self.answered, states)

    @cached_property
    def _margins(self) -> FloatArray:  # (entries,)
        """The margin of every entry of the packed table."""
        packed, tables = self.packed, self.tables
        assert packed is not None
        assert tables is not None
        parts = [
            tables.of(self.wiring.places[kind])[1][numbers] if kind >= 0 else np.full(len(numbers), np.inf)
            for (kind, _), numbers in zip(packed.refined, packed.numbers, strict=True)
        ]
        return np.concatenate(parts)

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
        """Returns the network's next states, and the smallest margin in each state: negative if an output is wrong."""
        ports: list[BoolArray] = []
        margin = np.full(len(states), np.inf)
        for wired, numbers in zip(self.wiring.kinds, self.wiring.numbers(states), strict=True):
            on, margins = self._look_up(wired.kind, numbers)
            ports.append(on)
            margin = np.minimum(margin, margins.min(axis=1, initial=np.inf))
        return self.wiring.written(ports, len(states)), margin

    def said(self, states: BoolArray) -> Said:
        """Returns the output for every bit in each state, from the port closest to the threshold among those that set
        the bit or, if none does, among all that are wired to it."""
        bits, (signed, *others) = self._wired(states, True)
        shape = len(states), self.program.bits
        result = [np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape)]
        for row in range(len(states) if len(bits) else 0):
            order = np.lexsort((np.abs(signed[row]), signed[row] <= 0, bits))
            first = order[np.unique(bits[order], return_index=True)[1]]
            for target, value in zip(result, (signed, *others), strict=True):
                target[row, bits[first]] = value[row, first]
        return Said(*result)

    def closest(self, states: BoolArray) -> tuple[FloatArray, IntArray]:  # (states,) both
        """Returns the smallest margin over all ports in each state (negative if an output is wrong), and a bit wired to
        the port with that margin, or -1 if there is none."""
        bits, [margins] = self._wired(states, False)
        if not len(bits):
            return np.full(len(states), np.inf), np.full(len(states), -1)
        nearest = margins.argmin(axis=1)
        margin = margins[np.arange(len(states)), nearest]
        return margin, np.where(np.isfinite(margin), bits[nearest], -1)

    def _wired(self, states: BoolArray, compared: bool) -> tuple[IntArray, list[FloatArray]]:
        """Returns the bit of every wire and its port's margin in each state, negative if the port is wrong; with
        `compared`, negative if the port is off, followed by G and T."""
        values: list[list[FloatArray]] = [[np.zeros((len(states), 0))] for _ in range(3 if compared else 1)]
        for wired, numbers in zip(self.wiring.kinds, self.wiring.numbers(states), strict=True):
            different, place = np.unique(numbers, return_inverse=True)
            at = place.reshape(numbers.shape)[:, wired.wire_cell]
            if compared:
                on, margins = self.decider.ports(wired.kind, different)
                found = [np.where(on, margins, -margins), *self.decider.compared(wired.kind, different)]
            else:
                found = [self.decider.judged(wired.kind, different)[1]]
            for kept, value in zip(values, found, strict=True):
                kept.append(value[at, wired.wire_port])
        bits = [np.zeros(0, dtype=np.int64), *(wired.wire_bit for wired in self.wiring.kinds)]
        return np.concatenate(bits), [np.concatenate(kept, axis=1) for kept in values]

    def _look_up(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:
        """Returns ports and margins of cells from the tables, or evaluates each distinct local state once."""
        if self.tables is not None:
            on, margins = self.tables.of(kind)
            return on[numbers], margins[numbers]
        different, place = np.unique(numbers, return_inverse=True)
        on, margins = self._kept(kind, different)
        place = place.reshape(numbers.shape)
        return on[place], margins[place]

    def _evaluated(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:
        found = [self.decider.judged(kind, numbers[at : at + PART]) for at in range(0, len(numbers) or 1, PART)]
        margins = [margin.min(axis=1, initial=np.inf) for _, margin in found]
        return np.concatenate([on for on, _ in found]), np.concatenate(margins)

    def _kept(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:  # ascending, each once
        """Returns the same, from a cache if possible; the cache is cleared before it takes too much memory."""
        known = self._known.get(kind)
        if known is None or len(known[0]) > _KEPT:
            known = (numbers, *self._evaluated(kind, numbers))
        at = np.searchsorted(known[0], numbers)
        fresh = numbers[known[0][np.minimum(at, len(known[0]) - 1)] != numbers]
        if len(fresh):
            found = self._evaluated(kind, fresh)
            order = np.argsort(np.concatenate((known[0], fresh)))
            parts = zip(known, (fresh, *found), strict=True)
            known = tuple(np.concatenate(both)[order] for both in parts)  # type: ignore[assignment]
        self._known[kind] = known
        at = np.searchsorted(known[0], numbers)
        return known[1][at], known[2][at]


class Said(NamedTuple):
    """The output of a network for every bit, from the port that decides it; G > T sets the bit."""

    signed: FloatArray  # (states, k) the margin, negative if not set; -inf if nothing matches or is wired
    output: FloatArray  # (states, k) G
    threshold: FloatArray  # (states, k) T


class AnsweredEngine(RuleEngine):
    """Steps many states at once by a network whose outputs agree with the rules, with its margins."""

    def __init__(self, engine: CellEngine) -> None:
        super().__init__(engine.program)
        self._engine = engine

    def margins(self, matches: Words, count: int) -> FloatArray:
        """Returns the smallest margin of the local states of each state."""
        tables, wiring = self._engine.tables, self._engine.wiring
        assert tables is not None
        matched = unpack(matches.take(self.rules.row_of, axis=0), count)  # (count, K)
        least = np.full(count, np.inf)
        for wired, numbers in zip(wiring.kinds, wiring.numbers_of(matched), strict=True):
            least = np.minimum(least, tables.of(wired.kind)[1][numbers].min(axis=1, initial=np.inf))
        return least


def cells_sentence(cells: Mapping[str, Any], steps: int, margin: float | None = None) -> str:
    """Describes the network behind a run by cells, and how many steps used its outputs.

    `margin` is the smallest of the run, if known; it is below 0 if an output that occurred was wrong.
    """
    states = counted(cells["local_states"], "local state")
    if cells["wrong"] is None:
        shown = f"{states}, too many to check in advance"
    elif cells["wrong"]:
        one, met = cells["wrong"] == 1, margin is not None and margin < 0
        which = (
            ("which occurred" if met else "which did not occur")
            if one
            else f"{'some' if met else 'none'} of which occurred"
        )
        shown = f"WRONG in {cells['wrong']:,} of {states}" + ("" if margin is None else f", {which}")
    else:
        least = "" if cells["margin"] is None else f", smallest margin {thousandths(cells['margin'])}"
        shown = f"{'proved on' if cells['proved'] else 'right in'} all {states}{least}"
    width = "" if not cells["width"] else f" of width {cells['width']:,}"  # of a function it is not known
    kinds = counted(cells["kinds"], "kind")
    return f"one network{width} for {kinds} of cells, {shown}; {counted(steps, 'step')} made from these outputs"
