"""A process that evaluates ONNX models with onnxruntime: requests on stdin, replies on stdout, nothing of bitwright.

A request or a reply is a line of JSON, which says how many bytes follow: a model, or arrays as NumPy writes them. A
model that ends this process ends no other.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from typing import Any, BinaryIO

import numpy as np


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no reply
    sessions: dict[str, Any] = {}
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        data = sys.stdin.buffer.read(request["bytes"])
        try:
            if request["rows"]:
                session, rows = sessions[request["model"]], np.load(io.BytesIO(data), allow_pickle=False)
                reply(replies, evaluated(session, request["output"], rows, request["alone"]))
            else:
                sessions[request["model"]] = session_of(data)
                reply(replies, None)
        except Exception as error:
            reply(replies, None, " ".join(str(error).split()) or type(error).__name__)


def session_of(data: bytes) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, settings, providers=["CPUExecutionProvider"])


def evaluated(session: Any, output: str, rows: np.ndarray[Any, Any], alone: bool) -> np.ndarray[Any, Any]:
    """The outputs for these rows, given one at a time or all together."""
    name, found = session.get_inputs()[0].name, []
    for part in np.split(rows, len(rows)) if alone else [rows]:
        given = session.run([output], {name: part})[0]
        if not isinstance(given, np.ndarray) or given.ndim != 2 or len(given) != len(part):
            shape = given.shape if isinstance(given, np.ndarray) else type(given).__name__
            raise ValueError(f"it gives outputs of shape {shape} for rows of shape {part.shape}, not a row for each")
        found.append(given)
    return np.concatenate(found)


def reply(to: BinaryIO, array: np.ndarray[Any, Any] | None, error: str | None = None) -> None:
    data = io.BytesIO()
    if array is not None:
        np.save(data, array, allow_pickle=False)
    to.write(json.dumps({"error": error, "bytes": len(data.getvalue())}).encode() + b"\n" + data.getvalue())
    to.flush()


if __name__ == "__main__":
    main()
