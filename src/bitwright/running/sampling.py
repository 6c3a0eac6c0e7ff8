"""Random states: those in which runs start, and those that runs meet."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.rules import RuleEngine
from bitwright.errors import InputError
from bitwright.program import Algorithm
from bitwright.running.run import run_batch

MAX_STATES = 1_000_000
_MAX_STEPS = 4_096  # of a run are looked at; some never end


def random_starts(algorithm: Algorithm, count: int, seed: int, ones: int | None = None) -> BoolArray:  # (count, k)
    """Start states with random inputs; with `ones`, with exactly that many input bits on."""
    if not 1 <= count <= MAX_STATES:
        raise InputError(f"the number of states must lie between 1 and {MAX_STATES:,}, got {count:,}")
    places = algorithm.input_bits
    rng = np.random.default_rng(seed)
    chosen = rng.random((count, len(places)))
    if ones is None:
        values = chosen < 0.5
    elif 0 <= ones <= len(places):
        values = np.argsort(np.argsort(chosen, axis=1), axis=1) < ones
    else:
        raise InputError(f"the inputs of {algorithm.name} have {len(places)} bits, so {ones} of them cannot be on")
    return algorithm.states(values)


def random_states(algorithm: Algorithm, count: int, seed: int, ones: int | None = None) -> BoolArray:  # (count, k)
    """For each random input, the state at a random step of its run, before the end."""
    starts = random_starts(algorithm, count, seed, ones)
    engine = RuleEngine(algorithm.program)
    length = run_batch(algorithm, starts, engine=engine, limit=_MAX_STEPS).steps
    step = np.floor(np.random.default_rng([seed, 1]).random(count) * length).astype(np.int64)
    found = starts.copy()
    order = np.argsort(step, kind="stable")
    batch = engine.begin(starts)
    now = 0
    for wanted in np.unique(step[order]):
        while now < wanted:
            now += batch.leap(int(wanted) - now, ())
        rows = step == wanted
        found[rows] = batch.states()[rows]
    return found
