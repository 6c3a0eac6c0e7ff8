"""Which states a network gets right for certain: a judge looks at what states match, and says for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.integer.sums import ExactSums
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.program import Program
from bitwright.proofs.exhaustion.domains import ALL
from bitwright.proofs.exhaustion.findings import Judged

# Judges every state that matches these examples, (batch, K), in the bits that are looked at.
Judge = Callable[[BoolArray, slice], Judged]


class Truth:
    """What the rules make of states: a bit is on where a template that writes it is matched (Eq. 6)."""

    def __init__(self, program: Program) -> None:
        order = np.argsort(program.write_bits, kind="stable")
        self._writer = np.repeat(np.arange(program.templates), np.diff(program.write_start))[order]
        self._bits, self._first = np.unique(program.write_bits[order], return_index=True)
        self._count = program.bits

    def __call__(self, matched: BoolArray) -> BoolArray:  # (batch, K) -> (batch, k)
        truth = np.zeros((len(matched), self._count), dtype=bool)
        if len(self._bits):
            truth[:, self._bits] = np.logical_or.reduceat(matched[:, self._writer], self._first, axis=1)
        return truth


class IntegerJudge:
    """A network of integers. The distance of a bit that must be set is G - T, of one that must not T + 1 - G.

    It is an integer, and at least 1 just where the bit is right.
    """

    def __init__(self, program: Program, network: IntegerNetwork) -> None:
        self._sums, self._network, self._truth = ExactSums(network, program), network, Truth(program)
        self._columns = columns_of(network, program)

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        n = np.count_nonzero(matched, axis=1)
        table = self._network.thresholds[np.maximum(n, 1) - 1]
        over = self._sums.products(matched) - table[:, self._columns]  # G - T
        distance = np.where(self._truth(matched), over, 1 - over)[:, own].min(axis=1)
        return Judged(n, distance, (distance < 1) & (n > 0), np.zeros(len(n), dtype=bool))
