"""onnxruntime in a process of its own, so that a model that crashes it ends in one line."""

from __future__ import annotations

import atexit
import io
import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import shorten
from bitwright.errors import InputError


class CannotRunError(InputError):
    """The runtime cannot load a model, or crashes on it."""


def runtime() -> str | None:
    """`onnxruntime 1.20.0`, or None where it is not installed."""
    return None if find_spec("onnxruntime") is None else f"onnxruntime {version('onnxruntime')}"


class Runtime:
    """The process, begun when it is first needed and again after a crash; threads take turns."""

    def __init__(self) -> None:
        self._lock, self._of = Lock(), -1  # the process that began it
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded: set[str] = set()
        atexit.register(self.stop)

    def evaluate(self, model: bytes, output: str, rows: NDArray[Any], alone: bool) -> NDArray[Any]:
        """This output of a model for these rows, given one at a time or together; raises InputError if it has none."""
        key = sha256(model).hexdigest()
        with self._lock:
            try:
                if key not in self._loaded or self._of != os.getpid():
                    self._ask({"model": key, "rows": False}, model)
                    self._loaded.add(key)
                data = io.BytesIO()
                np.save(data, rows, allow_pickle=False)
                request = {"model": key, "rows": True, "output": output, "alone": alone}
                return np.asarray(np.load(io.BytesIO(self._ask(request, data.getvalue())), allow_pickle=False))
            except InputError:
                raise
            except BaseException:  # what it was asked may still be answered
                self.stop()
                raise

    def _ask(self, request: dict[str, Any], data: bytes) -> bytes:
        process = self._begun()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({**request, "bytes": len(data)}).encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            status = process.wait()
            self.stop()
            how = f"status {status}" if status >= 0 else signal.Signals(-status).name
            raise CannotRunError(f"it crashed, {how}")
        reply = json.loads(line)
        if reply["error"] is not None:
            kind = InputError if request["rows"] else CannotRunError
            raise kind(shorten(reply["error"], 160))
        return process.stdout.read(reply["bytes"])

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._of != os.getpid():
            command, pipe = [sys.executable, "-P", str(Path(__file__).with_name("child.py"))], subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._of, self._loaded = os.getpid(), set()
        return self._process

    def stop(self) -> None:
        """Ends the process, if it is one of this one."""
        process, self._process, self._loaded = self._process, None, set()
        if process is not None and self._of == os.getpid():
            process.kill()
            process.communicate()


RUNTIME = Runtime()
