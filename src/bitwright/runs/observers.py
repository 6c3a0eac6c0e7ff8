"""Observers of a run: each sees the batch before and after every leap, and records what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import MAX_BYTES, Recorder, Trace
from bitwright.runs.progress import Progress as Progress  # steps made, steps at most
from bitwright.theory.closed_form import FloatArray


@dataclass
class View:
    """The progress of a run."""

    batch: Batch
    limit: int
    rows: IntArray  # for each state of the batch, which of the runs it is
    running: BoolArray  # for each state of the batch, whether its run goes on
    step: int = 0
    answered: BoolArray | None = None  # for each state, whether a host has changed it since the last step; None: none

    @property
    def beyond(self) -> bool:
        """Whether the last step was only a look whether a run was done at its limit, and is no step of the run."""
        return self.step > self.limit


class Observer:
    """The base of all observers; it records nothing."""

    every_step = False  # whether it must see every single step, so that no leap is longer
    stops: tuple[int, ...] = ()  # bits at which a leap must stop
    counted: tuple[int, ...] = ()  # bits to count in every state of a single run; for one observer of it

    def start(self, view: View) -> None:
        """Before the first step."""

    def before(self, view: View) -> None:
        """Before every leap."""

    def after(self, view: View) -> None:
        """After every leap."""

    def repeated(self, view: View, times: int) -> None:
        """Nothing changes any more: the last step would be repeated `times` times, and need not be."""


class Margins(Observer):
    """The smallest margin of every run; with `beyond`, also that of a look beyond the limit."""

    def __init__(self, beyond: bool = False) -> None:
        self._also_beyond = beyond
        self.smallest: FloatArray | None = None  # (runs,) None where nothing is rounded

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
    """Counts the steps that are not those of the rules; `successors` says what these make of the states of runs."""

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
    """Tells how far a run has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def after(self, view: View) -> None:
        if not view.beyond:
            self._progress(view.step, view.limit)


class Watch(Observer):
    """Calls a function with the step and the state, of a single run, whenever a bit is on."""

    def __init__(self, bit: int, found: Callable[[int, BoolArray], None]) -> None:
        self._bit, self._found, self.stops = bit, found, (bit,)

    def start(self, view: View) -> None:
        self.after(view)

    def after(self, view: View) -> None:
        if not view.beyond and view.batch.bit(self._bit)[0]:
            self._found(view.step, view.batch.states()[0])


class Visits(Observer):
    """Counts the states of a single run, its start included, in which a bit is on."""

    def __init__(self, bit: int) -> None:
        self._bit, self.stops, self.count = bit, (bit,), 0

    def start(self, view: View) -> None:
        self.after(view)

    def after(self, view: View) -> None:
        self.count += not view.beyond and bool(view.batch.bit(self._bit)[0])


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
