"""One worker process, as the server sees it: jobs go in as lines of JSON, answers come out as lines and files."""

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
