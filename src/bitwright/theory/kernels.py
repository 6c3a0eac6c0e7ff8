"""Kernels of wide two-layer ReLU networks for any inputs, Eq. (1)-(2)."""

from __future__ import annotations

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.theory.closed_form import FloatArray

_SNAP = 1e-14  # cosines this close to +-1 belong to equal or opposite vectors, up to rounding

MAX_EXAMPLES = 5_000  # larger dense solves take minutes


def nngp(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Returns the NNGP kernel, Eq. (2): `|x||y|/(2 pi d) ((pi - theta) cos theta + sin theta)` with angle theta."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * ((np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def ntk(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Returns the NTK, Eq. (1): x'y (pi - theta)/(2 pi d) plus the NNGP kernel."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * (2 * (np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def _angles(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    for array in (x, y):
        if array.ndim != 2 or array.shape[1] != x.shape[1] or not array.shape[1]:
            raise InputError(
                f"kernel inputs must be matrices with the same number of columns, got {x.shape} and {y.shape}"
            )
        if not np.isfinite(array).all():
            raise InputError("kernel inputs must be finite, got NaN or infinity")
    norms = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)[None, :]
    cosine = np.divide(x @ y.T, norms, out=np.zeros_like(norms), where=norms > 0)
    cosine = np.where(np.abs(cosine) > 1 - _SNAP, np.sign(cosine), cosine)
    return norms, cosine, np.arccos(cosine)


_ZERO = 1e-10  # relative to the largest eigenvalue; smaller eigenvalues count as 0


@one_thread()
def kernel_ends(inputs: FloatArray, first_layer: float = 1.0) -> tuple[float, float]:  # (P, d)
    """Returns the smallest nonzero eigenvalue and the largest.

    `first_layer` is the relative training speed of the first layer: 1 for the NTK, 0 to train only the last layer.

    >>> low, high = kernel_ends(np.eye(4))
    >>> print(f"{low:.4f} {high:.4f}")  # (2 pi - 1)/(2 pi K) and (2 pi - 1 + K)/(2 pi K)
    0.2102 0.3694
    """
    last = nngp(inputs, inputs)
    values = np.linalg.eigvalsh(last + first_layer * (ntk(inputs, inputs) - last))
    high = float(values[-1])
    return float(values[values > _ZERO * high][0]), high
