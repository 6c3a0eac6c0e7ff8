"""Records a run: every state, and the outputs that were rounded to it where an engine has real ones."""

from __future__ import annotations

from bitwright.program import Program
from bitwright.program.trace import MAX_BYTES, Recorder, Trace
from bitwright.running.observers import Observer, View


class TraceObserver(Observer):
    """Keeps the states of a single run as it goes on."""

    every_step = True

    def __init__(self, program: Program, most_bytes: int = MAX_BYTES) -> None:
        self._recorder = Recorder(program, most_bytes)

    def start(self, view: View) -> None:
        self._recorder.add(view.batch.states()[0])

    def after(self, view: View) -> None:
        rounded = view.batch.rounded()
        self._recorder.add(view.batch.states()[0], None if rounded is None else rounded[0])

    def repeated(self, view: View, times: int) -> None:
        for _ in range(times):
            self.after(view)

    def trace(self, steps: int) -> Trace:
        """The trace up to the given step; a run that stops at a fixed point has made one step more."""
        return self._recorder.trace(steps)
