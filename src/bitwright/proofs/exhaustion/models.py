"""Networks that were made elsewhere, in a proof: the states that are tried, and which of them come out right.

A network whose arithmetic is known (networks/foreign) is proved, as any other. One that only a runtime can evaluate is
tested: every state, with this runtime on this machine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.foreign import FittedModel, ModelColumns
from bitwright.networks.foreign.model import Answers
from bitwright.program import Algorithm
from bitwright.proofs.exhaustion.domains import ALL, Domain, StatesDomain, make_domain
from bitwright.proofs.exhaustion.findings import Judged, Truth
from bitwright.proofs.exhaustion.one_state import as_row, matched_alone
from bitwright.theory.closed_form import FloatArray


def states_of(columns: ModelColumns, algorithm: Algorithm, name: str) -> Domain:
    """The domain of this name as a network sees it: to one that reads bits, every configuration is another."""
    if columns.pattern.whole is None:
        return StatesDomain(columns.pattern)
    return make_domain(replace(algorithm, program=columns.program), name, columns.pattern)


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

    def distances(self, matched: BoolArray) -> FloatArray:  # (batch, k)
        """How far each bit is from being wrong."""
        return self.by_bit(matched)[0]

    def by_bit(self, matched: BoolArray) -> tuple[FloatArray, BoolArray, BoolArray]:  # (batch, k) each
        """How far each bit is from being wrong, which are, and of which that is not certain."""
        found, threshold = self._network.decide(matched), self._network.model.threshold
        truth, doubtful = self._expected(matched)
        over = found.outputs - threshold
        error = found.error
        right = np.where(truth, over - error > 0, over + error <= 0)
        wrong = np.where(truth, over + error <= 0, over - error > 0)
        distance = np.where(truth, over, -over) - error
        unlike, alone = self.unlike(matched, found)
        if unlike.any():  # what is known, or was given to a row alone, is not what runs
            wrong = np.where(unlike, truth != (alone > threshold), wrong)
            right, distance = right & ~unlike, np.where(unlike, np.minimum(distance, 0), distance)
        return np.where(doubtful, 0, distance), wrong & ~doubtful, doubtful | ~(right | wrong)

    def unlike(self, matched: BoolArray, found: Answers) -> tuple[BoolArray, FloatArray]:
        """Where the runtime, if there is one, gives something else for a row alone or beside others; the former."""
        network, threshold = self._network, self._network.model.threshold
        together = network.ran(matched, alone=False)
        alone = network.ran(matched) if network.exact else found.outputs
        if alone is None or together is None:
            return np.zeros(1, dtype=bool), found.outputs
        if not network.exact:
            return np.asarray((together > threshold) != (alone > threshold)), alone
        away = np.maximum(np.abs(alone - found.outputs), np.abs(together - found.outputs))
        return away > found.error, alone

    def _expected(self, matched: BoolArray) -> tuple[BoolArray, BoolArray]:
        """What is right, and where that is not certain."""
        if self._oracle is None:
            return self._truth(matched), np.zeros(1, dtype=bool)
        found = self._oracle.decide(matched)
        over = found.outputs - self._oracle.model.threshold
        return over > 0, (np.abs(over) <= found.error) & (found.error > 0)


def doubt(network: FittedModel, state: BoolArray, kind: int, oracle: FittedModel | None) -> str:
    """Why a state is not decided, where that is not for the size of rounding errors."""
    program, runtime = network.columns.program, network.model.runtime
    templates, own = matched_alone(network.columns.pattern, state, kind)
    judge, matched = ModelJudge(network, oracle), as_row(templates, program.templates)
    if not judge.by_bit(matched)[2][:, own].any():
        return f"; but {runtime} decides a state otherwise beside other states than alone"
    unlike = network.exact and judge.unlike(matched, network.decide(matched))[0]
    return f"; but {runtime} gives other outputs" if np.any(unlike) else ""
