"""The engine's outputs in every step, how far each step was from a wrong bit, and which were wrong.

For the limit the outputs follow from n, c and m alone, so the page has the two weights for every n that occurs and
computes them itself. Outputs of a network are recorded, or for cells computed again: all or, in long runs, those
closest to the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.pages.page.assemble import Blob, SampledSteps
from bitwright.program.layout import IntArray
from bitwright.program.trace import Trace
from bitwright.running.run import Run
from bitwright.theory.closed_form import FloatArray, variance
from bitwright.theory.rounding import Rounding, check_rounding, scale_weights

MAX_VALUES = 2_000_000  # recorded outputs that a page holds; of more, the closest of each step
CLOSEST = 32


def outputs_data(
    run: Run, trace: Trace, blob: Blob, sample: SampledSteps, most: int = MAX_VALUES, closest: int = CLOSEST
) -> dict[str, object]:
    """Adds n, margins and outputs to the blob, and returns what the page needs to know about them.

    Of the steps shown all recorded outputs if there are at most `most`, else the `closest` of each.
    """
    rounding = check_rounding(run.rounding or "calibrated")
    # A network of cells has examples and an n of each cell's own.
    examples = trace.program.templates if run.cells is not None else run.examples or trace.program.templates
    closed = run.closed_form
    n, wrong, least, bit = _along(run, trace, rounding, examples)
    blob.integers("n", n[sample.steps])
    blob.integers("wrong", sample.sums(wrong))
    blob.reals("margin", least[sample.least(least)])
    stored = "closed form" if closed else "nothing"
    if (trace.outputs is not None or run.asked is not None) and not closed:
        few = (len(sample.steps) - 1) * trace.program.bits <= most or trace.program.bits <= closest
        stored = "all" if few else "closest"
        _store(run, trace, n, examples, blob, sample.steps[:-1], None if few else closest)
    kinds, at = np.unique(n, return_inverse=True)
    w, deviation = scale_weights(kinds, examples, run.kind), _deviation(kinds, examples, run)
    random = run.networks is None  # then the deviation of one network is shown; those that are there have none
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing matches there is neither gap nor deviation
        spread = deviation / (w.gap if rounding == "calibrated" else 1)
    blob.integers("table_n", kinds)
    blob.reals("table_w0", w.unmatched)
    blob.reals("table_gap", w.gap)
    blob.reals("table_deviation", deviation)
    return {
        "rounding": rounding,
        "examples": examples,
        "stored": stored,
        "cells": run.asked is not None,
        "deviations": random,
        "followed": run.rounding is not None and run.cells is None,
        "closest": closest,
        "wrong_steps": int(np.count_nonzero(wrong)),
        "least": _least(least, bit, spread[at[: len(least)]] if random else None, sample),
    }


def _deviation(n: IntArray, examples: int, run: Run) -> FloatArray:
    """The limit's, by n, where it depends on n alone: not after training on states."""
    if run.kind == "plain" or run.kind == "scaled":
        return np.zeros(len(n))
    return np.asarray(np.sqrt(variance(n, examples, run.kind)))


def _least(
    margin: FloatArray, bit: IntArray, spread: FloatArray | None, sample: SampledSteps
) -> dict[str, object] | None:
    """The step that was closest to going wrong: by margin, or in standard deviations if these are known."""
    measure = margin
    if spread is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            measure = np.where(spread > 0, margin / spread, np.inf)
    measure = np.where(np.isfinite(margin), measure, np.inf)
    if not np.isfinite(measure).any():
        return None
    step = int(np.argmin(measure))
    return {
        "step": int(sample.piece_of(np.array(step))),
        "number": step,
        "bit": int(bit[step]),
        "margin": float(margin[step]),
        "deviations": None if spread is None else float(measure[step]),
    }


