"""What a network trained on a pattern says of one cell: it sees the cell's own matches, and its own ports are read.

A cell is encoded from its own matches alone, never from a pattern's state with zeros elsewhere: where a block has a
template for all bits off, the idle cells of such a state would match too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.local import LocalStates
from bitwright.engines.integer.engine import check_whole
from bitwright.engines.integer.sums import ExactSums
from bitwright.engines.network import check_networks, limit_of
from bitwright.errors import InputError
from bitwright.networks import AnyNetwork, IntegerNetwork, Network
from bitwright.networks.integer import columns_of, decide_bits, most_matches, writer_numbers
from bitwright.networks.threads import linear_algebra_threads
from bitwright.program.layout import IntArray
from bitwright.program.pattern import Pattern
from bitwright.theory.closed_form import FloatArray, Kind
from bitwright.theory.rounding import Rounding, round_outputs

Decide = Callable[[BoolArray, IntArray], tuple[BoolArray, FloatArray]]  # matched, n -> bits, margins of every bit


class CellNetwork:
    """One network of whole numbers, or the average of trained ones, for the cells of a pattern."""

    def __init__(self, pattern: Pattern, networks: Sequence[AnyNetwork], rounding: Rounding = "calibrated") -> None:
        check_whole(rounding)
        self.pattern, self.networks = pattern, list(networks)
        self.states = [LocalStates(kind) for kind in pattern.kinds]
        self.kind: Kind
        first = networks[0] if networks else None
        if isinstance(first, IntegerNetwork):
            if len(networks) > 1:
                raise InputError("networks of whole numbers are run one at a time; quantize trained ones together")
            self._decide = _whole_numbers(first, pattern)
            self.kind, self.examples = first.kind, first.examples
        else:
            trained = [network for network in networks if isinstance(network, Network)]
            self.examples, self.kind = check_networks(pattern.program, trained), limit_of(trained)
            self._decide = _averaged(trained, pattern, self.examples, self.kind)

    def matched(self, kind: int, numbers: IntArray) -> BoolArray:  # (states,) -> (states, K of the pattern)
        """The matches of local states among all templates of the pattern."""
        matched = np.zeros((len(numbers), self.pattern.program.templates), dtype=bool)
        first, last = self.pattern.first_template[kind : kind + 2]
        matched[:, first:last] = self.states[kind].matched(numbers)
        return matched

    def ports(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:  # (states, ports) twice
        """What the network says of a kind's own ports in local states, and the margin of each; none at n = 0."""
        matched = self.matched(kind, numbers)
        n = np.count_nonzero(matched, axis=1)
        bits, margins = self._decide(matched, n)
        own = self.pattern.port_bits(kind)
        return bits[:, own], np.where((n > 0)[:, None], margins[:, own], np.inf)


def _whole_numbers(network: IntegerNetwork, pattern: Pattern) -> Decide:
    sums, columns = ExactSums(network, pattern.program), columns_of(network, pattern.program)

    def decide(matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        bits, distance = decide_bits(sums(matched), n, network, columns)
        return bits, (distance - 0.5) / network.units[np.maximum(n, 1) - 1][:, None]

    return decide


def _averaged(networks: Sequence[Network], pattern: Pattern, examples: int, kind: Kind) -> Decide:
    writers = pattern.program.writers

    def decide(matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        encoded = np.zeros((len(matched), examples), dtype=np.float32)
        encoded[:, : matched.shape[1]] = matched / np.sqrt(np.maximum(n, 1))[:, None]
        with linear_algebra_threads():
            total = sum((network(encoded).astype(np.float64) for network in networks), np.zeros(1))
        outputs = np.asarray(total / len(networks))
        bits = [
            round_outputs(outputs[:, [bit]], n, writers[[bit]], examples, "calibrated", kind)
            for bit in range(len(writers))
        ]
        return np.concatenate([one for one, _ in bits], axis=1), np.stack([margin for _, margin in bits], axis=1)

    return decide


def network_of_kind(network: IntegerNetwork, pattern: Pattern, kind: int) -> tuple[IntegerNetwork, Pattern]:
    """What a pattern's network is to the cells of one kind: the examples, bits and thresholds of the pattern of this
    kind alone. It gives the same sums there, and knows that other cells bring nothing.
    """
    alone = Pattern((pattern.kinds[kind],))
    program, ports = alone.program, pattern.port_bits(kind)
    examples = slice(*pattern.first_template[kind : kind + 2])
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
