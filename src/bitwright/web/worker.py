"""Runs the worker process of the page, which reads jobs and writes answers as lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from bitwright.common.errors import BitwrightError, InputError, shorten
from bitwright.web.requests import Limits, Request

_PATIENCE = 10  # extra seconds of processor time for a job, in case the server has ended
_SMALL = '{"source": {"kind": "addition", "bits": 2}, "inputs": {"p": "1", "q": "1"}, "engine": "limit"}'


def main(settings: Mapping[str, Any]) -> None:
    """Processes jobs until the server closes the connection."""
    limits, answers = Limits(**settings), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep the output of libraries out of the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.set_int_max_str_digits(0)  # inputs and outputs may have any size; time is limited
    phase, last = "", 0.0

    def send(**message: Any) -> None:
        answers.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        answers.flush()

    def progress(now: str, step: int = 0, limit: int = 0, **shown: Any) -> None:
        nonlocal phase, last
        if now != phase or time.monotonic() - last >= 0.2:
            phase, last = now, time.monotonic()
            send(kind="progress", phase=phase, step=step, limit=limit, shown=shown)

    for name, most in (("AS", limits.memory), ("FSIZE", limits.result), ("CORE", 0)):
        _limit(name, most)
    for do in ("run", "train"):
        _do(do, _SMALL, Limits(), lambda *_, **__: None)  # loads slow modules
    send(kind="ready")
    for line in sys.stdin.buffer:
        job = json.loads(line)
        _limit("CPU", int(time.process_time() + limits.seconds) + _PATIENCE, for_good=False)
        try:
            result, files = _do(job["do"], job["request"], limits, progress)
            send(kind="done", last=False, result=result, files=files)
        except BitwrightError as error:
            send(kind="refused", last=False, message=" ".join(str(error).split()))
        except MemoryError:
            allowed = f"the {limits.memory >> 20:,} MiB that this page allows"
            send(kind="refused", last=True, message=f"this needs more memory than {allowed}; make it smaller")
        except Exception:  # our own bugs, including results that JSON cannot represent
            send(kind="broken", last=False, message=traceback.format_exc())


def _do(do: str, text: str, limits: Limits, progress: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the result of a job, and its files in base 64."""
    from bitwright.web import work  # imported within the memory limit

    does: dict[str, Any] = {"check": work.check, "graph": work.draw, "run": work.run, "train": work.train}
    try:
        request = Request.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the request"
        raise InputError(shorten(f"{where}: {first['msg']}", 300)) from None
    result, files = does[do](request, limits, progress)
    if (size := sum(map(len, files.values()))) > limits.result:
        raise InputError(
            f"the trace and files of this run take {size >> 20:,} MiB; this page keeps at most "
            f"{limits.result >> 20:,} MiB of a run; make it smaller or lower its step limit"
        )
    return result, {name: b64encode(data).decode() for name, data in files.items()}


def _limit(name: str, value: int, for_good: bool = True) -> None:
    """Sets a resource limit of this process if possible; Windows has none, and macOS has none for memory."""
    with suppress(ImportError, ValueError, OSError):  # or a lower limit is already set
        resource: Any = import_module("resource")
        which = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(which, (value, value if for_good else resource.getrlimit(which)[1]))