def _along(
    run: Run, trace: Trace, rounding: Rounding, examples: int
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """For each step: n of its state, the bits that the step got wrong, the smallest margin and the bit that has it."""
    program, steps = trace.program, trace.steps
    engine = RuleEngine(program)
    n, wrong = np.zeros(steps + 1, dtype=np.int64), np.zeros(steps, dtype=np.int64)
    least, bit = np.full(steps, np.inf), np.full(steps, -1, dtype=np.int64)
    for first, states in _chunks(trace):
        last = first + len(states)
        matched = engine.rules.matched(states)
        n[first:last] = np.count_nonzero(matched, axis=1)
        ends = min(last, steps)
        if ends == first:
            continue
        batch = PackedBatch(engine, states)
        batch.step()
        after = np.unpackbits(trace.packed[first + 1 : ends + 1], axis=1, count=program.bits).astype(bool)
        wrong[first:ends] = np.count_nonzero(batch.states()[: ends - first] != after, axis=1)
        if run.asked is not None:
            least[first:ends], bit[first:ends] = run.asked.closest(states[: ends - first])
            continue
        margin = _margins(run, trace, matched[: ends - first], first, n[first:ends], rounding, examples)
        if margin is not None:
            least[first:ends] = margin.min(axis=1)
            bit[first:ends] = np.where(np.isfinite(least[first:ends]), margin.argmin(axis=1), -1)
    return n, wrong, least, bit


def _margins(
    run: Run, trace: Trace, matched: BoolArray, first: int, n: IntArray, rounding: Rounding, examples: int
) -> FloatArray | None:  # (batch, k), or (batch, 1) where all bits are alike
    """How far each bit was from being rounded the other way, as `round_outputs` has it."""
    program = trace.program
    w = scale_weights(n, examples, run.kind)
    gap, unmatched = np.where(n > 0, w.gap, 1)[:, None], w.unmatched[:, None]
    if run.closed_form:
        if rounding == "calibrated":  # zhat is an integer, never closer than this to 1/2
            return np.where(n > 0, 0.5, np.inf)[:, None]
        writer = np.repeat(np.arange(program.templates), np.diff(program.write_start))
        counts = np.zeros((len(n), program.bits))
        for row, templates in enumerate(matched):
            counts[row] = np.bincount(program.write_bits[templates[writer]], minlength=program.bits)
        outputs = unmatched * program.writers + gap * counts
    elif trace.outputs is not None:
        outputs = trace.outputs[first : first + len(n)].astype(np.float64)
    else:
        return None
    if rounding == "sign":
        distance = np.where(program.writers > 0, np.abs(outputs), np.inf)
        return np.where((n > 1)[:, None], distance, np.inf)
    estimate = (outputs - unmatched * program.writers) / gap
    return np.where((n > 0)[:, None], np.abs(estimate - 0.5), np.inf)


def _store(
    run: Run, trace: Trace, n: IntArray, examples: int, blob: Blob, shown: IntArray, closest: int | None
) -> None:
    """Puts the outputs of the steps shown into the page: all of them, or the closest of every step."""
    if run.asked is not None:
        _store_cells(run.asked, trace, blob, shown, closest)
        return
    assert trace.outputs is not None
    if closest is None:
        blob.reals("outputs", trace.outputs[shown], single=True)
        return
    rounding = check_rounding(run.rounding or "calibrated")
    chosen = np.empty((trace.steps, closest), dtype=np.int64)
    for first, states in _chunks(trace):
        last = min(first + len(states), trace.steps)
        margin = _margins(run, trace, np.zeros((0, 0), dtype=bool), first, n[first:last], rounding, examples)
        assert margin is not None
        chosen[first:last] = np.sort(np.argpartition(margin, closest, axis=1)[:, :closest], axis=1)
    chosen = chosen[shown]
    blob.integers("chosen", chosen.ravel())
    blob.reals("outputs", np.take_along_axis(trace.outputs[shown], chosen, axis=1), single=True)


def _store_cells(asked: CellEngine, trace: Trace, blob: Blob, shown: IntArray, closest: int | None) -> None:
    """The same of a network of cells: G, T and the margin, with a minus where a bit was not set."""
    parts, chosen = [], []
    for at in range(0, len(shown), 64):
        states = np.unpackbits(trace.packed[shown[at : at + 64]], axis=1, count=trace.program.bits).astype(bool)
        said = asked.said(states)
        if closest is not None:
            nearest = np.argpartition(np.abs(said.signed), closest, axis=1)[:, :closest]
            chosen.append(np.sort(nearest, axis=1))
            parts.append([np.take_along_axis(values, chosen[-1], axis=1) for values in said])
        else:
            parts.append(list(said))
    if closest is not None:
        blob.integers("chosen", np.concatenate([*chosen, np.zeros((0, closest), dtype=np.int64)]).ravel())
    for name, values in zip(("signed", "outputs", "thresholds"), zip(*parts, strict=True), strict=False):
        blob.reals(name, np.concatenate(values), single=True)


def _chunks(trace: Trace) -> Iterator[tuple[int, BoolArray]]:
    """All states, in batches small enough that a few tables of them fit into memory."""
    size = max(8, min(1 << 16, (1 << 22) // max(trace.program.bits, trace.program.templates)))
    for first in range(0, len(trace), size):
        yield first, np.unpackbits(trace.packed[first : first + size], axis=1, count=trace.program.bits).astype(bool)
