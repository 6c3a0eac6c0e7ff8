"""Judges of networks without integers: floating-point weights, and third-party networks.

Trained weights are certainly right if no order of summation decides differently. In arithmetic of unit roundoff u, the
error of a sum of m terms, in any order, with or without fused multiply-adds, is at most gamma_m = m u / (1 - m u) times
the sum of the terms' absolute values (Higham, Accuracy and Stability, Section 3.1). Here x = 1/sqrt(n), s =
1/sqrt(K h), and with a_u = x sum |w1| over the matched examples, h_u = relu(...):

    |F - computed F|  <=  s (1 + gamma_4) (gamma_{n+3} P + gamma_{h+4} (Q + gamma_{n+3} P)),
    P = sum_u |w2| a_u,    Q = sum_u |w2| h_u.

F itself is computed from weights on a grid (`networks/integer.py`): w1 = u1 (I + d), w2 = u2 (J + e) with integers I, J
and |d|, |e| <= 1/2, after powers of two moved from hidden units' first weights to their last. All its sums are of
integers that are exact in float64, so they are the same on every machine. With H_u = relu(sum I) and A_u = sum |I| over
the n matched examples,

    |F - x s u1 u2 sum_u J H|  <=  x s u1 u2 (n sum_u |J| + sum_u H + n h / 2) / 2,
    P  <=  x u1 u2 sum_u (|J| + 1/2) (A + n/2),   Q  <=  x u1 u2 sum_u (|J| + 1/2) (H + n/2).

The bound assumes that numbers neither overflow nor underflow. Nothing is judged unless every intermediate value of
every order is finite: sqrt(n) a_u bounds the hidden layer if x is applied later, sqrt(n) P the sums before the scale.
Underflow, gradual or to 0, of weights, products and sums, with or without the scales folded into the weights, changes
each such number by at most the smallest normal number, m. It adds to F no more than

    2 s (4 n sqrt(K) m sum_u |w2| + sqrt(h) m sum_u a_u) + (6 h + 16) m.

An engine may then turn F into the estimate (F - c w0)/(w1 - w0) in float32, in at most 8 operations.

A third-party network with known arithmetic (networks/external) is proved like any other; if only a runtime can evaluate
it, it is tested in every state with this runtime on this machine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.engines.external import FittedModel, ModelColumns
from bitwright.networks import FloatNetwork
from bitwright.networks.external.model import Answers
from bitwright.networks.integer import grids, most_matches
from bitwright.proofs.exhaustion.domains import ALL, Domain, StatesDomain, make_domain
from bitwright.proofs.exhaustion.findings import Judged, written_bits
from bitwright.proofs.exhaustion.one_state import as_row, matched_alone
from bitwright.rules import Algorithm, Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Thresholds

_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
_SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022}  # smaller numbers may lose digits or become 0
_LARGEST = {
    "float32": 2.0**126,
    "float64": 2.0**1022,
}  # a quarter of the range, since an estimate is at most 2 sqrt(n) F
_THRESHOLD_SLACK = 1e-9  # relative to the gap: thresholds take a few float64 operations from the closed form
_OWN_ERROR = 1 + 1e-6  # allows for a few rounded operations in the bounds themselves
_STATES = 256


class FloatJudge:
    """Judges a trained network in the arithmetic of its weights; the distance is the margin minus the error bound."""

    def __init__(self, program: Program, network: FloatNetwork) -> None:
        if network.origin.program_id != program.id:
            raise InputError("this network was trained for another program")
        wanted = (program.templates + network.origin.padding, program.bits)
        if (network.shape.inputs, network.shape.outputs) != wanted:
            raise InputError("the shapes of this network's weights do not fit the program")
        self._program = program
        self._arithmetic, self._examples = network.first.dtype.name, network.shape.inputs
        self._kind, self._width = network.origin.scale, network.shape.width
        own, written = network.first[:, : program.templates].astype(np.float64), np.abs(network.last)
        power = np.frexp(np.abs(own).max(axis=1, initial=0))[1]  # for each hidden unit: relu(2^p x) = 2^p relu(x)
        with np.errstate(over="ignore", invalid="ignore"):  # checked together with its results
            folded = np.ldexp(network.last.astype(np.float64), power)
            first, last = grids(np.ldexp(own, -power[:, None]), folded, most_matches(program), by_output=True)
        self._units, self._power = (first.unit, last.unit), np.ldexp(1.0, power)
        self._written = written.sum(axis=1, dtype=np.float64)
        self._first = np.ascontiguousarray(first.whole.T)  # I (K, width)
        self._last = np.ascontiguousarray(last.whole.T)  # J (width, k)
        self._first_size, self._last_size = np.abs(self._first), np.abs(self._last)

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        parts = [self._judge(matched[at : at + _STATES], own) for at in range(0, len(matched), _STATES)]
        n, distance, wrong, undecided = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Judged(n, distance, wrong, undecided)

    def distances(self, matched: BoolArray) -> FloatArray:  # (batch, k)
        """Returns each bit's distance from an error."""
        signed, error, _ = self._margins(matched)
        return signed - error

    def _judge(self, matched: BoolArray, own: slice) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
        signed, error, n = self._margins(matched)
        signed, error = signed[:, own], error[:, own]
        some = n > 0
        wrong = (signed < -error).any(axis=1) & some
        distance = (signed - error).min(axis=1)
        right = distance > 0  # never of NaN
        return n, distance, wrong, some & ~wrong & ~right

    def _margins(self, matched: BoolArray) -> tuple[FloatArray, FloatArray, IntArray]:  # (batch, k) twice, (batch,)
        """Returns each bit's distance on the right side of its threshold, the error bound of that, and n."""
        n = np.count_nonzero(matched, axis=1)
        outputs, error = self.outputs(matched, np.maximum(n, 1))
        found = Thresholds.of("calibrated", n, self._program.writers, self._examples, self._kind)
        unit = found.unit[:, None]
        at = np.where(found.at_stake[:, None], np.abs(found.at), 0)  # c |w0| is at most this and half a unit
        estimated = _gamma(8, "float32") * ((np.abs(outputs) + error + at) / unit + 0.5)
        over, error = (outputs - found.at) / unit, error / unit + estimated + _THRESHOLD_SLACK
        return np.where(written_bits(self._program, matched), over, -over), error, n

    def outputs(self, matched: BoolArray, matches: IntArray) -> tuple[FloatArray, FloatArray]:  # (batch, k), (batch, k)
        """Returns F on the grid, and a bound on the deviation of any evaluation in the network's arithmetic."""
        exact, n = matched.astype(np.float64), np.asarray(matches[:, None], dtype=np.float64)
        scale, (first_unit, last_unit) = 1 / np.sqrt(float(self._examples) * self._width), self._units
        hidden, sizes = np.maximum(exact @ self._first, 0), exact @ self._first_size  # H, A
        weights = self._last_size.sum(axis=0)  # (k,)
        with np.errstate(over="ignore", invalid="ignore"):  # checked next
            unit = first_unit * last_unit / np.sqrt(n)
            outputs = scale * (unit * (hidden @ self._last))
            error = scale * unit * (n * weights + hidden.sum(axis=1, keepdims=True) + n * self._width / 2) / 2
            P, Q = unit * self._at_most(sizes, n, weights), unit * self._at_most(hidden, n, weights)
            most = first_unit * self._power / np.sqrt(n) * (sizes + n / 2)  # a
            self._check_finite(most, P, n)
        first, last, end = (_gamma(count, self._arithmetic) for count in (n + 3, self._width + 4, 4))
        error += scale * (1 + end) * (first * P + last * (Q + first * P)) + _gamma(8, "float64") * np.abs(outputs)
        lost_first = 4 * n * np.sqrt(self._examples) * self._written
        lost_last = np.sqrt(self._width) * most.sum(axis=1, keepdims=True)
        lost = 2 * scale * (lost_first + lost_last) + 6 * self._width + 16
        return outputs, (error + lost * _SMALLEST[self._arithmetic]) * _OWN_ERROR + 16 * _SMALLEST["float32"]

    def _at_most(self, layer: FloatArray, n: FloatArray, weights: FloatArray) -> FloatArray:  # (batch, k)
        """sum_u (|J| + 1/2) (layer + n/2)."""
        both = layer.sum(axis=1, keepdims=True) + n * self._width / 2
        return np.asarray(layer @ self._last_size + n / 2 * weights + both / 2)

    def _check_finite(self, sizes: FloatArray, P: FloatArray, n: FloatArray) -> None:
        """Raises InputError if a hidden value, product or sum could overflow in some order."""
        first, last = _gamma(n + 3, self._arithmetic), _gamma(self._width + 4, self._arithmetic)
        hidden = np.sqrt(n) * sizes * (1 + first)
        sums = np.sqrt(n) * P * (1 + first) * (1 + last)
        # Sums are converted to float32 if estimates are.
        if not ((hidden <= _LARGEST[self._arithmetic]).all() and (sums <= _LARGEST["float32"]).all()):
            raise InputError(
                f"some hidden values or sums of this network may exceed the largest {self._arithmetic} number; "
                "its weights are too large to be proved in this precision"
            )


