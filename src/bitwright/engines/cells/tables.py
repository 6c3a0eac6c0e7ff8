"""The answers of a network in every local state of some kinds, compared with those of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.local import LocalStates
from bitwright.engines.cells.network import CellNetwork
from bitwright.program import Program
from bitwright.program.cells import CellKinds
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray

PART = 1 << 12  # local states that are evaluated together


@lru_cache(8)
def cell_tables(cells: CellNetwork, kinds: tuple[int, ...]) -> CellTables:
    """The tables of a network for these kinds; the last ones are kept."""
    return CellTables(cells, kinds)


class CellTables:
    """The answers and their smallest margins, local state by local state; below 0 where an answer is wrong."""

    def __init__(self, cells: CellNetwork, kinds: Sequence[int]) -> None:
        self._cells = cells
        self._tables: dict[int, tuple[BoolArray, FloatArray]] = {}
        self._writes: dict[int, BoolArray | None] = {}
        self.wrong = self.states = 0
        self.margin = np.inf  # the smallest
        for kind in kinds:
            local = cells.states[kind]
            parts, wrong = [], 0
            for numbers in _parts(local):
                on, margins = cells.judged(kind, numbers)
                least = margins.min(axis=1, initial=np.inf)
                wrong += int(np.count_nonzero(least < 0))
                parts.append((on, least))
            self._tables[kind] = tuple(np.concatenate(one) for one in zip(*parts, strict=True))  # type: ignore[assignment]
            self.margin = min(self.margin, float(self._tables[kind][1].min(initial=np.inf)))
            self.states += local.count
            self.wrong += wrong
            if not wrong:
                self._writes[kind] = local.writes

    def of(self, kind: int) -> tuple[BoolArray, FloatArray]:  # (local states, ports), (local states,)
        return self._tables[kind]

    def writes(self, kind: int) -> BoolArray | None:  # (templates, ports)
        """The ports that each template sets, whatever else matches; None if that does not give all answers."""
        if kind not in self._writes:
            local, on = self._cells.states[kind], self._tables[kind][0]
            writes = np.ones((local.kind.templates, len(local.kind.ports)), dtype=bool)
            for numbers in _parts(local):
                writes &= local.matched(numbers).T.astype(np.float32) @ ~on[numbers] == 0
            given = all(
                np.array_equal(local.matched(numbers).astype(np.float32) @ writes > 0, on[numbers])
                for numbers in _parts(local)
            )
            self._writes[kind] = writes if given else None
        return self._writes[kind]

    def as_program(self, program: Program, found: CellKinds, places: Sequence[int]) -> Program:
        """The program with the writes that the answers give each template; `places`: of its kinds in the pattern."""
        kinds = [self._cells.states[place] for place in places]
        found_writes = [self.writes(place) for place in places]
        if all(
            own is not None and np.array_equal(own, local.writes)
            for own, local in zip(found_writes, kinds, strict=True)
        ):
            return program
        templates: list[IntArray] = []
        bits: list[IntArray] = []
        kind_of = found.of[found.wire_cell]
        for own, writes in enumerate(found_writes):
            assert writes is not None
            for number, port in np.argwhere(writes).tolist():
                wires = np.flatnonzero((kind_of == own) & (found.wire_port == port))
                templates.append(found.order[found.first_template[found.wire_cell[wires]] + number])
                bits.append(found.wire_bit[wires])
        template, bit = (np.concatenate([np.zeros(0, dtype=np.int64), *parts]) for parts in (templates, bits))
        order = np.lexsort((bit, template))
        start = np.searchsorted(template[order], np.arange(program.templates + 1))
        return replace(program, write_start=start, write_bits=bit[order])


def _parts(local: LocalStates) -> list[IntArray]:
    return [np.arange(at, min(at + PART, local.count)) for at in range(0, local.count, PART)]
