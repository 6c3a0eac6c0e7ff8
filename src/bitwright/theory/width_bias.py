"""The width law's bias: of the same order in h as its spread, because a unit that dies on an example never comes back.

In units of zhat, times sqrt(h), for small steps and c far below K:

    bias_i = sqrt(K) / (w1 - w0) [ sum_j w_j eps_ji - 1/(2 sqrt n) sum_{j in S} eps_ji ]

with eps_ji = B_ji |B_j| / (2 pi) and |B_j| the norm of row j of B. Unlike the spread it stays when networks are
averaged. In the programs that we looked at it lifts set bits and lowers unset ones, away from the threshold.
"""

from __future__ import annotations

import numpy as np
import scipy

from bitwright.bits import BoolArray
from bitwright.theory.closed_form import FloatArray, diagonal, weights


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