def _gamma(terms: FloatArray | int, arithmetic: str) -> FloatArray:
    relative = np.asarray(terms) * _ROUNDOFF[arithmetic]
    if relative.max() >= 0.5:
        raise InputError(f"a sum of {int(np.max(terms)):,} terms has no error bound in {arithmetic}")
    return np.asarray(relative / (1 - relative))


def states_of(columns: ModelColumns, algorithm: Algorithm, name: str) -> Domain:
    """Returns the domain with this name for a network; one that reads bits distinguishes all configurations."""
    if columns.pattern.whole is None:
        return StatesDomain(columns.pattern)
    return make_domain(replace(algorithm, program=columns.program), name, columns.pattern)


class ModelJudge:
    """Judges a third-party network: a bit is right if every runtime computes an output on the right side.

    The distance is from output to threshold, minus the possible deviation of runtimes; below 0 if the bit is wrong.
    With an `oracle`, another network with the same inputs defines what is right.
    """

    def __init__(self, network: FittedModel, oracle: FittedModel | None = None) -> None:
        self._network, self._oracle = network, oracle

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        distance, wrong, undecided = (one[:, own] for one in self.by_bit(matched))
        n = np.count_nonzero(matched[:, self._network.columns.real], axis=1)
        bad, open_ = np.asarray(wrong.any(axis=1)), np.asarray(undecided.any(axis=1))
        return Judged(n, distance.min(axis=1), bad, open_ & ~bad, at_zero=True)

    def distances(self, matched: BoolArray) -> FloatArray:  # (batch, k)
        """Returns each bit's distance from an error."""
        return self.by_bit(matched)[0]

    def by_bit(self, matched: BoolArray) -> tuple[FloatArray, BoolArray, BoolArray]:  # (batch, k) each
        """Returns each bit's distance from an error, which bits are wrong, and which are uncertain."""
        found, threshold = self._network.decide(matched), self._network.model.threshold
        truth, doubtful = self._expected(matched)
        over = found.outputs - threshold
        error = found.error
        right = np.where(truth, over - error > 0, over + error <= 0)
        wrong = np.where(truth, over + error <= 0, over - error > 0)
        distance = np.where(truth, over, -over) - error
        unlike, alone = self.unlike(matched, found)
        if unlike.any():  # the runtime contradicts the analysis, or depends on other rows
            wrong = np.where(unlike, truth != (alone > threshold), wrong)
            right, distance = right & ~unlike, np.where(unlike, np.minimum(distance, 0), distance)
        return np.where(doubtful, 0, distance), wrong & ~doubtful, doubtful | ~(right | wrong)

    def unlike(self, matched: BoolArray, found: Answers) -> tuple[BoolArray, FloatArray]:
        """Returns where the runtime, if any, differs for a row alone or in a batch, and its outputs for rows alone."""
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
        """Returns the right bits, and where they are uncertain."""
        if self._oracle is None:
            return written_bits(self._network.columns.program, matched), np.zeros(1, dtype=bool)
        found = self._oracle.decide(matched)
        over = found.outputs - self._oracle.model.threshold
        return over > 0, (np.abs(over) <= found.error) & (found.error > 0)


def doubt(network: FittedModel, state: BoolArray, kind: int, oracle: FittedModel | None) -> str:
    """Explains why a state is not decided, unless the size of rounding errors is the reason."""
    program, runtime = network.columns.program, network.model.runtime
    templates, own = matched_alone(network.columns.pattern, state, kind)
    judge, matched = ModelJudge(network, oracle), as_row(templates, program.templates)
    if not judge.by_bit(matched)[2][:, own].any():
        return f"; but {runtime} decides a state differently in a batch than alone"
    unlike = network.exact and judge.unlike(matched, network.decide(matched))[0]
    return f"; but {runtime} computes other outputs" if np.any(unlike) else ""
