"""The cores of this process, and threads on all of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(submit: Callable[[Job], Future[Result]], jobs: Iterable[Job], ahead: int) -> Generator[Result]:
    """The results of jobs in their order; while one is awaited, at most `ahead` are handed out."""
    waiting: deque[Future[Result]] = deque()
    try:
        for job in jobs:
            waiting.append(submit(job))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def in_threads(work: Callable[[Job], Result], jobs: Iterable[Job]) -> Generator[Result]:
    """`work(job)` for each job, in order, on all cores of this process: for work that releases the interpreter lock."""
    with ThreadPoolExecutor(cores()) as pool:
        yield from in_order(lambda job: pool.submit(work, job), jobs, cores() + 1)
