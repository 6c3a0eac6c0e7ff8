"""Runs that are tried before anything is proved: an input for which an `ensure` line is not true refutes it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

import numpy as np

from bitwright.program import Algorithm, Word
from bitwright.running.run import run_batch

LATE = "the run is not over in time"
Inputs = dict[str, int]


def wrong_input(
    algorithm: Algorithm, inputs: Sequence[Mapping[str, int]], limit: int | None = None
) -> tuple[Inputs, str] | None:
    """The first of these inputs for which an `ensure` line is not true, else the first whose run is late; and why."""
    states = np.array([algorithm.state(values) for values in inputs])
    done = run_batch(algorithm, states, limit=limit, workers=1)
    entered, outputs = (
        {name: column.astype(object) for name, column in columns.items()} for columns in (done.inputs, done.outputs)
    )
    wrong: dict[int, str] = {}
    for line in algorithm.ensures:
        true = np.ones(len(inputs), dtype=bool)
        for row in line.rows():
            true &= np.asarray(line.value(line.truth, entered, outputs, row), dtype=bool)
        for place in np.flatnonzero(done.halted & ~true)[:1].tolist():
            wrong.setdefault(place, f"{line} is not true")
    if not wrong and not done.halted.all():
        wrong[int(done.halted.argmin())] = LATE
    return next(((dict(inputs[place]), wrong[place]) for place in sorted(wrong)), None)


def all_inputs(algorithm: Algorithm) -> Iterator[Inputs]:
    """Every value of every input."""
    names = [word.name for word in algorithm.inputs]
    for values in product(*(range(low, high + 1) for low, high in map(bounds_of, algorithm.inputs))):
        yield dict(zip(names, values, strict=True))


def random_inputs(algorithm: Algorithm, count: int, random: Random) -> list[Inputs]:
    """Random values, every fifth at or near an end of its range."""
    return [{word.name: _some(*bounds_of(word), random) for word in algorithm.inputs} for _ in range(count)]


def bounds_of(word: Word) -> tuple[int, int]:
    """The least and the greatest value of a number."""
    top = 1 << len(word.bits)
    return (-(top // 2), top // 2 - 1) if word.signed else (0, top - 1)


def _some(low: int, high: int, random: Random) -> int:
    if random.random() < 0.2:
        return random.choice([low, high, (low + high + 1) // 2, min(low + 1, high)])
    return low + random.getrandbits((high - low).bit_length())
