"""Decoder-only transformers as values: their weights and structure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, counted
from bitwright.common.frozen import FrozenArrays

Weights = NDArray[np.float32] | NDArray[np.float64]
Activation = Literal["gelu", "gelu_tanh", "relu", "silu"]


@dataclass(frozen=True, repr=False)
class Linear(FrozenArrays):
    """x @ weight + bias."""

    weight: Weights  # (in, out)
    bias: Weights | None = None  # (out,)

    def __repr__(self) -> str:
        bias = "" if self.bias is None else ", bias"
        return f"Linear{self.weight.shape}".replace(")", f"{bias})")


Chain = tuple[Linear, ...]  # applied from left to right; empty for the identity


@dataclass(frozen=True)
class Norm(FrozenArrays):
    """x / sqrt(mean(x^2) + eps) * weight + bias; kind "layer" subtracts the mean of x first."""

    kind: Literal["rms", "layer"]
    eps: float
    weight: Weights | None = None  # (width,)
    bias: Weights | None = None  # (width,)


@dataclass(frozen=True)
class Rope:
    """Rotary positions: pair i of coordinates is rotated by the angle position * base^(-2 i / width).

    A pair consists of coordinates i and i + width/2 (Llama, Qwen), or of 2 i and 2 i + 1 if interleaved.
    """

    base: float
    interleaved: bool = False


@dataclass(frozen=True)
class Head:
    """One attention head, with scores scale * (query . key) and an output projection.

    Heads that share keys and values, as in grouped-query attention, contain the same chains.
    """

    query: Chain
    key: Chain
    value: Chain
    output: Chain  # all heads of a layer have the same output width: that of the residual stream, or a smaller rank
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
    output: Chain = ()  # applied to the sum of the heads
    mlp_norm: Norm | None = None
    mlp: Mlp | None = None


@dataclass(frozen=True, repr=False)
class Decoder:
    """A decoder, which maps tokens to logits.

    Args:
        tables: arrays that broadcast to (positions, tokens, width); their sum is the initial residual stream. A token
        table is (1, tokens, width), a position table (positions, 1, width).
        final_norm: the norm before the head.
        head: the matrices from the residual stream to the logits; a tied head repeats the token table.
    """

    tables: tuple[Weights, ...]
    layers: tuple[Layer, ...]
    final_norm: Norm | None
    head: Chain

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """(positions, tokens, width); without a position table, positions is 1, and there is no limit."""
        positions, tokens, width = np.broadcast_shapes(*(table.shape for table in self.tables))
        return positions, tokens, width

    @cached_property
    def weights(self) -> int:
        """The number of weights; an array that is used twice counts once."""
        from bitwright.transformers.files import describe_decoder

        return sum(array.size for array in describe_decoder(self)[1].values())

    def __repr__(self) -> str:
        """Shows the numbers of layers, heads, tokens and weights.

        >>> table = np.ones((1, 3, 2), np.float32)
        >>> Decoder((table,), (), None, (Linear(table[0].T, np.ones(3, np.float32)),))
        Decoder(0 layers, 0 heads, width 2, 3 tokens, 15 weights)
        """
        shapes = ", ".join(str(table.shape) for table in self.tables)
        try:
            _, tokens, width = self.shape
        except ValueError:
            return f"Decoder(incompatible tables: {shapes})"
        counts = counted(len(self.layers), "layer"), counted(sum(len(layer.heads) for layer in self.layers), "head")
        return f"Decoder({', '.join(counts)}, width {width}, {tokens:,} tokens, {self.weights:,} weights)"


def check(decoder: Decoder) -> None:
    """Raises InputError unless all shapes match, all weights are finite and all options are known."""
    for number, table in enumerate(decoder.tables):
        _check_array(table, (None, None, None), f"table {number + 1}")
    try:
        _, _, width = decoder.shape
    except ValueError:
        shapes = ", ".join(str(table.shape) for table in decoder.tables)
        raise InputError(f"tables must broadcast to (positions, tokens, width), got {shapes or 'none'}") from None
    for number, layer in enumerate(decoder.layers):
        _check_layer(layer, width, f"layer {number + 1}")
    _check_norm(decoder.final_norm, width, "the final norm")
    if not decoder.head:
        raise InputError("the head of the decoder must have at least one matrix, got none")
    _check_chain(decoder.head, width, "the head")


def _check_layer(layer: Layer, width: int, where: str) -> None:
    _check_norm(layer.attention_norm, width, f"{where}, attention norm")
    widths = {_check_head(head, width, f"{where}, head {n + 1}") for n, head in enumerate(layer.heads)}
    if len(widths) > 1:
        raise InputError(f"{where}: the outputs of its heads must have the same width, got {sorted(widths)}")
    for inner in widths:
        _check_chain(layer.output, inner, f"{where}, output", width)
    _check_norm(layer.mlp_norm, width, f"{where}, MLP norm")
    if (mlp := layer.mlp) is not None:
        if mlp.activation not in get_args(Activation):
            raise InputError(f"{where}: activation must be one of {get_args(Activation)}, got {mlp.activation!r}")
        hidden = _check_chain(mlp.up, width, f"{where}, MLP up")
        if mlp.gate is not None:
            _check_chain(mlp.gate, width, f"{where}, MLP gate", hidden)
        _check_chain(mlp.down, hidden, f"{where}, MLP down", width)


def _check_head(head: Head, width: int, where: str) -> int:
    """Checks a head and returns the width of its output."""
    inner = _check_chain(head.query, width, f"{where}, query")
    _check_chain(head.key, width, f"{where}, key", inner)
    _check_norm(head.query_norm, inner, f"{where}, query norm")
    _check_norm(head.key_norm, inner, f"{where}, key norm")
    if not np.isfinite(head.scale):
        raise InputError(f"{where}: scale must be a finite number, got {head.scale}")
    if head.rope is not None and (inner % 2 or not (np.isfinite(head.rope.base) and head.rope.base > 0)):
        raise InputError(f"{where}: RoPE needs an even width and a positive base, got {inner} and {head.rope.base}")
    return _check_chain(head.output, _check_chain(head.value, width, f"{where}, value"), f"{where}, output")


def _check_chain(chain: Chain, width: int, where: str, result: int | None = None) -> int:
    """Checks a chain and returns its output width, which must equal `result` unless that is None."""
    for linear in chain:
        _check_array(linear.weight, (width, None), where)
        width = linear.weight.shape[1]
        _check_array(linear.bias, (width,), f"{where}, bias")
    if result not in (None, width):
        raise InputError(f"{where} must output {result} numbers, got {width}")
    return width


def _check_norm(norm: Norm | None, width: int, where: str) -> None:
    if norm is None:
        return
    if norm.kind not in ("rms", "layer") or not (np.isfinite(norm.eps) and norm.eps >= 0):
        raise InputError(f"{where} must be 'rms' or 'layer' with eps of at least 0, got {norm.kind!r} and {norm.eps}")
    _check_array(norm.weight, (width,), where)
    _check_array(norm.bias, (width,), f"{where}, bias")


def _check_array(array: Weights | None, shape: tuple[int | None, ...], where: str) -> None:
    if array is None:
        return
    expected = tuple("any" if size is None else size for size in shape)
    fits = len(array.shape) == len(shape) and all(size in (None, n) for size, n in zip(shape, array.shape, strict=True))
    if not fits or not array.size:
        raise InputError(f"{where} must have shape {expected}, got {array.shape}".replace("'any'", "any"))
    if array.dtype not in (np.float32, np.float64):
        raise InputError(f"{where} must be float32 or float64, got {array.dtype}")
    if not np.isfinite(array).all():
        raise InputError(f"{where} must be finite, but contains NaN or infinite weights")
