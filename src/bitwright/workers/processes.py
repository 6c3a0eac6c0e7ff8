"""Several processes of this machine, which end with the one that started them."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.synchronize import Lock
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
    """`work(common, job)` for each job, in order, by this many processes."""
    context = get_context("spawn")
    with _shared(context, count, bytes(ForkingPickler.dumps((work, common)))) as mine:
        pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=mine)
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


@contextmanager
def _shared(context: SpawnContext, count: int, data: bytes) -> Iterator[tuple[Connection, Lock]]:
    """Where each of these processes gets the bytes, one at a time.

    They do not go with what starts a process: whoever starts it waits until it has read that, if it is long, and so
    processes would start one after the other, each a second after the last.
    """
    reader, writer = context.Pipe(duplex=False)

    def feed() -> None:
        with suppress(OSError):  # all who might read are gone
            for _ in range(count):
                writer.send_bytes(data)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        yield reader, context.Lock()
    finally:
        reader.close()
        feeder.join()
        writer.close()


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


def _begin(reader: Connection, turn: Lock) -> None:
    """In a new worker process: leave Ctrl-C to the parent, and end with it, however it ends."""
    global _mine
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with turn:
        data = reader.recv_bytes()
    _mine = ForkingPickler.loads(data)
    ThreadpoolController().limit(limits=1)  # of linear algebra: the processes have the cores already


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _do(job: Any) -> Any:
    if _mine is None:
        raise BitwrightError("a worker was not set up")
    work, common = _mine
    return work(common, job)
