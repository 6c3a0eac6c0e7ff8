"""Observers of a run: each is called before and after every leap and records what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import MAX_BYTES, Recorder, Trace
from bitwright.runs.progress import Progress as Progress  # steps made, step limit
from bitwright.theory.closed_form import FloatArray


@dataclass
class View:
    """The progress of a run."""

    batch: Batch
    limit: int
    rows: IntArray  # the run of each state in the batch
    running: BoolArray  # whether the run of each state continues
    step: int = 0
    answered: BoolArray | None = None  # whether a host changed each state since the last step; None if none

    @property
    def beyond(self) -> bool:
        """Whether the last step only checked whether a run was done at its limit, and is not part of the run."""
        return self.step > self.limit


class Observer:
    """The base of all observers; it records nothing."""

    every_step = False  # whether it must see every step, which limits leaps to one step
    stops: tuple[int, ...] = ()  # bits at which a leap must stop
    counted: tuple[int, ...] = ()  # bits to count in every state of a single run; only one observer may use it

    def start(self, view: View) -> None:
        """Called before the first step."""

    def before(self, view: View) -> None:
        """Called before every leap."""

    def after(self, view: View) -> None:
        """Called after every leap."""

    def repeated(self, view: View, times: int) -> None:
        """Called at a fixed point instead of repeating the last step `times` times."""


class Margins(Observer):
    """Records the smallest margin of every run; with `beyond`, including checks beyond the limit."""

    def __init__(self, beyond: bool = False) -> None:
        self._also_beyond = beyond
        self.smallest: FloatArray | None = None  # (runs,) None if nothing is rounded

    def start(self, view: View) -> None:
        self._runs = len(view.rows)

    def after(self, view: View) -> None:
        margin = None if view.beyond and not self._also_beyond else view.batch.margin()
        if margin is None:
            return
        if self.smallest is None:
            self.smallest = np.full(self._runs, np.inf)
        rows = view.rows[view.running]
        self.smallest[rows] = np.minimum(self.smallest[rows], margin[view.running])


class StepComparison(Observer):
    """Counts steps that differ from the rules; `successors` returns the next states by the rules."""

    every_step = True

    def __init__(self, successors: Callable[[BoolArray, IntArray], BoolArray]) -> None:
        self._successors = successors
        self.evaluations = self.wrong_steps = 0

    def before(self, view: View) -> None:
        self._truth = self._successors(view.batch.states()[view.running], view.rows[view.running])

    def after(self, view: View) -> None:
        found = view.batch.states()[view.running]
        self._wrong = int(np.count_nonzero((found != self._truth).any(axis=1)))
        self.evaluations += len(found)
        self.wrong_steps += self._wrong

    def repeated(self, view: View, times: int) -> None:
        self.evaluations += times * int(np.count_nonzero(view.running))
        self.wrong_steps += times * self._wrong


class ProgressObserver(Observer):
    """Reports the progress of a run."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def after(self, view: View) -> None:
        if not view.beyond:
            self._progress(view.step, view.limit)


class Visits(Observer):
    """Counts the states of a single run, including the start, in which a bit is on."""

    def __init__(self, bit: int) -> None:
        self._bit, self.stops, self.count = bit, (bit,), 0

    def start(self, view: View) -> None:
        self.after(view)

    def after(self, view: View) -> None:
        self.count += not view.beyond and bool(view.batch.bit(self._bit)[0])


class TraceObserver(Observer):
    """Records the states of a single run."""

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
        """The trace up to the given step; a run that stops at a fixed point has made one additional step."""
        return self._recorder.trace(steps)
