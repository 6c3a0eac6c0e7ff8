"""Networks that were made elsewhere, in a proof: the states that are tried, and which of them come out right.

A network whose arithmetic is known (networks/foreign) is proved, as any other. One that only a runtime can evaluate is
tested: every state, with this runtime on this machine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.foreign import Columns, FittedModel
from bitwright.errors import InputError
from bitwright.networks.foreign.model import Answers
from bitwright.program import Algorithm
from bitwright.proofs.exhaustion.domains import ALL, CellsDomain, Domain, make_domain
from bitwright.proofs.exhaustion.findings import Judged, Truth
from bitwright.proofs.exhaustion.one_state import LookedAt, OneState, as_row, looked_at, matched_alone, written_by
from bitwright.theory.closed_form import FloatArray


def states_of(columns: Columns, algorithm: Algorithm, name: str) -> Domain:
    """The domain of this name as a network sees it: to one that reads bits, every configuration is another."""
    if columns.pattern is not None:
        return CellsDomain(columns.program, columns.pattern)
    return make_domain(replace(algorithm, program=columns.program), name)


class ModelJudge:
    """Right where an output is on the right side of the threshold, whatever runtime computes it.

    The distance is that between output and threshold, less what runtimes may differ by; below 0 where it is wrong.
    With an `oracle`, another network that reads the same, right is what that one says.
    """

    def __init__(self, network: FittedModel, oracle: FittedModel | None = None) -> None:
        self._network, self._oracle = network, oracle
        self._truth = Truth(network.columns.program)

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        distance, wrong, undecided = (one[:, own] for one in self.by_bit(matched))
        n = np.count_nonzero(matched[:, self._network.columns.real], axis=1)
        bad, open_ = np.asarray(wrong.any(axis=1)), np.asarray(undecided.any(axis=1))
        return Judged(n, distance.min(axis=1), bad, open_ & ~bad, at_zero=True)

    def by_bit(self, matched: BoolArray) -> tuple[FloatArray, BoolArray, BoolArray]:  # (batch, k) each
        """How far each bit is from being wrong, which are, and of which that is not certain."""
        found = self._network.decide(matched)
        truth, doubtful = self._expected(matched)
        over = found.outputs - self._network.model.threshold
        error = np.zeros(1) if found.error is None else found.error
        right = np.where(truth, over - error > 0, over + error <= 0)
        wrong = np.where(truth, over + error <= 0, over - error > 0)
        distance = np.where(truth, over, -over) - error
        return np.where(doubtful, 0, distance), wrong & ~doubtful, doubtful | ~(right | wrong)

    def _expected(self, matched: BoolArray) -> tuple[BoolArray, BoolArray]:
        """What is right, and where that is not certain."""
        if self._oracle is None:
            return self._truth(matched), np.zeros(1, dtype=bool)
        found = self._oracle.decide(matched)
        over = found.outputs - self._oracle.model.threshold
        doubtful = np.zeros(1, dtype=bool) if found.error is None else np.abs(over) <= found.error
        return over > 0, doubtful


def look_at_model(
    network: FittedModel, state: BoolArray, kind: int | None = None, oracle: FittedModel | None = None
) -> OneState:
    """What a network makes of one state, asked alone and where there is one by its runtime, beside what is right."""
    columns, program = network.columns, network.columns.program
    templates, own = matched_alone(program, columns.pattern, state, kind)
    matched = as_row(templates, program.templates)
    given = _replayed(network, matched).outputs[0] > network.model.threshold
    expected = written_by(program, templates)
    if oracle is not None:
        expected = oracle.decide(matched).outputs[0] > oracle.model.threshold
    return looked_at(program, state, int(columns.real[templates].sum()), own, given, expected)


def least_certain(
    network: FittedModel, state: BoolArray, kind: int | None, oracle: FittedModel | None, found: OneState, wrong: bool
) -> LookedAt | None:
    """The bit that is nearest to being wrong; one that is wrong if there has to be one."""
    program = network.columns.program
    templates, own = matched_alone(program, network.columns.pattern, state, kind)
    distance = ModelJudge(network, oracle).by_bit(as_row(templates, program.templates))[0][0, own]
    bits = [(away, bit) for away, bit in zip(distance, found.bits, strict=True) if not wrong or not bit.right]
    return min(bits, key=lambda one: one[0])[1] if bits else None


def _replayed(network: FittedModel, matched: BoolArray) -> Answers:
    try:
        return network.decide(matched, replay=True)
    except (InputError, ImportError):  # no runtime is installed; its arithmetic is known all the same
        return network.decide(matched)
