"""Records a run: every state, and the outputs that were rounded to it where an engine has real ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.program.trace import Trace
from bitwright.running.observers import Observer, View

_MAX_BYTES = 1 << 30


class Recorder(Observer):
    """Keeps the states of a single run as it goes on."""

    every_step = True

    def __init__(self, program: Program) -> None:
        self._program, self._rows, self._bytes = program, list[NDArray[np.uint8]](), 0
        self._outputs: list[NDArray[np.float32]] = []

    def start(self, view: View) -> None:
        self._add(np.packbits(view.batch.states()[0]), None)

    def after(self, view: View) -> None:
        rounded = view.batch.rounded()
        self._add(np.packbits(view.batch.states()[0]), None if rounded is None else rounded[0].astype(np.float32))

    def repeated(self, view: View, times: int) -> None:  # noqa: ARG002
        for _ in range(times):
            self._add(self._rows[-1], self._outputs[-1] if self._outputs else None)

    def _add(self, row: NDArray[np.uint8], outputs: NDArray[np.float32] | None) -> None:
        self._bytes += len(row) + 100
        if outputs is not None:
            self._bytes += outputs.nbytes
            self._outputs.append(outputs)
        if self._bytes > _MAX_BYTES:
            raise InputError(
                f"a trace holds at most {_MAX_BYTES >> 20:,} MiB, full after {len(self._rows):,} steps; "
                "lower the step limit"
            )
        self._rows.append(row)

    def trace(self, steps: int) -> Trace:
        """The trace up to the given step; a run that stops at a fixed point has made one step more."""
        outputs = np.array(self._outputs[:steps]) if steps and len(self._outputs) >= steps else None
        return Trace(self._program, np.array(self._rows[: steps + 1]), outputs)
