"""The network of Section 3: F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width), two layers and no bias."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitwright.learning.start import Float, Parametrization, Shape, Start

_FEW = 4


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: enough to train it again."""

    program_id: str
    seed: int
    member: int
    start: Start
    parametrization: Parametrization
    momentum: bool
    tolerance: float
    error: float  # largest error on a training example
    steps: int
    trainer: str
    padding: int = 0


@dataclass(frozen=True, eq=False)
class Network:
    """Trained weights, and where they come from."""

    first: Float = field(repr=False)  # w1 (width, K)
    last: Float = field(repr=False)  # w2 (k, width)
    origin: Origin

    @property
    def shape(self) -> Shape:
        return Shape(self.first.shape[1], self.first.shape[0], self.last.shape[0])

    @cached_property
    def _by_example(self) -> Float:  # (K, width)
        return np.ascontiguousarray(self.first.T)

    def __call__(self, inputs: NDArray[np.floating]) -> Float:  # (batch, K) -> (batch, k)
        """The outputs for encoded inputs.

        An input is zero but for its matched examples; for a few inputs it is faster to add up just their weights.
        """
        scale = self.first.dtype.type(1 / np.sqrt(self.first.shape[1] * self.first.shape[0]))
        inputs = inputs.astype(self.first.dtype, copy=False)
        if len(inputs) > _FEW:
            before = inputs @ self.first.T
        else:
            before = np.stack([row[row != 0] @ self._by_example[row != 0] for row in inputs])
        return np.asarray((np.maximum(before, 0) @ self.last.T) * scale)
