"""Queries, keys and values of a one-layer decoder for every position and token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bitwright.common.errors import InputError
from bitwright.transformers.affine import (
    LARGEST,
    TINY,
    AffineForm,
    Reals,
    added,
    chained,
    constant,
    float64_error,
    normed,
)
from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Decoder, Head, Rope
from bitwright.transformers.layout import ColumnTask, Place
from bitwright.transformers.sums import Edges, edges_of

MAX_SIZE = 2**15  # boxes and trees store 16-bit numbers
EXP = 8.0  # error bound of the library's exp, in units: 4 ulp
WEIGHT, ERROR, VALUE = 0, 1, 2  # offsets of the parts of an entry


@dataclass(frozen=True)
class HeadTable:
    """The queries, keys and values of a head; the row for a position and a token is position * tokens + token."""

    scale: float
    query: AffineForm
    key: AffineForm
    value: Reals  # (rows, r) after the output projection
    error: Reals  # (rows, r) bounds on the error of a value and on its part of a sum's error


@dataclass(frozen=True)
class AttentionTable:
    """The residual stream and the heads of a one-layer decoder, for the tokens of a task."""

    decoder: Decoder
    task: ColumnTask
    unit: float
    tokens: Ints  # (tokens,) in use by the task
    edges: Edges
    residual: AffineForm
    heads: tuple[HeadTable, ...]
    tick: Callable[[], None] = lambda: None  # called before each batch of bounds; ends the proof by raising

    @property
    def rank(self) -> int:
        """The width of the sum of the heads."""
        return int(self.heads[0].value.shape[1])

    def rows(self, position: int, tokens: Ints) -> Ints:
        """Returns the table rows of tokens at a position."""
        return position * len(self.tokens) + np.searchsorted(self.tokens, tokens)


@np.errstate(over="ignore", invalid="ignore")  # non-finite values prove nothing
def tabulate(
    decoder: Decoder, task: ColumnTask, unit: float, tick: Callable[[], None] = lambda: None
) -> AttentionTable:
    """Builds the tables of a one-layer decoder; `unit` is the rounding unit of the arithmetic, 0 for real numbers."""
    names = (*task.columns.words, *task.columns.outputs)
    tokens = np.unique([*(t for name in names for t in task.tokens(name)), *task.fixed.values()]).astype(np.int64)
    length = task.prompt_length + len(task.layout.answer) - (0 if task.layout.stop else 1)
    check_fit(decoder, task)
    if len(decoder.layers) != 1 or not decoder.layers[0].heads:
        raise InputError(
            f"bounds cover one-layer decoders with attention; this decoder has {len(decoder.layers)} layers"
        )
    layer, rows = decoder.layers[0], length * len(tokens)
    position, token = np.repeat(np.arange(length), len(tokens)), np.tile(tokens, length)
    box, parts = np.zeros((rows, 0)), []
    for table in decoder.tables:
        looked_up = table[position * (table.shape[0] > 1), token * (table.shape[1] > 1)].astype(np.float64)
        parts.append(constant(np.broadcast_to(looked_up, (rows, decoder.shape[2])), box, unit))
    residual = added(parts)
    x = normed(layer.attention_norm, residual)
    width = sum(len(head.output[0].weight) for head in layer.heads if head.output) + len(layer.heads)
    heads = tuple(_tabulated(head, x, position, length, width) for head in layer.heads)
    return AttentionTable(decoder, task, unit, tokens, edges_of(task.columns, len(task.fixed)), residual, heads, tick)


def check_fit(decoder: Decoder, task: ColumnTask) -> None:
    """Raises InputError if a decoder lacks positions or tokens of a task."""
    positions, tokens, _ = decoder.shape
    length = task.prompt_length + len(task.layout.answer) - (0 if task.layout.stop else 1)
    if 1 < positions < length:
        raise InputError(f"the decoder has {positions} positions; the task needs {length}")
    written = decoder.head[-1].weight.shape[1]
    if written > tokens:
        raise InputError(f"the head of the decoder outputs {written} tokens, but its tables take {tokens}")
    vocabulary = min(tokens, written)
    if vocabulary < task.vocabulary:
        raise InputError(f"the decoder has {vocabulary} tokens; the task needs {task.vocabulary}")
    columns = task.columns
    largest = max(columns.states, *columns.symbols, (len(columns.words) + 1) * columns.length + 1)
    if largest > MAX_SIZE:
        raise InputError(
            f"the task's automaton has up to {largest:,} states, symbols or variables; the limit is {MAX_SIZE:,}"
        )


def _tabulated(head: Head, x: AffineForm, position: Ints, length: int, width: int) -> HeadTable:
    query = _turned(head.rope, normed(head.query_norm, chained(head.query, x)), position)
    key = _turned(head.rope, normed(head.key_norm, chained(head.key, x)), position)
    value = chained(head.value, x)
    center, radius, size, terms = value.center, value.deviation(), value.magnitude(), 2 * length + width + 8
    tiny = terms * TINY if x.unit else 0.0  # underflow in the sum over tokens
    _check_float32(size, x.unit)
    for linear in head.output:
        weight = linear.weight.astype(np.float64)
        bias = 0.0 if linear.bias is None else linear.bias.astype(np.float64)
        center, radius = center @ weight + bias, (radius + tiny) @ np.abs(weight)
        size, terms = size @ np.abs(weight) + np.abs(bias), terms + len(weight) + 2
        _check_float32(size, x.unit)
    roundings = (terms * x.unit * (1 + 2.0**-10) + float64_error(terms)) * size + (terms * TINY if x.unit else 0)
    return HeadTable(head.scale, query, key, center, radius * (1 + 2.0**-40) + roundings)


def _check_float32(size: Reals, unit: float) -> None:
    if unit and not (size <= LARGEST).all():
        raise InputError("the decoder's attention may overflow float32")


def _turned(rope: Rope | None, x: AffineForm, position: Ints) -> AffineForm:
    if rope is None:
        return x
    half, unit = x.center.shape[1] // 2, x.unit
    exponent = np.arange(half) * 2 / x.center.shape[1]
    angle = position[:, None] * rope.base**-exponent
    # the rate is a power; the errors of its exponent and of the library carry over to it and to the angle
    relative = (2 * abs(np.log(rope.base)) * exponent + EXP + 4) * unit + 2.0**-46
    wrong = np.abs(angle) * relative + (EXP + 2) * unit + 2.0**-50
    cosine, sine = np.cos(angle), np.sin(angle)

    order = np.arange(2 * half).reshape(half, 2) if rope.interleaved else np.arange(2 * half).reshape(2, half).T
    first, second = order.T
    other = np.empty(2 * half, np.int64)  # the partner of each coordinate
    other[first], other[second] = second, first
    straight, crossed = np.empty((len(position), 2 * half)), np.empty((len(position), 2 * half))
    straight[:, first], straight[:, second] = cosine, cosine
    crossed[:, first], crossed[:, second] = -sine, sine
    size = x.magnitude() + x.magnitude()[:, other]
    error = np.empty_like(size)
    error[:, first] = error[:, second] = wrong + 3 * unit + 2.0**-48
    return replace(
        x,
        center=x.center * straight + x.center[:, other] * crossed,
        slopes=x.slopes * straight[:, None] + x.slopes[:, :, other] * crossed[:, None],
        radius=x.radius * np.abs(straight) + x.radius[:, other] * np.abs(crossed),
    ).wider(size * error * (1 + error))


@dataclass(frozen=True)
class Query:
    """The entries that a query sums at one decoding step, for a fixed symbol before the step.

    The rows are those of `Edges`; one extra column contains flags. An entry consists of the weight of a symbol, the
    relative error of the weight, r weighted values, and r errors of the values.
    """

    entries: Reals  # (heads, rows, length + 1, symbols, 2 + 2 r)
    noise: Reals  # (2, heads, r): bounds on the sums of |values| and of weights, times the rounding of a sum


@np.errstate(over="ignore", invalid="ignore")
def query_at(table: AttentionTable, step: int, symbol: int) -> Query:
    """Returns the query of a decoding step; `symbol` is the last symbol before it, -1 for a fixed token."""
    task, columns = table.task, table.task.columns
    slots = (*task.layout.prompt, *task.layout.answer)[: task.prompt_length + step]
    where = _entries(table, int(query_rows(table, step, np.array([symbol]))[0]), slots)
    edges, length = table.edges, columns.length
    most = max(int(edges.reads.max()) + 1, *columns.symbols, columns.answers)
    entries = np.zeros((len(table.heads), edges.reads.shape[1], length + 1, most, where.shape[2]))
    constants = 0
    for position, slot in enumerate(slots):
        if not isinstance(slot, Place):
            at = edges.flags + len(columns.flags) + constants // (length + 1), constants % (length + 1)
            read, constants = table.rows(position, np.array([slot])), constants + 1
        else:
            read = table.rows(position, np.array(task.tokens(slot.word)))
            if slot.word in columns.flags:
                at = edges.flags + list(columns.flags).index(slot.word), length
                read = read[columns.flags[slot.word]]
            else:
                at = (*columns.words, columns.answer).index(slot.word), slot.column
                read = read[: (*columns.symbols, columns.answers)[at[0]]]
        entries[:, at[0], at[1], : len(read)] = where[:, read]
    if not np.isfinite(entries[..., : VALUE + table.rank]).all():
        raise InputError("the decoder's attention is not finite; check its weights for NaN and infinity")
    total, r = np.abs(entries).max(3).sum((1, 2)), table.rank
    sums = np.stack([total[:, VALUE : VALUE + r], np.repeat(total[:, :1], r, 1)])
    noise = sums * (entries[0, :, :, 0, 0].size + 20) * 2.0**-50
    return Query(entries, noise)


def query_rows(table: AttentionTable, step: int, symbols: Ints) -> Ints:
    """Returns the table rows of a step's query, one for each possible symbol before the step."""
    task = table.task
    last = (*task.layout.prompt, *task.layout.answer)[task.prompt_length - 1 + step]
    tokens = np.array(task.tokens(last.word))[symbols] if isinstance(last, Place) else np.full(len(symbols), last)
    return table.rows(task.prompt_length - 1 + step, tokens)


