"""A decoder-only transformer as a value: every weight, and how the weights are used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.frozen import FrozenArrays

Weights = NDArray[np.float32] | NDArray[np.float64]
Activation = Literal["gelu", "gelu_tanh", "relu", "silu"]


@dataclass(frozen=True)
class Linear(FrozenArrays):
    """x @ weight + bias."""

    weight: Weights  # (in, out)
    bias: Weights | None = None  # (out,)


Chain = tuple[Linear, ...]  # applied from left to right; empty for the identity


@dataclass(frozen=True)
class Norm(FrozenArrays):
    """x / sqrt(mean(x^2) + eps) * weight + bias, of x minus its mean if kind is "layer"."""

    kind: Literal["rms", "layer"]
    eps: float
    weight: Weights | None = None  # (width,)
    bias: Weights | None = None  # (width,)


@dataclass(frozen=True)
class Rope:
    """Rotary positions: pairs of coordinates turn by position * base^(-2 i / width).

    Pairs are coordinates i and i + width/2 (Llama, Qwen), or 2 i and 2 i + 1 if interleaved.
    """

    base: float
    interleaved: bool = False


@dataclass(frozen=True)
class Head:
    """One head of attention: scores are scale * (query . key), and its output goes through `output`.

    Heads that share keys and values, as in grouped queries, hold the same chains.
    """

    query: Chain
    key: Chain
    value: Chain
    output: Chain  # to the width that the heads of a layer share: that of the residual stream, or a smaller rank
    scale: float
    query_norm: Norm | None = None
    key_norm: Norm | None = None
    rope: Rope | None = None


@dataclass(frozen=True)
class Mlp:
    """down(activation(up(x))), or down(activation(gate(x)) * up(x)) with a gate (SwiGLU, GEGLU)."""

    activation: Activation
    up: Chain
    down: Chain
    gate: Chain | None = None


@dataclass(frozen=True)
class Layer:
    """x + output(sum of heads(norm(x))), then y + mlp(norm(y))."""

    heads: tuple[Head, ...]
    attention_norm: Norm | None = None
    output: Chain = ()  # shared by the heads, after their sum
    mlp_norm: Norm | None = None
    mlp: Mlp | None = None


@dataclass(frozen=True)
class Decoder:
    """Tokens to logits.

    Args:
        tables: arrays that broadcast to (positions, tokens, width), and whose sum is the residual stream at first: a
            table of tokens is (1, tokens, width), one of positions (positions, 1, width).
        layers: the layers.
        final_norm: the norm before the head.
        head: from the residual stream to logits; the head has a tied embedding if its weight is that table's.
    """

    tables: tuple[Weights, ...]
    layers: tuple[Layer, ...]
    final_norm: Norm | None
    head: Chain

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """(positions, tokens, width); positions is 1 where there is no table of positions, so that any number fits."""
        positions, tokens, width = np.broadcast_shapes(*(table.shape for table in self.tables))
        return positions, tokens, width
