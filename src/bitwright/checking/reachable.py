"""The largest n that runs really reach, found by running every input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.encoding.counting import count_rows, largest
from bitwright.encoding.packed import pack
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.errors import InputError
from bitwright.program import FIXED_POINT, Algorithm
from bitwright.running.endings import step_limit
from bitwright.running.observers import Progress
from bitwright.theory.ranges import Range

MAX_INPUT_BITS = 24
_BATCH = 1 << 16  # inputs between two looks at the progress


def all_states(algorithm: Algorithm, chunk: int) -> Iterator[BoolArray]:
    """The start states of every input, in chunks: the first input's lowest bit changes fastest."""
    places = [bit for word in algorithm.inputs for bit in word.bits]
    _input_bits(algorithm)
    for first in range(0, 2 ** len(places), chunk):
        numbers = np.arange(first, min(first + chunk, 2 ** len(places)))
        states = np.zeros((len(numbers), algorithm.program.bits), dtype=bool)
        states[:, list(algorithm.start)] = True
        states[:, places] = numbers[:, None] >> np.arange(len(places)) & 1
        yield states


def reachable_range(algorithm: Algorithm, progress: Progress | None = None) -> Range:
    """Runs every input by its templates and notes the most matches of any state that a run steps from."""
    bits = _input_bits(algorithm)
    inputs, done, most = 2**bits, 0, 0
    for found, count in _in_words(algorithm, bits) if sliced.AVAILABLE else _in_chunks(algorithm):
        most = max(most, found)
        done += count
        if progress:
            progress(done, inputs)
    runs = "the only run there is" if inputs == 1 else f"the runs of all {inputs:,} inputs"
    scope = f"the largest n met in {runs}, by the templates; other states are not covered"
    return Range(max(1, most), "reachable", scope, runs)


def _input_bits(algorithm: Algorithm) -> int:
    bits = sum(len(word.bits) for word in algorithm.inputs)
    if bits > MAX_INPUT_BITS:
        raise InputError(f"{algorithm.name} has {bits} input bits; every input can be run up to {MAX_INPUT_BITS}")
    return bits


def _in_words(algorithm: Algorithm, bits: int) -> Iterator[tuple[int, int]]:
    """The most matches of each batch of inputs and how many these are, by the bit-sliced engine."""
    from bitwright.running.sliced.engine import SlicedEngine
    from bitwright.running.sliced.lanes import counting

    limit = step_limit(algorithm, None)
    engine = SlicedEngine(algorithm, limit)
    for first in range(0, 2**bits, _BATCH):
        count = min(_BATCH, 2**bits - first)
        done = engine.run(counting(first, -(-count // 64), bits), count)
        if done.unfinished.any():
            raise _endless(algorithm, limit)
        yield max(done.matches, default=0), count


def _in_chunks(algorithm: Algorithm) -> Iterator[tuple[int, int]]:
    """The same by the templates engine."""
    engine = RuleEngine(algorithm.program)
    for states in all_states(algorithm, 4 * engine.chunk):
        yield _most_matches(algorithm, engine, states), len(states)


def _endless(algorithm: Algorithm, limit: int) -> InputError:
    return InputError(f"{algorithm.name} does not halt within {limit:,} steps for every input; use --n blocks")


def _most_matches(algorithm: Algorithm, engine: RuleEngine, states: BoolArray) -> int:
    """The most matches on the way of any of these states to its end."""
    batch, most = PackedBatch(engine, states), 0
    running = np.ones(len(states), dtype=bool)
    limit = step_limit(algorithm, None)
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
        raise _endless(algorithm, limit)
    return most
