"""Runs that were asked for: they wait, run, are looked at, and are forgotten."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any

from bitwright.server.limits import Limits
from bitwright.server.pool import BrokenError, Files, Pool, RefusedError

BUSY = "busy: {} runs are waiting already; try again in a moment"
BROKEN = "bitwright itself failed here; that is a mistake of ours, and the server's terminal says more"


class BusyError(Exception):
    """Too many runs wait already."""


@dataclass(eq=False)
class Job:
    """One run, from the request to the files that came of it. Its version goes up with every change."""

    id: str = field(default_factory=lambda: token_urlsafe(16))
    state: str = "waiting"  # running, done, failed, cancelled
    version: int = 0
    progress: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    result: dict[str, Any] | None = None
    files: Files = field(default_factory=dict)
    seen: float = field(default_factory=time.monotonic)
    watchers: int = 0  # requests that wait for news of it
    task: asyncio.Task[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def change(self, state: str, message: str = "", **more: Any) -> None:
        """Sets what is new, and wakes those who wait for it."""
        self.state, self.message, self.version = state, message, self.version + 1
        for name, value in more.items():
            setattr(self, name, value)
        self._changed.set()
        self._changed = asyncio.Event()

    async def newer_than(self, version: int, seconds: float) -> None:
        """Returns when there is something newer, or after so many seconds."""
        if self.version > version or self.over:
            return
        self.watchers += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        self.watchers -= 1
        self.seen = time.monotonic()


class Jobs:
    """All runs of a server: a bounded number of them wait, and a bounded number of results is kept."""

    def __init__(self, pool: Pool, limits: Limits) -> None:
        self._pool, self._limits = pool, limits
        self._jobs: dict[str, Job] = {}  # in the order in which they were asked for

    def start(self, request: Mapping[str, Any]) -> Job:
        """A new run; raises BusyError where too many wait."""
        if self.ahead(None) >= self._limits.waiting:
            raise BusyError(BUSY.format(self._limits.waiting))
        job = Job()
        self._jobs[job.id] = job
        job.task = asyncio.create_task(self._work(job, request))
        return job

    def find(self, identity: str) -> Job | None:
        """The run of this id, if it is still known. Looking at it keeps it alive."""
        job = self._jobs.get(identity)
        if job is not None:
            job.seen = time.monotonic()
        return job

    def ahead(self, job: Job | None) -> int:
        """How many runs wait; with a run, how many of them came before it."""
        waiting = [other for other in self._jobs.values() if other.state == "waiting"]
        return waiting.index(job) if job in waiting else len(waiting)

    def cancel(self, job: Job) -> None:
        """Stops a run at once, or forgets the results of one that is over."""
        if not job.over:
            if job.task is not None:
                job.task.cancel()
            job.change("cancelled", "cancelled")
        del self._jobs[job.id]

    async def sweep(self, every: float = 1.0) -> None:
        """Forgets, for ever: what nobody looks at, and the oldest results where there are too many."""
        while True:
            await asyncio.sleep(every)
            now = time.monotonic()
            for job in list(self._jobs.values()):
                patience = self._limits.kept_seconds if job.over else self._limits.abandoned_seconds
                if not job.watchers and now - job.seen > patience:
                    self.cancel(job)
            self._make_room()

    def close(self) -> None:
        """Cancels everything."""
        for job in list(self._jobs.values()):
            self.cancel(job)

    def _make_room(self) -> None:
        finished = sorted((job for job in self._jobs.values() if job.over), key=lambda job: job.seen)
        size = sum(len(data) for job in finished for data in job.files.values())
        for number, job in enumerate(finished):
            if len(finished) - number <= self._limits.kept and size <= self._limits.kept_bytes:
                return
            size -= sum(map(len, job.files.values()))
            del self._jobs[job.id]

    async def _work(self, job: Job, request: Mapping[str, Any]) -> None:
        def told(message: dict[str, Any]) -> None:
            if not job.over:
                job.change("running", progress={name: message[name] for name in ("phase", "step", "limit")})

        try:
            answer = await self._pool.do(
                {"do": "run", "request": request},
                self._limits.seconds,
                began=lambda: job.change("running"),
                told=told,
            )
        except RefusedError as error:
            job.change("failed", str(error))
        except BrokenError as error:
            print(error, file=sys.stderr)
            job.change("failed", BROKEN)
        else:
            job.change("done", result=answer.result, files=answer.files)
            self._make_room()
