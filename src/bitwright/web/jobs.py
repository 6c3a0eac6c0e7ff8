"""The runs of a server: they wait, run, are polled, and are forgotten after a while."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_urlsafe
from typing import Any

from bitwright.web.guard import log
from bitwright.web.limits import Limits
from bitwright.web.pool import BrokenError, Files, Pool, RefusedError

BROKEN = "bitwright itself failed on this, not your program; the server's terminal says more"


class BusyError(Exception):
    """Too many runs are waiting."""


@dataclass
class Job:
    """One run: its state, progress and result. `version` grows with every change."""

    id: str = field(default_factory=lambda: token_urlsafe(16))
    state: str = "waiting"  # running, done, failed, cancelled
    version: int = 0
    progress: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    result: dict[str, Any] | None = None
    files: Files = field(default_factory=dict)
    seen: float = 0.0  # when it ended, or was last looked at
    task: asyncio.Task[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))

    def change(self, state: str, message: str = "", **more: Any) -> None:
        """Sets a new state, and wakes those waiting for it."""
        self.state, self.message, self.version = state, message, self.version + 1
        for name, value in more.items():
            setattr(self, name, value)
        self.look()
        self._changed.set()
        self._changed = asyncio.Event()

    def look(self) -> None:
        """Notes that it was polled."""
        self.seen = time.monotonic()

    async def newer_than(self, version: int, seconds: float) -> None:
        """Returns when there is something newer, or after that many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.version <= version and not self.over:
                    await self._changed.wait()


class Jobs:
    """All runs of a server."""

    def __init__(self, pool: Pool, limits: Limits) -> None:
        self._pool, self._limits = pool, limits
        self._jobs: dict[str, Job] = {}  # in the order in which they were asked for, which is that of the queue

    def counts(self) -> dict[str, int]:
        """How many runs are in each state."""
        return Counter(job.state for job in self._jobs.values())

    def start(self, request: Mapping[str, Any], do: str = "run") -> Job:
        """Starts a run or another task; raises BusyError if too many wait."""
        if (waiting := self.counts()["waiting"]) >= self._limits.waiting:
            are = "1 run is" if waiting == 1 else f"{waiting} runs are"
            raise BusyError(f"busy: {are} waiting already; try again in a moment")
        job = Job()
        self._jobs[job.id] = job
        job.task = asyncio.create_task(self._work(job, {"do": do, "request": request}))
        return job

    def find(self, identity: str) -> Job | None:
        """The run of this id, if it is still known."""
        return self._jobs.get(identity)

    def ahead(self, job: Job) -> int:
        """How many runs wait before this one."""
        waiting = [other for other in self._jobs.values() if other.state == "waiting"]
        return waiting.index(job) if job in waiting else 0

    def cancel(self, job: Job) -> None:
        """Stops a run at once, and forgets its results."""
        if not job.over:
            if job.task is not None:
                job.task.cancel()
            job.change("cancelled", "cancelled")
        self._jobs.pop(job.id, None)

    async def sweep(self, every: float = 1.0) -> None:
        """Regularly forgets results that were not polled for long, and the oldest if all take too much room."""
        while True:
            await asyncio.sleep(every)
            finished = sorted((job for job in self._jobs.values() if job.over), key=lambda job: job.seen)
            room = sum(job.size for job in finished) - self._limits.kept
            for job in finished:
                if room > 0 or job.seen + self._limits.kept_seconds < time.monotonic():
                    room -= job.size
                    del self._jobs[job.id]

    async def close(self) -> None:
        """Cancels everything."""
        jobs = list(self._jobs.values())
        for job in jobs:
            self.cancel(job)
        await asyncio.gather(*(job.task for job in jobs if job.task is not None), return_exceptions=True)

    async def _work(self, job: Job, task: Mapping[str, Any]) -> None:
        def report(message: dict[str, Any]) -> None:
            if not job.over:
                job.change("running", progress={name: message[name] for name in ("phase", "step", "limit", "shown")})

        try:
            began = partial(job.change, "running")
            result, files = await self._pool.do(task, self._limits.seconds, began=began, report=report)
        except RefusedError as error:
            job.change("failed", str(error))
        except Exception as error:  # whatever it is, nobody waits for this run any longer
            log.error("a run failed: %s", error, exc_info=not isinstance(error, BrokenError))
            job.change("failed", BROKEN)
        else:
            job.change("done", result=result, files=files)
