"""Trained weights in floating point: right for certain where no order of summation could decide otherwise.

A sum of m terms in arithmetic of unit roundoff u, in whatever order, with or without fused multiply-adds, is off by at
most gamma_m = m u / (1 - m u) times the sum of the terms' absolute values (Higham, Accuracy and Stability, Section
3.1). Here x = 1/sqrt(n), s = 1/sqrt(K h), and with a_u = x sum |w1| over the matched examples, h_u = relu(...):

    |F - computed F|  <=  s (1 + gamma_4) (gamma_{n+3} P + gamma_{h+4} (Q + gamma_{n+3} P)),
    P = sum_u |w2| a_u,    Q = sum_u |w2| h_u.

F itself is computed in float64, which is off by the same formula with that unit roundoff.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.checking.exhaustion.domains import ALL
from bitwright.checking.exhaustion.findings import Judged
from bitwright.checking.exhaustion.judges import Truth
from bitwright.errors import InputError
from bitwright.networks import Network
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Thresholds

_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
_SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022}  # below it a product may lose its digits, or become 0
_LARGEST = {"float32": 2.0**127, "float64": 2.0**1023}
_THRESHOLD_SLACK = 1e-9  # of the gap: thresholds are float64, found by a few operations from the closed form
_STATES = 256


class FloatJudge:
    """A trained network, in the arithmetic of its weights. The distance is what the margin leaves over the error."""

    def __init__(self, program: Program, network: Network) -> None:
        if network.origin.program_id != program.id:
            raise InputError("this network was trained for another program")
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
        return n, distance, wrong, (distance <= 0) & some & ~wrong

    def _margins(self, matched: BoolArray) -> tuple[FloatArray, FloatArray, IntArray]:  # (batch, k) twice, (batch,)
        """How far each bit is on the right side of its threshold, by how much that may be off, and n."""
        n = np.count_nonzero(matched, axis=1)
        outputs, error = self.outputs(matched, np.maximum(n, 1))
        found = Thresholds.of("calibrated", n, self._writers, self._examples, self._kind)
        unit = found.unit[:, None]
        over, error = (outputs - found.at) / unit, error / unit + _THRESHOLD_SLACK
        return np.where(self._truth(matched), over, -over), error, n

    def outputs(self, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # (batch, k), (batch, k)
        """F, and how far any evaluation in the network's arithmetic, and this one, may be from it together."""
        encoded = matched / np.sqrt(n)[:, None]
        hidden = np.maximum(encoded @ self._first, 0)
        scale = 1 / np.sqrt(float(self._examples) * self._width)
        outputs = scale * (hidden @ self._last)
        P = (encoded @ self._first_size) @ self._last_size
        Q = hidden @ self._last_size
        if P.max(initial=0) > _LARGEST[self._arithmetic]:
            raise InputError("the network's outputs are not finite; its weights are too large for this precision")
        error = np.zeros_like(P)
        for name in (self._arithmetic, "float64"):
            first, last, end = (_gamma(count, name) for count in (n[:, None] + 3, self._width + 4, 4))
            error += scale * (1 + end) * (first * P + last * (Q + first * P))
            error += self._width * (self._width + 2.0 * n[:, None]) * (1 + self._last_size.max()) * _SMALLEST[name]
        return outputs, error


def _gamma(terms: IntArray | int, arithmetic: str) -> FloatArray:
    relative = np.asarray(terms) * _ROUNDOFF[arithmetic]
    if relative.max() >= 0.5:
        raise InputError(f"a sum of {int(np.max(terms)):,} terms has no error bound in {arithmetic}")
    return np.asarray(relative / (1 - relative))
