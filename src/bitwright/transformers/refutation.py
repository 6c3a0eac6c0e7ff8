"""Inputs that a transformer answers wrongly: candidates from boxes, and the replay that confirms them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.transformers.affine import Reals
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Counterexample
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import Evaluator, evaluator_of, forced_rows
from bitwright.transformers.sums import Boxes, Cases, Edges

REPLAYS = 64  # inputs that are decoded, at most


def greedy(model: Callable[[Ints], Any], task: ColumnTask, inputs: Ints) -> Ints:
    """(n, answers, and one more if there are stop tokens) what greedy decoding writes after each prompt."""
    rows = task.prompts(inputs)
    steps = len(task.layout.answer) + bool(task.layout.stop)
    for _ in range(steps):
        last = np.asarray(model(rows))[:, -1]
        rows = np.concatenate([rows, last.argmax(-1)[:, None]], 1)
    return rows[:, task.prompt_length :]


def right_steps(task: ColumnTask, inputs: Ints, written: Ints) -> NDArray[np.bool_]:
    """(n, steps) which tokens are right."""
    answers = task.answers(inputs)
    right: NDArray[np.bool_] = written[:, : answers.shape[1]] == answers
    if task.layout.stop:
        right = np.concatenate([right, np.isin(written[:, -1:], task.layout.stop)], 1)
    return right


@np.errstate(invalid="ignore")
def forced_margins(model: Decoder | Evaluator, task: ColumnTask, inputs: Ints) -> Reals:
    """(n, steps) how far the right token is above all others, with the right answers as prefix; decoders in float64."""
    evaluate = evaluator_of(model) if isinstance(model, Decoder) else model
    values, answers = evaluate(forced_rows(task, inputs))[:, task.prompt_length - 1 :], task.answers(inputs)
    right = np.zeros(values.shape, np.bool_)
    np.put_along_axis(right[:, : answers.shape[1]], answers[..., None], True, 2)
    right[:, answers.shape[1] :, list(task.layout.stop)] = True
    margins: Reals = np.where(right, values, -np.inf).max(2) - np.where(right, -np.inf, values).max(2)
    return margins


def replay(model: Evaluator, task: ColumnTask, inputs: Ints) -> Iterator[Counterexample]:
    """Those of the first of these inputs that greedy decoding, one input at a time, answers wrongly."""
    for symbols in inputs[:REPLAYS]:
        written = greedy(model, task, symbols[None])
        right = right_steps(task, symbols[None], written)[0]
        if not right.all():
            answers = tuple(task.answers(symbols[None])[0].tolist())
            yield Counterexample(
                symbols, task.describe(symbols), int(right.argmin()), answers, tuple(written[0].tolist()), model.by
            )


def extreme_inputs(edges: Edges, cases: Cases, boxes: Boxes, case: Ints, share: Reals) -> Ints:
    """(n, words, length) the input of each box whose shares, those of (n, rows, length + 1, symbols), add up to least.

    Every box must have an input.
    """
    n, words, length = len(boxes), edges.words, share.shape[2] - 1
    rows, states = np.arange(n), len(edges.starts)
    low, high = boxes[:, 0], boxes[:, 1]
    state = np.arange(states)
    at = words * length
    inside = (low[:, at, None] <= state) & (state <= high[:, at, None])
    least, back = np.where(inside & edges.starts, 0.0, np.inf), []
    for column in range(length + 1):
        of = slice(None, edges.last) if column < length else slice(edges.last, None)
        before, after, reads = edges.before[of], edges.after[of], edges.reads[of]
        total = least[:, before] + share[:, np.arange(reads.shape[1]), column, reads].sum(2)
        if column < length:
            for variable, symbol in [(w * length + column, reads[:, w]) for w in range(words)] + [
                (at + column + 1, after)
            ]:
                total[(symbol < low[:, variable, None]) | (symbol > high[:, variable, None])] = np.inf
            wanted = cases.wanted[case, column, None]
            total[(wanted >= 0) & (reads[:, words] != wanted)] = np.inf
        else:
            total[~cases.ends[case][:, after]] = np.inf
        least, edge = np.full((n, states), np.inf), np.zeros((n, states), np.int64)
        for target in np.unique(after):
            into = np.flatnonzero(after == target)
            edge[:, target] = into[total[:, into].argmin(1)]
            least[:, target] = total[rows, edge[:, target]]
        back.append(edge)
    found, last = np.zeros((n, words, length), np.int64), least.argmin(1)
    for column in range(length - 1, -1, -1):
        edge = back[column][rows, last]
        found[:, :, column], last = edges.reads[edge, :words], edges.before[edge]
    return found
