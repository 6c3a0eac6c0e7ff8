"""Writes a recorded run as one HTML page that works offline in any current browser.

In the infinite-width limit the outputs depend only on n, c and m, so the page contains two weights for each n and
computes the outputs itself. Outputs of a network are recorded, or recomputed for cells, up to a limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitwright.common.bits import BoolArray, any_digits
from bitwright.common.errors import InputError, printable
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.pages.library import single_page
from bitwright.rules import Algorithm
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run
from bitwright.theory.closed_form import FloatArray, variance
from bitwright.theory.rounding import Rounding, check_rounding, round_outputs, scale_weights

MAX_BITS, MAX_STEPS, MAX_TEMPLATES, MAX_BYTES = 500_000, 1_000_000, 2_000_000, 1 << 28


def trace_page(run: Run, *, title: str = "") -> str:
    """Returns the page of a recorded run as HTML; it works offline, without other files.

    `run` must come from `run(..., record=True)`, with any engine and any outcome. For an SBN program the page marks the
    phases of every instruction and shows memory as numbers. Raises InputError if the run was not recorded or is too
    large for a page.

    >>> from bitwright import addition, run
    >>> page = trace_page(run(addition(4), p=11, q=6, record=True))
    >>> page.startswith("<!DOCTYPE html>"), "https://" in page
    (True, False)
    """
    trace, computer = _checked(run), run.algorithm.computer
    blob = Blob()
    blob.deltas("states", trace.packed)
    program = trace.program
    for part, names in {"block": "start bits", "template": "block config rule", "write": "start bits"}.items():
        for name in names.split():
            blob.integers(f"{part}_{name}", getattr(program, f"{part}_{name}"))
    if program.grouped is not None:
        blob.integers("cell_start", program.cells.start)
        blob.integers("cell_blocks", program.cells.blocks)
        blob.integers("cell_kind", program.kinds.of)
    facts = {
        "title": printable(title or run_title(run)),
        "description": printable(run.algorithm.description),
        "engine": run.engine,
        "rounding": run.rounding,
        "halted": run.halted,
        "bits": program.bits,
        "steps": trace.steps,
        "program": program.id,
        "fields": [[field.name, list(field.shape)] for field in program.layout.fields],
        "words": _words(run.algorithm),
        "rules": [text if text.startswith("when ") else "" for text in program.rules],
        "real": outputs_data(run, trace, blob),
        "computer": computer_data(trace, computer, blob) if computer else None,
        "arrays": blob.directory,
    }
    return assemble("trace", facts, blob.packed())


def run_title(run: Run) -> str:
    """Returns the inputs and outputs in one line: `addition: p = 719, q = 483 gives sum = 1202`."""
    with any_digits():
        given = ", ".join(f"{name} = {value}" for name, value in run.inputs.items())
        result = ", ".join(f"{name} = {value}" for name, value in run.outputs.items())
    title = f"{run.algorithm.name}: {given} gives {result}" if given else f"{run.algorithm.name}: {result}"
    return title if result and len(title) < 120 else run.algorithm.name


def _checked(run: Run) -> Trace:
    trace = run.trace
    if trace is None:
        raise InputError("this run was not recorded; run it with record=True to see its trace")
    sizes = {
        "bits": (trace.program.bits, MAX_BITS),
        "templates": (trace.program.templates, MAX_TEMPLATES),
        "steps": (trace.steps, MAX_STEPS),
        "bytes of states": (trace.packed.nbytes, MAX_BYTES),
    }
    for what, (size, most) in sizes.items():
        if size > most:
            raise InputError(f"a page shows at most {most:,} {what}, this run has {size:,}")
    return trace


def _words(algorithm: Algorithm) -> list[tuple[str, tuple[int, ...], bool]]:
    """Returns the name, bits and sign of inputs and outputs; an input and output with the same name are labelled."""
    outputs = {word.name: word for word in algorithm.outputs}
    found = []
    for word in algorithm.inputs:
        other = outputs.get(word.name)
        if other is not None and other != word:
            outputs[word.name] = replace(other, name=f"{word.name} (output)")
            word = replace(word, name=f"{word.name} (input)")
        elif other is not None:
            del outputs[word.name]
        found.append(word)
    return [(word.name, word.bits, word.signed) for word in (*found, *outputs.values())]


def computer_data(trace: Trace, computer: Any, blob: Blob) -> dict[str, object]:
    """Adds the times of instructions and phases to the blob; returns the instructions and words with their names."""
    machine, code = computer.machine, computer.code
    steps, addresses = computer.instructions(trace)
    phases = computer.phases(trace)
    blob.integers("instruction_step", steps)
    blob.integers("instruction_address", addresses)
    blob.integers("phase_step", [step for step, _ in phases])
    blob.integers("phase_kind", [number for _, number in phases])
    return {
        "phases": list(machine.phases),
        "instructions": [
            {
                "label": computer.label(at),
                "a": computer.word(sbn.a),
                "b": computer.word(sbn.b),
                "c": computer.label(sbn.c) or str(sbn.c),
                "words": [sbn.a, sbn.b],
            }
            for at, sbn in enumerate(code.instructions)
        ],
        "words": [[computer.word(place), bits, True] for place, bits in enumerate(machine.memory_bits.tolist())],
    }


MAX_VALUES = 2_000_000  # recorded outputs in a page


def outputs_data(run: Run, trace: Trace, blob: Blob, most: int = MAX_VALUES) -> dict[str, object]:
    """Adds n, margins and, if there are at most `most`, outputs to the blob; returns facts about them for the page."""
    rounding = check_rounding(run.rounding or "calibrated")
    # In a network of cells, each cell has its own examples and its own n.
    examples = trace.program.templates if run.cells is not None else run.examples or trace.program.templates
    closed = run.closed_form
    n, wrong, least, bit = _along(run, trace, rounding, examples)
    blob.integers("n", n)
    blob.integers("wrong", wrong)
    blob.reals("margin", least)
    stored = "closed form" if closed else "nothing"
    if not closed and trace.steps * trace.program.bits <= most and (run.asked is not None or trace.outputs is not None):
        stored = "all"
        if run.asked is not None:  # G, T and the margin, which is negative where a bit was not set
            parts = [run.asked.said(states) for _, states in _chunks(trace, 64)]
            for name, values in zip(("signed", "outputs", "thresholds"), zip(*parts, strict=True), strict=False):
                blob.reals(name, np.concatenate(values)[: trace.steps], single=True)
        elif trace.outputs is not None:
            blob.reals("outputs", trace.outputs, single=True)
    kinds, at = np.unique(n, return_inverse=True)
    w, deviation = scale_weights(kinds, examples, run.kind), np.zeros(len(kinds))
    if run.kind == "ntk" or run.kind == "last-layer":  # after training on states it depends on more than n
        deviation = np.sqrt(variance(kinds, examples, run.kind))
    random = run.networks is None  # show the deviation of one random network; given networks have none
    with np.errstate(divide="ignore", invalid="ignore"):  # without a match there is neither gap nor deviation
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
    """Returns the step with the smallest margin, measured in standard deviations if they are known."""
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
    """Returns for each step n, the number of incorrect bits, the smallest margin, and the bit with that margin."""
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
) -> FloatArray | None:  # (batch, k), or (batch, 1) if all bits are the same
    """Returns the distance of each bit from its rounding threshold; None if it is unknown."""
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
    """Yields all states, in batches small enough that a few tables fit into memory."""
    size = max(8, min(size, (1 << 22) // max(trace.program.bits, trace.program.templates)))
    for first in range(0, len(trace), size):
        yield first, np.unpackbits(trace.packed[first : first + size], axis=1, count=trace.program.bits).astype(bool)


_PICTURES = {
    "trace": ("program", "rows", "view", "panel", "controls"),
    "graph": ("graph-state", "graph-view", "graph-panel", "graph-controls"),
}


@dataclass(frozen=True)
class LiveParts:
    """The parts of a live page: scripts before and among its own, and HTML around its picture."""

    engine: str = ""
    scripts: str = ""
    above: str = ""
    beside: str = ""


_RECORDED = LiveParts()


def assemble(picture: str, facts: Mapping[str, object], data: bytes = b"", live: LiveParts = _RECORDED) -> str:
    """Returns the page of a recorded or live run; the picture is a `trace` or a `graph`."""
    body = _asset(f"{picture}.html")
    for place, text in (("steps", _asset("steps.html")), ("above", live.above), ("beside", live.beside)):
        body = body.replace(f"{{{{{place}}}}}", text)
    *own, controls = (_asset(f"{name}.js") for name in _PICTURES[picture])
    script = "\n".join([_asset("data.js"), _asset("player.js"), live.engine, *own, live.scripts, controls])
    return single_page(body, _asset("trace.css"), script, facts, data)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


class Blob:
    """Collects arrays and compresses them together; `directory` gives the position and coding of each."""

    def __init__(self) -> None:
        self.directory: list[tuple[str, str, int]] = []  # name, coding, bytes
        self._parts: list[bytes] = []

    def deltas(self, name: str, rows: NDArray[np.uint8]) -> None:
        """Adds states, each row as its changes from the row before."""
        changed = rows.copy()
        changed[1:] ^= rows[:-1]
        self._add(name, f"xor{rows.shape[1]}", changed)

    def integers(self, name: str, values: ArrayLike) -> None:
        """Adds integers below 2^31, as differences."""
        numbers = np.asarray(values, dtype=np.int64)
        self._add(name, "sum", np.diff(numbers, prepend=0).astype("<i4"))

    def reals(self, name: str, values: ArrayLike, single: bool = False) -> None:
        """Adds real numbers, in double or single precision."""
        self._add(name, "f4" if single else "f8", np.asarray(values, dtype="<f4" if single else "<f8"))

    def packed(self) -> bytes:
        """Returns all arrays, compressed with zlib, which browsers support. Arrays start at multiples of 8 bytes."""
        return zlib.compress(b"".join(self._parts), 9 if sum(map(len, self._parts)) < 1 << 24 else 6)

    def _add(self, name: str, coding: str, values: NDArray[np.generic]) -> None:
        data = values.tobytes()
        self.directory.append((name, coding, len(data)))
        self._parts.append(data + bytes(-len(data) % 8))
