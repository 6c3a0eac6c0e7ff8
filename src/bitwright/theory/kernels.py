"""The kernels of wide two-layer ReLU networks for any inputs, Eq. (1)-(2): the general form behind the closed ones."""

from __future__ import annotations

import numpy as np

from bitwright.errors import InputError
from bitwright.theory.closed_form import FloatArray, Kind

_SNAP = 1e-14  # cosines this close to +-1 are rounding errors of equal or opposite vectors


def nngp(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Eq. (2): |x||y|/(2 pi d) ((pi - theta) cos theta + sin theta), theta the angle, d the input dimension."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * ((np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def ntk(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Eq. (1): x'y (pi - theta)/(2 pi d) plus the NNGP kernel."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * (2 * (np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def kernel(kind: Kind, x: FloatArray, y: FloatArray) -> FloatArray:
    """The kernel that training follows: the NTK, or the NNGP kernel where only the last layer is trained."""
    return ntk(x, y) if kind == "ntk" else nngp(x, y)


def _angles(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    for array in (x, y):
        if array.ndim != 2 or array.shape[1] != x.shape[1] or not array.shape[1]:
            raise InputError(f"kernel inputs must be matrices of one width, got {x.shape} and {y.shape}")
        if not np.isfinite(array).all():
            raise InputError("kernel inputs must be finite numbers; one is NaN or infinite")
    norms = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)[None, :]
    cosine = np.divide(x @ y.T, norms, out=np.zeros_like(norms), where=norms > 0)
    cosine = np.where(np.abs(cosine) > 1 - _SNAP, np.sign(cosine), cosine)
    return norms, cosine, np.arccos(cosine)


_ZERO = 1e-10  # of the largest eigenvalue: what is smaller is a rounding error of 0


def kernel_ends(inputs: FloatArray, first_layer: float = 1.0) -> tuple[float, float]:  # (P, d)
    """The smallest eigenvalue that is not 0, and the largest.

    `first_layer` is how much faster the first layer is trained than the last: 1 for the NTK, 0 for the last layer only.

    >>> low, high = kernel_ends(np.eye(4))
    >>> print(f"{low:.4f} {high:.4f}")  # (2 pi - 1)/(2 pi K) and (2 pi - 1 + K)/(2 pi K)
    0.2102 0.3694
    """
    last = nngp(inputs, inputs)
    values = np.linalg.eigvalsh(last + first_layer * (ntk(inputs, inputs) - last))
    high = float(values[-1])
    return float(values[values > _ZERO * high][0]), high
