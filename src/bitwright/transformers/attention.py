"""Exact bounds on the output of one layer of attention, over boxes of inputs, by dynamic programming over columns.

For a query whose token is fixed, a head outputs N / D, where D is the sum of the weights of all positions and N that of
the weights times the values. Both are sums over the columns of a task, so that any linear functional of them has an
exact minimum and maximum over all inputs of a box: the states of the task's automaton are those of the program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled
from bitwright.errors import InputError
from bitwright.transformers.affine import TINY, Affine, Reals, chained, constant, normed, own
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decoder import Chain, Decoder, Head, Rope
from bitwright.transformers.layout import ColumnTask, Place

Boxes = NDArray[np.int16]
EXP = 8.0  # units by which the library's exp may be wrong: 4 ulp
WEIGHT, ERROR, VALUE = 0, 1, 2  # of an entry: weight, relative error of it, r weighted values, r errors of their sum


@dataclass(frozen=True)
class HeadTable:
    """What a head reads at every position and token; a row is position * tokens + token."""

    scale: float
    query: Affine
    key: Affine
    value: Reals  # (rows, r) after the head's output
    error: Reals  # (rows, r) by which a value and its part of a sum may be wrong


@dataclass(frozen=True)
class AttentionTable:
    """The residual stream and the heads of a decoder of one layer, for the tokens of a task."""

    decoder: Decoder
    task: ColumnTask
    unit: float
    tokens: Ints  # (tokens,) that the task uses
    residual: Affine
    heads: tuple[HeadTable, ...]

    @property
    def rank(self) -> int:
        return self.heads[0].value.shape[1]

    def rows(self, position: int, tokens: Ints) -> Ints:
        """The rows of tokens at a position."""
        return position * len(self.tokens) + np.searchsorted(self.tokens, tokens)


def tabulate(decoder: Decoder, task: ColumnTask, unit: float) -> AttentionTable:
    """The tables of a decoder of one layer; `unit` is that of the arithmetic to cover, 0 for real numbers."""
    names = (*task.columns.words, *task.columns.outputs)
    tokens = np.unique([*(t for name in names for t in task.tokens(name)), *task.fixed.values()]).astype(np.int64)
    length = task.prompt_length + len(task.layout.answer) - (0 if task.layout.stop else 1)
    check_fit(decoder, task)
    layer, rows = decoder.layers[0], length * len(tokens)
    position, token = np.repeat(np.arange(length), len(tokens)), np.tile(tokens, length)
    box, parts = np.zeros((rows, 0)), []
    for table in decoder.tables:
        at = position if table.shape[0] > 1 else 0 * position
        parts.append(constant(table[at, token if table.shape[1] > 1 else 0].astype(np.float64), box, unit))
    residual = parts[0]
    for part in parts[1:]:
        residual = residual + part
    x = normed(layer.attention_norm, residual)
    width = sum(chain[0].weight.shape[0] for chain in (head.output for head in layer.heads) if chain)
    heads = tuple(_tabulated(head, x, position, length, width) for head in layer.heads)
    return AttentionTable(decoder, task, unit, tokens, residual, heads)


def check_fit(decoder: Decoder, task: ColumnTask) -> None:
    """Raises InputError unless a decoder has the positions and tokens of a task."""
    positions, tokens, _ = decoder.shape
    length = task.prompt_length + len(task.layout.answer) - (0 if task.layout.stop else 1)
    if 1 < positions < length:
        raise InputError(f"the decoder has {positions} positions; the task needs {length}")
    vocabulary = min(tokens, decoder.head[-1].weight.shape[1])
    if vocabulary < task.vocabulary:
        raise InputError(f"the decoder has {vocabulary} tokens; the task needs {task.vocabulary}")


def _tabulated(head: Head, x: Affine, position: Ints, length: int, width: int) -> HeadTable:
    query = _turned(head.rope, normed(head.query_norm, chained(head.query, x)), position)
    key = _turned(head.rope, normed(head.key_norm, chained(head.key, x)), position)
    value = chained(head.value, x)
    center, radius, size, terms = value.center, value.deviation(), value.magnitude(), 2 * length + width + 8
    for linear in head.output:
        weight = linear.weight.astype(np.float64)
        bias = 0.0 if linear.bias is None else linear.bias.astype(np.float64)
        center, radius = center @ weight + bias, radius @ np.abs(weight)
        size, terms = size @ np.abs(weight) + np.abs(bias), terms + len(weight) + 2
    roundings = (terms * x.unit * (1 + 2.0**-10) + own(terms)) * size + (terms * TINY if x.unit else 0)
    return HeadTable(head.scale, query, key, center, radius * (1 + 2.0**-40) + roundings)


def _turned(rope: Rope | None, x: Affine, position: Ints) -> Affine:
    if rope is None:
        return x
    half, unit = x.center.shape[1] // 2, x.unit
    exponent = np.arange(half) * 2 / x.center.shape[1]
    angle = position[:, None] * rope.base**-exponent
    # the rate, a power, is wrong by the error of its exponent and that of the library; so is the angle
    relative = (2 * np.log(rope.base) * exponent + EXP + 4) * unit + 2.0**-46
    wrong = np.abs(angle) * relative + (EXP + 2) * unit + 2.0**-50
    cosine, sine = np.cos(angle), np.sin(angle)

    def pairs(array: Reals) -> tuple[Reals, Reals]:
        both = (array[..., ::2], array[..., 1::2]) if rope.interleaved else (array[..., :half], array[..., half:])
        return both

    def joined(first: Reals, second: Reals) -> Reals:
        array = np.stack([first, second], -1) if rope.interleaved else np.concatenate([first, second], -1)
        return array.reshape(*first.shape[:-1], 2 * half)

    (a, b), (p, q), (r, s) = pairs(x.center), pairs(x.slopes), pairs(x.radius)
    c, d = cosine[:, None], sine[:, None]
    turned = replace(
        x,
        center=joined(a * cosine - b * sine, a * sine + b * cosine),
        slopes=joined(p * c - q * d, p * d + q * c),
        radius=joined(*(np.abs(cosine) * r + np.abs(sine) * s, np.abs(sine) * r + np.abs(cosine) * s)),
    )
    m, n = pairs(x.magnitude())
    size = (m + n) * (1 + wrong)
    return turned.wider(joined(size * (wrong + 3 * unit + 2.0**-48), size * (wrong + 3 * unit + 2.0**-48)))


@dataclass(frozen=True)
class Query:
    """What a query adds up at one step of decoding, the symbol in front of it being fixed.

    Every entry is (2 + 2 r,): weight, relative error of the weight, r weighted values, r errors.
    """

    step: int
    symbol: int
    residual: Affine  # one row
    fixed: Reals  # (heads, fixed tokens, entry)
    symbols: Reals  # (heads, words + 1, length, most symbols, entry): of the words, then of the answer where it is seen
    flags: Reals  # (heads, flags, states, entry) of the flags that are seen
    noise: Reals  # (2, heads, r): bounds on the sums of |values| and of weights, times the rounding of a sum


def query_at(table: AttentionTable, step: int, symbol: int) -> Query:
    """The query of a step of decoding; `symbol` stands in the slot before the answer, -1 if that is a fixed token."""
    task, columns = table.task, table.task.columns
    position = task.prompt_length - 1 + step
    slot = task.layout.prompt[-1] if step == 0 else task.layout.answer[step - 1]
    token = task.tokens(slot.word)[symbol] if isinstance(slot, Place) else slot
    row = int(table.rows(position, np.array([token]))[0])
    seen = task.layout.answer[:step]
    where = _entries(table, row, position, _possible(table, position))
    most = max([*columns.symbols, columns.answers])
    heads, size = len(table.heads), 2 + 2 * table.rank
    symbols = np.zeros((heads, len(columns.words) + 1, columns.length, most, size))
    for word, name in enumerate(columns.words):
        for column, at in enumerate(task.positions[word]):
            if at >= 0:
                read = table.rows(int(at), np.array(task.tokens(name)))[: columns.symbols[word]]
                symbols[:, word, column, : len(read)] = where[:, read]
    flags = np.zeros((heads, sum(place.column < 0 for place in seen), columns.states, size))
    shown = 0
    for index, place in enumerate(seen):
        read = table.rows(task.prompt_length + index, np.array(task.tokens(place.word)))
        if place.column < 0:
            flags[:, shown] = where[:, read[columns.flags[place.word]]]
            shown += 1
        else:
            symbols[:, -1, place.column, : columns.answers] = where[:, read[: columns.answers]]
    fixed = np.array([int(table.rows(at, np.array([token]))[0]) for at, token in task.fixed.items()], np.int64)
    one = slice(row, row + 1)
    residual = table.residual
    residual = replace(
        residual,
        center=residual.center[one],
        slopes=residual.slopes[one],
        radius=residual.radius[one],
        box=residual.box[one],
    )
    parts = where[:, fixed]
    return Query(step, symbol, residual, parts, symbols, flags, _noise(parts, symbols, flags, table.rank))


def _possible(table: AttentionTable, position: int) -> NDArray[np.bool_]:
    """(rows up to the position,) which tokens can stand where they are."""
    slots = (*table.task.layout.prompt, *table.task.layout.answer)[: position + 1]
    possible = np.zeros((len(slots), len(table.tokens)), np.bool_)
    for at, slot in enumerate(slots):
        tokens = table.task.tokens(slot.word) if isinstance(slot, Place) else (slot,)
        possible[at, np.searchsorted(table.tokens, tokens)] = True
    return possible.ravel()


def _entries(table: AttentionTable, row: int, position: int, possible: NDArray[np.bool_]) -> Reals:
    """(heads, rows up to the position, entry) for the query of a row."""
    rows, r, u = (position + 1) * len(table.tokens), table.rank, table.unit
    entries = np.zeros((len(table.heads), rows, 2 + 2 * r))
    for index, head in enumerate(table.heads):
        score, error = _scores(head, row, rows, u)
        below = np.where(possible, score[possible].max() - score, 0.0)
        error += u * (2 * np.abs(score) + 2 * below + EXP + 2) + 2.0**-48 * (1 + np.abs(score) + below)
        weight, relative = np.exp(-below), np.expm1(np.minimum(error * (1 + 2.0**-20), 600.0))
        weight[~possible] = 0.0
        relative[below > 80] += 1  # float32 may lose such a weight altogether
        entries[index, :, WEIGHT], entries[index, :, ERROR] = weight, relative
        entries[index, :, VALUE : VALUE + r] = weight[:, None] * head.value[:rows]
        entries[index, :, VALUE + r :] = (weight * (1 + relative))[:, None] * head.error[:rows] * (1 + 2.0**-40)
    return entries


def _scores(head: HeadTable, row: int, rows: int, unit: float) -> tuple[Reals, Reals]:
    """(rows,) scores of a query and all keys, and how far each may be off, up to what all are off by together.

    Softmax does not see what all scores share: an error e of the query moves the score of key k by e . (k - c) for any
    common c, here the key that the query likes best.
    """
    q, q_slopes, q_radius = head.query.center[row], head.query.slopes[row], head.query.radius[row]
    q_box = head.query.box[row]
    k, k_slopes, k_radius = head.key.center[:rows], head.key.slopes[:rows], head.key.radius[:rows]
    q_off, k_off = head.query.deviation()[row], head.key.deviation()[:rows]
    plain = k @ q
    weight = np.exp(np.minimum(head.scale * plain - (head.scale * plain).max(), 0))
    apart = k - weight @ k / weight.sum()
    moved = np.abs(apart @ q_slopes.T) @ q_box + np.abs(apart) @ q_radius  # by the query's error
    moved += (np.abs(k_slopes @ q) * head.key.box[:rows]).sum(1) + k_radius @ np.abs(q)  # by the key's
    size = (np.abs(k) + k_off) @ (np.abs(q) + q_off)
    roundings = ((len(q) + 1) * unit + own(len(q))) * size + (2 * len(q) * TINY if unit else 0)
    return plain * head.scale, np.abs(head.scale) * (moved * (1 + 2.0**-40) + k_off @ q_off + roundings)


def _noise(fixed: Reals, symbols: Reals, flags: Reals, r: int) -> Reals:
    """How far sums may be off by their rounding in float64: that of values, and that of weights."""
    total = np.abs(fixed).sum(1) + np.abs(symbols).max(3).sum((1, 2)) + np.abs(flags).max(2).sum(1)  # (heads, entry)
    terms = fixed.shape[1] + symbols.shape[1] * symbols.shape[2] + flags.shape[1]
    values, weights = total[:, VALUE : VALUE + r], np.repeat(total[:, WEIGHT : WEIGHT + 1], r, 1)
    return np.stack([values, weights]) * (terms + 20) * 2.0**-50


@dataclass(frozen=True)
class Cases:
    """What inputs have in common besides a box: answers, and states in which runs end.

    Args:
        wanted: (cases, length) the answer of each column, -1 where any is allowed.
        ends: (cases, states) where runs may end.
        free: (cases,) from which column on neither states nor answers matter.
    """

    wanted: Ints
    ends: NDArray[np.bool_]
    free: Ints


def cases_of(query: Query, task: ColumnTask, right: Ints) -> Cases:
    """The cases of a step: the symbol of the query in front, and each of these symbols as right answer (-1: the stop)."""
    columns, layout = task.columns, task.layout
    wanted = np.full((len(right), columns.length), -1, np.int64)
    ends = np.repeat(columns.ends[None], len(right), 0)
    known = [(layout.answer[query.step - 1], np.full(len(right), query.symbol))] if query.step else []
    if query.step < len(layout.answer):
        known.append((layout.answer[query.step], right))
    for place, symbols in known:
        if place.column < 0:
            ends &= columns.flags[place.word][None] == symbols[:, None]
        else:
            wanted[:, place.column] = symbols
    return Cases(wanted, ends, free_columns(query, columns, wanted, ends))


def free_columns(query: Query, columns: Columns, wanted: Ints, ends: NDArray[np.bool_]) -> Ints:
    """(cases,) the first column from which any symbols go with any state, and no answer counts."""
    complete = len(np.unique(columns.edges[:, :-2], axis=0)) == columns.states * int(np.prod(columns.symbols))
    answers = (query.symbols[:, -1, :, :, WEIGHT] > 0).any((0, 2))
    matters = (wanted >= 0) | answers[None]
    last = np.where(matters.any(1), columns.length - matters[:, ::-1].argmax(1), 0)
    free: Ints = np.where(complete & ends.all(1) & (query.flags.shape[1] == 0), last, columns.length)
    return free


@dataclass(frozen=True)
class Outputs:
    """Enclosures of the attention output of boxes: center + [-radius, radius], and how far rounding may move it."""

    possible: NDArray[np.bool_]  # (n,) whether the box has an input
    center: Reals  # (n, r)
    radius: Reals  # (n, r)
    rounding: Reals  # (n, r)
    near: Reals  # (n, heads, r) an output of each head in the box, or near it
    weight: Reals  # (n, heads) the sum of its weights


def bound(query: Query, columns: Columns, cases: Cases, boxes: Boxes, case: Ints) -> Outputs:
    """The attention output over each box (n, 2, variables), each in its case."""
    n, r = len(boxes), query.noise.shape[2]
    heads = len(query.fixed)
    found, near, weight = np.zeros((3, n, r)), np.zeros((n, heads, r)), np.ones((n, heads))
    possible = np.zeros(n, np.bool_)
    _bound(
        boxes,
        case,
        cases.wanted,
        cases.ends,
        cases.free,
        columns.edges,
        columns.starts,
        query.fixed,
        query.symbols,
        query.flags,
        query.noise,
        found,
        near,
        weight,
        possible,
    )
    return Outputs(possible, found[0], found[1], found[2], near, weight)


@compiled
def _reach(low, high, wanted, free, edges, starts, column_edges, counts, seen, states):  # type: ignore[no-untyped-def]
    """Lists the edges of each column that a run from a start can take; marks states and counts answers."""
    length, words = seen.shape[0], edges.shape[1] - 3
    at = words * length
    states[:] = False
    seen[:] = 0
    for state in range(len(starts)):
        states[0, state] = starts[state] and low[at] <= state <= high[at]
    for column in range(length):
        counts[column] = 0
        if column >= free:
            states[column + 1] = states[column]
            continue
        for edge in range(len(edges)):
            first = edges[edge, 1]
            if first < low[column] or first > high[column] or not states[column, edges[edge, 0]]:
                continue
            after = edges[edge, words + 2]
            if after < low[at + column + 1] or after > high[at + column + 1]:
                continue
            answer = edges[edge, words + 1]
            if wanted[column] >= 0 and answer != wanted[column]:
                continue
            inside = True
            for word in range(1, words):
                symbol, variable = edges[edge, word + 1], word * length + column
                inside = inside and low[variable] <= symbol <= high[variable]
            if inside:
                column_edges[column, counts[column]] = edge
                counts[column] += 1
                states[column + 1, after] = True
                if answer >= 0:
                    seen[column, answer] += 1


@compiled
def _bound(  # type: ignore[no-untyped-def]
    boxes, case, wanted, ends, free, edges, starts, fixed, symbols, flags, noise, found, nears, weights, possible
):
    heads, rows, length, most, size = symbols.shape
    words, states, r = rows - 1, len(starts), (size - 2) // 2
    K = r + heads  # functionals: values of all heads together, then the weights of each head
    column_edges, counts = np.empty((length, len(edges)), np.int64), np.empty(length, np.int64)
    seen, reached = np.empty((length, most), np.int64), np.empty((length + 1, states), np.bool_)
    N = np.empty((heads, r))
    above, below = np.empty((heads, r)), np.empty((heads, r))
    off, error = np.empty((heads, r)), np.empty(heads)
    share = np.empty((rows, most, K))
    high, low = np.empty((states, K)), np.empty((states, K))
    high2, low2 = np.empty((states, K)), np.empty((states, K))
    for box in range(len(boxes)):
        first, last, want = boxes[box, 0], boxes[box, 1], wanted[case[box]]
        start = free[case[box]]
        for variable in range(words * length, words * length + length + 1):
            column = variable - words * length
            if column > start and (first[variable] > 0 or last[variable] < states - 1):
                start = length
        _reach(first, last, want, start, edges, starts, column_edges, counts, seen, reached)
        end = ends[case[box]]
        possible[box] = False
        at = words * length + length
        for state in range(states):
            reached[length, state] = reached[length, state] and end[state] and first[at] <= state <= last[at]
            possible[box] = possible[box] or reached[length, state]
        if not possible[box]:
            continue
        near, D = nears[box], weights[box]
        # a value near the outputs of each head: its output for the mean of the entries
        for head in range(heads):
            D[head] = 0.0
            for k in range(r):
                N[head, k] = 0.0
            for part in range(fixed.shape[1]):
                D[head] += fixed[head, part, 0]
                for k in range(r):
                    N[head, k] += fixed[head, part, 2 + k]
            for row in range(rows):
                for column in range(length):
                    if row < words:
                        a, b = first[row * length + column], last[row * length + column]
                        total = b - a + 1
                    else:
                        a, b, total = 0, most - 1, 0
                        for symbol in range(most):
                            total += seen[column, symbol]
                    if total == 0:
                        continue
                    for symbol in range(a, b + 1):
                        part_of = (1.0 if row < words else seen[column, symbol]) / total
                        if part_of > 0:
                            D[head] += part_of * symbols[head, row, column, symbol, 0]
                            for k in range(r):
                                N[head, k] += part_of * symbols[head, row, column, symbol, 2 + k]
            ending = 0
            for state in range(states):
                ending += reached[length, state]
            for flag in range(flags.shape[1]):
                for state in range(states):
                    if reached[length, state]:
                        D[head] += flags[head, flag, state, 0] / ending
                        for k in range(r):
                            N[head, k] += flags[head, flag, state, 2 + k] / ending
            D[head] = max(D[head], 1e-300)
            for k in range(r):
                near[head, k] = N[head, k] / D[head]
        # start: the fixed tokens
        for state in range(states):
            for k in range(K):
                high[state, k], low[state, k] = 0.0, 0.0
        for head in range(heads):
            weight, wrong = 0.0, 0.0
            for part in range(fixed.shape[1]):
                weight += fixed[head, part, 0]
                wrong += fixed[head, part, 0] * fixed[head, part, 1]
            error[head] = wrong
            for state in range(states):
                high[state, r + head], low[state, r + head] = weight, weight
            for k in range(r):
                total_value, total_off = 0.0, 0.0
                for part in range(fixed.shape[1]):
                    value = fixed[head, part, 2 + k] - near[head, k] * fixed[head, part, 0]
                    total_value += value
                    total_off += fixed[head, part, 1] * abs(value) + fixed[head, part, 2 + r + k]
                above[head, k], below[head, k], off[head, k] = total_value, total_value, total_off
                for state in range(states):
                    high[state, k] += total_value / D[head]
                    low[state, k] += total_value / D[head]
        for column in range(length):
            # what each symbol adds to every functional, and the worst rounding
            for row in range(rows):
                if row < words:
                    a, b = first[row * length + column], last[row * length + column]
                else:
                    a, b = 0, most - 1
                    if column >= start or symbols[0, row, column, :, 0].max() == 0:
                        for symbol in range(most):
                            for k in range(K):
                                share[row, symbol, k] = 0.0
                        continue
                for symbol in range(a, b + 1):
                    for k in range(K):
                        share[row, symbol, k] = 0.0
                for head in range(heads):
                    worst = 0.0
                    for symbol in range(a, b + 1):
                        if row == words and seen[column, symbol] == 0:
                            continue
                        entry = symbols[head, row, column, symbol]
                        share[row, symbol, r + head] = entry[0]
                        worst = max(worst, entry[0] * entry[1])
                    error[head] += worst
                    for k in range(r):
                        most_value, least_value, worst = -np.inf, np.inf, 0.0
                        for symbol in range(a, b + 1):
                            if row == words and seen[column, symbol] == 0:
                                continue
                            entry = symbols[head, row, column, symbol]
                            value = entry[2 + k] - near[head, k] * entry[0]
                            share[row, symbol, k] += value / D[head]
                            most_value, least_value = max(most_value, value), min(least_value, value)
                            worst = max(worst, entry[1] * abs(value) + entry[2 + r + k])
                        above[head, k] += most_value
                        below[head, k] += least_value
                        off[head, k] += worst
            if column >= start:
                for k in range(K):
                    x, y = 0.0, 0.0
                    for row in range(words):
                        a, b = first[row * length + column], last[row * length + column]
                        most_value, least_value = -np.inf, np.inf
                        for symbol in range(a, b + 1):
                            most_value = max(most_value, share[row, symbol, k])
                            least_value = min(least_value, share[row, symbol, k])
                        x += most_value
                        y += least_value
                    for state in range(states):
                        high[state, k] += x
                        low[state, k] += y
                continue
            for state in range(states):
                for k in range(K):
                    high2[state, k], low2[state, k] = -np.inf, np.inf
            for index in range(counts[column]):
                edge = edges[column_edges[column, index]]
                before, after = edge[0], edge[words + 2]
                answer = max(0, edge[words + 1])
                for k in range(K):
                    x = share[words, answer, k]
                    for word in range(words):
                        x += share[word, edge[word + 1], k]
                    high2[after, k] = max(high2[after, k], high[before, k] + x)
                    low2[after, k] = min(low2[after, k], low[before, k] + x)
            high, high2, low, low2 = high2, high, low2, low
        # flags, and the states in which runs may end
        for head in range(heads):
            for flag in range(flags.shape[1]):
                worst = 0.0
                for state in range(states):
                    if reached[length, state]:
                        entry = flags[head, flag, state]
                        high[state, r + head] += entry[0]
                        low[state, r + head] += entry[0]
                        worst = max(worst, entry[0] * entry[1])
                error[head] += worst
                for k in range(r):
                    most_value, least_value, worst = -np.inf, np.inf, 0.0
                    for state in range(states):
                        if reached[length, state]:
                            entry = flags[head, flag, state]
                            value = entry[2 + k] - near[head, k] * entry[0]
                            high[state, k] += value / D[head]
                            low[state, k] += value / D[head]
                            most_value, least_value = max(most_value, value), min(least_value, value)
                            worst = max(worst, entry[1] * abs(value) + entry[2 + r + k])
                    above[head, k] += most_value
                    below[head, k] += least_value
                    off[head, k] += worst
        for k in range(K):
            x, y = -np.inf, np.inf
            for state in range(states):
                if reached[length, state]:
                    x, y = max(x, high[state, k]), min(y, low[state, k])
            high[0, k], low[0, k] = x, y
        _finish(high[0], low[0], near, D, above, below, off, error, noise, found[:, box])


@compiled
def _finish(high, low, near, D, above, below, off, error, noise, found):  # type: ignore[no-untyped-def]
    """From the ends of the functionals to the enclosure of the output.

    With T = N - near D, the output of a head is near + T / D, and T / D = T / D' + T (1 / D - 1 / D').
    """
    heads, r = near.shape
    for k in range(r):
        center, x, y, apart_x, apart_y, rounding = 0.0, high[k], low[k], 0.0, 0.0, 0.0
        for head in range(heads):
            least = low[r + head] - noise[1, head, 0]
            most = high[r + head] + noise[1, head, 0]
            if not least > 0:
                least = 1e-300
            slack = noise[0, head, k] + abs(near[head, k]) * noise[1, head, k]
            center += near[head, k]
            a, b = above[head, k] + slack, below[head, k] - slack
            if heads == 1:
                a, b = min(a, high[k] * D[0] + slack), max(b, low[k] * D[0] - slack)
            change = max(abs(1 / least - 1 / D[head]), abs(1 / most - 1 / D[head])) * (1 + 2.0**-40)
            x += change * max(abs(a), abs(b)) + slack / D[head]
            y -= change * max(abs(a), abs(b)) + slack / D[head]
            up, down = (a / least if a > 0 else a / most), (b / most if b > 0 else b / least)
            apart_x += up
            apart_y += down
            # weights w (1 + e): the output moves by sum(w e (v - output)) / sum(w (1 + e))
            share = error[head] / least
            if share < 0.5:
                rounding += (off[head, k] / least + share * max(abs(up), abs(down))) / (1 - share)
            else:
                rounding += 1e30
        x, y = min(x, apart_x), max(y, apart_y)
        middle = (x + y) / 2
        found[0, k] = center + middle
        found[1, k] = ((x - y) / 2 + (abs(center) + abs(x) + abs(y)) * 2.0**-46) * (1 + 2.0**-40)
        found[2, k] = rounding * (1 + 2.0**-40)
