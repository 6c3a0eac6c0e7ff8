"""The worst error over many states, as a Gaussian field with the width law's covariance, and the law's bias.

The first-order error of a network is the average of xi over its h/2 different hidden units, in all states and bits at
once. So one draw of the field is a normalized sum of xi over drawn units: its covariance between any two states and
bits is exactly the law's, and by the central limit theorem it is nearly Gaussian.

The bias is of the same order in h as the spread, because a unit that dies on an example never comes back. In units of
zhat, times sqrt(h), for small steps and c far below K:

    bias_i = sqrt(K) / (w1 - w0) [ sum_j w_j eps_ji - 1/(2 sqrt n) sum_{j in S} eps_ji ]

with eps_ji = B_ji |B_j| / (2 pi) and |B_j| the norm of row j of B. Unlike the spread it stays when networks are
averaged. In the programs that we looked at it lifts set bits and lowers unset ones, away from the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.theory.closed_form import FloatArray, Kind, diagonal, weights


def scaled_bias(matched: BoolArray, labels: scipy.sparse.csr_array, examples: int) -> FloatArray:  # (states, k)
    """sqrt(h) times the bias of zhat, from the examples that states match (states, K without padding) and Y (K, k)."""
    n = np.count_nonzero(matched, axis=1)
    w = weights(n, examples)
    c = np.asarray(labels.sum(axis=0), dtype=np.float64).ravel()
    a = diagonal("ntk")
    L, kappa = a + examples, 2 * np.pi / a
    squares = np.asarray(labels.sum(axis=1)).ravel() - 2 * (labels @ c) / L + c @ c / L**2
    norms = kappa * np.sqrt(np.maximum(squares, 0))  # |B_j|
    spare = (examples - len(norms)) * kappa * np.sqrt(c @ c) / L  # of padding, whose rows of Y are zero
    inside = kappa * (((matched * norms) @ labels) - np.outer(matched @ norms, c / L))  # sum over S of B_ji |B_j|
    everywhere = kappa * (norms @ labels - (norms.sum() + spare) * c / L)
    edge = w.gap - 0.5 / np.sqrt(np.maximum(n, 1))
    found = w.unmatched[:, None] * everywhere + edge[:, None] * inside
    found *= np.sqrt(examples) / (2 * np.pi * np.where(n > 0, w.gap, 1))[:, None]
    return np.where(n[:, None] > 1, found, 0.0)


Float32 = NDArray[np.float32]
UNITS = 512  # hidden units in one draw of the field


class Draw:
    """One draw of the field: hidden units, as they are before training, and what they say of the training set."""

    def __init__(self, field: WidthField, rng: np.random.Generator, units: int) -> None:
        labels, c, kappa = field.dense, field.dense.sum(axis=0), np.float32(2 * pi / diagonal(field.kind))
        share = c / np.float32(diagonal(field.kind) + field.examples)  # c/L
        self.g = rng.standard_normal((units, len(labels)), dtype=np.float32)
        rest = rng.standard_normal((units, field.examples - len(labels)), dtype=np.float32)  # to padding
        self.relu = np.maximum(self.g, 0)
        self.total = (self.relu.sum(axis=1) + np.maximum(rest, 0).sum(axis=1))[:, None]
        self.along = kappa * (self.relu @ labels - self.total * share)  # relu(g).B (units, k)
        self.v = rng.standard_normal((units, len(c)), dtype=np.float32)
        mean = (self.v @ share)[:, None]
        self.gates = kappa * (self.g > 0) * (self.v @ labels.T - mean)  # [g_j > 0] (v.B_j) (units, K)
        padded = kappa * mean * np.count_nonzero(rest > 0, axis=1)[:, None]
        self.gates_total = self.gates.sum(axis=1, keepdims=True) - padded


@dataclass(frozen=True, eq=False)
class WidthField:
    """Errors of zhat, times sqrt(h), of networks with a zero-output start trained on these labels."""

    labels: scipy.sparse.csr_array  # Y (K without padding, k)
    examples: int  # K
    kind: Kind = "ntk"

    @cached_property
    def dense(self) -> Float32:
        return np.asarray(self.labels.toarray(), dtype=np.float32)

    def draw(self, rng: np.random.Generator, units: int = UNITS) -> Draw:
        return Draw(self, rng, units)

    def errors(self, draw: Draw, matched: BoolArray) -> FloatArray:  # (states, K without padding) -> (states, k)
        """zhat - m, times sqrt(h), in states that match these examples; the bias is in it. 0 where n <= 1."""
        n = np.count_nonzero(matched, axis=1)
        w = weights(n, self.examples, self.kind)
        w0, gap, z = (x.astype(np.float32) for x in (w.unmatched, w.gap, 1 / np.sqrt(np.maximum(n, 1))))
        inside = matched.astype(np.float32).T
        at = (draw.g @ inside) * z  # g.x (units, states)
        found = (np.maximum(at, 0) - w0 * draw.total - gap * (draw.relu @ inside)).T @ draw.along
        if self.kind == "ntk":
            found += (((at > 0) * z - gap) * (draw.gates @ inside) - w0 * draw.gates_total).T @ draw.v
        scale = np.where(n > 1, sqrt(2 / len(draw.g)) / np.where(n > 0, w.gap, 1), 0.0)
        errors = found * scale[:, None]
        if self.kind == "ntk":
            errors += scaled_bias(matched, self.labels, self.examples)
        return np.asarray(errors)

    def distance(self, matched: BoolArray) -> FloatArray:  # (states, k)
        """The error that would bring zhat = m to the threshold 1/2: up for unset bits, down for set ones."""
        m = matched.astype(np.float32) @ self.dense
        return np.asarray(0.5 - m, dtype=np.float64)
