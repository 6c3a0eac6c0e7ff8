"""Searches for counterexamples, and exhaustive tests on small domains.

Both evaluate decoders with any number of layers and users' modules. A search that finds nothing proves nothing. A
candidate counts as a counterexample only after greedy decoding has replayed it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.transformers.affine import Reals
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Counterexample, DecoderClaim
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask, Mixture
from bitwright.transformers.modules import BATCH, Evaluator, Module, evaluator_of, forced_rows, runtime_of
from bitwright.transformers.sums import Boxes, Cases, Edges

SEARCHED = 12  # batches of inputs in a search
REPLAYS = 64  # most inputs to decode


def search(model: Module, task: ColumnTask, seed: int = 0, seconds: float = inf) -> Counterexample | None:
    """Searches for an input that greedy decoding answers incorrectly; returns None if no such input is found."""
    runtime, end = runtime_of(model, task), time.monotonic() + seconds
    mixture, rng = Mixture(task), np.random.default_rng(seed)
    for _ in range(SEARCHED):
        if time.monotonic() > end:
            return None
        tried = mixture.draw(BATCH, rng)
        wrong = ~(forced_margins(runtime, task, tried) > 0).all(1)
        if example := next(replay(runtime, task, tried[wrong]), None):
            return example
    return None


def exhaust(model: Module, task: ColumnTask) -> tuple[DecoderClaim, ...]:
    """Returns the claims about the answers and the stop token, "tested" on all inputs or "refuted".

    The inputs are evaluated in one batch, with the right answers as prefix, so the claims cover only the named runtime
    on this machine. They prove nothing about other runtimes or batch sizes.
    """
    runtime, answers, (inputs,) = runtime_of(model, task), len(task.layout.answer), task.every_input()
    margins = forced_margins(runtime, task, inputs)
    parts = [(task.columns.statement, slice(answers)), ("stop", slice(answers, None))][: 1 + bool(task.layout.stop)]
    return tuple(
        _claim(runtime, task, about, float(margins[:, part].min()), inputs[~(margins[:, part] > 0).all(1)])
        for about, part in parts
    )


def _claim(runtime: Evaluator, task: ColumnTask, about: str, margin: float, wrong: Ints) -> DecoderClaim:
    """Returns the claim after an exhaustive test; `wrong` are the inputs without a positive margin."""
    claim = DecoderClaim(about, "tested", "float32", "all inputs", task.inputs, margin, runtime=runtime.name)
    if not len(wrong):
        return claim
    if example := next(replay(runtime, task, wrong), None):
        return replace(claim, verdict="refuted", counterexample=example)
    if not np.isfinite(forced_margins(runtime, task, wrong)).all():
        return replace(claim, verdict="not decided", margin=None, open=("some logits are NaN or infinite",))
    tie = f"{task.describe(wrong[0])} is answered correctly alone, but not in a batch, or only by a tie"
    return replace(claim, verdict="not decided", open=(tie,))


def greedy(model: Callable[[Ints], Any], task: ColumnTask, inputs: Ints) -> Ints:
    """Returns (n, answers, plus one with stop tokens) the tokens that greedy decoding outputs after each prompt.

    A NaN or infinite logit ends the output; the missing tokens are -1.
    """
    rows = task.prompts(inputs)
    steps = len(task.layout.answer) + bool(task.layout.stop)
    for _ in range(steps):
        last = np.asarray(model(rows))[:, -1]
        token = np.where(np.isfinite(last).all(-1), last.argmax(-1), -1)
        rows = np.concatenate([rows, token[:, None]], 1)
    return rows[:, task.prompt_length :]


def right_steps(task: ColumnTask, inputs: Ints, written: Ints) -> NDArray[np.bool_]:
    """Returns (n, steps): whether each token is right."""
    answers = task.answers(inputs)
    right: NDArray[np.bool_] = written[:, : answers.shape[1]] == answers
    if task.layout.stop:
        right = np.concatenate([right, np.isin(written[:, -1:], task.layout.stop)], 1)
    return right


@np.errstate(invalid="ignore")
def forced_margins(model: Decoder | Evaluator, task: ColumnTask, inputs: Ints) -> Reals:
    """Returns (n, steps) the right token's margin, after the right answers; decoders are evaluated in float64."""
    evaluate = evaluator_of(model) if isinstance(model, Decoder) else model
    values, answers = evaluate(forced_rows(task, inputs))[:, task.prompt_length - 1 :], task.answers(inputs)
    right = np.zeros(values.shape, np.bool_)
    np.put_along_axis(right[:, : answers.shape[1]], answers[..., None], True, 2)
    right[:, answers.shape[1] :, list(task.layout.stop)] = True
    margins: Reals = np.where(right, values, -np.inf).max(2) - np.where(right, -np.inf, values).max(2)
    return margins


def replay(model: Evaluator, task: ColumnTask, inputs: Ints) -> Iterator[Counterexample]:
    """Yields the inputs that greedy decoding, one input at a time, answers incorrectly."""
    for symbols in inputs[:REPLAYS]:
        written = greedy(model, task, symbols[None])
        right = right_steps(task, symbols[None], written)[0]
        if not right.all() and written[0, right.argmin()] >= 0:
            answers = tuple(task.answers(symbols[None])[0].tolist())
            yield Counterexample(
                symbols, task.describe(symbols), int(right.argmin()), answers, tuple(written[0].tolist()), model.by
            )


def extreme_inputs(edges: Edges, cases: Cases, boxes: Boxes, case: Ints, share: Reals) -> Ints:
    """Returns (n, words, length) the input in each box with the smallest sum of `share`.

    Every box must contain an input; `share` is (n, rows, length + 1, symbols).
    """
    n, words, length = len(boxes), edges.words, share.shape[2] - 1
    rows, states = np.arange(n), edges.states
    low, high = boxes[:, 0], boxes[:, 1]
    state = np.arange(states)
    at = words * length
    inside = (low[:, at, None] <= state) & (state <= high[:, at, None])
    least, back = np.where(inside & (state == 0), 0.0, np.inf), []
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
