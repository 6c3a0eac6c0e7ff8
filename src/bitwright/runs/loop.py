"""The loop behind every run: it steps until each state has ended or reached its limit, and notifies observers.

`sliced.py` contains its compiled counterpart for many runs of engines that decide by a table.

A run ends at a halt bit, at a fixed point, or after a number of steps.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.common.bits import BoolArray, whole_number
from bitwright.common.errors import InputError
from bitwright.engines.protocol import Batch, Engine
from bitwright.rules import FIXED_POINT, Algorithm
from bitwright.rules.layout import IntArray
from bitwright.runs.observers import Observer, View

LONG = 30_000  # steps after which the compiled loops are worth starting for a single run, or
_WORTH = 0.1  # seconds
_FIRST_LEAP, _LEAP = 16, 400_000  # steps between checks of a run that needs no checks in between
_SHORT, _TOO_LONG = 0.05, 0.2  # seconds of a leap, so that progress and Ctrl-C stay responsive


@dataclass(frozen=True)
class Ends:
    """How runs ended, one row each."""

    states: BoolArray  # (runs, k)
    steps: IntArray  # (runs,)
    halted: BoolArray  # (runs,) False if the limit was reached first


class _Runs:
    """The runs of one batch, and those among them that have ended."""

    def __init__(self, engine: Engine, start: BoolArray | Batch, limit: int) -> None:
        batch = start if isinstance(start, Batch) else engine.begin(start)
        runs = len(batch.bit(0)) if isinstance(start, Batch) else len(start)
        self.states = np.zeros((runs, engine.program.bits), dtype=bool)
        self.steps, self.halted = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=bool)
        self._engine = engine
        self.view = View(batch, limit, np.arange(runs), np.ones(runs, dtype=bool))
        self.going, self._can_drop = runs, False

    def finish(self, ended: BoolArray | None, step: int, halted: bool) -> None:
        view = self.view
        if ended is None or not (ended := ended & view.running).any():
            return
        runs = view.rows[ended]
        if len(runs) == len(self.states):  # all at once: no selection needed
            self.states = view.batch.states()
        else:
            self.states[runs] = view.batch.states()[ended]
        self.steps[runs], self.halted[runs] = step, halted
        view.running = view.running & ~ended
        self.going, self._can_drop = int(np.count_nonzero(view.running)), True

    def drop_ended(self) -> None:
        """Removes ended runs from the batch: immediately if steps are costly, otherwise once most have ended."""
        if not self._can_drop:
            return
        view, going = self.view, self.going
        self._can_drop = False
        few = going < len(view.running) if self._engine.costly else 2 * going <= len(view.running) > 64
        if few and going:
            view.batch.keep(view.running)
            view.rows, view.running = view.rows[view.running], np.ones(going, dtype=bool)

    def take_over(self) -> None:
        """Moves a single long run to the engine's loops for long runs."""
        self.view.batch = self._engine.begin(self.view.batch.states(), long=True)


def drive(
    engine: Engine,
    start: BoolArray | Batch,  # (runs, k)
    ending: Ending,
    limit: int,
    observers: Sequence[Observer] = (),
    long: int = LONG,
) -> Ends:
    """Runs every row of `start` to its end, for at most `limit` steps; a batch continues from its current state."""
    runs = _Runs(engine, start, limit)
    view = runs.view
    stops = tuple({*ending.stops, *(bit for observer in observers for bit in observer.stops)})
    counted = tuple(bit for observer in observers for bit in observer.counted)
    every_step = any(observer.every_step for observer in observers)
    can_be_long = runs.going == 1 and not (every_step or engine.costly or isinstance(start, Batch))
    leaps, begin = _Leaps(), time.perf_counter()
    for observer in observers:
        observer.start(view)
    runs.finish(ending.at_start(view), 0, True)
    while view.step < limit + ending.extra_steps and runs.going:
        if view.step == limit:  # the requested steps are done; what follows is only a check
            runs.states[view.rows[view.running]] = view.batch.states()[view.running]
        runs.drop_ended()
        if can_be_long and (view.step >= long or time.perf_counter() - begin > _WORTH):
            runs.take_over()
            can_be_long = False
        for observer in observers:
            observer.before(view)
        most = limit + ending.extra_steps * (view.step == limit) - view.step
        leap = 1 if every_step else min(most, leaps.most, ending.most_steps(view))
        with leaps:
            view.step += view.batch.leap(leap, stops, counted)
        for observer in observers:
            observer.after(view)
        runs.finish(ending.reached(view), view.step - ending.extra_steps, True)
        left = limit - view.step
        looks = (engine.costly or _worth_a_look(view.step)) and not ending.ends_at_rest and view.answered is None
        if looks and left > 0 and view.batch.unchanged()[view.running].all():
            for observer in observers if runs.going else ():
                observer.repeated(view, left)
            view.step = limit
            break
    if runs.going:
        if view.beyond:  # the check found no fixed point
            runs.steps[view.rows[view.running]] = limit
        else:
            runs.finish(view.running, limit, ending.at_limit(limit))
    return Ends(runs.states, runs.steps, runs.halted)


