"""Inputs that a transformer answers wrongly: candidates from boxes, and the replay that confirms them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from bitwright.compiling import compiled
from bitwright.transformers.affine import Reals
from bitwright.transformers.attention import Boxes, Cases, Outputs, Query
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decision import Counterexample
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.evaluate import logits
from bitwright.transformers.layout import ColumnTask

Model = Callable[[Ints], Any]  # (n, length) tokens to (n, length, vocabulary) logits, in NumPy or PyTorch
CLEAR = 1e-9  # a margin below minus this is not a matter of rounding in float64


def greedy(model: Model, task: ColumnTask, inputs: Ints) -> Ints:
    """(n, answers, and one more if there are stop tokens) what greedy decoding writes after each prompt."""
    rows = task.prompts(inputs)
    steps = len(task.layout.answer) + bool(task.layout.stop)
    for _ in range(steps):
        last = np.asarray(model(rows))[:, -1]
        rows = np.concatenate([rows, last.argmax(-1)[:, None]], 1)
    return rows[:, task.prompt_length :]


def right_steps(task: ColumnTask, inputs: Ints, written: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(n, steps) which tokens are right."""
    answers = task.answers(inputs)
    right = written[:, : answers.shape[1]] == answers
    if task.layout.stop:
        right = np.concatenate([right, np.isin(written[:, -1:], task.layout.stop)], 1)
    return right


def forced_margins(decoder: Decoder, task: ColumnTask, inputs: Ints) -> Reals:
    """(n, steps) the margin of the right token at each step, with the right tokens before it, in float64."""
    rows = task.rows(inputs)
    answers = rows[:, task.prompt_length :]
    steps = answers.shape[1] + bool(task.layout.stop)
    values = logits(decoder, rows if task.layout.stop else rows[:, :-1])[:, task.prompt_length - 1 :]
    margins = np.empty((len(inputs), steps))
    for step in range(steps):
        right = np.zeros(values[:, step].shape, np.bool_)
        if step < answers.shape[1]:
            right[np.arange(len(inputs)), answers[:, step]] = True
        else:
            right[:, list(task.layout.stop)] = True
        best = np.where(right, values[:, step], -np.inf).max(1)
        margins[:, step] = best - np.where(right, -np.inf, values[:, step]).max(1)
    return margins


def replay(decoder: Decoder, task: ColumnTask, inputs: Ints, module: Model | None) -> Counterexample | None:
    """The first of these inputs that greedy decoding by the module, or else by the decoder, gets wrong."""
    model = partial(logits, decoder) if module is None else module
    written = greedy(model, task, inputs)
    right = right_steps(task, inputs, written)
    for row in np.flatnonzero(~right.all(1)):
        return counterexample(task, inputs[row], written[row], "decoder" if module is None else "module")
    return None


def counterexample(
    task: ColumnTask, symbols: Ints, written: Ints, by: Literal["module", "decoder"]
) -> Counterexample:
    """A wrong answer as a value."""
    step = int(right_steps(task, symbols[None], written[None])[0].argmin())
    right = tuple(int(token) for token in task.answers(symbols[None])[0])
    return Counterexample(symbols, task.describe(symbols), step, right, tuple(int(t) for t in written), by)


def extreme_inputs(
    query: Query, columns: Columns, cases: Cases, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals
) -> Ints:
    """(n, words, length) the input of each box where slopes . output is least, to first order around the box."""
    found = np.zeros((len(boxes), len(columns.words), columns.length), np.int64)
    _extreme_inputs(
        boxes,
        case,
        cases.wanted,
        cases.ends,
        columns.edges,
        columns.starts,
        query.symbols,
        query.flags,
        outputs.near,
        outputs.weight,
        slopes,
        found,
    )
    return found


@compiled
def _extreme_inputs(  # type: ignore[no-untyped-def]
    boxes, case, wanted, ends, edges, starts, symbols, flags, near, weight, slopes, found
):
    heads, rows, length, most, size = symbols.shape
    words, r, states = rows - 1, (size - 2) // 2, len(starts)
    share, least = np.empty((rows, most)), np.empty((length + 1, states))
    back = np.empty((length + 1, states), np.int64)
    for box in range(len(boxes)):
        low, high, want = boxes[box, 0], boxes[box, 1], wanted[case[box]]
        at = words * length
        least[:] = np.inf
        for state in range(states):
            if starts[state] and low[at] <= state <= high[at]:
                least[0, state] = 0.0
        for column in range(length):
            for row in range(rows):
                for symbol in range(most):
                    share[row, symbol] = 0.0
                    for head in range(heads):
                        entry = symbols[head, row, column, symbol]
                        for k in range(r):
                            value = entry[2 + k] - near[box, head, k] * entry[0]
                            share[row, symbol] += slopes[box, k] * value / weight[box, head]
            for index in range(len(edges)):
                edge = edges[index]
                after, answer = edge[words + 2], edge[words + 1]
                if least[column, edge[0]] == np.inf or not low[at + column + 1] <= after <= high[at + column + 1]:
                    continue
                inside = want[column] < 0 or want[column] == answer
                x = least[column, edge[0]] + (share[words, answer] if answer >= 0 else 0.0)
                for word in range(words):
                    variable, symbol = word * length + column, edge[word + 1]
                    inside = inside and low[variable] <= symbol <= high[variable]
                    x += share[word, symbol]
                if inside and x < least[column + 1, after]:
                    least[column + 1, after] = x
                    back[column + 1, after] = index
        best, state = np.inf, -1
        for end in range(states):
            x = least[length, end] if ends[case[box], end] else np.inf
            for flag in range(flags.shape[1]):
                for head in range(heads):
                    entry = flags[head, flag, end]
                    for k in range(r):
                        x += slopes[box, k] * (entry[2 + k] - near[box, head, k] * entry[0]) / weight[box, head]
            if x < best:
                best, state = x, end
        if state >= 0:
            for column in range(length, 0, -1):
                edge = edges[back[column, state]]
                for word in range(words):
                    found[box, word, column - 1] = edge[word + 1]
                state = edge[0]
