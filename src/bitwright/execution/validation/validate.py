"""Validation: every input, or many random ones, run to the end and compared with an oracle."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bitwright.execution.engines import Settings
from bitwright.execution.run import Progress, step_limit
from bitwright.execution.validation.inputs import choose_inputs
from bitwright.execution.validation.oracles import Oracle
from bitwright.execution.validation.progress_file import load_progress, save_progress
from bitwright.execution.validation.tally import Tally
from bitwright.execution.validation.task import Task, run_task
from bitwright.program import Algorithm
from bitwright.theory.decisions import Triple
from bitwright.workers import Workers

_SAVE_EVERY = 2.0  # seconds


@dataclass(frozen=True)
class Validation:
    """What came of it."""

    task: Task
    tally: Tally
    seconds: float
    margin: float | None  # the smallest of all steps; None for `templates`, which round nothing
    worst: Triple | None = None  # for `limit`: the (n, c, m) with this margin
    misjudged: tuple[Triple, ...] = ()  # for `limit`: those that occurred and are rounded the wrong way


def make_task(
    algorithm: Algorithm,
    engine: str = "limit",
    settings: Settings | None = None,
    oracle: Oracle | None = None,
    random: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
) -> Task:
    """What to validate: all inputs, or `random` ones; without an oracle the plain `templates` engine is the judge."""
    inputs = choose_inputs(algorithm, random, seed)
    return Task(algorithm, engine, settings or Settings(), inputs, oracle, step_limit(algorithm, limit), plain)


def validate(
    task: Task,
    workers: Workers | None = None,
    progress: Progress | None = None,
    resume: Path | None = None,
) -> Validation:
    """Does a task; the result does not depend on the workers. With `resume` it goes on from that file, and keeps it."""
    begin = time.perf_counter()
    done, tally, spent = load_progress(resume, task) if resume else (0, Tally(), 0.0)
    numbers = iter(range(done, task.batches))
    decisions = task.decisions()
    saved = begin - _SAVE_EVERY  # the first batch is saved at once

    def save() -> None:
        if resume:
            save_progress(resume, task, done, tally, spent + time.perf_counter() - begin)

    results = _results(task, workers or Workers(), numbers)
    try:
        for part in results:
            done, tally = done + 1, tally + part
            if progress:
                progress(tally.inputs, task.inputs.count)
            if time.perf_counter() - saved > _SAVE_EVERY:
                save()
                saved = time.perf_counter()
    finally:
        results.close()
        save()
    seconds = spent + time.perf_counter() - begin
    if decisions is None:
        return Validation(task, tally, seconds, tally.margin)
    misjudged = tuple(sorted(t for t in tally.triples if decisions.sets(t) != (t[2] > 0)))
    margin, worst = decisions.margin(tally.triples) or (None, None)
    return Validation(task, tally, seconds, margin, worst, misjudged)


def _results(task: Task, workers: Workers, numbers: Iterator[int]) -> Generator[Tally, None, None]:
    if workers.kind == "serial" and task.sliced:
        yield from _in_threads(task, numbers)
    else:
        yield from workers.map(run_task, task, numbers)


def _in_threads(task: Task, numbers: Iterator[int]) -> Iterator[Tally]:
    """On all cores of this process, in order: the compiled loops let other threads run."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    waiting: deque[Future[Tally]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        try:
            for number in numbers:
                waiting.append(pool.submit(run_task, task, number))
                if len(waiting) > cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
