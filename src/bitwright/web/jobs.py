"""Runs that were asked for: they wait, run, are looked at, and are forgotten, but not before their time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any

from bitwright.web.limits import Limits
from bitwright.web.log import log
from bitwright.web.pool import Pool, RefusedError
from bitwright.web.process import BrokenError, Files
from bitwright.web.sharing import BusyError, Shares, Turn

FULL = "busy: there is no room for more results until some have been fetched or forgotten; try again later"
YOURS = "there is no room for more of your results; fetch those you have, or delete some, and try again"
BROKEN = "bitwright itself failed here; that is a mistake of ours, and the server's terminal says more"
_LEAST = 1 << 16  # bytes that a run counts for at least, so that their number is bounded too


@dataclass(eq=False)
class Job:
    """One run, from the request to the files that came of it. Its version goes up with every change."""

    client: str
    turn: Turn
    size: int  # bytes that are set aside for its result
    id: str = field(default_factory=lambda: token_urlsafe(16))
    state: str = "waiting"  # running, done, failed, cancelled
    version: int = 0
    progress: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    result: dict[str, Any] | None = None
    files: Files = field(default_factory=dict)
    seen: float = 0.0  # when it ended, or was last looked at
    fetched: bool = False  # whether someone has been told how it ended
    task: asyncio.Task[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def change(self, state: str, message: str = "", **more: Any) -> None:
        """Sets what is new, and wakes those who wait for it."""
        self.state, self.message, self.version, self.seen = state, message, self.version + 1, time.monotonic()
        for name, value in more.items():
            setattr(self, name, value)
        self._changed.set()
        self._changed = asyncio.Event()

    def look(self) -> None:
        """Notes that someone is told about it."""
        self.seen, self.fetched = time.monotonic(), self.over

    async def newer_than(self, version: int, seconds: float) -> None:
        """Returns when there is something newer, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.version <= version and not self.over:
                    await self._changed.wait()


class Jobs:
    """All runs of a server. Room for results is bounded by taking on no more, never by dropping one too early."""

    def __init__(self, pool: Pool, limits: Limits) -> None:
        self._pool, self._limits = pool, limits
        self.room = Shares(limits.kept)
        self._jobs: dict[str, Job] = {}  # in the order in which they were asked for

    def __len__(self) -> int:
        return len(self._jobs)

    def start(self, request: Mapping[str, Any], client: str, do: str = "run") -> Job:
        """A new run, or what else is to be done; raises BusyError where too many wait, or too many results are kept."""
        size = max(_LEAST, self._limits.result)
        self._make_room(client, size)
        job = Job(client, self._pool.turns.join(client), size)
        self.room.take(client, size)
        self._jobs[job.id] = job
        job.task = asyncio.create_task(self._work(job, {"do": do, "request": request}))
        job.task.add_done_callback(lambda _: self._pool.turns.leave(job.turn))  # also if it was cancelled at once
        return job

    def find(self, identity: str) -> Job | None:
        """The run of this id, if it is still known."""
        return self._jobs.get(identity)

    def ahead(self, job: Job) -> int:
        """How many runs have their turn before this one."""
        return self._pool.turns.ahead(job.turn)

    def cancel(self, job: Job) -> None:
        """Stops a run at once, and forgets its results."""
        if not job.over:
            if job.task is not None:
                job.task.cancel()
            job.change("cancelled", "cancelled")
        self._forget(job)

    async def sweep(self, every: float = 1.0) -> None:
        """Forgets, for ever, what nobody has looked at for long."""
        while True:
            await asyncio.sleep(every)
            for job in [job for job in self._jobs.values() if job.over and self._rest(job, fetched=False) <= 0]:
                self._forget(job)

    async def close(self) -> None:
        """Cancels everything."""
        jobs = list(self._jobs.values())
        for job in jobs:
            self.cancel(job)
        await asyncio.gather(*(job.task for job in jobs if job.task is not None), return_exceptions=True)

    def _rest(self, job: Job, *, fetched: bool) -> float:
        """Seconds for which a run that is over must still be kept."""
        patience = self._limits.fetched_seconds if fetched else self._limits.kept_seconds
        return job.seen + patience - time.monotonic()

    def _make_room(self, client: str, size: int) -> None:
        """Forgets results that were fetched some time ago, the oldest first, as far as room is needed."""
        if self.room.may_take(client, size):
            return
        finished = sorted((job for job in self._jobs.values() if job.over), key=lambda job: job.seen)
        for job in finished:
            if job.fetched and self._rest(job, fetched=True) <= 0:
                self._forget(job)
                if self.room.may_take(client, size):
                    return
        yours = self.room.free >= size
        rests = [self._rest(job, fetched=job.fetched) for job in finished if job.client == client or not yours]
        raise BusyError(YOURS if yours else FULL, min(rests, default=2.0), yours=yours)

    def _forget(self, job: Job) -> None:
        if self._jobs.pop(job.id, None) is not None:
            self.room.give_back(job.client, job.size)

    def _count(self, job: Job) -> None:
        """Gives back what was set aside for a result and is not needed."""
        if job.id not in self._jobs:
            return
        text = 0 if job.result is None else len(json.dumps(job.result))
        size = max(_LEAST, text + sum(map(len, job.files.values())))
        self.room.give_back(job.client, job.size - size)
        job.size = size

    async def _work(self, job: Job, task: Mapping[str, Any]) -> None:
        def report(message: dict[str, Any]) -> None:
            if not job.over:
                job.change("running", progress={name: message[name] for name in ("phase", "step", "limit", "shown")})

        try:
            answer = await self._pool.do(
                task,
                job.turn,
                self._limits.seconds,
                began=lambda: job.change("running"),
                report=report,
            )
        except RefusedError as error:
            job.change("failed", str(error))
        except Exception as error:  # whatever it is, nobody waits for this run any longer
            log.error("a run failed: %s", error, exc_info=not isinstance(error, BrokenError))
            job.change("failed", BROKEN)
        else:
            job.change("done", result=answer.result, files=answer.files)
        self._count(job)
