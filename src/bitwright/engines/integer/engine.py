"""The `network` engine for networks of whole numbers: every step is exact integer arithmetic."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.encoding.packed import PackedRules
from bitwright.engines.integer.sums import ExactSums
from bitwright.engines.protocol import Batch
from bitwright.engines.real import RealBatch, RealEngine, each_once
from bitwright.errors import InputError
from bitwright.networks.integer import IntegerNetwork, columns_of, decide_bits, sum_scale
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding


def check_whole(rounding: Rounding) -> None:
    """Raises InputError for a rounding that whole numbers cannot keep."""
    if rounding != "calibrated":
        raise InputError(
            "networks of whole numbers have calibrated thresholds; under sign the limit is exactly 0 where one example "
            "matches, and rounded weights would decide such bits by chance"
        )


class IntegerEngine(RealEngine):
    """Steps states by the sums and thresholds of one network of whole numbers."""

    name = "network"

    def __init__(self, program: Program, network: IntegerNetwork, rounding: Rounding = "calibrated") -> None:
        check_whole(rounding)
        super().__init__(program, network.examples, rounding)
        self.network, self._sums = network, ExactSums(network, program)
        self.kind, self.seed, self.networks = network.kind, network.origin.seed, network.rounded.members
        self.digests = [network.digest]
        self._rules, self._columns = PackedRules(program), columns_of(network, program)

    def __reduce__(self) -> tuple[type[IntegerEngine], tuple[Program, IntegerNetwork]]:
        return IntegerEngine, (self.program, self.network)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "whole numbers": self.digests}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return IntegerBatch(self, states)

    def sums(self, states: BoolArray) -> tuple[IntArray, IntArray]:  # (batch, k), (batch,)
        """G of every bit, and n."""

        def evaluate(some: BoolArray) -> tuple[IntArray, IntArray]:
            matched = self._rules.matched(some)
            return self._sums(matched), np.count_nonzero(matched, axis=1)

        return each_once(states, evaluate)

    def decide(self, states: BoolArray) -> tuple[BoolArray, IntArray, IntArray]:  # (batch, k), (batch, k), (batch,)
        """The next states, the distance of every sum from deciding otherwise, and n."""
        sums, n = self.sums(states)
        return (*decide_bits(sums, n, self.network, self._columns), n)

    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:
        """The sums in the units of the training set's labels, for people to look at; no bit is decided by them."""
        sums, n = self.sums(states)
        scale = sum_scale(np.maximum(n, 1), self.examples, self.network.shape.width, self.network.rounded)
        return sums / scale[:, None], n


class IntegerBatch(RealBatch):
    """States on their way through such an engine."""

    _engine: IntegerEngine

    def step(self) -> None:
        bits, distance, n = self._engine.decide(self._now)
        self._before, self._now = self._now, bits
        unit = self._engine.network.units[np.maximum(n, 1) - 1]
        margin = (distance.min(axis=1, initial=np.iinfo(np.int64).max) - 0.5) / unit
        self._margin = np.where(n > 0, margin, np.inf)

    def rounded(self) -> None:
        """What was rounded are whole numbers, found again from the states."""
