"""Inputs that a transformer answers wrongly, found by search; and all inputs of a small domain, tried one by one.

Both evaluate a decoder of any number of layers, or a user's module. A search that finds nothing proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from bitwright.errors import EffortError, counted
from bitwright.transformers.affine import Reals
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decision import Claim, Counterexample
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import BATCH, Runtime, forced_rows, runtime_of
from bitwright.transformers.refutation import counterexample, greedy, right_steps

MAX_INPUTS = 50_000_000  # that are tried in full
MAX_REPLAYS = 64
CLIMBERS = 24  # inputs of low margin, for each step of decoding, that are changed further
Model = Decoder | Callable[[Any], Any] | Runtime


def search(
    model: Model, task: ColumnTask, seed: int = 0, inputs: int = 50_000, rounds: int = 100, seconds: float = inf
) -> Counterexample | None:
    """An input that greedy decoding answers wrongly, or None if none was found.

    Varied inputs are tried first. Then those with the lowest margins are changed in one to three symbols for some
    rounds, and changes that lower a margin are kept. The result depends on the seed and the counts alone, unless the
    time is limited.
    """
    runtime = model if isinstance(model, Runtime) else runtime_of(model, task)
    rng, end = np.random.default_rng(seed), time.monotonic() + seconds
    steps = len(task.layout.answer) + bool(task.layout.stop)
    lowest, margins = np.zeros((0, *task.positions.shape), np.int64), np.zeros((0, steps))
    batches = -(-inputs // BATCH)
    for number in range(batches + rounds):
        if time.monotonic() > end:
            return None
        tried = varied_inputs(task, BATCH, rng) if number < batches else _changed(task, lowest, rng)
        found = measure_margins(runtime, task, tried)
        if (example := _replayed(runtime, task, tried[~(found > 0).all(1)])) is not None:
            return example
        lowest, first = np.unique(np.concatenate([lowest, tried]), axis=0, return_index=True)
        margins = np.concatenate([margins, found])[first]
        keep = np.unique(np.argsort(margins, 0, kind="stable")[:CLIMBERS])  # the lowest of each step of decoding
        lowest, margins = lowest[keep], margins[keep]
    return None


def exhaust(model: Model, task: ColumnTask, progress: Callable[[str], None] | None = None) -> tuple[Claim, ...]:
    """The claims on the answers and on the stop token: "tested" on all inputs, or "refuted".

    Every input is evaluated once, in batches, with the right answers as prefix. So the claims hold for this runtime,
    which they name, on this machine. They prove nothing about another one, nor about batches of another size.
    """
    if task.inputs > MAX_INPUTS:
        raise EffortError(f"the task has {counted(task.inputs, 'input')}; at most {MAX_INPUTS:,} are tried in full")
    runtime = model if isinstance(model, Runtime) else runtime_of(model, task)
    answers, done = len(task.layout.answer), 0
    parts = {task.columns.statement: slice(answers)} | ({"stop": slice(answers, None)} if task.layout.stop else {})
    margins, none = dict.fromkeys(parts, inf), np.zeros((0, *task.positions.shape), np.int64)
    wrong = dict.fromkeys(parts, none)
    for batch in task.every_input():
        found = measure_margins(runtime, task, batch)
        for about, part in parts.items():
            margins[about] = min(margins[about], float(found[:, part].min()))
            wrong[about] = np.concatenate([wrong[about], batch[~(found[:, part] > 0).all(1)]])[:MAX_REPLAYS]
        done += len(batch)
        if progress is not None:
            progress(f"{done:,} of {task.inputs:,} inputs")
    return tuple(_claim(runtime, task, about, margins[about], wrong[about]) for about in parts)


def _claim(runtime: Runtime, task: ColumnTask, about: str, margin: float, wrong: Ints) -> Claim:
    """The claim after all inputs were tried; `wrong` are those whose right token has not the largest logit alone."""
    claim = Claim(about, "tested", "float32", "all inputs", task.inputs, margin, runtime=runtime.name)
    if not len(wrong):
        return claim
    if (example := _replayed(runtime, task, wrong)) is not None:
        return replace(claim, verdict="refuted", counterexample=example)
    tie = f"{task.describe(wrong[0])} is answered rightly one input at a time, and not in a batch, or by a tie"
    return replace(claim, verdict="not decided", open=(tie,))


@np.errstate(invalid="ignore")
def measure_margins(runtime: Runtime, task: ColumnTask, inputs: Ints) -> Reals:
    """(n, steps) how far the right token's logit is above all others, with the right answers as prefix."""
    values, answers = runtime(forced_rows(task, inputs))[:, task.prompt_length - 1 :], task.answers(inputs)
    right = np.zeros(values.shape, np.bool_)
    np.put_along_axis(right[:, : answers.shape[1]], answers[..., None], True, 2)
    right[:, answers.shape[1] :, list(task.layout.stop)] = True
    margins: Reals = np.where(right, values, -inf).max(2) - np.where(right, -inf, values).max(2)
    return margins


