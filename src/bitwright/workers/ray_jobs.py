"""Jobs on Ray: in order, a few ahead, and done again elsewhere if a worker or a machine is lost or far too slow."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Generic, TypeVar

from bitwright.errors import BitwrightError, InputError
from bitwright.workers.cluster import connect, ray_module

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
_MISSING = re.compile(r"No module named '[^']*'")
_AHEAD = 4  # jobs handed out for each CPU: while one of them is late, the others go on
_RETRIES = 10  # how often a job may lose its worker or its machine
_COPIES = 3  # of a job that is late, at most
_LATE = 2  # a job that takes this many times as long as others is late
_LOOK = 1.0  # seconds after which the cluster is looked at again: machines join it, and leave


def in_ray(
    address: str | None,
    count: int,
    gpus: float,
    work: Callable[[Common, Job], Result],
    common: Common,
    jobs: Iterable[Job],
) -> Generator[Result]:
    """`work(common, job)` for each job, in order, on Ray."""
    ray = ray_module()
    ours = connect(ray, address, count)
    try:
        yield from _Round(ray, count, gpus, work, common).results(iter(jobs))
    except ray.exceptions.RayError as error:
        raise _what_went_wrong(ray, error) from None
    finally:
        if ours:
            ray.shutdown()


def _what_went_wrong(ray: Any, error: Exception) -> Exception:
    """What a job itself raised, or one line of what Ray says."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, BitwrightError):
        return cause
    if missing := _MISSING.search(str(cause)):
        return InputError(f"a machine of the cluster lacks what bitwright needs ({missing[0]}); install it there")
    if not isinstance(cause, ray.exceptions.RayError):
        return cause
    return BitwrightError(f"Ray stopped: {(str(cause).strip() or type(cause).__name__).splitlines()[0]}")


@dataclass
class _HandedOut(Generic[Job]):
    """A job that is under way, or done and waiting for those before it."""

    job: Job
    copies: list[Any] = field(default_factory=list)  # each gives the same, so that the first one counts


class _Round(Generic[Common, Job, Result]):
    """The jobs of one `map`."""

    def __init__(
        self, ray: Any, count: int, gpus: float, work: Callable[[Common, Job], Result], common: Common
    ) -> None:
        self._ray, self._count, self._gpus, self._work = ray, count, gpus, work
        self._task = ray.remote(_call).options(num_gpus=gpus, max_retries=_RETRIES)
        self._common = ray.put(common)
        self._looked, self._capacity = -_LOOK, 0
        self._spent: deque[float] = deque(maxlen=99)  # seconds that jobs took, lately
        if not self._room():
            what = "GPU" if gpus else "CPU"
            raise InputError(f"no machine of the cluster has a {what} for jobs; start one that has")

    def results(self, jobs: Iterator[Job]) -> Generator[Result]:
        waiting: deque[_HandedOut[Job]] = deque()
        left = True
        while True:
            while left and len(waiting) < _AHEAD * max(1, self._room()):
                try:
                    waiting.append(self._hand_out(_HandedOut(next(jobs))))
                except StopIteration:
                    left = False
            if not waiting:
                return
            first = waiting[0]
            done, _ = self._ray.wait(first.copies, num_returns=1, timeout=self._patience)
            if done:
                waiting.popleft()
                seconds, result = self._ray.get(done[0])
                self._spent.append(seconds)
                self._drop(first.copies, done[0])
                yield result
            elif self._spent and len(first.copies) < _COPIES and self._under_way(waiting) < self._room():
                self._hand_out(first)  # it is late, and some worker has nothing to do

    @property
    def _patience(self) -> float:
        return max(_LOOK, _LATE * median(self._spent)) if self._spent else _LOOK

    def _room(self) -> int:
        """How many jobs the cluster, as it is now, does at once."""
        if self._count:
            return self._count
        if time.monotonic() - self._looked >= _LOOK:
            has = self._ray.cluster_resources()
            self._capacity = int(has.get("CPU", 0))
            if self._gpus:
                self._capacity = min(self._capacity, int(has.get("GPU", 0) / self._gpus))
            self._looked = time.monotonic()
        return self._capacity

    def _hand_out(self, share: _HandedOut[Job]) -> _HandedOut[Job]:
        share.copies.append(self._task.remote(self._work, self._common, share.job))
        return share

    def _under_way(self, waiting: Iterable[_HandedOut[Job]]) -> int:
        every = [copy for share in waiting for copy in share.copies]
        return len(self._ray.wait(every, num_returns=len(every), timeout=0, fetch_local=False)[1])

    def _drop(self, copies: Iterable[Any], done: Any) -> None:
        for copy in copies:
            if copy is not done:
                with suppress(ValueError, self._ray.exceptions.RayError):
                    self._ray.cancel(copy, force=True)  # an interrupt could leave modules half imported


def _call(work: Callable[[Any, Any], Any], common: Any, job: Any) -> tuple[float, Any]:
    """How long a job took, and its result. Ray takes functions of Python only; this one calls any."""
    begin = time.perf_counter()
    result = work(common, job)
    return time.perf_counter() - begin, result
