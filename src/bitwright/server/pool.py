"""Worker processes: so many at a time, each killed when its time is up or its job is cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from bitwright.errors import BitwrightError
from bitwright.server.limits import Limits

Files = dict[str, bytes]
_START = (
    "import json, sys; path, limits = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from bitwright.server.worker import main; main(limits)"
)
_START_SECONDS = 120.0
_LINE = 1 << 26  # bytes of one line of an answer


class RefusedError(BitwrightError):
    """The job cannot be done, and the message says why."""


class BrokenError(Exception):
    """Something is wrong with bitwright itself; the text is a traceback for those who run the server."""


@dataclass
class Answer:
    """What a job gave."""

    result: dict[str, Any]
    files: Files = field(default_factory=dict)


class Pool:
    """Does jobs in at most `size` processes, which are kept and used again."""

    def __init__(self, size: int, limits: Limits) -> None:
        self._limits, self._places = limits, asyncio.Semaphore(size)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def warm(self, count: int) -> None:
        """Starts some processes ahead of the first job."""
        async with asyncio.TaskGroup() as group:  # which, unlike gather, waits for all of them even when cancelled
            starting = [group.create_task(self._start()) for _ in range(count)]
        self._idle += [task.result() for task in starting]

    async def do(
        self,
        job: Mapping[str, Any],
        seconds: float,
        *,
        began: Callable[[], None] = lambda: None,
        told: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> Answer:
        """The answer to a job; raises RefusedError or BrokenError. To cancel it, cancel the task that awaits it."""
        async with self._places:
            worker = await self._take()
            try:
                began()
                async with asyncio.timeout(seconds):
                    answer = await worker.do(job, told)
            except TimeoutError:
                raise RefusedError(
                    f"this took longer than the {seconds:g} seconds that this server allows, and was stopped; "
                    "make it smaller or lower its step limit"
                ) from None
            except (EOFError, OSError):
                raise RefusedError(
                    "the process that worked on this ended, most likely for lack of memory "
                    f"({self._limits.memory >> 20:,} MiB are allowed); make it smaller"
                ) from None
            finally:
                if worker.leaving:
                    await self._end(worker)
                else:
                    self._idle.append(worker)
        if answer["kind"] == "refused":
            raise RefusedError(answer["message"])
        if answer["kind"] == "broken":
            raise BrokenError(answer["trace"])
        return Answer(answer["result"], answer["files"])

    async def close(self) -> None:
        """Ends all processes, whatever they are doing."""
        await asyncio.gather(*(self._end(worker) for worker in list(self._all)))

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            await self._end(worker)
        return await self._start()

    async def _start(self) -> _Worker:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", _START, json.dumps([[p for p in sys.path if p], asdict(self._limits)])),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=environment,
            limit=_LINE,
            start_new_session=True,  # Ctrl-C in the terminal is for the server alone
        )
        worker = _Worker(process)
        self._all.add(worker)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker.ready()
        except BaseException:
            await self._end(worker)
            raise
        return worker

    async def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        await worker.end()


class _Worker:
    """One process. It is `leaving` from the beginning of a job until it has answered and can take another."""

    def __init__(self, process: Process) -> None:
        self._process, self.leaving = process, False

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ready(self) -> None:
        try:
            message = await self._message()
        except EOFError:
            raise BrokenError("a worker process could not be started") from None
        if message["kind"] != "ready":
            raise BrokenError(message["trace"])

    async def do(self, job: Mapping[str, Any], told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.leaving = True
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        await self._process.stdin.drain()
        while (message := await self._message())["kind"] == "progress":
            told(message)
        try:
            message["files"] = {name: await self._process.stdout.readexactly(size) for name, size in message["files"]}
        except asyncio.IncompleteReadError:
            raise EOFError from None
        self.leaving = message["leaving"]
        return message

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def _message(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        message: dict[str, Any] = json.loads(line)
        return message
