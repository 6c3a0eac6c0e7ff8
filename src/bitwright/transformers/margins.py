"""How close a decoder comes to a wrong answer, and on how many of the tested inputs it fails."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.attention import tabulate
from bitwright.transformers.boxes import steps
from bitwright.transformers.columns import Ints
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.prover import Progress
from bitwright.transformers.steps import (
    StepProof,
    prove_step,
    step_of,
)

SAMPLE, BATCH = 100_000, 10_000  # inputs tested, and inputs per batch


@dataclass(frozen=True)
class SmallestMargin(FrozenArrays):
    """The smallest margin of the right token over all inputs and steps, in real arithmetic.

    Args:
        bound: no input has a smaller margin; -inf if time ran out before any bound was known.
        attained: the margin of the input.
        symbols: (words, length) the input, with the right answers so far before every step.
    """

    bound: float
    attained: float
    step: int
    symbols: Ints
    inputs: str


def smallest_margin(
    decoder: Decoder,
    task: ColumnTask,
    *,
    gap: float = 1e-3,
    seed: int = 0,
    seconds: float = np.inf,
    progress: Progress | None = None,
) -> SmallestMargin:
    """Finds the smallest margin, up to a relative gap, and an input that attains it.

    Args:
        seconds: time limit; afterwards the smallest margin is only known to lie between `bound` and `attained`.
        progress: called with the percentage done, and 100.
    """
    rng, table, end = np.random.default_rng(seed), tabulate(decoder, task, 0.0), time.monotonic() + seconds
    best, at, symbols = np.inf, 0, np.zeros((0, 0), np.int64)

    def attain(candidates: Ints) -> None:
        nonlocal best, at, symbols
        found = forced_margins(decoder, task, candidates)
        if np.isnan(found).any():
            raise InputError("the decoder's logits are not finite on some inputs, so there is no smallest margin")
        row, step = np.unravel_index(found.argmin(), found.shape)
        if found[row, step] < best:
            best, at, symbols = float(found[row, step]), int(step), candidates[row]

    symbols = (tried := task.random_inputs(1000, rng))[0]
    attain(tried)
    bound = np.inf
    for number, groups in enumerate(of_steps := steps(task)):

        def halt(proof: StepProof, candidates: Ints, number: int = number) -> bool:
            _tell(progress, number + proof.trees.share, len(of_steps))
            if len(candidates):
                attain(candidates)
            return time.monotonic() > end

        bound = min(bound, prove_step(step_of(table, groups), halt, rng, lambda: best - gap * abs(best)).least)
    _tell(progress, 1, 1)
    return SmallestMargin(float(min(bound, best)), best, at, symbols, task.describe(symbols))


def _tell(progress: Progress | None, done: float, total: int) -> None:
    if progress:
        progress(int(100 * done / total), 100)


@dataclass(frozen=True)
class WrongInputs:
    """The number of tested inputs answered incorrectly, of all inputs or of a random sample."""

    wrong: int
    tried: int


def count_wrong(decoder: Decoder, task: ColumnTask, *, seed: int = 0, progress: Progress | None = None) -> WrongInputs:
    """Counts the inputs that greedy decoding in float64 answers incorrectly: of all, or of 100,000 random ones.

    Args:
        seed: seed of the random inputs.
        progress: called with the number of inputs tested, and of all to test.
    """
    rng, few = np.random.default_rng(seed), task.inputs <= SAMPLE
    tried, wrong, total = 0, 0, task.inputs if few else SAMPLE
    batches = task.every_input() if few else (task.random_inputs(BATCH, rng) for _ in range(0, SAMPLE, BATCH))
    for batch in batches:
        inputs = batch[: total - tried]
        wrong += int((~(forced_margins(decoder, task, inputs) > 0)).any(1).sum())
        tried += len(inputs)
        if progress is not None:
            progress(tried, total)
    return WrongInputs(wrong, tried)
