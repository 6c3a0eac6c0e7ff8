"""The largest n that runs really reach, found by running every input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.execution.counting import count_rows, largest
from bitwright.execution.run import DEFAULT_LIMIT
from bitwright.execution.templates import TemplatesBatch, TemplatesEngine
from bitwright.program import Algorithm
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


def reachable_range(algorithm: Algorithm) -> Range:
    """Runs every input by its templates and notes the most matches of any state on the way."""
    engine = TemplatesEngine(algorithm.program)
    most = max(_most_matches(algorithm, engine, states) for states in all_states(algorithm, 4 * engine.chunk))
    inputs = 2 ** sum(len(word.bits) for word in algorithm.inputs)
    return Range(max(1, most), "reachable", f"the largest n met in running all {inputs:,} inputs by the templates")


def _most_matches(algorithm: Algorithm, engine: TemplatesEngine, states: BoolArray) -> int:
    """The most matches on the way of any of these states; those that are done earlier than others simply go on."""
    batch = TemplatesBatch(engine, states)
    most = 0
    for step in range((algorithm.steps or DEFAULT_LIMIT) + 1):
        most = max(most, largest(count_rows(batch.match())))
        batch.step()
        halted = isinstance(algorithm.halt, int) and bool(batch.bit(algorithm.halt).all())
        if halted or (step % 8 == 0 and batch.unchanged().all()):
            break
    return most
