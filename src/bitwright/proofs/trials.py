"""Trial runs before a proof, since an input with a false `ensure` line refutes it immediately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

import numpy as np

from bitwright.common.bits import BoolArray, to_bit_rows
from bitwright.rules import Algorithm, Word
from bitwright.rules.ensures import Runs
from bitwright.runs.run import run_batch

LATE = "the run does not end in time"
NONE_ALLOWED = "no input was found that satisfies the where lines; check them"
Inputs = dict[str, int]
_AT_ONCE = 1 << 12


def wrong_input(
    algorithm: Algorithm, inputs: Sequence[Mapping[str, int]], limit: int | None = None
) -> tuple[Inputs, str] | None:
    """Returns the first input with a false `ensure` line, otherwise the first with a late run, and the reason.

    Inputs that violate a `where` line are ignored.
    """
    if not inputs:
        return None
    rows = (
        to_bit_rows([values[word.name] for values in inputs], len(word.bits), f"input {word.name}", word.signed)
        for word in algorithm.inputs
    )
    bits = np.hstack([np.empty((len(inputs), 0), dtype=bool), *rows])
    return _wrong_run(algorithm, algorithm.states(bits), limit)


def wrong_input_of_all(algorithm: Algorithm, limit: int | None = None) -> tuple[Inputs, str] | None:
    """Returns the same as `wrong_input`, searching all inputs."""
    bits, late = len(algorithm.input_bits), None
    for first in range(0, 1 << bits, _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, 1 << bits))
        wrong = _wrong_run(algorithm, algorithm.states((numbers[:, np.newaxis] >> np.arange(bits) & 1) > 0), limit)
        if wrong is not None and wrong[1] != LATE:
            return wrong
        late = late or wrong
    return late


def _wrong_run(algorithm: Algorithm, states: BoolArray, limit: int | None) -> tuple[Inputs, str] | None:
    """Returns the inputs of the first start state with a wrong run, otherwise with a late run."""
    done = run_batch(algorithm, states, limit=limit, workers=1)
    runs = Runs(len(states), done.inputs, done.outputs)
    wrong: dict[int, str] = {}
    allowed = runs.all_hold(algorithm.conditions)
    for line in algorithm.ensures:
        for place in np.flatnonzero(allowed & done.halted & runs.broken(line))[:1].tolist():
            wrong.setdefault(place, f"{line} is false")
    late = allowed & ~done.halted
    if not wrong and late.any():
        wrong[int(late.argmax())] = LATE
    place = min(wrong, default=None)
    return None if place is None else ({name: int(values[place]) for name, values in done.inputs.items()}, wrong[place])


def all_inputs(algorithm: Algorithm) -> Iterator[Inputs]:
    """Yields every combination of input values."""
    names = [word.name for word in algorithm.inputs]
    for values in product(*(range(low, high + 1) for low, high in map(bounds_of, algorithm.inputs))):
        yield dict(zip(names, values, strict=True))


def random_inputs(algorithm: Algorithm, count: int, random: Random) -> list[Inputs]:
    """Returns random values, every fifth near an end of its range; fewer if the `where` lines allow only few."""
    inputs: list[Inputs] = []
    for _ in range(16 if algorithm.conditions else 1):
        drawn = [{word.name: _draw(*bounds_of(word), random) for word in algorithm.inputs} for _ in range(count)]
        inputs += [values for values in drawn if algorithm.allows(values)]
    return inputs[:count]


def bounds_of(word: Word) -> tuple[int, int]:
    """Returns the smallest and largest value of a number."""
    top = 1 << len(word.bits)
    return (-(top // 2), top // 2 - 1) if word.signed else (0, top - 1)


def _draw(low: int, high: int, random: Random) -> int:
    if random.random() < 0.2:
        return random.choice([low, high, (low + high + 1) // 2, min(low + 1, high)])
    return low + random.getrandbits((high - low).bit_length())
