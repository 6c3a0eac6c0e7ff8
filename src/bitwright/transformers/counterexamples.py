"""Inputs that a transformer answers wrongly, found by search; and all inputs of a small domain, tried one by one.

Both evaluate a decoder of any number of layers, or a user's module. A search that finds nothing proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from bitwright.errors import EffortError, counted
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Counterexample, DecoderClaim
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.mixture import mixture_of
from bitwright.transformers.modules import BATCH, Evaluator, Module, runtime_of
from bitwright.transformers.refutation import REPLAYS, forced_margins, replay

MAX_INPUTS = 50_000_000  # that are tried in full
CLIMBERS = 24  # inputs of low margin, for each step of decoding, that are changed further


def search(
    model: Module, task: ColumnTask, seed: int = 0, inputs: int = 50_000, rounds: int = 100, seconds: float = inf
) -> Counterexample | None:
    """An input that greedy decoding answers wrongly, or None if none was found.

    Varied inputs are tried first. Then those with the lowest margins are changed in one to three symbols for some
    rounds, and changes that lower a margin are kept. The result depends on the seed and the counts alone, unless the
    time is limited.
    """
    runtime = runtime_of(model, task)
    mixture, rng, end = mixture_of(task), np.random.default_rng(seed), time.monotonic() + seconds
    steps = len(task.layout.answer) + bool(task.layout.stop)
    lowest, margins = np.zeros((0, *task.positions.shape), np.int64), np.zeros((0, steps))
    batches = -(-inputs // BATCH)
    for number in range(batches + rounds):
        if time.monotonic() > end:
            return None
        tried = mixture.vary(BATCH, rng) if number < batches else _changed(task, lowest, rng)
        found = forced_margins(runtime, task, tried)
        if example := next(replay(runtime, task, tried[~(found > 0).all(1)]), None):
            return example
        lowest, first = np.unique(np.concatenate([lowest, tried]), axis=0, return_index=True)
        margins = np.concatenate([margins, found])[first]
        keep = np.unique(np.argsort(margins, 0, kind="stable")[:CLIMBERS])  # the lowest of each step of decoding
        lowest, margins = lowest[keep], margins[keep]
    return None


def exhaust(model: Module, task: ColumnTask, progress: Callable[[str], None] | None = None) -> tuple[DecoderClaim, ...]:
    """The claims on the answers and on the stop token: "tested" on all inputs, or "refuted".

    Every input is evaluated once, in batches, with the right answers as prefix. So the claims hold for this runtime,
    which they name, on this machine. They prove nothing about another one, nor about batches of another size.
    """
    if task.inputs > MAX_INPUTS:
        raise EffortError(f"the task has {counted(task.inputs, 'input')}; at most {MAX_INPUTS:,} are tried in full")
    runtime = runtime_of(model, task)
    answers, done = len(task.layout.answer), 0
    parts = {task.columns.statement: slice(answers)} | ({"stop": slice(answers, None)} if task.layout.stop else {})
    margins, none = dict.fromkeys(parts, inf), np.zeros((0, *task.positions.shape), np.int64)
    wrong = dict.fromkeys(parts, none)
    for batch in task.every_input():
        found = forced_margins(runtime, task, batch)
        for about, part in parts.items():
            margins[about] = min(margins[about], float(found[:, part].min()))
            wrong[about] = np.concatenate([wrong[about], batch[~(found[:, part] > 0).all(1)]])[:REPLAYS]
        done += len(batch)
        if progress is not None:
            progress(f"{done:,} of {task.inputs:,} inputs")
    return tuple(_claim(runtime, task, about, margins[about], wrong[about]) for about in parts)


def _claim(runtime: Evaluator, task: ColumnTask, about: str, margin: float, wrong: Ints) -> DecoderClaim:
    """The claim after all inputs were tried; `wrong` are those whose right token has not the largest logit alone."""
    claim = DecoderClaim(about, "tested", "float32", "all inputs", task.inputs, margin, runtime=runtime.name)
    if not len(wrong):
        return claim
    if example := next(replay(runtime, task, wrong), None):
        return replace(claim, verdict="refuted", counterexample=example)
    tie = f"{task.describe(wrong[0])} is answered rightly one input at a time, and not in a batch, or by a tie"
    return replace(claim, verdict="not decided", open=(tie,))


def _changed(task: ColumnTask, inputs: Ints, rng: np.random.Generator) -> Ints:
    """Four copies of each input, with one to three of their symbols drawn anew."""
    changed, free = np.repeat(inputs, 4, axis=0), np.argwhere(task.positions >= 0)
    rows, sizes = np.arange(len(changed)), np.asarray(task.columns.symbols)
    for times in range(3):
        some = rows[rng.random(len(rows)) < 0.5**times]
        word, column = free[rng.integers(0, len(free), len(some))].T
        changed[some, word, column] = rng.integers(0, sizes[word])
    return changed
