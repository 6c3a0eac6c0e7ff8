"""Worker processes: a few at a time, each killed when its time is up or its job is cancelled.

Jobs go in as lines of JSON, answers come out as lines and files.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from bitwright.errors import BitwrightError
from bitwright.web.guard import log
from bitwright.web.limits import Limits

Files = dict[str, bytes]
_START = (
    "import json, sys; path, limits, what = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from bitwright.web.worker import main; main(limits, what)"
)
_LINE = 1 << 26  # bytes of one line of an answer
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class BrokenError(Exception):
    """bitwright itself failed; the text is a traceback for the operator of the server."""


class Worker:
    """One process. It is `leaving` from the beginning of a job until it has answered and can take another."""

    def __init__(self, process: Process) -> None:
        self._process, self.leaving = process, False
        self.silent = True  # whether it has said nothing yet of its last job

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ready(self) -> None:
        try:
            message = await self._message()
        except EOFError:
            raise BrokenError(f"it ended with code {await self._process.wait()} before it was ready") from None
        if message["kind"] != "ready":
            raise BrokenError(message["trace"])

    async def do(self, job: Mapping[str, Any], report: Callable[[dict[str, Any]], None], most: int) -> dict[str, Any]:
        """The answer to a job; its files have at most `most` bytes together."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.leaving = self.silent = True
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        await self._process.stdin.drain()
        while (message := await self._message())["kind"] == "progress":
            report(message)
        if (size := sum(size for _, size in message["files"])) > most:
            return {
                "kind": "refused",
                "message": f"the trace and files of this run take {size >> 20:,} MiB; this server keeps at most "
                f"{most >> 20:,} MiB of a run; make it smaller or lower its step limit",
            }
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
        try:
            line = await self._process.stdout.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            self.silent = False
            message: dict[str, Any] = json.loads(line)
        except ValueError as error:  # a line without end, or no JSON
            raise BrokenError(f"a process gave no proper answer: {error}") from None
        return message


async def spawn(limits: Limits, what: str) -> Worker:
    """Starts a process for runs or checks, which is not ready yet; raises OSError if it cannot."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _START, json.dumps([[p for p in sys.path if p], asdict(limits), what])),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, **dict.fromkeys(_THREADS, "1")},
        limit=_LINE,
        start_new_session=True,  # Ctrl-C in the terminal is for the server alone
    )
    return Worker(process)


NO_PROCESS = "this server cannot start a process to work in at present; it keeps trying, and its terminal says why"
_LONGEST_PAUSE = 30.0  # seconds between two attempts to start a process


class RefusedError(BitwrightError):
    """The job cannot be done; the message says why."""


class NoProcessError(RefusedError):
    """No process could be started; one may start later."""


class Pool:
    """Does jobs in at most `size` processes, which are reused; `least` of them are always ready."""

    def __init__(self, size: int, limits: Limits, what: str, least: int = 1) -> None:
        self._size, self._places = size, asyncio.Semaphore(size)
        self._limits, self._what, self._least = limits, what, min(least, size)
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self.failing = False  # whether the last attempt to start a process failed

    @property
    def processes(self) -> int:
        return sum(worker.alive for worker in self._all)

    async def keep_ready(self) -> None:
        """Keeps processes ready: before the first job, in place of dead ones, and after failures. Never returns."""
        pause = 1.0
        while True:
            self._idle = [worker for worker in self._idle if worker.alive]
            self._all = {worker for worker in self._all if worker.alive}
            try:
                while self.failing or len(self._all) < self._least:
                    self._idle.append(await self._start())
                pause = 1.0
            except NoProcessError:
                pause = min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def do(
        self,
        job: Mapping[str, Any],
        seconds: float,
        *,
        began: Callable[[], None] = lambda: None,
        report: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> tuple[dict[str, Any], Files]:
        """The result of a job, and its files; raises RefusedError or BrokenError.

        To cancel it, cancel the task that awaits it.
        """
        async with self._places:
            answer = await self._in_some_process(job, seconds, began, report)
        if answer["kind"] == "refused":
            raise RefusedError(answer["message"])
        if answer["kind"] == "broken":
            raise BrokenError(answer["trace"])
        return answer["result"], answer["files"]

    async def close(self) -> None:
        """Ends all processes, whatever they are doing."""
        await asyncio.gather(*(self._end(worker) for worker in list(self._all)))

    async def _in_some_process(
        self,
        job: Mapping[str, Any],
        seconds: float,
        began: Callable[[], None],
        report: Callable[[dict[str, Any]], None],
    ) -> dict[str, Any]:
        while True:
            worker, fresh = await self._take()
            try:
                began()
                async with asyncio.timeout(seconds):
                    return await worker.do(job, report, self._limits.result)
            except TimeoutError:
                raise RefusedError(
                    f"this took longer than the {seconds:g} seconds that this server allows, and was stopped; "
                    "make it smaller or lower its step limit"
                ) from None
            except (EOFError, OSError):
                if worker.silent and not fresh:  # it was dead before the job came, and the server did not know yet
                    continue
                raise RefusedError(
                    "the process that worked on this ended, most likely for lack of memory "
                    f"({self._limits.memory >> 20:,} MiB are allowed); make it smaller"
                ) from None
            finally:
                if worker.leaving or len(self._all) > self._size:
                    await self._end(worker)
                else:
                    self._idle.append(worker)

    async def _take(self) -> tuple[Worker, bool]:
        """A process, and whether it was just started."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker, False
            await self._end(worker)
        return await self._start(), True

    async def _start(self) -> Worker:
        try:
            worker = await spawn(self._limits, self._what)
            self._all.add(worker)
            try:
                async with asyncio.timeout(self._limits.start_seconds):
                    await worker.ready()
            except BaseException:
                await self._end(worker)
                raise
        except (OSError, MemoryError, BrokenError) as error:  # a timeout is an OSError
            if not self.failing:
                log.error("a process to work in could not be started: %s", str(error) or type(error).__name__)
            self.failing = True
            raise NoProcessError(NO_PROCESS) from None
        self.failing = False
        return worker

    async def _end(self, worker: Worker) -> None:
        await worker.end()
        self._all.discard(worker)  # not before: what is cancelled here is ended by `close`
