"""Several processes of this machine, which end with the one that started them."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from bitwright.errors import BitwrightError

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
_AHEAD = 2  # jobs handed out for each worker, so that none waits for the next one


def in_processes(
    count: int, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]
) -> Generator[Result]:
    """`work(common, job)` for each job, in order, by so many processes."""
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin, initargs=(work, common))
    waiting: deque[Future[Result]] = deque()
    try:
        for job in jobs:
            waiting.append(pool.submit(_do, job))
            if len(waiting) >= _AHEAD * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise BitwrightError("a worker process died, perhaps for lack of memory; use fewer workers") from None
    finally:
        _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    """Ends the processes now: what they are at is not wanted any more."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.terminate()
    for process in processes:
        with suppress(OSError, ValueError, AssertionError):
            process.join(5)


_mine: tuple[Callable[[Any, Any], Any], Any] | None = None  # in a worker: the work and what all jobs share


def _begin(work: Callable[[Any, Any], Any], common: Any) -> None:
    """In a new worker process: leave Ctrl-C to the parent, and end with it, however it ends."""
    global _mine
    _mine = (work, common)
    ThreadpoolController().limit(limits=1)  # of linear algebra: the processes have the cores already
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _do(job: Any) -> Any:
    if _mine is None:
        raise BitwrightError("a worker was not set up")
    work, common = _mine
    return work(common, job)
