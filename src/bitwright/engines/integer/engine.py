"""The `network` engine for integer networks: every step is exact integer arithmetic."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.integer.sums import ExactSums
from bitwright.engines.real import Decided, RealEngine, each_once
from bitwright.errors import InputError
from bitwright.networks.integer import IntegerNetwork, columns_of, decide_bits
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.packed import PackedRules
from bitwright.theory.rounding import Rounding


def check_whole(rounding: Rounding) -> None:
    """Raises InputError for a rounding that integers cannot keep."""
    if rounding != "calibrated":
        raise InputError(
            "integer networks have calibrated thresholds; under sign the limit is exactly 0 where one example "
            "matches, and rounded weights would decide such bits by chance"
        )


class IntegerEngine(RealEngine):
    """Steps states by the sums and thresholds of one network of integers."""

    name = "network"

    def __init__(self, program: Program, network: IntegerNetwork, rounding: Rounding = "calibrated") -> None:
        check_whole(rounding)
        super().__init__(program, network.examples, rounding)
        self.network, self._sums = network, ExactSums(network, program)
        self.kind, self.seed, self.networks = network.kind, network.origin.seed, 1
        self.digests = [network.digest]
        self._rules, self._columns = PackedRules(program), columns_of(network, program)

    def __reduce__(self) -> tuple[type[IntegerEngine], tuple[Program, IntegerNetwork]]:
        return IntegerEngine, (self.program, self.network)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "integer networks": self.digests}

    def sums(self, states: BoolArray) -> tuple[IntArray, IntArray]:  # (batch, k), (batch,)
        """G of every bit, and n."""

        def evaluate(some: BoolArray) -> tuple[IntArray, IntArray]:
            matched = self._rules.matched(some)
            return self._sums(matched), np.count_nonzero(matched, axis=1)

        return each_once(states, evaluate)

    def decided(self, states: BoolArray) -> Decided:
        sums, n = self.sums(states)
        bits, distance = decide_bits(sums, n, self.network, self._columns)
        unit = self.network.units[np.maximum(n, 1) - 1]
        margin = (distance.min(axis=1, initial=np.iinfo(np.int64).max) - 0.5) / unit
        return bits, np.where(n > 0, margin, np.inf), self._as_outputs(sums, n)

    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:
        """The sums in the units of the training set's labels, for people to look at; no bit is decided by them."""
        sums, n = self.sums(states)
        return self._as_outputs(sums, n), n

    def _as_outputs(self, sums: IntArray, n: IntArray) -> FloatArray:
        return np.asarray(sums / self.network.scale[np.maximum(n, 1) - 1][:, None])
