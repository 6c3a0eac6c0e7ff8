"""Who does the work: this process, several processes, or a Ray cluster. Results come in the order of the jobs."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, Literal, TypeVar

from bitwright.errors import BitwrightError, InputError

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
MAX_PROCESSES = 256
_ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})", re.ASCII)
_PATIENCE = 5  # seconds to wait for an answer
_SETTINGS = b"\x04"  # the type of the first frame that a server sends (RFC 9113, Section 3.4)
_OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
_AHEAD = 2  # jobs handed out for each worker, so that none waits for the next one


@dataclass(frozen=True)
class Workers:
    """Where jobs run: `serial`, `processes`, or `ray` (started here, or a cluster at `address`)."""

    kind: Literal["serial", "processes", "ray"] = "serial"
    count: int = 1  # processes; for Ray 0 means all that it finds
    address: str | None = None
    gpus: float = 0.0  # GPUs that Ray sets aside for each job

    @classmethod
    def parse(cls, text: str) -> Workers:
        """`1`, `4`, `all`, `ray`, `ray:2`, or `ray:ADDRESS` of a cluster.

        >>> Workers.parse("4")
        Workers(kind='processes', count=4, address=None, gpus=0.0)
        """
        word = text.strip()
        if word == "all":
            word = str(cores())
        if word == "ray" or word.startswith("ray:"):
            where = word if word.startswith("ray://") else word[4:]
            if word == "ray" or where == "auto":
                return cls("ray", 0, where or None)
            return cls("ray", 0, where) if _ADDRESS.fullmatch(where) else cls("ray", _count(where, text))
        count = _count(word, text)
        return cls("serial") if count == 1 else cls("processes", count)

    def map(self, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]) -> Generator[Result]:
        """`work(common, job)` for each job, in order; only a few jobs are ahead, so they may be endless.

        `work` is a function at the top level of a module, so that other processes find it; `common` travels once to
        each of them. Closing the iterator, or an exception, stops the workers.
        """
        if self.kind == "serial":
            return (work(common, job) for job in jobs)
        return self._in_processes(work, common, jobs) if self.kind == "processes" else self._in_ray(work, common, jobs)

    def _in_processes(
        self, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]
    ) -> Generator[Result]:
        pool = ProcessPoolExecutor(self.count, get_context("spawn"), initializer=_begin, initargs=(work, common))
        waiting: deque[Future[Result]] = deque()
        try:
            for job in jobs:
                waiting.append(pool.submit(_do, job))
                if len(waiting) >= _AHEAD * self.count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise BitwrightError("a worker process died, perhaps for lack of memory; use fewer workers") from None
        finally:
            _stop(pool)

    def _in_ray(self, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]) -> Generator[Result]:
        ray = ray_module()
        _check_reachable(os.environ.get("RAY_ADDRESS") if self.address == "auto" else self.address)
        started = not ray.is_initialized()
        if started:
            _start_ray(ray, self)
        try:
            task = ray.remote(_call).options(num_gpus=self.gpus)
            everywhere = ray.put(common)
            most = _AHEAD * (self.count or int(ray.cluster_resources().get("CPU", 1)))
            waiting: deque[Any] = deque()
            for job in jobs:
                waiting.append(task.remote(work, everywhere, job))
                if len(waiting) >= most:
                    yield ray.get(waiting.popleft())
            while waiting:
                yield ray.get(waiting.popleft())
        except ray.exceptions.RayTaskError as error:
            raise getattr(error, "cause", None) or BitwrightError(f"a Ray task failed: {error}") from None
        except ray.exceptions.RayError as error:
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise BitwrightError(f"Ray stopped: {line}") from None
        finally:
            if started:
                ray.shutdown()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[Job], Result], jobs: Iterable[Job]) -> Generator[Result]:
    """On all cores of this process, in order: for work that lets other threads run."""
    waiting: deque[Future[Result]] = deque()
    most = cores()
    with ThreadPoolExecutor(most) as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(work, job))
                if len(waiting) > most:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def ray_module() -> Any:
    """Ray, or an InputError that says how to get it."""
    if find_spec("ray") is None:
        raise InputError("this needs Ray; install it with: pip install 'bitwright[ray]'")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the coming default; without it Ray warns
    import ray
    import ray.exceptions

    return ray


def _start_ray(ray: Any, workers: Workers) -> None:
    local = {} if workers.address else {"num_cpus": workers.count or None, "include_dashboard": False}
    try:
        ray.init(address=workers.address or "local", logging_level="ERROR", log_to_driver=False, **local)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"cannot reach Ray at {workers.address or 'this machine'}: {line}") from None


def _check_reachable(address: str | None) -> None:
    """Ray itself waits for minutes, and says much or nothing, where nobody answers or something else does.

    Its servers speak HTTP/2, and such a server answers the opening of a client at once with its settings.
    """
    found = _ADDRESS.fullmatch(address or "")
    if found is None:
        return
    host, port = found["host"].strip("[]"), int(found["port"])
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE) as line:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return  # then the opening would have to be encrypted
            line.sendall(_OPENING)
            head = b""
            while len(head) < 9 and (more := line.recv(9 - len(head))):
                head += more
            reason = None if head[3:4] == _SETTINGS else "something else listens there"
    except TimeoutError:
        reason = f"no answer within {_PATIENCE} s"
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        raise InputError(f"no Ray cluster answers at {address} ({reason}); start one with: ray start --head")


def _count(word: str, text: str) -> int:
    if not (word.isdecimal() and word.isascii() and len(word) < 9 and 1 <= int(word) <= MAX_PROCESSES):
        raise InputError(f"workers are a number up to {MAX_PROCESSES}, all, ray, ray:2 or ray:ADDRESS, got '{text}'")
    return int(word)


def _call(work: Callable[[Any, Any], Any], common: Any, job: Any) -> Any:
    """Ray takes functions of Python only; this one calls any."""
    return work(common, job)


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
