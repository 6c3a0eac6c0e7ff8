"""The outputs of a network trained on a pattern, cell by cell, compared with the rules in every local state.

A cell is encoded only from its own matches, never from a pattern's state with zeros elsewhere: if a block has a
template for all bits off, the idle cells of such a state would also match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.engines.cells import Decider
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import ExactSums, columns_of, decide_bits, most_matches, writer_numbers
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray

_made: list[tuple[Pattern, IntegerNetwork, Decider]] = []  # the most recent, often used for many programs


def network_decider(pattern: Pattern, network: IntegerNetwork) -> Decider:
    """Returns the decider of a network; the same network has one decider."""
    for known, one, decider in _made:
        if known is pattern and one is network:
            return decider
    decider = WholeNumbers(pattern, network)
    _made[:] = [(pattern, network, decider), *_made[:3]]
    return decider


class WholeNumbers(Decider):
    """One integer network, whose arithmetic is exact."""

    exact = True

    def __init__(self, pattern: Pattern, network: IntegerNetwork) -> None:
        super().__init__(pattern, network.examples, "calibrated")
        self.kind, self.seed, self.width = network.kind, network.origin.seed, network.shape.width
        self.digests = [network.digest]
        self._network = network
        self._sums, self._columns = ExactSums(network, pattern.program), columns_of(network, pattern.program)

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        bits, distance = decide_bits(self._sums(matched), n, self._network, self._columns)
        return bits, (distance - 0.5) / self._network.units[np.maximum(n, 1) - 1][:, None]

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Returns the integer sums G, and T."""
        thresholds = self._network.thresholds[np.maximum(n, 1) - 1][:, self._columns]
        return self._sums.products(matched).astype(np.float64), thresholds.astype(np.float64)


def network_of_kind(network: IntegerNetwork, pattern: Pattern, kind: int) -> tuple[IntegerNetwork, Pattern]:
    """Returns the part of a pattern's network for cells of one kind, and the pattern of this kind alone.

    The part has the examples, bits and thresholds of that kind and computes the same sums.
    """
    if pattern.whole is not None:
        return network, pattern
    alone = Pattern((pattern.kinds[kind],))
    program, ports = alone.program, pattern.port_bits(kind)
    examples = pattern.templates_of(kind)
    bits = slice(ports.stop - program.bits, ports.stop)
    writers = writer_numbers(program)
    columns = np.searchsorted(np.array(network.writers), np.array(writers))
    part = replace(
        network,
        first=network.first[:, examples],
        last=network.last[bits],
        thresholds=network.thresholds[: most_matches(program), columns],
        writers=writers,
        origin=replace(network.origin, program_id=program.id),
    )
    return part, alone


TABLED = 1 << 20  # local states that are all evaluated in advance
_WORK = 1 << 33  # products allowed for the whole state, since a run reaches few states


def are_few(pattern: Pattern, width: int | None, kinds: Sequence[int] | None = None) -> bool:
    """Whether evaluating all local states of these kinds in advance pays off for networks of this width."""
    states = sum(pattern.kinds[kind].local_states for kind in (range(len(pattern.kinds)) if kinds is None else kinds))
    if pattern.whole is None:
        return states <= TABLED
    return states <= TABLED and states * (width or 1) * (pattern.program.templates + pattern.program.bits) <= _WORK


PART = 1 << 12  # local states evaluated together


class CellTables:
    """The outputs and smallest margins in every local state; below 0 if an output is wrong."""

    def __init__(self, decider: Decider, kinds: Sequence[int]) -> None:
        self._tables: dict[int, tuple[BoolArray, FloatArray]] = {}
        self.wrong = self.states = 0
        self.margin = np.inf  # the smallest
        for kind in kinds:
            local = decider.pattern.local[kind]
            numbers = (np.arange(at, min(at + PART, local.count)) for at in range(0, local.count, PART))
            on, margins = zip(*(decider.judged(kind, part) for part in numbers), strict=True)
            least = np.concatenate([margin.min(axis=1, initial=np.inf) for margin in margins])
            self._tables[kind] = np.concatenate(on), least
            self.margin = min(self.margin, float(least.min(initial=np.inf)))
            self.states += local.count
            self.wrong += int(np.count_nonzero(least < 0))

    def of(self, kind: int) -> tuple[BoolArray, FloatArray]:  # (local states, ports), (local states,)
        return self._tables[kind]


cell_tables = lru_cache(8)(CellTables)  # the most recent, by network and tuple of kinds
