"""Runs of algorithms: one, with its inputs by name, or many start states at once."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.bits import BoolArray, any_digits
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import RuleEngine
from bitwright.errors import InputError, counted
from bitwright.lazy import Shown
from bitwright.program import Algorithm, GraphAlgorithm
from bitwright.program.layout import IntArray
from bitwright.program.trace import Trace
from bitwright.running.endings import ending_of, step_limit
from bitwright.running.loop import drive
from bitwright.running.observers import Margins, Observer, Progress, ProgressObserver, Watch
from bitwright.running.recorder import TraceObserver
from bitwright.running.sentences import cells_sentence
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding
from bitwright.theory.scales import Scale

_SHOWN = 12  # outputs that are printed


@dataclass(frozen=True)
class Run(Shown):
    """What came of one run.

    >>> from bitwright import addition, run
    >>> done = run(addition(10), p=719, q=483, engine="limit")
    >>> done.outputs, done.steps, done.halted, done.margin
    ({'sum': 1202}, 20, True, 0.5)
    >>> print(done)
    sum = 1202
    40 templates, 20 steps, engine limit, calibrated rounding, smallest margin 0.5
    """

    algorithm: Algorithm
    engine: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    steps: int
    halted: bool  # False: the limit came first, and the outputs are those of an unfinished run
    margin: float | None
    state: BoolArray  # (k,)
    trace: Trace | None = None
    rounding: Rounding | None = None
    limit: int = 0  # the most steps it was allowed
    examples: int | None = None  # K with padding, for engines that were trained
    kind: Scale = "ntk"  # what calibrated rounding measured outputs in
    seed: int | None = None  # of the networks that were drawn or trained for it, if any were
    fallible: bool = False  # whether its steps may differ from those of the rules by chance
    networks: int | None = None  # how many were averaged, if any were
    closed_form: bool = True  # whether its outputs follow from n, writers and matches alone
    cells: Mapping[str, object] | None = None  # of a network of cells: its kinds, local states, and what they showed

    @property
    def sentence(self) -> str:
        """What made it, in a line."""
        sizes = f"{counted(self.algorithm.program.templates, 'template')}, {counted(self.steps, 'step')}"
        rounded = "" if self.rounding is None else f", {self.rounding} rounding"
        margin = "" if self.margin is None else f", smallest margin {self.margin:.3g}"
        return f"{sizes}, engine {self.engine}{rounded}{margin}"

    def __str__(self) -> str:
        """The outputs, and what stands behind them; of an unfinished run that it is one."""
        with any_digits():
            lines = [f"{name} = {value}" for name, value in list(self.outputs.items())[:_SHOWN]]
        if len(self.outputs) > _SHOWN:
            lines.append(f"and {len(self.outputs) - _SHOWN:,} more outputs")
        if isinstance(self.algorithm, GraphAlgorithm):
            with any_digits():
                for node, own in list(self.nodes.items())[:_SHOWN]:
                    lines.append(f"{node}: " + ", ".join(f"{name} = {value}" for name, value in own.items()))
            if len(self.nodes) > _SHOWN:
                lines.append(f"and {counted(len(self.nodes) - _SHOWN, 'more node')}")
        if not self.halted:
            lines.append(f"NOT DONE: {self.algorithm.name} did not halt within {counted(self.steps, 'step')}")
        lines.append(self.sentence)
        return "\n".join([*lines, *([] if self.cells is None else [cells_sentence(self.cells)])])

    @property
    def value(self) -> int:
        """The output of an algorithm that has just one.

        >>> from bitwright import addition, run
        >>> run(addition(10), p=719, q=483).value
        1202
        """
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))

    @cached_property
    def nodes(self) -> dict[Hashable, dict[str, Any]]:
        """What each node of a graph puts out, by output; None where it has no value.

        What its ports put out is a list: of flags the neighbours that they lead to, else pairs, neighbour and value.

        >>> from bitwright import parse_node_program, run
        >>> from bitwright.program import Topology
        >>> lines = ["bits x", "block x", "when x=1 write x far.x", "input source = x"]
        >>> flood = parse_node_program(chr(10).join(lines))
        >>> run(flood.on(Topology.from_edges(3, [(0, 1)]), {"source": np.array([1, 0, 0])})).nodes
        {0: {'x': 1}, 1: {'x': 1}, 2: {'x': 0}}
        """
        if not isinstance(self.algorithm, GraphAlgorithm):
            raise InputError(f"{self.algorithm.name} does not run on a graph; use outputs")
        return self.algorithm.read_nodes(self.state)


@dataclass(frozen=True)
class BatchRun:
    """What came of many runs, one row each.

    >>> from bitwright import addition, run_batch
    >>> algorithm = addition(2)
    >>> done = run_batch(algorithm, algorithm.states(np.ones((1, 4), dtype=bool)))  # all input bits on: 3 + 3
    >>> algorithm.read(done.states[0]), done.steps, done.halted
    ({'sum': 6}, array([4]), array([ True]))
    """

    states: BoolArray  # (batch, k)
    steps: IntArray  # (batch,)
    halted: BoolArray  # (batch,)
    margin: FloatArray | None  # (batch,)

    def __str__(self) -> str:
        done = int(np.count_nonzero(self.halted))
        ended = "all halted" if done == len(self.halted) else f"{done:,} halted"
        margin = "" if self.margin is None else f", smallest margin {self.margin.min(initial=np.inf):.3g}"
        steps = counted(int(self.steps.max(initial=0)), "step")
        return f"{counted(len(self.states), 'run')}, {ended}, at most {steps}{margin}"


def run_with(
    algorithm: Algorithm,
    inputs: Mapping[str, int],
    engine: Engine | None = None,
    *,
    limit: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Run:
    """Runs an algorithm on input values with an engine; by default with the rules themselves."""
    chosen = _fitting(algorithm, engine)
    most, margins = step_limit(algorithm, limit), Margins()
    recorder = TraceObserver(algorithm.program) if record else None
    observers: list[Observer | None] = [margins, recorder, watch, ProgressObserver(progress) if progress else None]
    start = algorithm.state(inputs)[np.newaxis]
    done = drive(chosen, start, ending_of(algorithm), most, [o for o in observers if o is not None])
    smallest = None if margins.smallest is None else float(margins.smallest[0])
    return Run(
        algorithm=algorithm,
        engine=chosen.name,
        inputs=dict(inputs),
        outputs=algorithm.read(done.states[0]),
        steps=int(done.steps[0]),
        halted=bool(done.halted[0]),
        margin=smallest if smallest is not None and np.isfinite(smallest) else None,
        state=done.states[0],
        trace=recorder.trace(int(done.steps[0])) if recorder else None,
        rounding=chosen.rounding,
        limit=most,
        examples=chosen.examples,
        kind=chosen.kind,
        seed=chosen.seed,
        fallible=chosen.fallible,
        networks=chosen.networks,
        closed_form=chosen.closed_form,
        cells=chosen.cell_facts,
    )


def run_batch(
    algorithm: Algorithm,
    states: BoolArray,
    *,
    engine: Engine | None = None,
    limit: int | None = None,
    workers: int | None = None,
    margins: bool = False,
) -> BatchRun:
    """Runs many start states at once; the result does not depend on the number of workers.

    `margins` asks for the smallest margin of each run, which costs more than the steps of a fast engine.
    """
    chosen = _fitting(algorithm, engine)
    most, ending = step_limit(algorithm, limit), ending_of(algorithm)
    if states.ndim != 2 or states.shape[1] != algorithm.program.bits:
        raise InputError(f"states must have shape (batch, {algorithm.program.bits}), got {states.shape}")
    chunks = [states[at : at + chosen.chunk] for at in range(0, max(1, len(states)), chosen.chunk)]
    watching = [Margins() for _ in chunks]

    def part(at: int) -> tuple[BoolArray, IntArray, BoolArray]:
        done = drive(chosen, chunks[at], ending, most, [watching[at]] if margins else ())
        return done.states, done.steps, done.halted

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        parts = list(pool.map(part, range(len(chunks))))
    found = [observer.smallest for observer in watching]
    if any(smallest is not None for smallest in found):  # a part whose runs make no step has none of its own
        found = [np.full(len(c), np.inf) if f is None else f for f, c in zip(found, chunks, strict=True)]
    return BatchRun(
        states=np.concatenate([states for states, _, _ in parts]),
        steps=np.concatenate([steps for _, steps, _ in parts]),
        halted=np.concatenate([halted for _, _, halted in parts]),
        margin=np.concatenate(found) if found[0] is not None else None,  # type: ignore[arg-type]
    )


def is_exact(done: Run) -> bool | None:
    """Whether a run gave what the rules give; None for engines of which that needs no asking."""
    if not done.fallible:
        return None
    rules = run_with(done.algorithm, done.inputs, limit=done.limit)
    return (rules.outputs, rules.halted, rules.steps) == (done.outputs, done.halted, done.steps)


def _fitting(algorithm: Algorithm, engine: Engine | None) -> Engine:
    if engine is None:
        return RuleEngine(algorithm.program)
    if engine.program is not algorithm.program and engine.program != algorithm.program:
        raise InputError(f"this engine was made for another program than that of {algorithm.name}")
    return engine
