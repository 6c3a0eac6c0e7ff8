"""Attention whose scores depend on positions alone and whose output is one number: a sum over the tokens read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitwright.transformers.affine import LARGEST, TINY, Affine, Reals, added, chained, constant, normed, own
from bitwright.transformers.decoder import Chain, Decoder, Head
from bitwright.transformers.layout import ColumnTask


def depends_on_positions(decoder: Decoder) -> bool:
    """Whether the scores of a decoder of one layer depend on positions alone, and its attention output has rank 1."""
    if len(decoder.layers) != 1 or decoder.layers[0].attention_norm is not None or cut(decoder) is None:
        return False
    varying = np.zeros(decoder.shape[2], np.bool_)  # coordinates that depend on the token
    for table in decoder.tables:
        varying |= (table != table[:, :1]).any((0, 1))
    return all(
        head.rope is None and bool(chain) and not chain[0].weight[varying].any()
        for head in decoder.layers[0].heads
        for chain in (head.query, head.key)
    )


def cut(decoder: Decoder) -> tuple[tuple[Chain, ...], Chain] | None:
    """Where the attention output is one number: the chain of each head from values to there, and the chain after it."""
    layer = decoder.layers[0]
    if layer.heads and all(_width((*head.value, *head.output)) == 1 for head in layer.heads):
        return tuple(head.output for head in layer.heads), layer.output
    if len(layer.heads) == 1 and _width(layer.heads[0].value) == 1:
        return ((),), (*layer.heads[0].output, *layer.output)
    return None


def _width(chain: Chain) -> int:
    return chain[-1].weight.shape[1] if chain else 0


def residual(decoder: Decoder, unit: float) -> Affine:
    """(positions * tokens, width) the residual stream before attention."""
    tables = [np.broadcast_to(table, decoder.shape).reshape(-1, decoder.shape[2]) for table in decoder.tables]
    box = np.zeros((len(tables[0]), 1))
    return added([constant(table.astype(np.float64), box, unit) for table in tables])


def contributions(decoder: Decoder, task: ColumnTask, unit: float) -> tuple[list[Reals], list[float]]:
    """What each token adds to the attention output, (positions, tokens) for each step, and the error of the sum."""
    positions, tokens, _ = decoder.shape
    stream, parts = residual(decoder, unit), cut(decoder)
    assert parts is not None
    first, steps = task.prompt_length, len(task.layout.answer) + bool(task.layout.stop)
    gains, errors = [np.zeros((first + step, tokens)) for step in range(steps)], [0.0] * steps
    heads = decoder.layers[0].heads
    for head, chain in zip(heads, parts[0], strict=True):
        values = chained(head.value, stream)
        value, wrong_value = (of.reshape(positions, tokens, -1) for of in (values.center, values.deviation()))
        for step in range(steps):
            count = first + step
            weight, wrong = _weights(head, stream, tokens, count, unit)
            error = _averaging_error(value[:count], wrong_value[:count], wrong, unit)
            part, error = _linear(chain, value[:count], error, unit)
            gains[step] += weight[:, None] * part[..., 0]
            errors[step] += float(error[0] + (len(heads) + 1) * (unit + own(0)) * (np.abs(part).max() + error[0]))
    return gains, errors


def _weights(head: Head, stream: Affine, tokens: int, count: int, unit: float) -> tuple[Reals, float]:
    """(count,) weights of attention at the last of these positions, and how far their relative errors move them all."""
    rows = slice(0, count * tokens, tokens)  # any token will do
    at = replace(
        stream, center=stream.center[rows], slopes=stream.slopes[rows], radius=stream.radius[rows], box=stream.box[rows]
    )
    query, key = normed(head.query_norm, chained(head.query, at)), normed(head.key_norm, chained(head.key, at))
    q, k, dq, dk = query.center[-1], key.center, query.deviation()[-1], key.deviation()
    scale, terms = abs(head.scale), len(q)
    score, size = (k @ q) * head.scale, (np.abs(k) + dk) @ (np.abs(q) + dq)
    error = scale * (np.abs(k) @ dq + dk @ np.abs(q) + dk @ dq + ((terms + 4) * unit + own(terms)) * size)
    error += terms * TINY * max(1.0, scale) if unit else 0.0
    if unit and not (size * max(1.0, scale) <= LARGEST).all():
        error = error + np.inf
    below = score.max() - score
    exponent = error + unit * (2 * np.abs(score) + 2 * below + 4 * error.max() + 10) + 2.0**-47 * (1 + below)
    weight = np.exp(-below)
    weight /= weight.sum()
    return weight, float((weight * np.expm1(np.minimum(exponent, 50.0))).sum() * (1 + own(count)))


def _averaging_error(value: Reals, wrong_value: Reals, wrong: float, unit: float) -> Reals:
    """(rank,) the error of the average of values (positions, tokens, rank).

    Weights w (1 + e) move it by sum(w e (v - average)) / sum(w (1 + e)), which is at most wrong / (1 - wrong) times the
    spread of the values.
    """
    count, mine = len(value), wrong_value.max((0, 1))
    spread, size = np.ptp(value, axis=(0, 1)) + 2 * mine, np.abs(value).max((0, 1)) + mine
    moved = wrong / (1 - wrong) * (1 + 2.0**-40) if wrong < 0.5 else np.inf
    tiny = count * TINY * (1 + size) if unit else 0.0
    error: Reals = moved * spread + mine + ((2 * count + 16) * unit + own(2 * count)) * size + tiny
    return error


def _linear(chain: Chain, value: Reals, error: Reals, unit: float) -> tuple[Reals, Reals]:
    """Values through a chain, and the error of their average after it."""
    for linear in chain:
        weight = linear.weight.astype(np.float64)
        terms, magnitude, size = len(weight), np.abs(weight), np.abs(value).max((0, 1)) + error
        error = error @ magnitude + ((terms + 1) * unit + own(terms)) * (size @ magnitude)
        error = error + (2 * terms * TINY if unit else 0.0)
        error = np.where(size @ magnitude <= LARGEST, error, np.inf) if unit else error
        value = value @ weight
        if linear.bias is not None:
            value = value + linear.bias
            error = error + 2 * (unit + own(0)) * (np.abs(value).max((0, 1)) + np.abs(linear.bias) + error)
    return value, error
