"""The fast proof: exact ranges of the attention output, for decoders whose attention depends on positions alone.

Such attention outputs a sum over the columns of the input. If it also has rank 1, that is one number, whose exact range
over all inputs comes from dynamic programming over the automaton. Each range is halved until affine arithmetic proves
the right token on every piece. The inputs that attain the ends of the ranges are counterexamples where the decoder
fails on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError
from bitwright.frozen import FrozenArrays
from bitwright.transformers.affine import Affine, Reals, chained, finished, margins, own
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decision import Arithmetic, Claim, Counterexample
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.evaluate import logits
from bitwright.transformers.extremes import NEVER, find_extremes
from bitwright.transformers.layout import ColumnTask, Place
from bitwright.transformers.positional import contributions, cut, depends_on_positions, residual
from bitwright.transformers.refutation import counterexample, greedy, right_steps

MAX_PIECES = 400_000  # of ranges, before a proof is given up
FIRST = 6  # halvings that try to prove a good margin
NARROW = 2.0**-24  # a piece of this width, relative to its place, is not halved
MAX_CELLS = 50_000_000  # of a table of runs
BATCH = 20_000  # pieces bounded at once
REPLAYS = 64  # inputs of least margin that are decoded,
NEARLY = 1e-3  # if it is below this: float32 may fail where real arithmetic does not


@dataclass(frozen=True)
class Ranges(FrozenArrays):
    """The range of the attention output in each case: a step of decoding, the last symbol, and a class of edges.

    Args:
        step: (n,) the step of decoding.
        previous: (n,) the symbol that was written or read last, -1 for a fixed token.
        edges: (n, 3) state before, right symbol (-1 where a stop token must follow) and state after, in the column of
            the step; flags are written in a column after the last one, whose edges join each end state to itself.
        low, high: (n,) bounds, all rounding included.
        inputs: (n, 2, words, length) inputs that attain the high end and the low end.
        read, right: (n,) the token that is read last, and the right one; -1 for a stop token.
    """

    step: Ints
    previous: Ints
    edges: Ints
    low: Reals
    high: Reals
    inputs: Ints
    read: Ints
    right: Ints

    def __len__(self) -> int:
        return len(self.step)

    def chosen(self, which: NDArray[np.bool_] | Ints) -> Ranges:
        """Some of the cases."""
        return Ranges(**{name: value[which] for name, value in vars(self).items()})


def applies(decoder: Decoder, task: ColumnTask) -> bool:
    """Whether scores depend on positions alone and the attention output has rank 1."""
    positions = task.prompt_length + len(task.layout.answer) - 1 + bool(task.layout.stop)
    fits = decoder.shape[0] >= positions and decoder.shape[1] >= task.vocabulary
    answered = not task.columns.answer or bool((task.columns.edges[:, -2] >= 0).all())
    return fits and answered and depends_on_positions(decoder)


def prove_ranges(decoder: Decoder, task: ColumnTask, unit: float, *, stop: bool = False) -> Claim:
    """The claim that every answer is right (with `stop`: that a stop token follows): proved, refuted or not decided."""
    if not applies(decoder, task):
        raise InputError("exact ranges need one layer whose scores depend on positions alone, with an output of rank 1")
    with np.errstate(over="ignore", invalid="ignore"):  # a range that is not finite proves nothing
        ranges = find_ranges(decoder, task, unit)
        return claim_ranges(decoder, task, unit, ranges, end_margins(decoder, task, ranges), stop=stop)


def claim_ranges(
    decoder: Decoder, task: ColumnTask, unit: float, ranges: Ranges, ends: Reals, *, stop: bool = False
) -> Claim:
    """The same, where the ranges and the margins at their ends are known."""
    about = "stop" if stop else task.columns.statement
    arithmetic: Arithmetic = "float32" if unit else "real"
    claim = partial(Claim, about, arithmetic=arithmetic, method="ranges")
    which = (ranges.right < 0) == stop
    ranges, ends = ranges.chosen(which), ends[which]
    if failure := find_failure(decoder, task, unit, ranges, ends):
        return claim("refuted", inputs=1, counterexample=failure)
    least = float(ends.min())
    goal = least / 2 if 0 < least < np.inf else 0.0
    pieces, margin, left = _halve(decoder, task, ranges, unit, goal)
    if len(left):  # the range of a class covers more than those of its edges
        ranges = find_ranges(decoder, task, unit, apart=ranges.chosen(left))
        if failure := find_failure(decoder, task, unit, ranges, end_margins(decoder, task, ranges)):
            return claim("refuted", inputs=1, counterexample=failure, boxes=pieces)
        more, least, left = _halve(decoder, task, ranges, unit, goal)
        pieces, margin = pieces + more, min(margin, least)
    if len(left):
        return claim("not decided", inputs=0, boxes=pieces, open=_groups(ranges.chosen(left)))
    return claim("proved", inputs=task.inputs, margin=margin, boxes=pieces)


def _groups(ranges: Ranges) -> tuple[str, ...]:
    groups = np.unique(np.stack([ranges.step, ranges.previous, ranges.edges[:, 1]], axis=1), axis=0)
    return tuple(f"step {step + 1}, after {previous}, right {right}" for step, previous, right in groups.tolist())


# ---- ranges


def find_ranges(decoder: Decoder, task: ColumnTask, unit: float, apart: Ranges | None = None) -> Ranges:
    """The exact range in every case; with `apart`, in the single edges of these cases only."""
    gains, errors = contributions(decoder, task, unit)
    steps = range(len(gains)) if apart is None else np.unique(apart.step).tolist()
    found = [_step_ranges(task, step, gains[step], errors[step], apart) for step in steps]
    names = vars(found[0])
    return Ranges(**{name: np.concatenate([vars(of)[name] for of in found]) for name in names})


def _step_ranges(task: ColumnTask, step: int, contribution: Reals, error: float, apart: Ranges | None) -> Ranges:
    columns, answers, count = task.columns, task.layout.answer, len(task.columns.edges)
    ends = np.arange(columns.states)
    before, after = np.concatenate([columns.edges[:, 0], ends]), np.concatenate([columns.edges[:, -1], ends])
    last, end = answers[step - 1] if step else task.layout.prompt[-1], columns.length
    column, symbols = _symbols(columns, answers[step]) if step < len(answers) else (end, np.full(len(before), -1))
    previous = (end, 0 * before) if isinstance(last, int) else _symbols(columns, last)
    rows = np.stack([before, symbols, after], axis=1)
    kinds, classes = _classes(rows, (np.arange(len(rows)) < count) == (column < end), step, apart)
    if (int(previous[1].max()) + 1) * len(kinds) * columns.length > MAX_CELLS:
        raise InputError(f"the automaton of '{columns.statement}' has too many steps for exact ranges")
    gains, base = _gains(task, step, contribution)
    there, sums, runs = find_extremes(before, after, gains, columns.starts, previous, (column, classes))
    label, kind = np.nonzero(there)
    high, low = sums[label, kind].T + base
    wide = error + own(len(contribution) + columns.length) * np.abs(contribution).max(1).sum()
    inputs = columns.edges[runs[label, kind][..., :end]][..., 1:-2].swapaxes(-1, -2)  # (n, 2, words, length)
    read = 0 * label + last if isinstance(last, int) else np.asarray(task.tokens(last.word))[label]
    right = kinds[kind, 1] if step == len(answers) else np.asarray(task.tokens(answers[step].word))[kinds[kind, 1]]
    low, high = low - wide - 2.0**-50 * np.abs(low), high + wide + 2.0**-50 * np.abs(high)
    found = Ranges(0 * label + step, label - isinstance(last, int), kinds[kind], low, high, inputs, read, right)
    return found if apart is None else found.chosen(_among(_keys(found), _keys(apart)))


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


def _symbols(columns: Columns, place: Place) -> tuple[int, Ints]:
    """The column of a place, and the symbol that each edge has there; flags have a column after the last one."""
    if place.column < 0:
        return columns.length, np.concatenate([np.zeros(len(columns.edges), np.int64), columns.flags[place.word]])
    at = -2 if place.word == columns.answer else 1 + columns.words.index(place.word)
    return place.column, np.concatenate([columns.edges[:, at], np.zeros(columns.states, np.int64)])


def _gains(task: ColumnTask, step: int, contribution: Reals) -> tuple[Reals, float]:
    """(length + 1, edges) what each edge adds to the attention output of a step, and what fixed tokens add."""
    columns, count = task.columns, len(task.columns.edges)
    gains = np.full((columns.length + 1, count + columns.states), NEVER)
    gains[:-1, :count], gains[-1, count:] = 0.0, np.where(columns.ends, 0.0, NEVER)
    for word, column in np.argwhere(task.positions < 0):  # stands nowhere, and is 0
        gains[column, :count][columns.edges[:, 1 + word] > 0] = NEVER
    base = 0.0
    for position, slot in enumerate((*task.layout.prompt, *task.layout.answer[:step])):
        if isinstance(slot, int):
            base += contribution[position, slot]
            continue
        column, symbols = _symbols(columns, slot)
        taken = gains[column] != NEVER
        gains[column, taken] += contribution[position, np.asarray(task.tokens(slot.word))[symbols[taken]]]
    return gains, base


# ---- proof


def _halve(decoder: Decoder, task: ColumnTask, ranges: Ranges, unit: float, goal: float) -> tuple[int, float, Ints]:
    """Halves ranges until each piece is proved: how many pieces, the least margin proved, and the cases left open.

    The first halvings try to prove a margin of `goal`, the others any.
    """
    case, low, high = np.arange(len(ranges)), ranges.low, ranges.high
    count, halvings, left, least = 0, 0, np.zeros(len(ranges), np.bool_), np.full(len(ranges), np.inf)
    while len(case):
        count, halvings = count + len(case), halvings + 1
        lower, center = _margins(decoder, task, ranges, case, low, high, unit)
        good = lower > (goal if halvings <= FIRST else 0)
        np.minimum.at(least, case[good], lower[good])
        hopeless = ~(center > 0) | (high - low <= NARROW * (1 + np.abs(low))) | (count > MAX_PIECES)
        left[case[~good & hopeless]] = True
        rest = ~good & ~left[case]
        case, low, high = case[rest], low[rest], high[rest]
        middle = (low + high) / 2
        case, low, high = np.tile(case, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
    return count, float(least[~left].min(initial=np.inf)), np.nonzero(left)[0]


def end_margins(decoder: Decoder, task: ColumnTask, ranges: Ranges) -> Reals:
    """(n, 2) the margins, but for rounding, of the inputs that attain the high and the low ends."""
    every, ends = np.arange(len(ranges)), (ranges.high, ranges.low)
    return np.stack([_margins(decoder, task, ranges, every, end, end, 0.0)[1] for end in ends], axis=1)


def _margins(
    decoder: Decoder, task: ColumnTask, ranges: Ranges, case: Ints, low: Reals, high: Reals, unit: float
) -> tuple[Reals, Reals]:
    """(n,) a lower bound on the margin for attention outputs between low and high, and the margin in the middle."""
    stream = residual(decoder, unit)
    rows = (task.prompt_length - 1 + ranges.step[case]) * decoder.shape[1] + ranges.read[case]
    lower, center = np.empty(len(case)), np.empty(len(case))
    for at, right in _batches(ranges.right[case]):
        x = _finished(decoder, stream, rows[at], low[at], high[at])
        goals = np.array(task.layout.stop if right < 0 else (right,))
        each = [margins(decoder, x, int(goal)) for goal in goals]
        others = np.setdiff1d(
            np.arange(each[0].center.shape[1] + 1), goals
        )  # the largest of the goals must exceed them
        places = [others - (others > goal) for goal in goals]
        least = partial(np.min, axis=1, initial=np.inf)  # where every token is right, the margin is infinite
        lower[at] = np.max([least(of.lower()[:, to]) for of, to in zip(each, places, strict=True)], axis=0)
        center[at] = np.max([least(of.center[:, to]) for of, to in zip(each, places, strict=True)], axis=0)
    return lower, center


def _batches(right: Ints) -> Iterator[tuple[Ints, int]]:
    for token in np.unique(right).tolist():
        same = np.nonzero(right == token)[0]
        for begin in range(0, len(same), BATCH):
            yield same[begin : begin + BATCH], token


def _finished(decoder: Decoder, stream: Affine, rows: Ints, low: Reals, high: Reals) -> Affine:
    """What the last matrix reads, for these rows of the residual stream and attention outputs."""
    parts = cut(decoder)
    assert parts is not None
    middle = (low + high) / 2
    box = (np.maximum(high - middle, middle - low) * (1 + 2.0**-50) + 2.0**-52 * np.abs(middle))[:, None]
    output = Affine(middle[:, None], np.ones((len(rows), 1, 1)), np.zeros((len(rows), 1)), box, stream.unit)
    center, slopes, radius = stream.center[rows], stream.slopes[rows], stream.radius[rows]
    before = replace(stream, center=center, slopes=slopes, radius=radius, box=box)
    return finished(decoder, before + chained(parts[1], output))


# ---- refutation


def find_failure(decoder: Decoder, task: ColumnTask, unit: float, ranges: Ranges, ends: Reals) -> Counterexample | None:
    """An input of low margin that greedy decoding, in the arithmetic that is covered, answers wrongly."""
    order = np.argsort(ends, axis=None, kind="stable")[:REPLAYS]
    order = order[ends.reshape(-1)[order] <= NEARLY]
    if not len(order):
        return None
    inputs = ranges.inputs.reshape(-1, *ranges.inputs.shape[2:])[order]
    written = greedy(partial(logits, decoder, dtype=np.float32 if unit else np.float64), task, inputs)
    right = right_steps(task, inputs, written)
    answered = right[:, : len(task.layout.answer)].all(1)
    wrong = np.nonzero(answered & ~right[:, -1] if ranges.right[0] < 0 else ~answered)[0]
    return counterexample(task, inputs[wrong[0]], written[wrong[0]], "decoder") if len(wrong) else None
