"""A process that evaluates ONNX models without importing bitwright: requests on stdin, replies on stdout.

A request is a pickle: the key of a model, the model if it is new, the output to compute, rows of inputs, and whether
each row is evaluated alone. A reply is a line with the stage reached and a number of bytes, then the outputs in NumPy's
format, or an error message. A model that crashes this process does not affect others.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
from typing import Any

import numpy as np


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output must not mix with replies
    sessions: dict[str, Any] = {}
    while True:
        try:
            key, model, output, rows, alone = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        stage, data = "model", io.BytesIO()
        try:
            if model is not None:
                sessions[key] = session_of(model)
            stage = "rows"
            np.save(data, evaluated(sessions[key], output, rows, alone), allow_pickle=False)
            stage = "done"
        except Exception as error:
            data = io.BytesIO((" ".join(str(error).split()) or type(error).__name__).encode())
        replies.write(f"{stage} {len(data.getvalue())}\n".encode() + data.getvalue())
        replies.flush()


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
            raise ValueError(
                f"its outputs have shape {shape} for rows of shape {part.shape}; it must return one row for each"
            )
        found.append(given)
    return np.concatenate(found)


if __name__ == "__main__":
    main()
