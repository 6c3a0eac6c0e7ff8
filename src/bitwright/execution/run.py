"""The run loop: step until a halt bit, a fixed point, the declared number of steps, or a limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.execution.engine import Engine
from bitwright.execution.engines import Settings, make_engine
from bitwright.execution.real import RealBatch
from bitwright.lazy import Shown
from bitwright.program import FIXED_POINT, Algorithm
from bitwright.program.layout import IntArray
from bitwright.program.trace import Recorder, Trace
from bitwright.theory.closed_form import Kind

DEFAULT_LIMIT = 1_000_000  # steps, for algorithms that declare none
_LONG = 30_000  # steps after which a single run is worth the start of the compiled loops
_LEAP = 50_000  # steps between two looks at a run that can be left alone
Progress = Callable[[int, int], None]  # steps made, steps at most


@dataclass(frozen=True)
class Run(Shown):
    """What came of one run."""

    algorithm: Algorithm
    engine: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    steps: int
    halted: bool  # False: the limit came first, and the outputs are those of an unfinished run
    margin: float | None
    state: BoolArray  # (k,)
    trace: Trace | None = None
    rounding: str | None = None
    limit: int = 0  # the most steps it was allowed
    examples: int | None = None  # K with padding, for engines that were trained
    kind: Kind = "ntk"  # the limit whose weights calibrated rounding used
    seed: int | None = None  # of the networks that were drawn or trained for it, if any were

    @property
    def value(self) -> int:
        """The output of an algorithm that has just one."""
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))


@dataclass(frozen=True)
class Watch:
    """Something to look at on the way: `see` is called with the step and the state whenever `bit` is on."""

    bit: int
    see: Callable[[int, BoolArray], None]


@dataclass(frozen=True)
class BatchRun:
    """What came of many runs, one row each."""

    states: BoolArray  # (batch, k)
    steps: IntArray  # (batch,)
    halted: BoolArray  # (batch,)
    margin: NDArray[np.float64] | None  # (batch,)


def run(
    algorithm: Algorithm,
    inputs: Mapping[str, int] | None = None,
    *,
    engine: str | Engine = "templates",
    settings: Settings | None = None,
    limit: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
    **values: int,
) -> Run:
    """Runs an algorithm on input values, given by name.

    >>> from bitwright.algorithms import addition
    >>> run(addition(10), p=719, q=483).value
    1202
    """
    given = {**(inputs or {}), **values}
    chosen = _engine(algorithm, engine, settings)
    start = algorithm.state(given)
    recorder = Recorder(algorithm.program) if record else None
    done = _run_chunk(
        algorithm, chosen, start[np.newaxis], step_limit(algorithm, limit), True, progress, recorder, watch
    )
    margin = None if done.margin is None or not np.isfinite(done.margin[0]) else float(done.margin[0])
    return Run(
        algorithm=algorithm,
        engine=chosen.name,
        inputs=given,
        outputs=algorithm.read(done.states[0]),
        steps=int(done.steps[0]),
        halted=bool(done.halted[0]),
        margin=margin,
        state=done.states[0],
        trace=recorder.trace(int(done.steps[0])) if recorder else None,
        rounding=chosen.rounding,
        limit=step_limit(algorithm, limit),
        examples=getattr(chosen, "examples", None),
        kind=getattr(chosen, "kind", "ntk"),
        seed=_seed(chosen, settings or Settings()) if isinstance(engine, str) else None,
    )


def run_batch(
    algorithm: Algorithm,
    states: BoolArray,
    *,
    engine: str | Engine = "templates",
    settings: Settings | None = None,
    limit: int | None = None,
    workers: int | None = None,
    margins: bool = False,
) -> BatchRun:
    """Runs many start states at once; the result does not depend on the number of workers.

    `margins` asks for the smallest margin of each run, which costs more than the steps of a fast engine.
    """
    chosen = _engine(algorithm, engine, settings)
    most = step_limit(algorithm, limit)
    if states.ndim != 2 or states.shape[1] != algorithm.program.bits:
        raise InputError(f"states must have shape (batch, {algorithm.program.bits}), got {states.shape}")
    chunks = [states[at : at + chosen.chunk] for at in range(0, max(1, len(states)), chosen.chunk)]
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        parts = list(pool.map(lambda chunk: _run_chunk(algorithm, chosen, chunk, most, margins), chunks))
    found = [part.margin for part in parts if part.margin is not None]
    return BatchRun(
        states=np.concatenate([part.states for part in parts]),
        steps=np.concatenate([part.steps for part in parts]),
        halted=np.concatenate([part.halted for part in parts]),
        margin=np.concatenate(found) if found else None,
    )


def _seed(engine: Engine, settings: Settings) -> int | None:
    return settings.seed if engine.name in ("sampled", "network") and not settings.files else None


def _engine(algorithm: Algorithm, engine: str | Engine, settings: Settings | None) -> Engine:
    if isinstance(engine, str):
        return make_engine(engine, algorithm.program, settings)
    if engine.program is not algorithm.program and engine.program != algorithm.program:
        raise InputError(f"this engine was made for another program than that of {algorithm.name}")
    return engine


def step_limit(algorithm: Algorithm, limit: int | None) -> int:
    if limit is not None and limit < 0:
        raise InputError(f"the step limit must be 0 or more, got {limit}")
    declared = DEFAULT_LIMIT if algorithm.steps is None else algorithm.steps
    if limit is None:
        return declared
    return limit if algorithm.steps is None else min(limit, declared)


def _run_chunk(
    algorithm: Algorithm,
    engine: Engine,
    start: BoolArray,
    limit: int,
    margins: bool,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
    watch: Watch | None = None,
) -> BatchRun:
    """Steps all rows until each is done; once most are, the others go on in a batch of their own."""
    count = len(start)
    final, steps, halted = start.copy(), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    margin: NDArray[np.float64] | None = None
    active = np.arange(count)  # the rows still running
    batch = engine.begin(start)
    running = np.ones(count, dtype=bool)  # within the current batch

    def finish(rows: BoolArray, at_step: int, by_itself: bool) -> None:
        final[active[rows]] = batch.states()[rows]
        steps[active[rows]], halted[active[rows]] = at_step, by_itself
        running[rows] = False

    if recorder:
        recorder.add(start[0])
    if watch and start[0, watch.bit]:
        watch.see(0, start[0])
    if isinstance(algorithm.halt, int):
        finish(batch.bit(algorithm.halt) & running, 0, True)
    halt = algorithm.halt if isinstance(algorithm.halt, int) else None
    stops = tuple(bit for bit in (halt, watch.bit if watch else None) if bit is not None)
    every_step = recorder is not None  # is there something to see in each? margins are kept along a leap
    step = 0
    changeable = count == 1 and recorder is None and hasattr(engine, "begin_long")
    last = limit + (algorithm.halt == FIXED_POINT)  # a fixed point reached in the last step takes one more to see
    while step < last and running.any():
        if step == limit:
            final[active[running]] = batch.states()[running]
        if 2 * np.count_nonzero(running) <= len(running) and len(running) > 64:
            batch.keep(running)
            active, running = active[running], np.ones(np.count_nonzero(running), dtype=bool)
        if changeable and step >= _LONG:
            batch, changeable = engine.begin_long(batch.states()), False  # type: ignore[attr-defined]
        until = limit if step < limit else last
        step += batch.leap(1 if every_step else min(until - step, _LEAP), stops)
        asked = step <= limit  # else it is the look for a fixed point, no step of the run
        if recorder:
            rounded = batch.rounded if isinstance(batch, RealBatch) else None
            recorder.add(batch.states()[0], None if rounded is None else rounded[0])
        if asked and watch and batch.bit(watch.bit)[0]:
            watch.see(step, batch.states()[0])
        if asked and progress:
            progress(step, limit)
        if asked and margins and (now := batch.margin()) is not None:
            margin = np.full(count, np.inf) if margin is None else margin
            margin[active[running]] = np.minimum(margin[active[running]], now[running])
        if halt is not None:
            finish(batch.bit(halt) & running, step, True)
        elif algorithm.halt == FIXED_POINT:
            finish(batch.unchanged() & running, step - 1, True)
        if recorder is None and _worth_a_look(step) and batch.unchanged()[running].all():
            break  # nothing will change in the steps that are left, so they need not be made
    if running.any() and step > limit:  # the last look showed that there is no fixed point; `final` has what was asked
        steps[active[running]] = limit
    elif running.any():
        finish(running.copy(), limit, algorithm.halt is None and limit == algorithm.steps)
    return BatchRun(final, steps, halted, margin)


def _worth_a_look(step: int) -> bool:
    """Looking for a fixed point costs about a fifth of a step; here it is done at 1, 2, 4, ..., 64, 128, 192, ..."""
    return step % 64 == 0 or step & (step - 1) == 0
