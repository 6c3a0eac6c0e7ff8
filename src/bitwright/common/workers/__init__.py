"""Runs jobs in threads, in processes or on Ray; results always come in the order of the jobs."""

from __future__ import annotations

import os
import platform
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Generic, Literal, TypeVar

from threadpoolctl import ThreadpoolController

from bitwright.common.errors import BitwrightError, InputError
from bitwright.common.workers.linear_algebra import NUMPY, Library, kernel_name
from bitwright.common.workers.ray_jobs import ADDRESS, in_ray

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(submit: Callable[[Job], Future[Result]], jobs: Iterable[Job], ahead: int) -> Generator[Result]:
    """Yields the results of jobs in order, with at most `ahead` jobs submitted at a time."""
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
    """Yields `work(job)` for each job in order, using threads; the work must release the interpreter lock."""
    with ThreadPoolExecutor(cores()) as pool:
        yield from in_order(lambda job: pool.submit(work, job), jobs, cores() + 1)


MAX_PROCESSES = 256
_UNGUARDED = 83  # the exit code of a worker whose import of the main script would start workers
_AHEAD = 2  # jobs submitted for each worker, so that none is idle


def in_processes(
    count: int, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]
) -> Generator[Result]:
    """Yields `work(common, job)` for each job in order, using `count` processes that read `common` from a file."""
    if getattr(current_process(), "_inheriting", False):  # a worker is importing the script that starts workers
        os._exit(_UNGUARDED)
    with NamedTemporaryFile() as shared:
        shared.write(bytes(ForkingPickler.dumps((work, common))))
        shared.flush()
        pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin, initargs=(shared.name,))
        try:
            yield from in_order(lambda job: pool.submit(_do, job), jobs, _AHEAD * count)
        except BrokenProcessPool:
            processes = list((pool._processes or {}).values())
            pool.shutdown()  # waits for another thread that may be reading exit codes
            raise BitwrightError(_why_died({process.exitcode for process in processes})) from None
        finally:  # results are no longer wanted
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                with suppress(OSError, ValueError):
                    process.terminate()


def _why_died(codes: set[int | None]) -> str:
    """Explains the exit codes of worker processes; the kernel kills processes that run out of memory."""
    if _UNGUARDED in codes:
        return (
            "each worker process imports your script, which starts workers when it is imported; "
            "move that part of the script below the line: if __name__ == '__main__':"
        )
    if -9 in codes:
        return "a worker process died: it was killed, perhaps because memory ran out; use fewer workers"
    return "a worker process died; see its output above. If bitwright was just updated, reinstall it"


_mine: tuple[Callable[[Any, Any], Any], Any] | None = None  # in a worker: the work and the common data


def _begin(shared: str) -> None:
    """Sets up a worker process, which ignores Ctrl-C and exits when its parent exits."""
    global _mine
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _mine = ForkingPickler.loads(Path(shared).read_bytes())
    ThreadpoolController().limit(limits=1)  # for linear algebra, because the processes already use all cores


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _do(job: Any) -> Any:
    assert _mine is not None
    work, common = _mine
    return work(common, job)


@dataclass(frozen=True)
class Workers:
    """Where jobs run: `serial`, `processes`, or `ray` (a local instance, or a cluster at `address`)."""

    kind: Literal["serial", "processes", "ray"] = "serial"
    count: int = 1  # processes; for Ray, 0 means all CPUs
    address: str | None = None
    gpus: float = 0.0  # GPUs that Ray sets aside for each job

    @classmethod
    def parse(cls, text: str, device: str = "cpu") -> Workers:
        """Parses `1`, `4`, `all`, `ray`, `ray:2` or `ray:ADDRESS`; on a CUDA device each Ray job gets one GPU.

        >>> Workers.parse("4")
        Workers(kind='processes', count=4, address=None, gpus=0.0)
        """
        word = text.strip()
        if word == "all":
            word = str(cores())
        if word == "ray" or word.startswith("ray:"):
            where = word if word.startswith("ray://") else word[4:]
            gpus = 1.0 if device.startswith("cuda") else 0.0
            if word == "ray" or where == "auto" or ADDRESS.fullmatch(where):
                return cls("ray", 0, where or None, gpus)
            return cls("ray", _count(where, text), None, gpus)
        count = _count(word, text)
        return cls("serial") if count == 1 else cls("processes", count)

    def map(
        self,
        work: Callable[[Common, Job], Result],
        common: Common,
        jobs: Iterable[Job],
        *,
        floats: Library | None = NUMPY,
    ) -> Generator[Result]:
        """Yields `work(common, job)` for each job in order; jobs are read only a few ahead and may be endless.

        `work` must be a top-level function of a module, so that other processes can import it. `common` is sent to
        each process once. Closing the iterator, or an exception, stops the workers. `floats` names the library that
        computes floats: every process must use the same kernel for it, or InputError is raised; None for exact results.
        """
        if self.kind == "serial":
            return (work(common, job) for job in jobs)
        task = KernelTask(work, None if floats is None else (floats, kernel_name(floats)))
        if self.kind == "processes":
            return in_processes(self.count, task, common, jobs)
        return in_ray(self.address, self.count, self.gpus, task, common, jobs)


@dataclass(frozen=True)
class KernelTask(Generic[Common, Job, Result]):
    """Work for another process, which raises InputError if its linear algebra kernel has a different name."""

    work: Callable[[Common, Job], Result]
    kernel: tuple[Library, str] | None

    def __call__(self, common: Common, job: Job) -> Result:
        if self.kernel is not None:
            library, wanted = self.kernel
            if (kernel := kernel_name(library)) != wanted:
                raise InputError(
                    f"a worker on {platform.node()} uses the linear algebra kernel {kernel}, but this command uses "
                    f"{wanted}; their floats differ: exclude that machine, or use the same packages and type of CPU"
                )
        return self.work(common, job)


def _count(word: str, text: str) -> int:
    if not (word.isdecimal() and word.isascii() and len(word) < 9 and 1 <= int(word) <= MAX_PROCESSES):
        allowed = f"a number up to {MAX_PROCESSES}, all, ray, ray:2 or ray:ADDRESS"
        raise InputError(f"workers must be {allowed}, with an address HOST:PORT or //HOST:PORT, got '{text}'")
    return int(word)


__all__ = ["MAX_PROCESSES", "Workers", "cores", "in_threads"]
