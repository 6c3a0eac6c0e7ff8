"""Validation: every input, or many random ones, run to the end and compared with an oracle."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
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
    worst: Triple | None  # for `limit`: the (n, c, m) with this margin


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
    saved = begin

    def save() -> None:
        if resume:
            save_progress(resume, task, done, tally, spent + time.perf_counter() - begin)

    try:
        with closing(_results(task, workers or Workers(), numbers)) as results:
            for part in results:
                done, tally = done + 1, tally + part
                if progress:
                    progress(tally.inputs, task.inputs.count)
                if time.perf_counter() - saved > _SAVE_EVERY:
                    save()
                    saved = time.perf_counter()
    finally:
        save()
    seconds = spent + time.perf_counter() - begin
    worst = decisions.margin(tally.triples) if decisions else None
    if decisions is None:
        return Validation(task, tally, seconds, tally.margin, None)
    return Validation(task, tally, seconds, *(worst or (None, None)))


def _results(task: Task, workers: Workers, numbers: Iterator[int]) -> Iterator[Tally]:
    if workers.kind != "serial":
        return workers.map(run_task, task, numbers)
    return _in_threads(run_task, task, numbers) if task.sliced else (run_task(task, number) for number in numbers)


def _in_threads(work: Callable[[Task, int], Tally], task: Task, numbers: Iterator[int]) -> Iterator[Tally]:
    """On all cores of this process, in order: the compiled loops let other threads run."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    waiting: deque[Future[Tally]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        try:
            for number in numbers:
                waiting.append(pool.submit(work, task, number))
                if len(waiting) > cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
