"""The network of Section 3: F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width), two layers and no bias."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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

    def to_torch(self) -> Any:
        """The same function as a plain `torch.nn.Sequential`, scales folded into its weights; no bias."""
        from bitwright.learning.torch_trainer import torch_module

        torch = torch_module()
        layers = torch.nn.Sequential(
            torch.nn.Linear(self.shape.inputs, self.shape.width, bias=False),
            torch.nn.ReLU(),
            torch.nn.Linear(self.shape.width, self.shape.outputs, bias=False),
        )
        with torch.no_grad():
            layers[0].weight.copy_(torch.from_numpy(self.first / np.sqrt(self.shape.inputs)))
            layers[2].weight.copy_(torch.from_numpy(self.last / np.sqrt(self.shape.width)))
        return layers

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
