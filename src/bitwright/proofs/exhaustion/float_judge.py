"""Trained weights in floating point: right for certain where no order of summation could decide otherwise.

A sum of m terms in arithmetic of unit roundoff u, in whatever order, with or without fused multiply-adds, is off by at
most gamma_m = m u / (1 - m u) times the sum of the terms' absolute values (Higham, Accuracy and Stability, Section
3.1). Here x = 1/sqrt(n), s = 1/sqrt(K h), and with a_u = x sum |w1| over the matched examples, h_u = relu(...):

    |F - computed F|  <=  s (1 + gamma_4) (gamma_{n+3} P + gamma_{h+4} (Q + gamma_{n+3} P)),
    P = sum_u |w2| a_u,    Q = sum_u |w2| h_u.

F itself is computed in float64, which is off by the same formula with that unit roundoff.

The bound is for numbers that neither overflow nor underflow. So nothing is judged unless every intermediate value of
every order is finite: sqrt(n) a_u bounds the hidden layer where x is left for later, sqrt(n) P the sums before the
scale. Underflow, gradual or to 0, of weights, products and sums, with or without the scales folded into the weights,
moves every such number by at most the smallest normal one, m. It adds to F no more than

    2 s (4 n sqrt(K) m sum_u |w2| + sqrt(h) m sum_u a_u) + (6 h + 16) m.

An engine may then turn F into the estimate (F - c w0)/(w1 - w0) in float32, in no more than 8 operations.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.networks import FloatNetwork
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.proofs.exhaustion.domains import ALL
from bitwright.proofs.exhaustion.findings import Judged, Truth
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Thresholds

_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
_SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022}  # below it a number may lose its digits, or become 0
_LARGEST = {"float32": 2.0**126, "float64": 2.0**1022}  # a quarter of all: an estimate is at most 2 sqrt(n) F
_THRESHOLD_SLACK = 1e-9  # of the gap: thresholds are float64, found by a few operations from the closed form
_OWN_ERROR = 1 + 1e-6  # what bounds the error is itself a sum in float64, of far fewer than 10^9 terms
_STATES = 256


class FloatJudge:
    """A trained network, in the arithmetic of its weights. The distance is what the margin leaves over the error."""

    def __init__(self, program: Program, network: FloatNetwork) -> None:
        if network.origin.program_id != program.id:
            raise InputError("this network was trained for another program")
        wanted = (program.templates + network.origin.padding, program.bits)
        if (network.shape.inputs, network.shape.outputs) != wanted:
            raise InputError("the shapes of this network's weights do not fit its program")
        self._truth, self._templates, self._writers = Truth(program), program.templates, program.writers
        self._arithmetic, self._examples = network.first.dtype.name, network.shape.inputs
        self._kind, self._width = network.origin.scale, network.shape.width
        self._first = np.ascontiguousarray(network.first[:, : program.templates].T, dtype=np.float64)  # (K, width)
        self._last = np.ascontiguousarray(network.last.T, dtype=np.float64)  # (width, k)
        self._first_size, self._last_size = np.abs(self._first), np.abs(self._last)

    def __call__(self, matched: BoolArray, own: slice = ALL) -> Judged:
        parts = [self._judge(matched[at : at + _STATES], own) for at in range(0, len(matched), _STATES)]
        n, distance, wrong, undecided = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Judged(n, distance, wrong, undecided)

    def worst_bit(self, matched: BoolArray, own: slice = ALL) -> int:  # (1, K)
        """The bit that is nearest to being wrong, or most wrong."""
        signed, error, _ = self._margins(matched)
        return (own.start or 0) + int((signed - error)[0, own].argmin())

    def _judge(self, matched: BoolArray, own: slice) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
        signed, error, n = self._margins(matched)
        signed, error = signed[:, own], error[:, own]
        some = n > 0
        wrong = (signed < -error).any(axis=1) & some
        distance = (signed - error).min(axis=1)
        right = distance > 0  # never of NaN
        return n, distance, wrong, some & ~wrong & ~right

    def _margins(self, matched: BoolArray) -> tuple[FloatArray, FloatArray, IntArray]:  # (batch, k) twice, (batch,)
        """How far each bit is on the right side of its threshold, by how much that may be off, and n."""
        n = np.count_nonzero(matched, axis=1)
        outputs, error = self.outputs(matched, np.maximum(n, 1))
        found = Thresholds.of("calibrated", n, self._writers, self._examples, self._kind)
        unit = found.unit[:, None]
        at = np.where(found.at_stake[:, None], np.abs(found.at), 0)  # c |w0| is at most this and half a unit
        estimated = _gamma(8, "float32") * ((np.abs(outputs) + error + at) / unit + 0.5)
        over, error = (outputs - found.at) / unit, error / unit + estimated + _THRESHOLD_SLACK
        return np.where(self._truth(matched), over, -over), error, n

    def outputs(self, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # (batch, k), (batch, k)
        """F, and how far any evaluation in the network's arithmetic, and this one, may be from it together."""
        encoded = matched / np.sqrt(n)[:, None]
        scale = 1 / np.sqrt(float(self._examples) * self._width)
        with np.errstate(over="ignore", invalid="ignore"):  # looked at next
            hidden = np.maximum(encoded @ self._first, 0)
            sizes = encoded @ self._first_size  # (batch, width), a
            P, Q = sizes @ self._last_size, hidden @ self._last_size
            self._check_finite(sizes, P, n[:, None])
            outputs = scale * (hidden @ self._last)
        error = np.zeros_like(P)
        for name in (self._arithmetic, "float64"):
            first, last, end = (_gamma(count, name) for count in (n[:, None] + 3, self._width + 4, 4))
            error += scale * (1 + end) * (first * P + last * (Q + first * P))
            lost_first = 4 * n[:, None] * np.sqrt(self._examples) * self._last_size.sum(axis=0)
            lost_last = np.sqrt(self._width) * sizes.sum(axis=1, keepdims=True)
            error += (2 * scale * (lost_first + lost_last) + 6 * self._width + 16) * _SMALLEST[name]
        return outputs, error * _OWN_ERROR + 16 * _SMALLEST["float32"]

    def _check_finite(self, sizes: FloatArray, P: FloatArray, n: IntArray) -> None:
        """Raises InputError unless no hidden value, product or sum can overflow, in whatever order it is taken."""
        first, last = _gamma(n + 3, self._arithmetic), _gamma(self._width + 4, self._arithmetic)
        hidden = np.sqrt(n) * sizes * (1 + first)
        sums = np.sqrt(n) * P * (1 + first) * (1 + last)
        # Sums become float32 wherever estimates do.
        if not ((hidden <= _LARGEST[self._arithmetic]).all() and (sums <= _LARGEST["float32"]).all()):
            raise InputError(
                f"some hidden values or sums of this network may exceed the largest {self._arithmetic} number; "
                "its weights are too large to be proved in this precision"
            )


def _gamma(terms: IntArray | int, arithmetic: str) -> FloatArray:
    relative = np.asarray(terms) * _ROUNDOFF[arithmetic]
    if relative.max() >= 0.5:
        raise InputError(f"a sum of {int(np.max(terms)):,} terms has no error bound in {arithmetic}")
    return np.asarray(relative / (1 - relative))
