"""Kernels of wide two-layer ReLU networks for any inputs, Eq. (1)-(2), and Theorem 3.1 with dense linear algebra.

This module works for any training set and is the check of every closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.theory.closed_form import FloatArray, Kind

_SNAP = 1e-14  # cosines this close to +-1 belong to equal or opposite vectors, up to rounding


def nngp(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Returns the NNGP kernel, Eq. (2): `|x||y|/(2 pi d) ((pi - theta) cos theta + sin theta)` with angle theta."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * ((np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def ntk(x: FloatArray, y: FloatArray) -> FloatArray:  # (p, d), (q, d) -> (p, q)
    """Returns the NTK, Eq. (1): x'y (pi - theta)/(2 pi d) plus the NNGP kernel."""
    norms, cosine, theta = _angles(x, y)
    return np.asarray(norms * (2 * (np.pi - theta) * cosine + np.sin(theta)) / (2 * np.pi * x.shape[1]))


def kernel(kind: Kind, x: FloatArray, y: FloatArray) -> FloatArray:
    """Returns the training kernel: the NTK, or the NNGP kernel if only the last layer is trained."""
    return ntk(x, y) if kind == "ntk" else nngp(x, y)


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


MAX_EXAMPLES = 5_000  # larger dense solves take minutes


def check_size(examples: int) -> None:
    """Raises InputError if a dense solve would take too long."""
    if examples > MAX_EXAMPLES:
        raise InputError(
            f"a dense solve supports at most {MAX_EXAMPLES:,} examples, got {examples:,}; "
            "use the limit engine, which has a closed form"
        )


@dataclass(frozen=True)
class Predictor:
    """The limit of a wide network trained to convergence on inputs X (K, d) with labels Y (K, k).

    >>> from bitwright import addition
    >>> from bitwright.theory.encoding.training_set import TrainingSet
    >>> algorithm = addition(2)
    >>> examples = TrainingSet(algorithm.program)
    >>> limit = Predictor(examples.inputs().toarray(), examples.labels().toarray())
    >>> limit.mean(examples.encode(algorithm.state({"p": 3, "q": 1})[np.newaxis])).round(3)
    array([[-0.023,  0.553,  0.   , -0.011,  0.564, -0.023]])
    """

    inputs: FloatArray
    labels: FloatArray
    kind: Kind = "ntk"

    def __post_init__(self) -> None:
        for array in (self.inputs, self.labels):
            if not np.isfinite(array).all():
                raise InputError("a training set must be finite, got NaN or infinity")
        if len(self.inputs) != len(self.labels):
            raise InputError(
                f"every input needs a label, got {len(self.inputs):,} inputs and {len(self.labels):,} labels"
            )
        check_size(len(self.inputs))

    @cached_property
    @one_thread()
    def _inverse(self) -> FloatArray:  # (K, K)
        return np.asarray(np.linalg.inv(kernel(self.kind, self.inputs, self.inputs)), dtype=np.float64)

    @cached_property
    @one_thread()
    def _applied(self) -> FloatArray:  # (K, k)
        return np.asarray(np.linalg.solve(kernel(self.kind, self.inputs, self.inputs), self.labels), dtype=np.float64)

    @one_thread()
    def mean(self, tests: FloatArray) -> FloatArray:  # (p, d) -> (p, k)
        """Returns the mean, Eq. (3): Theta(x, X) Theta^-1 Y.

        >>> Predictor(np.eye(2), np.eye(2)).mean(np.array([[0.6, 0.8]])).round(3)
        array([[0.445, 0.661]])
        """
        return np.asarray(kernel(self.kind, tests, self.inputs) @ self._applied)

    @one_thread()
    def covariance(self, tests: FloatArray, others: FloatArray | None = None) -> FloatArray:  # (p, d), (q, d) -> (p, q)
        """Returns the covariance of test inputs, Eq. (4); output coordinates are independent and have the same one.

        >>> Predictor(np.eye(2), np.eye(2)).covariance(np.array([[0.6, 0.8]])).round(4)
        array([[0.0314]])
        """
        others = tests if others is None else others
        left = kernel(self.kind, tests, self.inputs) @ self._inverse
        right = kernel(self.kind, others, self.inputs) @ self._inverse
        prior = nngp(self.inputs, self.inputs)
        return np.asarray(
            nngp(tests, others)
            + left @ prior @ right.T
            - left @ nngp(self.inputs, others)
            - nngp(tests, self.inputs) @ right.T
        )
