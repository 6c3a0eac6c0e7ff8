"""The largest n that runs really reach, found by running every input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.execution.counting import count_rows, largest
from bitwright.execution.run import DEFAULT_LIMIT, Progress
from bitwright.execution.templates import TemplatesBatch, TemplatesEngine, pack
from bitwright.program import FIXED_POINT, Algorithm
from bitwright.theory.ranges import Range

MAX_INPUT_BITS = 22


def all_states(algorithm: Algorithm, chunk: int) -> Iterator[BoolArray]:
    """The start states of every input, in chunks: the first input's lowest bit changes fastest."""
    places = [bit for word in algorithm.inputs for bit in word.bits]
    if len(places) > MAX_INPUT_BITS:
        raise InputError(
            f"{algorithm.name} has {len(places)} input bits; every input can be run up to {MAX_INPUT_BITS}"
        )
    for first in range(0, 2 ** len(places), chunk):
        numbers = np.arange(first, min(first + chunk, 2 ** len(places)))
        states = np.zeros((len(numbers), algorithm.program.bits), dtype=bool)
        states[:, list(algorithm.start)] = True
        states[:, places] = numbers[:, None] >> np.arange(len(places)) & 1
        yield states


def reachable_range(algorithm: Algorithm, progress: Progress | None = None) -> Range:
    """Runs every input by its templates and notes the most matches of any state that a run steps from."""
    engine = TemplatesEngine(algorithm.program)
    inputs, done, most = 2 ** sum(len(word.bits) for word in algorithm.inputs), 0, 0
    for states in all_states(algorithm, 4 * engine.chunk):
        most = max(most, _most_matches(algorithm, engine, states))
        done += len(states)
        if progress:
            progress(done, inputs)
    return Range(max(1, most), "reachable", f"the largest n met in running all {inputs:,} inputs by the templates")


def _most_matches(algorithm: Algorithm, engine: TemplatesEngine, states: BoolArray) -> int:
    """The most matches on the way of any of these states to its end."""
    batch, most = TemplatesBatch(engine, states), 0
    running = np.ones(len(states), dtype=bool)
    limit = DEFAULT_LIMIT if algorithm.steps is None else algorithm.steps
    for step in range(limit + (algorithm.halt == FIXED_POINT)):
        if isinstance(algorithm.halt, int):
            running &= ~batch.bit(algorithm.halt)
        if not running.any():
            return most
        here = pack(running[:, np.newaxis])[0]  # states that are done, and lanes that hold none, do not count
        most = max(most, largest([plane & here for plane in count_rows(batch.match())]))
        batch.step()
        if algorithm.halt == FIXED_POINT:
            running &= ~batch.unchanged()
        elif algorithm.halt is None and step % 8 == 0 and batch.unchanged().all():
            return most
    if isinstance(algorithm.halt, int):
        running &= ~batch.bit(algorithm.halt)
    if algorithm.halt is not None and running.any():
        raise InputError(f"{algorithm.name} does not halt within {limit:,} steps for every input; use --n blocks")
    return most