def _entries(table: AttentionTable, row: int, slots: tuple[int | Place, ...]) -> Reals:
    """Returns (heads, rows of these slots, entry) for the query in a row."""
    possible = np.zeros((len(slots), len(table.tokens)), np.bool_)
    for at, slot in enumerate(slots):
        tokens = table.task.tokens(slot.word) if isinstance(slot, Place) else (slot,)
        possible[at, np.searchsorted(table.tokens, tokens)] = True
    may, r, u = possible.ravel(), table.rank, table.unit
    entries = np.zeros((len(table.heads), may.size, 2 + 2 * r))
    for entry, head in zip(entries, table.heads, strict=True):
        score, error = _scores(head, row, may.size, u)
        below = np.where(may, score[may].max() - score, 0.0)
        error += u * (2 * np.abs(score) + 2 * below + EXP + 2) + 2.0**-48 * (1 + np.abs(score) + below)
        error = np.where(np.isnan(error), np.inf, error * (1 + 2.0**-20))
        below[error > 600] = 0.0  # an unknown weight must not be small, or its error would have no effect
        weight, relative = np.where(may, np.exp(-below), 0.0), np.expm1(np.minimum(error, 600.0))
        relative[below > 80] += 1  # such a weight may underflow in float32
        entry[:, WEIGHT], entry[:, ERROR] = weight, relative
        entry[:, VALUE : VALUE + r] = weight[:, None] * head.value[: may.size]
        entry[:, VALUE + r :] = (weight * (1 + relative))[:, None] * head.error[: may.size] * (1 + 2.0**-40)
    entries[..., VALUE + r :] = np.where(np.isnan(entries[..., VALUE + r :]), np.inf, entries[..., VALUE + r :])
    return entries


