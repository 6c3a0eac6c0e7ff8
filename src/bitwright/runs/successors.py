"""Random states, and executions of programs: the steps of runs, or random states with their successors."""

from __future__ import annotations

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.files.executions import Executions, check_size
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Algorithm, Program
from bitwright.rules.text import RuleText
from bitwright.rules.trace import Trace
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Observer, View
from bitwright.runs.run import run_batch

MAX_STATES = 1_000_000
_MAX_STEPS = 4_096  # considered in a run; some never end


def random_starts(algorithm: Algorithm, count: int, seed: int, ones: int | None = None) -> BoolArray:  # (count, k)
    """Returns start states with random inputs; `ones` fixes how many input bits are on."""
    if not 1 <= count <= MAX_STATES:
        raise InputError(f"the number of states must be between 1 and {MAX_STATES:,}, got {count:,}")
    places = algorithm.input_bits
    rng = np.random.default_rng(seed)
    chosen = rng.random((count, len(places)))
    if ones is None:
        values = chosen < 0.5
    elif 0 <= ones <= len(places):
        values = np.argsort(np.argsort(chosen, axis=1), axis=1) < ones
    else:
        raise InputError(f"the inputs of {algorithm.name} have only {len(places)} bits, so {ones} cannot be on")
    return algorithm.states(values)


def random_states(algorithm: Algorithm, count: int, seed: int) -> BoolArray:  # (count, k)
    """Returns, for each random input, the state at a random step of its run before the end."""
    starts = random_starts(algorithm, count, seed)
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


def executions_of_trace(trace: Trace) -> Executions:
    """Returns every step of a run.

    >>> from bitwright import addition, run
    >>> len(executions_of_trace(run(addition(2), p=3, q=1, record=True).trace))
    4
    """
    states = trace.states()
    if len(states) < 2:
        raise InputError("this run has no steps, so it has no executions; choose other inputs")
    program_id = None if trace.source is None else trace.source.id
    return Executions(states[:-1], states[1:], tuple(trace.layout.names), program_id)


def random_executions(program: Program, count: int, seed: int = 0) -> Executions:
    """Returns `count` uniformly random states, reachable or not, with their successors.

    >>> from bitwright import addition
    >>> len(random_executions(addition(2).program, 100))
    100
    """
    check_size(count, program.bits)
    before = np.random.default_rng(seed).random((count, program.bits)) < 0.5
    return Executions(before, successors(program, before), tuple(program.layout.names), program.id)


def executions_of_inputs(algorithm: Algorithm, runs: int, seed: int = 0, max_steps: int | None = None) -> Executions:
    """Returns every step of `runs` runs on random inputs; a final unchanging step is included once.

    >>> from bitwright import addition
    >>> len(executions_of_inputs(addition(2), 5))
    10
    """
    seen = _States(runs)
    starts, limit = random_starts(algorithm, runs, seed), step_limit(algorithm, max_steps)
    drive(RuleEngine(algorithm.program), starts, ending_of(algorithm), limit, [seen])
    found = [state for states in seen.states for state in states]
    if not found:
        raise InputError(f"runs of {algorithm.name} have no steps, so there is nothing to learn")
    before, program = np.array(found), algorithm.program
    return Executions(before, successors(program, before), tuple(program.layout.names), program.id)


def lets_of(algorithm: Algorithm) -> dict[str, int]:
    """Returns the size parameters of an algorithm by the names of its `let` lines.

    >>> from bitwright import addition
    >>> lets_of(addition(5))
    {'l': 5}
    """
    sizing = algorithm.sizing
    if sizing is None:
        return {}
    if sizing.text is not None and list(sizing.numbers) == ["bits"]:  # a shipped algorithm, whose text uses other names
        return dict.fromkeys(RuleText.of(sizing.text).numbers, sizing.numbers["bits"])
    return {name: number for name, number in sizing.numbers.items() if 0 <= number < 10**9}


def successors(program: Program, states: BoolArray) -> BoolArray:  # (N, k) -> (N, k)
    """Returns the successor of each state by the rules."""
    engine = RuleEngine(program)
    after = np.empty_like(states)
    for at in range(0, len(states), engine.chunk):
        batch = engine.begin(states[at : at + engine.chunk])
        batch.step()
        after[at : at + engine.chunk] = batch.states()
    return after


class _States(Observer):
    """Records every state before a step, run by run."""

    every_step = True

    def __init__(self, runs: int) -> None:
        self.states: list[list[BoolArray]] = [[] for _ in range(runs)]

    def before(self, view: View) -> None:
        for row, state in zip(view.rows[view.running], view.batch.states()[view.running], strict=True):
            self.states[int(row)].append(state)
