"""The fast proof: exact ranges of the attention output, for decoders whose attention depends on positions alone.

Where scores depend on positions only, weights of attention are constants, and the attention output is a sum over the
columns of the input. If it also has rank 1, it is one number, whose exact range over all inputs comes from dynamic
programming over the automaton. Each range is halved until affine arithmetic proves the right token on every piece.
The inputs that attain the ends of the ranges are real ones: those on which the decoder fails are counterexamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError
from bitwright.frozen import FrozenArrays
from bitwright.transformers.affine import FLOAT32, HUGE, TINY, Affine, chained, constant, finished, margins, normed, own
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decision import Claim, Counterexample
from bitwright.transformers.decoder import Chain, Decoder, Head
from bitwright.transformers.evaluate import logits
from bitwright.transformers.extremes import NEVER, find_extremes
from bitwright.transformers.layout import ColumnTask, Place

Reals = NDArray[np.float64]

MAX_PIECES = 400_000  # of ranges, before a proof is given up
NARROW = 2.0**-24  # pieces below this width, relative to their place, are not halved
MAX_CELLS = 50_000_000  # of a table of runs; more classes of edges than that are not taken apart
BATCH = 20_000  # pieces bounded at once
REPLAYS = 256  # inputs of least margin that are decoded


@dataclass(frozen=True)
class Ranges(FrozenArrays):
    """The range of the attention output in each case: a step of decoding, the last symbol, and a class of edges.

    Args:
        step: (n,) the step of decoding.
        previous: (n,) the symbol that was written or read last, -1 for a fixed token.
        right: (n,) the right symbol; -1 where a stop token must follow.
        low, high: (n,) bounds that include all rounding.
        inputs: (n, 2, words, length) inputs that attain the high and the low end.
        edges: (n, 3) state before, symbol of the answer and state after in the column of this step.
    """

    step: Ints
    previous: Ints
    right: Ints
    low: Reals
    high: Reals
    inputs: Ints
    edges: Ints

    def __len__(self) -> int:
        return len(self.step)


def applies(decoder: Decoder, task: ColumnTask) -> bool:
    """Whether scores depend on positions alone and the attention output has rank 1."""
    if len(decoder.layers) != 1 or decoder.layers[0].attention_norm is not None or _cut(decoder) is None:
        return False
    positions = task.prompt_length + len(task.layout.answer) - 1 + bool(task.layout.stop)
    if decoder.shape[1] < task.vocabulary or decoder.shape[0] < positions:
        return False
    varying = np.zeros(decoder.shape[2], np.bool_)  # coordinates that depend on the token
    for table in decoder.tables:
        varying |= (table != table[:, :1]).any((0, 1))
    heads = decoder.layers[0].heads
    return all(
        head.rope is None and bool(chain) and not chain[0].weight[varying].any()
        for head in heads
        for chain in (head.query, head.key)
    )


def prove_ranges(decoder: Decoder, task: ColumnTask, unit: float, *, stop: bool = False) -> Claim:
    """The claim that every answer is right (with `stop`: that a stop token follows): proved, refuted or not decided."""
    ranges = find_ranges(decoder, task, unit)
    ranges = _chosen(ranges, (ranges.right < 0) == stop)
    return claim_ranges(decoder, task, unit, ranges, end_margins(decoder, task, ranges), stop=stop)


def claim_ranges(
    decoder: Decoder, task: ColumnTask, unit: float, ranges: Ranges, ends: Reals, *, stop: bool = False
) -> Claim:
    """The same from ranges and the margins at their ends."""
    arithmetic: Literal["real", "float32"] = "float32" if unit else "real"
    about = "stop" if stop else task.columns.statement

    def claim(verdict: Literal["proved", "refuted", "not decided"], **known: object) -> Claim:
        return Claim(about, verdict, arithmetic, "ranges", task.inputs, **known)  # type: ignore[arg-type]

    if counterexample := find_failure(decoder, task, unit, ranges, ends, stop=stop):
        return claim("refuted", counterexample=counterexample)
    pieces, margin, open_cases = _halve(decoder, task, unit, ranges)
    if len(open_cases):
        apart = find_ranges(decoder, task, unit, _chosen(ranges, open_cases))
        if counterexample := find_failure(
            decoder, task, unit, apart, end_margins(decoder, task, apart), stop=stop
        ):
            return claim("refuted", counterexample=counterexample, boxes=pieces)
        more, lowest, open_cases = _halve(decoder, task, unit, apart)
        pieces, margin = pieces + more, min(margin, lowest)
        if len(open_cases):
            return claim("not decided", boxes=pieces, open=_groups(_chosen(apart, open_cases)))
    return claim("proved", margin=margin, boxes=pieces)


def _groups(ranges: Ranges) -> tuple[str, ...]:
    groups = sorted(set(zip(ranges.step.tolist(), ranges.previous.tolist(), ranges.right.tolist(), strict=True)))
    return tuple(f"step {step + 1}, after {previous}, right {right}" for step, previous, right in groups)


def _chosen(ranges: Ranges, which: NDArray[np.bool_] | Ints) -> Ranges:
    return Ranges(**{name: value[which] for name, value in vars(ranges).items()})


# ---- ranges


def find_ranges(decoder: Decoder, task: ColumnTask, unit: float, apart: Ranges | None = None) -> Ranges:
    """The exact range in every case; with `apart`, in the single edges of these cases only."""
    gains, errors = _contributions(decoder, task, unit)
    steps = range(len(gains)) if apart is None else np.unique(apart.step)
    found = [_ranges_of_step(task, int(step), gains[step], errors[step], apart) for step in steps]
    return Ranges(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _ranges_of_step(
    task: ColumnTask, step: int, contributions: Reals, error: float, apart: Ranges | None
) -> tuple[NDArray[np.generic], ...]:
    columns, answers = task.columns, task.layout.answer
    edges, ends = columns.edges, np.arange(columns.states)
    before, after = np.concatenate([edges[:, 0], ends]), np.concatenate([edges[:, -1], ends])
    gains, base = _gains(task, step, contributions)
    slot = answers[step - 1] if step else task.layout.prompt[-1]
    fixed = isinstance(slot, int)
    previous = (columns.length, np.zeros(len(before), np.int64)) if isinstance(slot, int) else _symbols(columns, slot)
    column, right = _symbols(columns, answers[step]) if step < len(answers) else (columns.length, before * 0 - 1)
    rows = np.stack([before, right, after], axis=1)
    here = np.arange(len(before)) >= len(edges) if column == columns.length else np.arange(len(before)) < len(edges)
    if apart is None:
        kinds, number = np.unique(rows[here], axis=0, return_inverse=True)
        classes = np.full(len(before), -1)
        classes[here] = number.reshape(-1)
    else:
        wanted = {tuple(row) for row in apart.edges[apart.step == step].tolist()}
        here &= np.array([tuple(row) in wanted for row in rows.tolist()])
        kinds, classes = rows[here], np.where(here, np.cumsum(here) - 1, -1)
    if (int(previous[1].max()) + 1) * len(kinds) * len(gains) > MAX_CELLS:
        raise InputError(f"the automaton of '{columns.statement}' has too many steps for exact ranges")
    there, sums, runs = find_extremes(before, after, gains, columns.starts, previous, (column, classes))
    label, kind = np.nonzero(there)
    if apart is not None:
        keys = {(int(q), *row) for q, row in zip(apart.previous[apart.step == step], apart.edges[apart.step == step].tolist(), strict=True)}
        kept = [(-1 if fixed else int(q), *kinds[k].tolist()) in keys for q, k in zip(label, kind, strict=True)]
        label, kind = label[kept], kind[kept]
    sums, runs = sums[label, kind] + base, runs[label, kind][..., : columns.length]
    inputs = edges[runs][..., 1:-2].swapaxes(-1, -2)  # (n, 2, words, length)
    size = np.abs(contributions).max(-1).sum()
    wide = error + own(len(contributions) + columns.length) * size
    low, high = sums[:, 1] - wide, sums[:, 0] + wide
    low, high = low - 2.0**-50 * np.abs(low), high + 2.0**-50 * np.abs(high)
    return np.full(len(label), step), label - fixed, kinds[kind, 1], low, high, inputs, kinds[kind]


def _symbols(columns: Columns, place: Place) -> tuple[int, Ints]:
    """The column of a place, and the symbol that each edge has there; flags have a column after the last one."""
    ends = np.zeros(columns.states, np.int64)
    if place.column < 0:
        flags = columns.flags[place.word]
        return columns.length, np.concatenate([np.zeros(len(columns.edges), np.int64), flags])
    at = -2 if place.word == columns.answer else 1 + columns.words.index(place.word)
    return place.column, np.concatenate([columns.edges[:, at], ends])


def _gains(task: ColumnTask, step: int, contributions: Reals) -> tuple[Reals, float]:
    """(columns + 1, edges) what each edge adds to the attention output of a step, and what fixed tokens add."""
    columns, length = task.columns, task.columns.length
    count = len(columns.edges)
    gains = np.full((length + 1, count + columns.states), NEVER)
    absent = columns.edges[:, None, 1:-2] > np.where(task.positions.T < 0, 0, max(columns.symbols))  # (edges, length, words)
    gains[:length, :count] = np.where(absent.any(-1).T, NEVER, 0.0)
    gains[length, count:] = np.where(columns.ends, 0.0, NEVER)
    base = 0.0
    for position, slot in enumerate((*task.layout.prompt, *task.layout.answer[:step])):
        if isinstance(slot, int):
            base += contributions[position, slot]
            continue
        column, symbols = _symbols(columns, slot)
        tokens = np.asarray(task.tokens(slot.word))[symbols]
        row = gains[column]
        row[row != NEVER] += contributions[position, tokens[row != NEVER]]
    return gains, base


# ---- attention


def _cut(decoder: Decoder) -> tuple[tuple[Chain, ...], Chain] | None:
    """Where the attention output is one number: what follows the values of each head until there, and what comes then."""
    layer = decoder.layers[0]
    if not layer.heads:
        return None
    if all(_width((*head.value, *head.output)) == 1 for head in layer.heads):
        return tuple(head.output for head in layer.heads), layer.output
    if len(layer.heads) == 1 and _width(layer.heads[0].value) == 1:
        return ((),), (*layer.heads[0].output, *layer.output)
    return None


def _width(chain: Chain) -> int:
    return chain[-1].weight.shape[1] if chain else 0


def _residual(decoder: Decoder, unit: float) -> Affine:
    """(positions * tokens, width) the residual stream before attention."""
    tables = [np.broadcast_to(t, decoder.shape).reshape(-1, decoder.shape[2]).astype(np.float64) for t in decoder.tables]
    box = np.zeros((len(tables[0]), 1))
    total = constant(tables[0], box, unit)
    for table in tables[1:]:
        total = total + constant(table, box, unit)
    return total


def _contributions(decoder: Decoder, task: ColumnTask, unit: float) -> tuple[list[Reals], list[float]]:
    """For each step: (positions, tokens) what a token adds to the attention output, and the error of their sum."""
    positions, tokens, _ = decoder.shape
    residual, cut = _residual(decoder, unit), _cut(decoder)
    assert cut is not None
    first = task.prompt_length
    steps = len(task.layout.answer) + bool(task.layout.stop)
    gains, errors = [np.zeros((first + step, tokens)) for step in range(steps)], [0.0] * steps
    for head, chain in zip(decoder.layers[0].heads, cut[0], strict=True):
        values = chained(head.value, residual)
        value = values.center.reshape(positions, tokens, -1)
        value_error = values.deviation().reshape(positions, tokens, -1)
        for step in range(steps):
            count = first + step
            weight, wrong = _weights(head, residual, tokens, count, unit)
            error = _averaging_error(value[:count], value_error[:count], wrong, unit)
            size = np.abs(value[:count]).max((0, 1))
            part, error = _linear(chain, value[:count], size, error, unit)
            gains[step] += weight[:, None] * part[..., 0]
            errors[step] += float(error[0] + (len(decoder.layers[0].heads) + 1) * (unit + own(0)) * np.abs(part).max())
    return gains, errors


def _weights(head: Head, residual: Affine, tokens: int, count: int, unit: float) -> tuple[Reals, float]:
    """(count,) weights of attention, and the sum of their relative errors, each times its weight."""
    at = replace(residual, **{name: getattr(residual, name)[: count * tokens : tokens] for name in ("center", "slopes", "radius", "box")})
    query, key = normed(head.query_norm, chained(head.query, at)), normed(head.key_norm, chained(head.key, at))
    q, k, dq, dk = query.center[-1], key.center, query.deviation()[-1], key.deviation()
    scale, terms = abs(head.scale), len(q)
    score = (k @ q) * head.scale
    size = (np.abs(k) + dk) @ (np.abs(q) + dq)
    error = scale * (np.abs(k) @ dq + dk @ np.abs(q) + dk @ dq + ((terms + 4) * unit + own(terms)) * size)
    error += (terms * TINY if unit else 0.0) * max(1.0, scale)
    below = score.max() - score
    exponent = error + unit * (2 * np.abs(score) + 2 * below + 4 * error.max() + 10) + 2.0**-47 * (1 + below)
    weight = np.exp(-below)
    weight /= weight.sum()
    return weight, float((weight * np.expm1(np.minimum(exponent, 50.0))).sum() * (1 + own(count)))


def _averaging_error(value: Reals, error: Reals, wrong: float, unit: float) -> Reals:
    """(rank,) the error of an average of values, whose weights have this relative error on average."""
    count, own_error = len(value), error.max((0, 1))
    spread = value.max((0, 1)) - value.min((0, 1)) + 2 * own_error
    size = np.abs(value).max((0, 1)) + own_error
    moved = wrong / (1 - wrong) * (1 + 2.0**-40) if wrong < 0.5 else HUGE
    return moved * spread + own_error + ((2 * count + 16) * unit + own(2 * count)) * size + (count * TINY * (1 + size) if unit else 0)


def _linear(chain: Chain, value: Reals, size: Reals, error: Reals, unit: float) -> tuple[Reals, Reals]:
    """Values through a chain, and the error of their average after it; `size` bounds the average."""
    for linear in chain:
        weight = linear.weight.astype(np.float64)
        terms, magnitude = len(weight), np.abs(weight)
        error = error @ magnitude + ((terms + 1) * unit + own(terms)) * ((size + error) @ magnitude)
        value, size = value @ weight, size @ magnitude
        if linear.bias is not None:
            value, size = value + linear.bias, size + np.abs(linear.bias)
            error = error + (unit + own(0)) * (size + error)
        error = error + (2 * terms * TINY if unit else 0.0)
    return value, error


# ---- proof


def _halve(decoder: Decoder, task: ColumnTask, unit: float, ranges: Ranges) -> tuple[int, float, Ints]:
    """Halves ranges until each piece is proved: how many pieces, the least margin proved, and the cases left open."""
    case, low, high = np.arange(len(ranges)), ranges.low, ranges.high
    count, margin, failed = 0, np.inf, np.zeros(len(ranges), np.bool_)
    residual = _residual(decoder, unit)
    while len(case):
        count += len(case)
        lower = np.empty(len(case))
        for which, right in _batches(task, ranges, case):
            piece = case[which]
            lower[which] = _bounded(decoder, task, residual, ranges, piece, low[which], high[which], right)[0]
        good = lower > 0
        margin = min(margin, float(lower[good].min(initial=np.inf)))
        failed[case[~good & (high - low <= NARROW * (1 + np.abs(low)))]] = True
        if count > MAX_PIECES:
            failed[case[~good]] = True
        rest = ~good & ~failed[case]
        case, low, high = case[rest], low[rest], high[rest]
        middle = (low + high) / 2
        case, low, high = np.tile(case, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
    return count, margin, np.nonzero(failed)[0]


def end_margins(decoder: Decoder, task: ColumnTask, ranges: Ranges) -> Reals:
    """(n, 2) the margin, in real arithmetic up to rounding, of the inputs that attain the high and the low ends."""
    residual, cases = _residual(decoder, 0.0), np.arange(len(ranges))
    found = np.empty((len(ranges), 2))
    for which, right in _batches(task, ranges, cases):
        for side, end in enumerate((ranges.high, ranges.low)):
            at = end[which]
            found[which, side] = _bounded(decoder, task, residual, ranges, cases[which], at, at, right)[1]
    return found


def _batches(task: ColumnTask, ranges: Ranges, case: Ints) -> Iterator[tuple[Ints, int]]:
    """Pieces that have the same right token (-1 for a stop token), in batches."""
    tokens = np.full(len(case), -1)
    for step, place in enumerate(task.layout.answer):
        at = ranges.step[case] == step
        tokens[at] = np.asarray(task.tokens(place.word))[ranges.right[case[at]]]
    for token in np.unique(tokens):
        same = np.nonzero(tokens == token)[0]
        for begin in range(0, len(same), BATCH):
            yield same[begin : begin + BATCH], int(token)


def _bounded(
    decoder: Decoder, task: ColumnTask, residual: Affine, ranges: Ranges, case: Ints, low: Reals, high: Reals, right: int
) -> tuple[Reals, Reals]:
    """(n,) a lower bound on the margin on each piece, and the margin in its middle."""
    row = (task.prompt_length - 1 + ranges.step[case]) * decoder.shape[1] + _query_tokens(task, ranges)[case]
    middle = (low + high) / 2
    half = np.maximum(high - middle, middle - low) * (1 + 2.0**-50) + 2.0**-52 * np.abs(middle)
    cut = _cut(decoder)
    assert cut is not None
    number = Affine(middle[:, None], np.ones((len(case), 1, 1)), np.zeros((len(case), 1)), half[:, None], residual.unit)
    x = replace(residual, center=residual.center[row], slopes=residual.slopes[row], radius=residual.deviation()[row], box=half[:, None])
    x = finished(decoder, x + chained(cut[1], number))
    if right >= 0:
        found = margins(decoder, x, right)
        return found.lower().min(1), found.center.min(1)
    stops = np.array(task.layout.stop)
    each = [margins(decoder, x, int(stop)) for stop in stops]
    others = [np.setdiff1d(np.arange(each[0].center.shape[1]), stops[stops != stop] - (stops[stops != stop] > stop)) for stop in stops]
    return (
        np.max([m.lower()[:, other].min(1) for m, other in zip(each, others, strict=True)], axis=0),
        np.max([m.center[:, other].min(1) for m, other in zip(each, others, strict=True)], axis=0),
    )


def _query_tokens(task: ColumnTask, ranges: Ranges) -> Ints:
    """(n,) the token that is read last."""
    found = np.empty(len(ranges), np.int64)
    for step in np.unique(ranges.step):
        slot = task.layout.answer[step - 1] if step else task.layout.prompt[-1]
        at = ranges.step == step
        found[at] = slot if isinstance(slot, int) else np.asarray(task.tokens(slot.word))[ranges.previous[at]]
    return found


# ---- refutation


def find_failure(
    decoder: Decoder, task: ColumnTask, unit: float, ranges: Ranges, ends: Reals, *, stop: bool
) -> Counterexample | None:
    """An input of lowest margin that the decoder answers wrongly, decoded greedily in the arithmetic that is covered."""
    order = np.argsort(ends, axis=None, kind="stable")[:REPLAYS]
    order = order[ends.reshape(-1)[order] <= 1e-3]
    inputs = ranges.inputs.reshape(-1, *ranges.inputs.shape[2:])[order]
    if not len(inputs):
        return None
    written, right = decode(decoder, task, inputs, unit), task.answers(inputs)
    wrong = (written[:, : right.shape[1]] != right).any(1)
    if stop:
        wrong = ~wrong & ~np.isin(written[:, -1], task.layout.stop)
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    step = right.shape[1] if stop else int((written[at, : right.shape[1]] != right[at]).argmax())
    tokens = tuple(right[at].tolist()), tuple(written[at].tolist())
    return Counterexample(inputs[at], task.describe(inputs[at]), step, *tokens, "decoder")


def decode(decoder: Decoder, task: ColumnTask, inputs: Ints, unit: float = FLOAT32) -> Ints:
    """(n, answers) what greedy decoding writes after these inputs; one token more if a stop token must follow."""
    tokens = task.prompts(inputs)
    for _ in range(len(task.layout.answer) + bool(task.layout.stop)):
        last = logits(decoder, tokens, np.float32 if unit else np.float64)[:, -1]
        tokens = np.concatenate([tokens, last.argmax(-1)[:, None]], axis=1)
    return tokens[:, task.prompt_length :]