def _scores(head: HeadTable, row: int, rows: int, unit: float) -> tuple[Reals, Reals]:
    """Returns (rows,) the scores of a query with all keys and their errors, up to a common shift.

    Softmax is invariant under common shifts, so an error e in the query changes the score of key k by e . (k - c) for
    any fixed c, here the mean of the keys weighted by attention.
    """
    q, q_slopes, q_radius, q_box = (getattr(head.query, name)[row] for name in ("center", "slopes", "radius", "box"))
    k, k_slopes, k_radius, k_box = (getattr(head.key, name)[:rows] for name in ("center", "slopes", "radius", "box"))
    q_off, k_off = head.query.deviation()[row], head.key.deviation()[:rows]
    score = head.scale * (k @ q)
    weight = np.exp(score - score.max())
    apart = k - weight @ k / weight.sum()
    moved = np.abs(apart @ q_slopes.T) @ q_box + np.abs(apart) @ q_radius  # error of the query
    moved += (np.abs(k_slopes @ q) * k_box).sum(1) + k_radius @ np.abs(q)  # error of the key
    size = (np.abs(k) + k_off) @ (np.abs(q) + q_off)
    _check_float32(size * max(1.0, abs(head.scale)), unit)
    roundings = ((len(q) + 1) * unit + float64_error(len(q))) * size + (2 * len(q) * TINY if unit else 0)
    return score, np.abs(head.scale) * (moved * (1 + 2.0**-40) + k_off @ q_off + roundings)
