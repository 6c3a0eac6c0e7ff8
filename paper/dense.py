"""Theorem 3.1 with dense linear algebra, for any training set: the check of every closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.theory.closed_form import FloatArray, Kind
from bitwright.theory.kernels import MAX_EXAMPLES, nngp, ntk


def kernel(kind: Kind, x: FloatArray, y: FloatArray) -> FloatArray:
    """Returns the training kernel: the NTK, or the NNGP kernel if only the last layer is trained."""
    return ntk(x, y) if kind == "ntk" else nngp(x, y)


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