def varied_inputs(task: ColumnTask, count: int, rng: np.random.Generator) -> Ints:
    """(count, words, length) symbols: uniform ones, short words, extreme and repeated symbols, walks through the
    automaton that repeat an answer or a state; and half of them joined from two of these kinds.
    """
    columns, shape = task.columns, (count, len(task.columns.words), task.columns.length)
    sizes = np.asarray(columns.symbols)[None, :, None]
    uniform = rng.integers(0, sizes, shape)
    short = np.where(np.arange(shape[2]) < rng.integers(0, shape[2] + 1, (*shape[:2], 1)), uniform, 0)
    extreme = np.where(rng.integers(0, 2, shape) > 0, sizes - 1, 0)
    repeated = np.broadcast_to(rng.integers(0, sizes, (*shape[:2], 1)), shape)
    walks = [_walks(columns, count, rng, part, stay) for part in (-2, -1) for stay in (0.5, 0.95)]
    kinds = np.stack([uniform, short, extreme, repeated, *walks])
    kind, cut = rng.integers(0, len(kinds), (2, count)), rng.integers(0, 2 * shape[2], count)
    second = (np.arange(shape[2]) >= cut[:, None])[:, None]
    mixed = np.where(second, kinds[kind[1], np.arange(count)], kinds[kind[0], np.arange(count)])
    return np.where(task.positions >= 0, mixed, 0)


def _walks(columns: Columns, count: int, rng: np.random.Generator, part: int, stay: float) -> Ints:
    """(count, words, length) symbols of random runs; each often writes the same answer, or enters the same state.

    Args:
        part: the column of the edges that an input prefers one value of: -2 for answers, -1 for states.
        stay: how likely an edge of that value is taken; else one of a random value, where there is one.
    """
    values = int(columns.edges[:, part].max()) + 2  # an answer may be -1
    key = columns.edges[:, 0] * values + columns.edges[:, part] + 1
    edges = columns.edges[np.argsort(key, kind="stable")]
    first = np.searchsorted(np.sort(key), np.arange(columns.states * values + 1))
    state, preferred = rng.choice(np.flatnonzero(columns.starts), count), rng.integers(0, values, count)
    found = np.zeros((count, len(columns.words), columns.length), np.int64)
    for column in range(columns.length):
        value = np.where(rng.random(count) < stay, preferred, rng.integers(0, values, count))
        begin, end = state * values + value, state * values + value + 1
        none = first[begin] == first[end]
        begin, end = np.where(none, state * values, begin), np.where(none, state * values + values, end)
        edge = first[begin] + (rng.random(count) * (first[end] - first[begin])).astype(np.int64)
        edge = np.minimum(edge, len(edges) - 1)
        found[:, :, column], state = edges[edge, 1:-2], edges[edge, -1]
    return found


def _changed(task: ColumnTask, inputs: Ints, rng: np.random.Generator) -> Ints:
    """Four copies of each input, with one to three of their symbols drawn anew."""
    changed, free = np.repeat(inputs, 4, axis=0), np.argwhere(task.positions >= 0)
    rows, sizes = np.arange(len(changed)), np.asarray(task.columns.symbols)
    for times in range(3):
        some = rows[rng.random(len(rows)) < 0.5**times]
        word, column = free[rng.integers(0, len(free), len(some))].T
        changed[some, word, column] = rng.integers(0, sizes[word])
    return changed


def _replayed(runtime: Runtime, task: ColumnTask, inputs: Ints) -> Counterexample | None:
    """The first of these inputs that greedy decoding, one input at a time, answers wrongly."""
    for symbols in inputs[:MAX_REPLAYS]:
        written = greedy(runtime, task, symbols[None])
        if not right_steps(task, symbols[None], written).all():
            return counterexample(task, symbols, written[0], runtime.by)
    return None
