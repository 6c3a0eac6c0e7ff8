"""The fast proof: exact ranges of the attention output, for decoders whose attention depends on positions alone.

Such attention outputs a sum over the columns of the input. If it also has rank 1, that is one number, whose exact range
over all inputs comes from dynamic programming over the automaton. Each range is halved until affine arithmetic proves
the right token on every piece. The inputs that attain the ends of the ranges are counterexamples where the decoder
fails on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError
from bitwright.frozen import FrozenArrays
from bitwright.transformers.affine import Reals
from bitwright.transformers.attention import VALUE, WEIGHT, AttentionTable, query_at, tabulate
from bitwright.transformers.boxes import root
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Arithmetic, Counterexample, DecoderClaim
from bitwright.transformers.decoder import Chain, Decoder
from bitwright.transformers.extremes import NEVER, find_extremes
from bitwright.transformers.layout import ColumnTask, Place
from bitwright.transformers.modules import evaluator_of
from bitwright.transformers.refutation import REPLAYS, replay
from bitwright.transformers.rows import RowArrays
from bitwright.transformers.steps import StepMargins, bound_margins, prove_halves, step_of
from bitwright.transformers.sums import Cases, bound

FIRST, LATER = 6, 24  # halvings that try to prove a good margin, and any
MAX_CELLS = 50_000_000  # of a table of runs
BATCH = 20_000  # pieces bounded at once
NEARLY = 1e-3  # inputs of a margin below this are decoded: float32 may fail where real arithmetic does not


@dataclass(frozen=True)
class Ranges(RowArrays, FrozenArrays):
    """The range of the attention output in each case: a step of decoding, the last symbol, and a class of edges.

    Args:
        step: (n,) the step of decoding.
        previous: (n,) the symbol that was written or read last, -1 for a fixed token.
        edges: (n, 3) state before, right symbol (-1 where a stop token must follow) and state after, in the column of
            the step; flags are written in a column after the last one, whose edges join each end state to itself.
        low, high: (n,) bounds, all rounding included.
        inputs: (n, 2, words, length) inputs that attain the high end and the low end.
    """

    step: Ints
    previous: Ints
    edges: Ints
    low: Reals
    high: Reals
    inputs: Ints


def applies(decoder: Decoder, task: ColumnTask) -> bool:
    """Whether scores depend on positions alone and the attention output has rank 1."""
    positions = task.prompt_length + len(task.layout.answer) - 1 + bool(task.layout.stop)
    fits = decoder.shape[0] >= positions and decoder.shape[1] >= task.vocabulary
    answered = not task.columns.answer or bool((task.columns.edges[:, -2] >= 0).all())
    if not fits or not answered or len(decoder.layers) != 1:
        return False
    layer = _narrow(decoder).layers[0]
    varying = np.zeros(decoder.shape[2], np.bool_)  # coordinates that depend on the token
    for table in decoder.tables:
        varying |= (table != table[:, :1]).any((0, 1))
    by_position = all(
        head.rope is None and bool(chain) and not chain[0].weight[varying].any()
        for head in layer.heads
        for chain in (head.query, head.key)
    )
    rank_one = bool(layer.heads) and all(_width((*head.value, *head.output)) == 1 for head in layer.heads)
    return by_position and rank_one and layer.attention_norm is None


def _narrow(decoder: Decoder) -> Decoder:
    """The same decoder; what a single head applies to one number is applied after the attention."""
    (layer,) = decoder.layers
    if len(layer.heads) != 1 or _width(layer.heads[0].value) != 1:
        return decoder
    (head,) = layer.heads
    layer = replace(layer, heads=(replace(head, output=()),), output=(*head.output, *layer.output))
    return replace(decoder, layers=(layer,))


def _width(chain: Chain) -> int:
    return chain[-1].weight.shape[1] if chain else 0


def tabulate_ranges(
    decoder: Decoder, task: ColumnTask, unit: float, tick: Callable[[], None] = lambda: None
) -> AttentionTable:
    """The tables of a decoder to which exact ranges apply."""
    return tabulate(_narrow(decoder), task, unit, tick)


def prove_ranges(
    decoder: Decoder, task: ColumnTask, unit: float, *, stop: bool = False, tick: Callable[[], None] = lambda: None
) -> DecoderClaim:
    """The claim that every answer is right (with `stop`: that a stop token follows): proved, refuted or not decided."""
    if not applies(decoder, task):
        raise InputError("exact ranges need one layer whose scores depend on positions alone, with an output of rank 1")
    with np.errstate(over="ignore", invalid="ignore"):  # a range that is not finite proves nothing
        table = tabulate_ranges(decoder, task, unit, tick)
        ranges = find_ranges(table)
        return claim_ranges(table, ranges, end_margins(table, ranges), stop=stop)


def claim_ranges(table: AttentionTable, ranges: Ranges, ends: Reals, *, stop: bool = False) -> DecoderClaim:
    """The same, where the ranges and the margins at their ends are known."""
    about = "stop" if stop else table.task.columns.statement
    arithmetic: Arithmetic = "float32" if table.unit else "real"
    claim = partial(DecoderClaim, about, arithmetic=arithmetic, method="ranges")
    which = (ranges.step == len(table.task.layout.answer)) == stop
    ranges, ends = ranges[which], ends[which]
    if failure := find_failure(table, ranges, ends):
        return claim("refuted", inputs=1, counterexample=failure)
    least = float(ends.min())
    goal = least / 2 if 0 < least < np.inf else 0.0
    pieces, margin, left = _halve(table, ranges, goal)
    if len(left):  # the range of a class covers more than those of its edges
        ranges = find_ranges(table, apart=ranges[left])
        if failure := find_failure(table, ranges, end_margins(table, ranges)):
            return claim("refuted", inputs=1, counterexample=failure, boxes=pieces)
        more, least, left = _halve(table, ranges, goal)
        pieces, margin = pieces + more, min(margin, least)
    if len(left):
        return claim("not decided", inputs=0, boxes=pieces, open=_groups(ranges[left]))
    return claim("proved", inputs=table.task.inputs, margin=margin, boxes=pieces)


def _groups(ranges: Ranges) -> tuple[str, ...]:
    groups = np.unique(np.stack([ranges.step, ranges.previous, ranges.edges[:, 1]], axis=1), axis=0)
    return tuple(f"step {step + 1}, after {previous}, right {right}" for step, previous, right in groups.tolist())


# ---- ranges


def find_ranges(table: AttentionTable, apart: Ranges | None = None) -> Ranges:
    """The exact range in every case; with `apart`, in the single edges of these cases only."""
    layout = table.task.layout
    steps = range(len(layout.answer) + bool(layout.stop)) if apart is None else np.unique(apart.step).tolist()
    return Ranges.joined([_step_ranges(table, step, apart) for step in steps])


def _step_ranges(table: AttentionTable, step: int, apart: Ranges | None) -> Ranges:
    table.tick()
    edges, columns, layout = table.edges, table.task.columns, table.task.layout
    last = (*layout.prompt, *layout.answer)[len(layout.prompt) - 1 + step]
    right = layout.answer[step] if step < len(layout.answer) else -1
    previous, (column, symbols) = _symbols(table, last), _symbols(table, right)
    rows = np.stack([edges.before, symbols, edges.after], axis=1)
    here = (np.arange(len(rows)) < edges.last) == (column < columns.length)
    kinds, classes = _classes(rows, here, step, apart)
    if (int(previous[1].max()) + 2) * len(kinds) * columns.length > MAX_CELLS:
        raise InputError(f"the automaton of '{columns.statement}' has too many steps for exact ranges")
    gains, wide = _gains(table, step)
    labels = previous[0], previous[1] + isinstance(last, int)
    there, sums, runs = find_extremes(edges.before, edges.after, gains, edges.starts, labels, (column, classes))
    label, kind = np.nonzero(there)
    high, low = sums[label, kind].T
    low, high = low - wide - 2.0**-50 * np.abs(low), high + wide + 2.0**-50 * np.abs(high)
    inputs = edges.reads[runs[label, kind][..., : columns.length]][..., : edges.words].swapaxes(-1, -2)
    found = Ranges(0 * label + step, label - isinstance(last, int), kinds[kind], low, high, inputs)
    return found if apart is None else found[_among(_keys(found), _keys(apart))]


def _classes(rows: Ints, here: NDArray[np.bool_], step: int, apart: Ranges | None) -> tuple[Ints, Ints]:
    """The classes of edges in the column of a step, and the class of each edge, -1 for none."""
    classes = np.full(len(rows), -1)
    if apart is None:
        kinds, number = np.unique(rows[here], axis=0, return_inverse=True)
        classes[here] = number.reshape(-1)
        return kinds, classes
    single = np.nonzero(here & _among(rows, apart.edges[apart.step == step]))[0]
    classes[single] = np.arange(len(single))
    return rows[single], classes


def _keys(ranges: Ranges) -> Ints:
    return np.column_stack([ranges.step, ranges.previous, ranges.edges])


def _among(rows: Ints, others: Ints) -> NDArray[np.bool_]:
    """(n,) whether each row is one of the others."""
    number = np.unique(np.concatenate([rows, others]), axis=0, return_inverse=True)[1].reshape(-1)
    return np.isin(number[: len(rows)], number[len(rows) :])


def _symbols(table: AttentionTable, slot: int | Place) -> tuple[int, Ints]:
    """The column of a slot, and the symbol that each edge has there, -1 for a token; flags have the last column."""
    columns, edges = table.task.columns, table.edges
    if isinstance(slot, int):
        return columns.length, np.full(len(edges.before), -1)
    if slot.column < 0:
        return columns.length, columns.flags[slot.word][edges.after]
    return slot.column, edges.reads[:, (*columns.words, columns.answer).index(slot.word)]


def _gains(table: AttentionTable, step: int) -> tuple[Reals, float]:
    """(length + 1, edges) what each edge adds to the attention output of a step, and the error of the sum.

    The weights of a head add up to one number for all inputs, but for rounding: here it is that of a mean input.
    """
    columns, edges, end = table.task.columns, table.edges, table.task.columns.length
    query = query_at(table, step, 0)
    cases = Cases(np.full((1, end + 1), -1), columns.ends[None], np.array([end + 1]))
    every = root(table.task, (step + 1, -1, -1))[None]  # whatever the last symbol is
    whole = bound(query.entries, query.noise, edges, cases, every, np.zeros(1, np.int64))
    weights, values, total = query.entries[..., WEIGHT], query.entries[..., VALUE], whole.weight[0]
    least = np.where(weights > 0, weights, np.inf).min(3)
    spread = (weights.max(3) - np.where(np.isfinite(least), least, 0.0)).sum((1, 2)) / total
    own = 4 * query.noise[1, :, 0] / total  # relative, of the sum of the weights, of that of the values, and of both
    wide = whole.rounding[0, 0] + (np.abs(values).max(3).sum((1, 2)) / total * (1.001 * spread + own)).sum()
    shares = (values / total[:, None, None, None]).sum(0)  # (rows, length + 1, symbols)
    gains = np.full((end + 1, len(edges.before)), NEVER)
    for column in range(end + 1):
        of = slice(None, edges.last) if column < end else slice(edges.last, None)
        gains[column, of] = shares[np.arange(edges.reads.shape[1]), column, edges.reads[of]].sum(1)
    gains[end, edges.last :][~columns.ends] = NEVER
    for word, column in np.argwhere(table.task.positions < 0):  # stands nowhere, and is 0
        gains[column, : edges.last][edges.reads[: edges.last, word] > 0] = NEVER
    return gains, float(wide)


# ---- proof


def _halve(table: AttentionTable, ranges: Ranges, goal: float) -> tuple[int, float, Ints]:
    """Halves ranges until each piece is proved: how many pieces, the least margin proved, and the cases left open.

    The first halvings try to prove a margin of `goal`, the others any.
    """
    keys, center = _keys(ranges), (ranges.low + ranges.high) / 2
    radius = np.maximum(ranges.high - center, center - ranges.low) * (1 + 2.0**-50) + 2.0**-52 * np.abs(center)
    goals = [goal] * FIRST + [0.0] * LATER
    found, count = prove_halves(
        lambda case, *pieces: _margins(table, keys[case], *pieces), center[:, None], radius[:, None], goals
    )
    proved = found.lower > 0
    return count, float(found.lower[proved].min(initial=np.inf)), np.flatnonzero(~proved)


def end_margins(table: AttentionTable, ranges: Ranges) -> Reals:
    """(n, 2) the margins, but for rounding, of the inputs that attain the high and the low ends."""
    ends = np.concatenate([ranges.high, ranges.low])[:, None]
    return _margins(table, np.tile(_keys(ranges), (2, 1)), ends, 0 * ends).center.reshape(2, -1).T


def _margins(table: AttentionTable, keys: Ints, center: Reals, radius: Reals) -> StepMargins:
    """The margins for attention outputs in center + [-radius, radius], in the cases with these keys."""
    parts, order = [], []
    for number in np.unique(keys[:, 0]).tolist():
        rows = np.flatnonzero(keys[:, 0] == number)
        groups, case = np.unique(keys[rows][:, [1, 3]], axis=0, return_inverse=True)
        step = step_of(table, [(number, previous, right) for previous, right in groups.tolist()])
        for begin in range(0, len(rows), BATCH):
            at, cases = rows[begin : begin + BATCH], case.reshape(-1)[begin : begin + BATCH]
            parts.append(bound_margins(step, cases, center[at], radius[at]))
            order.append(at)
    return StepMargins.joined(parts)[np.argsort(np.concatenate(order))]


# ---- refutation


def find_failure(table: AttentionTable, ranges: Ranges, ends: Reals) -> Counterexample | None:
    """An input of low margin that greedy decoding, in the arithmetic that is covered, answers wrongly."""
    task, answers = table.task, len(table.task.layout.answer)
    order = np.argsort(ends, axis=None, kind="stable")[:REPLAYS]
    order = order[ends.reshape(-1)[order] <= NEARLY]
    if not len(order):
        return None
    inputs = ranges.inputs.reshape(-1, *ranges.inputs.shape[2:])[order]
    examples = replay(evaluator_of(table.decoder, np.float32 if table.unit else np.float64), task, inputs)
    return next((found for found in examples if (found.step == answers) == (ranges.step[0] == answers)), None)
