"""The spectrum of a train kernel whose examples are not orthonormal: computed, where templates have a closed form."""

from __future__ import annotations

import numpy as np

from bitwright.theory.closed_form import FloatArray
from bitwright.theory.kernels import nngp, ntk

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
