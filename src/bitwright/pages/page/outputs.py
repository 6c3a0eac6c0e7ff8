"""The engine's outputs in every step, how far each step was from a wrong bit, and which were wrong.

For the limit the outputs follow from n, c and m alone, so the page has the two weights for every n that occurs and
computes them itself. Outputs of a network are recorded, or for cells computed again, unless they are too many.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.pages.page.assemble import Blob
from bitwright.program.layout import IntArray
from bitwright.program.trace import Trace
from bitwright.running.run import Run
from bitwright.theory.closed_form import FloatArray, variance
from bitwright.theory.rounding import Rounding, check_rounding, round_outputs, scale_weights

MAX_VALUES = 2_000_000  # recorded outputs that a page holds


def outputs_data(run: Run, trace: Trace, blob: Blob, most: int = MAX_VALUES) -> dict[str, object]:
    """Adds n, margins and, if there are at most `most`, outputs to the blob; returns facts about them for the page."""
    rounding = check_rounding(run.rounding or "calibrated")
    # A network of cells has examples and an n of each cell's own.
    examples = trace.program.templates if run.cells is not None else run.examples or trace.program.templates
    closed = run.closed_form
    n, wrong, least, bit = _along(run, trace, rounding, examples)
    blob.integers("n", n)
    blob.integers("wrong", wrong)
    blob.reals("margin", least)
    stored = "closed form" if closed else "nothing"
    if not closed and trace.steps * trace.program.bits <= most and (run.asked is not None or trace.outputs is not None):
        stored = "all"
        if run.asked is not None:  # of a network of cells G, T and the margin, with a minus where a bit was not set
            parts = [run.asked.said(states) for _, states in _chunks(trace, 64)]
            for name, values in zip(("signed", "outputs", "thresholds"), zip(*parts, strict=True), strict=False):
                blob.reals(name, np.concatenate(values)[: trace.steps], single=True)
        elif trace.outputs is not None:
            blob.reals("outputs", trace.outputs, single=True)
    kinds, at = np.unique(n, return_inverse=True)
    w, deviation = scale_weights(kinds, examples, run.kind), np.zeros(len(kinds))
    if run.kind == "ntk" or run.kind == "last-layer":  # after training on states it does not depend on n alone
        deviation = np.sqrt(variance(kinds, examples, run.kind))
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
        "wrong_steps": int(np.count_nonzero(wrong)),
        "least": _least(least, bit, spread[at[: len(least)]] if random else None),
    }


def _least(margin: FloatArray, bit: IntArray, spread: FloatArray | None) -> dict[str, object] | None:
    """The step that was closest to going wrong: by margin, or in standard deviations if these are known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        measure = margin if spread is None else np.where((spread > 0) & np.isfinite(margin), margin / spread, np.inf)
    if not np.isfinite(measure).any():
        return None
    step = int(np.argmin(measure))
    return {
        "step": step,
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
    """How far each bit was from being rounded the other way."""
    program = trace.program
    if run.closed_form:
        if rounding == "calibrated":  # zhat is an integer, never closer than this to 1/2
            return np.where(n > 0, 0.5, np.inf)[:, None]
        writer = np.repeat(np.arange(program.templates), np.diff(program.write_start))
        counts = np.zeros((len(n), program.bits))
        for row, templates in enumerate(matched):
            counts[row] = np.bincount(program.write_bits[templates[writer]], minlength=program.bits)
        w = scale_weights(n, examples, run.kind)
        outputs = w.unmatched[:, None] * program.writers + w.gap[:, None] * counts
    elif trace.outputs is not None:
        outputs = trace.outputs[first : first + len(n)].astype(np.float64)
    else:
        return None
    return round_outputs(outputs, n, program.writers, examples, rounding, run.kind, each=True)[1]


def _chunks(trace: Trace, size: int = 1 << 16) -> Iterator[tuple[int, BoolArray]]:
    """All states, in batches small enough that a few tables of them fit into memory."""
    size = max(8, min(size, (1 << 22) // max(trace.program.bits, trace.program.templates)))
    for first in range(0, len(trace), size):
        yield first, np.unpackbits(trace.packed[first : first + size], axis=1, count=trace.program.bits).astype(bool)
