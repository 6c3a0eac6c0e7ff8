"""What a decoder answers, in NumPy: plain arithmetic to compare others with."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, expit

from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Activation, Chain, Decoder, Head, Layer, Mlp, Norm, Rope

Floats = Any  # arrays of either precision


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite is for the caller to see
def logits(decoder: Decoder, tokens: Ints, dtype: type = np.float64) -> Floats:
    """(n, length, vocabulary) logits after each of these tokens, (n, length)."""
    length = tokens.shape[1]
    x: Floats = sum((_looked_up(table.astype(dtype), tokens, length) for table in decoder.tables), np.zeros((), dtype))
    for layer in decoder.layers:
        x = x + _attend(layer, x)
        if layer.mlp is not None:
            x = x + _mlp(layer.mlp, normed(layer.mlp_norm, x))
    return chained(decoder.head, normed(decoder.final_norm, x))


def _looked_up(table: Floats, tokens: Ints, length: int) -> Floats:
    position = np.arange(length) if table.shape[0] > 1 else np.zeros(length, np.int64)
    return table[position, tokens if table.shape[1] > 1 else 0 * tokens]


def _attend(layer: Layer, x: Floats) -> Floats:
    h = normed(layer.attention_norm, x)
    total: Any = np.zeros((), x.dtype)
    for head in layer.heads:
        total = total + chained(head.output, _head(head, h))
    return chained(layer.output, total)


def _head(head: Head, h: Floats) -> Floats:
    queries = _turned(head.rope, normed(head.query_norm, chained(head.query, h)))
    keys = _turned(head.rope, normed(head.key_norm, chained(head.key, h)))
    scores = queries @ keys.swapaxes(-1, -2) * h.dtype.type(head.scale)
    scores[:, ~np.tri(h.shape[1], dtype=np.bool_)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ chained(head.value, h)


def _turned(rope: Rope | None, x: Floats) -> Floats:
    if rope is None:
        return x
    half = x.shape[-1] // 2
    dtype = x.dtype.type
    rates = dtype(rope.base) ** (-np.arange(half, dtype=dtype) * 2 / dtype(x.shape[-1]))
    angles = np.arange(x.shape[-2], dtype=dtype)[:, None] * rates
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = (x[..., ::2], x[..., 1::2]) if rope.interleaved else (x[..., :half], x[..., half:])
    turned = first * cosine - second * sine, first * sine + second * cosine
    return np.stack(turned, -1).reshape(x.shape) if rope.interleaved else np.concatenate(turned, -1)


def _mlp(mlp: Mlp, x: Floats) -> Floats:
    up = chained(mlp.up, x)
    hidden = activated(mlp.activation, up) if mlp.gate is None else activated(mlp.activation, chained(mlp.gate, x)) * up
    return chained(mlp.down, hidden)


def chained(chain: Chain, x: Floats) -> Floats:
    """A chain of matrices, one after the other."""
    for linear in chain:
        x = x @ linear.weight.astype(x.dtype)
        if linear.bias is not None:
            x = x + linear.bias.astype(x.dtype)
    return x


def normed(norm: Norm | None, x: Floats) -> Floats:
    """A norm over the last axis."""
    if norm is None:
        return x
    if norm.kind == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(norm.eps))
    if norm.weight is not None:
        x = x * norm.weight.astype(x.dtype)
    return x if norm.bias is None else x + norm.bias.astype(x.dtype)


def activated(activation: Activation, x: Floats) -> Floats:
    """GELU (exact or by tanh), ReLU or SiLU."""
    if activation == "relu":
        return np.maximum(x, 0)
    if activation == "silu":
        return x * expit(x)
    if activation == "gelu":
        return x * (1 + erf(x / x.dtype.type(np.sqrt(2)))) / 2
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x**3)
    return x * (1 + np.tanh(inner)) / 2
