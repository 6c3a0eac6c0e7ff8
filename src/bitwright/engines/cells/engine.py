"""Engines cell by cell: every cell through one small network, or through the limit of such networks.

Where the local states are few the network is evaluated once on each. If it then says of all of them what the rules say,
every step of it is a step of the rules (docs/explanation/cells.md has the theorem), and the loops of the rules
make it. If not, its own table makes the steps. Whatever else decides on a pattern's bits is used in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.deciders import Decider
from bitwright.engines.cells.network import CellNetwork
from bitwright.engines.cells.wiring import Wiring
from bitwright.engines.protocol import Batch
from bitwright.engines.rules import RuleEngine
from bitwright.networks import AnyNetwork
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.program.pattern import Pattern
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.decisions import Decisions, decide
from bitwright.theory.rounding import Rounding

TABLED = 1 << 20  # local states that are all evaluated beforehand
_PART = 1 << 12
_KEPT = 1 << 20  # local states whose outputs are kept, where there are more


class CellEngine:
    """Steps a program by what decides for its cells; with `evaluate`, every cell of every step for real.

    That is networks, which are then averaged, or a limit (engines/cells/deciders.py).
    """

    closed_form = False

    def __init__(
        self,
        program: Program,
        pattern: Pattern,
        by: Decider | Sequence[AnyNetwork],
        rounding: Rounding = "calibrated",
        evaluate: bool = False,
        compiled: bool = True,
        tile: int | None = None,
    ) -> None:
        self.program, self.evaluate = program, evaluate
        self.cells = CellNetwork(pattern, by, rounding)
        self.wiring = Wiring(program, pattern, tile)
        decider = self.cells.decider
        self.name, self.rounding = decider.engine, decider.rounding
        self.examples, self.kind = decider.examples, decider.kind
        self.seed, self.networks, self.digests = decider.seed, decider.networks, decider.digests
        self._rules = RuleEngine(program, compiled)
        self._known: dict[int, tuple[IntArray, BoolArray, FloatArray]] = {}  # outputs, where there are no tables

    @property
    def pattern(self) -> Pattern:
        return self.cells.pattern

    @cached_property
    def tables(self) -> CellTables | None:
        """The network's outputs on every local state of the kinds that occur; None where these are too many."""
        kinds = [wired.kind for wired in self.wiring.kinds]
        return (
            CellTables(self.cells, kinds) if sum(self.pattern.kinds[k].local_states for k in kinds) <= TABLED else None
        )

    @property
    def right(self) -> bool:
        """Whether of every local state is said what the rules say; then each step is theirs."""
        return self.tables is not None and not self.tables.wrong

    @property
    def proved(self) -> bool:
        """The same, and in exact arithmetic: then it is so on every machine."""
        return self.right and self.cells.decider.exact

    @property
    def cell_facts(self) -> dict[str, object]:
        """How many kinds and local states there are, and what trying all of them has shown."""
        kinds, tables = [wired.kind for wired in self.wiring.kinds], self.tables
        return {
            "kinds": len(kinds),
            "local_states": sum(self.pattern.kinds[kind].local_states for kind in kinds),
            "tile": self.wiring.tile,
            "width": self.cells.decider.width,
            "networks": self.networks,
            "proved": self.proved,
            "wrong": None if tables is None else tables.wrong,
            "margin": None if tables is None or np.isinf(tables.margin) else tables.margin,
            "evaluated": self.evaluate or tables is None,
        }

    @property
    def _by_rules(self) -> bool:
        return self.right and not self.evaluate

    @property
    def fallible(self) -> bool:
        return not self.right

    @property
    def costly(self) -> bool:
        return not self._by_rules

    @property
    def decisions(self) -> Decisions | None:
        return decide(self.program, self.examples, None) if self._by_rules else None

    @property
    def chunk(self) -> int:
        return self._rules.chunk if self._by_rules else max(1, (1 << 22) // self.program.bits)

    def describe(self) -> dict[str, object]:
        own = {"engine": self.name, "rounding": self.rounding, "examples": self.examples, "cells": list(self.digests)}
        drawn = {} if self.name != "sampled" else {"networks": self.networks, "seed": self.seed}
        return {**own, **drawn, "tile": self.wiring.tile, "evaluate": self.evaluate}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        return self._rules.begin(states, long) if self._by_rules else CellBatch(self, states)

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
        """The next states as the network decides on them, and the smallest margin in each state."""
        ports: list[BoolArray] = []
        margin = np.full(len(states), np.inf)
        for wired, numbers in zip(self.wiring.kinds, self.wiring.numbers(states), strict=True):
            on, margins = self._look_up(wired.kind, numbers)
            ports.append(on)
            margin = np.minimum(margin, margins.min(axis=1, initial=np.inf))
        return self.wiring.written(ports, len(states)), margin

    def _look_up(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:
        """Ports and margins of cells: evaluated now, once for each different local state, or from the tables."""
        if self.tables is not None and not self.evaluate:
            on, margins = self.tables.of(kind)
            return on[numbers], margins[numbers]
        different, place = np.unique(numbers, return_inverse=True)
        on, margins = self._evaluated(kind, different) if self.evaluate else self._kept(kind, different)
        place = place.reshape(numbers.shape)
        return on[place], margins[place]

    def _evaluated(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:
        found = [self.cells.ports(kind, numbers[at : at + _PART]) for at in range(0, len(numbers) or 1, _PART)]
        margins = [margin.min(axis=1, initial=np.inf) for _, margin in found]
        return np.concatenate([on for on, _ in found]), np.concatenate(margins)

    def _kept(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:  # ascending, each once
        """From what was evaluated before, where it is known; it is forgotten before it takes too much memory."""
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


class CellTables:
    """What a network says of every local state of some kinds, beside what the rules say."""

    def __init__(self, cells: CellNetwork, kinds: Sequence[int]) -> None:
        self._tables: dict[int, tuple[BoolArray, FloatArray]] = {}
        self.wrong = self.states = 0
        self.margin = np.inf  # the smallest; below 0 where something is wrong
        for kind in kinds:
            local = cells.states[kind]
            parts = []
            for at in range(0, local.count, _PART):
                numbers = np.arange(at, min(at + _PART, local.count))
                on, margins = cells.ports(kind, numbers)
                right = on == local.truth(local.matched(numbers))
                self.wrong += int((~right).any(axis=1).sum())
                self.margin = min(self.margin, float(np.where(right, margins, -margins).min(initial=np.inf)))
                parts.append((on, margins.min(axis=1, initial=np.inf)))
            self._tables[kind] = tuple(np.concatenate(one) for one in zip(*parts, strict=True))  # type: ignore[assignment]
            self.states += local.count

    def of(self, kind: int) -> tuple[BoolArray, FloatArray]:  # (local states, ports), (local states,)
        return self._tables[kind]


class CellBatch(Batch):
    """States on their way, cell by cell."""

    def __init__(self, engine: CellEngine, states: BoolArray) -> None:
        self._engine = engine
        self._now = self._before = states.copy()
        self._margin = np.full(len(states), np.inf)

    def step(self) -> None:
        following, self._margin = self._engine.following(self._now)
        self._before, self._now = self._now, following

    def load(self, states: BoolArray) -> None:
        self._now = states.copy()

    def states(self) -> BoolArray:
        return self._now.copy()

    def bit(self, bit: int) -> BoolArray:
        return self._now[:, bit].copy()

    def unchanged(self) -> BoolArray:
        return np.asarray((self._now == self._before).all(axis=1))

    def keep(self, rows: BoolArray) -> None:
        self._now, self._before, self._margin = self._now[rows], self._before[rows], self._margin[rows]

    def margin(self) -> FloatArray:
        return self._margin