class _Leaps:
    """Chooses how many steps to make at once; results do not depend on it."""

    def __init__(self) -> None:
        self.most, self._begin = _FIRST_LEAP, 0.0

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        took = time.perf_counter() - self._begin
        if took < _SHORT:
            self.most = min(2 * self.most, _LEAP)
        elif took > _TOO_LONG:
            self.most = max(1, self.most // 2)


def _worth_a_look(step: int) -> bool:
    """Whether to check for a fixed point, at a fifth of a step's cost: after steps 1, 2, 4, ..., 64, 128, 192, ..."""
    return step % 64 == 0 or step & (step - 1) == 0


DEFAULT_LIMIT = 1_000_000  # steps, for algorithms that declare no limit
ENDLESS = 1 << 62  # steps: more than any run takes


class Ending(ABC):
    """Decides which states of a batch are done."""

    stops: tuple[int, ...] = ()  # bits at which a leap must stop, so that no ending is passed over
    extra_steps = 0  # steps beyond the limit needed to detect that a run was done
    ends_at_rest = False  # whether a run is done when its state stops changing

    def at_start(self, view: View) -> BoolArray | None:  # noqa: ARG002
        """Which states are done before any step, (batch,); None if none is."""
        return None

    @abstractmethod
    def reached(self, view: View) -> BoolArray | None:
        """Which states are done after the latest step, (batch,); None if none is."""

    def most_steps(self, view: View) -> int:  # noqa: ARG002
        """How many steps can be taken at once without passing an end that does not stop a leap."""
        return ENDLESS

    def at_limit(self, limit: int) -> bool:  # noqa: ARG002
        """Whether runs that have reached the step limit are done."""
        return False


class HaltBit(Ending):
    """Done when a bit is on."""

    def __init__(self, bit: int) -> None:
        self._bit, self.stops = bit, (bit,)

    def at_start(self, view: View) -> BoolArray | None:
        return self.reached(view)

    def reached(self, view: View) -> BoolArray:
        return view.batch.bit(self._bit)


class FixedPoint(Ending):
    """Done when a step changes nothing; that step is not counted and may exceed the limit."""

    extra_steps = 1
    ends_at_rest = True

    def reached(self, view: View) -> BoolArray:
        return view.batch.unchanged()


class StepCount(Ending):
    """Done after exactly this many steps."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def reached(self, view: View) -> BoolArray | None:  # noqa: ARG002
        return None

    def at_limit(self, limit: int) -> bool:
        return limit == self._steps


def ending_of(algorithm: Algorithm) -> Ending:
    """Returns the ending of this algorithm's runs."""
    if algorithm.halt == FIXED_POINT:
        return FixedPoint()
    if algorithm.halt is not None:
        return HaltBit(algorithm.halt)
    assert algorithm.steps is not None
    return StepCount(algorithm.steps)


def step_limit(algorithm: Algorithm, limit: int | None) -> int:
    """Returns the step limit of a run: the given limit, but at most the algorithm's own."""
    if limit is not None and whole_number(limit, "the step limit") < 0:
        raise InputError(f"the step limit must be 0 or more, got {limit}")
    declared = DEFAULT_LIMIT if algorithm.steps is None else algorithm.steps
    if limit is None:
        return declared
    return limit if algorithm.steps is None else min(limit, declared)
