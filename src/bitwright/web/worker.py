"""A process that works for the server: jobs come in as lines of JSON, answers go out as lines of JSON and files.

An answer names its files with their sizes, and their bytes follow. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO

from bitwright.errors import BitwrightError
from bitwright.web import work
from bitwright.web.confine import confine
from bitwright.web.graphs import laid_out
from bitwright.web.limits import Limits
from bitwright.web.told import Files
from bitwright.web.warm import warm_up

MOST_JOBS = 200  # then a fresh process takes its place
_PATIENCE = 10  # seconds beyond its time after which a process whose server is gone ends itself


def main(settings: Mapping[str, Any], what: str) -> None:
    """Answers jobs one after the other, runs or checks, until the server hangs up."""
    limits = Limits(**settings)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints does not disturb the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.set_int_max_str_digits(0)  # inputs and outputs may have any size; time is limited
    try:
        warm_up(limits, what)
        confine(limits.memory)
    except Exception:
        return _send(answers, _broken())
    _send(answers, {"kind": "ready"})
    for done, line in enumerate(sys.stdin.buffer, start=1):
        _alarm(int(limits.seconds) + _PATIENCE)
        answer, files = _answer(json.loads(line), limits, Reporter(answers))
        _alarm(0)
        leaving = answer.pop("leaving", False) or done >= MOST_JOBS
        sizes = [[name, len(data)] for name, data in files.items()]
        try:
            _send(answers, {**answer, "leaving": leaving, "files": sizes}, *files.values())
        except (TypeError, ValueError, RecursionError):  # a result that JSON cannot hold, of which nothing was sent yet
            _send(answers, {**_broken(), "leaving": leaving, "files": []})
        if leaving:
            break
    return None


def _answer(job: Mapping[str, Any], limits: Limits, progress: Reporter) -> tuple[dict[str, Any], Files]:
    try:
        result, files = _do(job["do"], job["request"], limits, progress)
        return {"kind": "done", "result": result}, files
    except BitwrightError as error:
        return {"kind": "refused", "message": " ".join(str(error).split())}, {}
    except MemoryError:
        message = (
            f"this needs more memory than the {limits.memory >> 20:,} MiB that this server allows; make it smaller"
        )
        return {"kind": "refused", "message": message, "leaving": True}, {}
    except Exception:  # a mistake of ours: the server tells so, and this process goes on with the next job
        return _broken(), {}


def _broken() -> dict[str, Any]:
    return {"kind": "broken", "trace": traceback.format_exc()}


def _do(what: str, request: Mapping[str, Any], limits: Limits, progress: Reporter) -> tuple[dict[str, Any], Files]:
    match what:
        case "check":
            return work.check(request["source"], limits), {}
        case "graph":
            return laid_out(request["graph"], limits), {}
        case "network":
            from bitwright.web.training import train_network  # which checks do without

            return train_network(request, limits, progress)
    return work.run(request, limits, progress)


class Reporter:
    """Reports the progress of a run to the server, a few times a second."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers, self._phase, self._told = answers, "", 0.0

    def __call__(self, phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._told < 0.2:
            return
        self._phase, self._told = phase, now
        _send(self._answers, {"kind": "progress", "phase": phase, "step": step, "limit": limit, "shown": shown})


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _send(answers: BinaryIO, message: Mapping[str, Any], *files: bytes) -> None:
    answers.write(json.dumps(message, allow_nan=False).encode() + b"\n")
    for data in files:
        answers.write(data)
    answers.flush()
