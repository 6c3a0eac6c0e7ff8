"""The `network` engine: trained networks of finite width decide the next state, one or the average of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.real import RealEngine, each_once
from bitwright.errors import InputError
from bitwright.networks import FloatNetwork
from bitwright.networks.start import Float
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.packed import PackedRules
from bitwright.theory.rounding import Rounding, check_states_rounding
from bitwright.workers.linear_algebra import NUMPY


def check_networks(program: Program, networks: Sequence[FloatNetwork]) -> int:
    """K of the networks' common training set; raises InputError if they do not belong together, or to this program."""
    if not networks:
        raise InputError("the network engine needs at least one network")
    kinds = {(network.origin.padding, network.origin.scale) for network in networks}
    if len(kinds) > 1 or any(network.origin.program_id != program.id for network in networks):
        raise InputError("all networks of an ensemble must be trained alike, on the training set of this program")
    return program.templates + networks[0].origin.padding


def check_finite(finite: bool) -> None:
    """Raises InputError unless all outputs of the networks were finite: others decide no bit."""
    if not finite:
        raise InputError("the network's outputs are not finite; its weights are too large for this precision")


def average_outputs(networks: Sequence[FloatNetwork], encoded: Float) -> FloatArray:  # (batch, K) -> (batch, k)
    """The average of what these networks say; raises InputError where that is not finite."""
    with np.errstate(all="ignore"):
        total = sum((network(encoded).astype(np.float64) for network in networks), np.zeros(1))
    check_finite(bool(np.isfinite(total).all()))
    return np.asarray(total / len(networks))


class NetworkEngine(RealEngine):
    """Steps states by the outputs of trained networks. Calibrated rounding uses the limit of their parametrization."""

    name = "network"
    library = NUMPY

    def __init__(self, program: Program, networks: Sequence[FloatNetwork], rounding: Rounding) -> None:
        super().__init__(program, check_networks(program, networks), rounding)
        self.kind, self.seed = networks[0].origin.scale, networks[0].origin.seed
        if networks[0].origin.executions is not None:
            check_states_rounding(rounding)
        self._networks, self.networks = list(networks), len(networks)
        self.digests = [network.digest for network in networks]
        self._precision = np.result_type(*(network.first.dtype for network in networks))
        self._rules = PackedRules(program)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "trained networks": self.digests}

    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:
        return each_once(states, self._average)

    def _average(self, states: BoolArray) -> tuple[FloatArray, IntArray]:
        encoded, n = self.encode(states)
        return average_outputs(self._networks, encoded), n

    def encode(self, states: BoolArray) -> tuple[Float, IntArray]:  # (batch, K), (batch,)
        """The matched examples over sqrt(n), as the training set encodes states (Section 5.1), in packed words.

        They have the precision of the weights, for which a network is certified.
        """
        matched = self._rules.matched(states)
        n = np.count_nonzero(matched, axis=1)
        encoded = np.zeros((len(states), self.examples), dtype=self._precision)
        encoded[:, : self.program.templates] = matched
        encoded /= np.sqrt(np.maximum(n, 1))[:, None]
        return encoded, n
