"""Controls the worker process from the server: kills it and starts another when its time is up."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from bitwright.common.errors import BitwrightError
from bitwright.web.requests import Limits

_MAIN = (
    "import json, sys; path, limits = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from bitwright.web.worker import main; main(limits)"
)
log = logging.getLogger("bitwright.web")
_LINE = 1 << 26  # bytes of one line of an answer
_START = 120.0  # seconds for a process to get ready
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Message = dict[str, Any]


class RefusedError(BitwrightError):
    """A job that failed; the message explains why."""


class Worker:
    """A process that does one job at a time. When it ends, the next process starts at once."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._turn = limits, asyncio.Lock()
        self._starting = asyncio.create_task(self._start())

    async def do(self, job: Message, seconds: float, report: Callable[[Message], None]) -> Message:
        """Returns the answer to a job, or raises RefusedError; cancelling the awaiting task cancels the job."""
        async with self._turn:
            process, answer = await self._ready(), Message()
            try:
                async with asyncio.timeout(seconds):
                    process.stdin.write(json.dumps(job).encode() + b"\n")
                    await process.stdin.drain()
                    while (answer := await _message(process))["kind"] == "progress":
                        report(answer)
            except TimeoutError:
                raise RefusedError(
                    f"this took longer than the {seconds:g} seconds that this page allows, and was stopped; "
                    "make it smaller or lower its step limit"
                ) from None
            except (EOFError, OSError, ValueError):
                raise RefusedError(
                    "the process that worked on this ended, most likely for lack of memory "
                    f"({self._limits.memory >> 20:,} MiB are allowed); make it smaller"
                ) from None
            finally:
                if answer.get("last", True):
                    await _end(process)
                    self._starting = asyncio.create_task(self._start())
        if answer["kind"] == "broken":
            log.error("a request failed: %s", answer["message"])
            raise RefusedError("bitwright itself failed, not your program; the terminal of the server shows the error")
        if answer["kind"] == "refused":
            raise RefusedError(answer["message"])
        return answer

    async def close(self) -> None:
        """Kills the process."""
        self._starting.cancel()
        for process in await asyncio.gather(self._starting, return_exceptions=True):
            if isinstance(process, Process):
                await _end(process)

    async def _ready(self) -> Any:
        """Returns a process that is ready for a job."""
        started = self._starting
        if started.done() and (started.exception() or _is_gone(started.result())):
            self._starting = asyncio.create_task(self._start())
        try:
            return await asyncio.shield(self._starting)
        except (EOFError, OSError) as error:  # a timeout is an OSError
            why = str(error) or type(error).__name__
            raise RefusedError(f"the process that does the work cannot be started: {why}; try again") from None

    async def _start(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", _MAIN, json.dumps([[p for p in sys.path if p], asdict(self._limits)])),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            limit=_LINE,
            start_new_session=True,  # Ctrl-C in the terminal must reach only the server
        )
        try:
            async with asyncio.timeout(_START):
                await _message(process)  # ready
        except BaseException:
            await _end(process)
            raise
        return process


async def _message(process: Any) -> Message:
    if not (line := await process.stdout.readline()).endswith(b"\n"):
        raise EOFError("the process ended")
    return dict(json.loads(line))


def _is_gone(process: Process) -> bool:
    """Returns whether the process has ended, even before the event loop notices."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
    except AttributeError:  # Windows
        return process.returncode is not None


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
