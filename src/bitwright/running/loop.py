"""The one loop behind every run: it steps until each state has ended or has reached its limit; observers watch.

`sliced/` holds its compiled twin for many runs of engines that decide by a table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Batch, Engine
from bitwright.program.layout import IntArray
from bitwright.running.endings import Ending
from bitwright.running.observers import Observer, View

LONG = 30_000  # steps after which a single run is worth the start of the compiled loops, or
_WORTH = 0.1  # seconds
_FIRST_LEAP, _LEAP = 16, 400_000  # steps between two looks at a run that can be left alone
_SHORT, _TOO_LONG = 0.05, 0.2  # seconds of a leap, so that progress is shown and Ctrl-C is heard


@dataclass(frozen=True)
class Ends:
    """How runs ended, one row each."""

    states: BoolArray  # (runs, k)
    steps: IntArray  # (runs,)
    halted: BoolArray  # (runs,) False: the limit came first


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
        if len(runs) == len(self.states):  # all of them, at once: nothing to pick out
            self.states = view.batch.states()
        else:
            self.states[runs] = view.batch.states()[ended]
        self.steps[runs], self.halted[runs] = step, halted
        view.running = view.running & ~ended
        self.going, self._can_drop = int(np.count_nonzero(view.running)), True

    def drop_ended(self) -> None:
        """Takes runs that have ended out of the batch: at once where steps are costly, else when most have."""
        if not self._can_drop:
            return
        view, going = self.view, self.going
        self._can_drop = False
        few = going < len(view.running) if self._engine.costly else 2 * going <= len(view.running) > 64
        if few and going:
            view.batch.keep(view.running)
            view.rows, view.running = view.rows[view.running], np.ones(going, dtype=bool)

    def take_over(self) -> None:
        """A single run that has become long goes on in the engine's loops for long runs."""
        self.view.batch = self._engine.begin(self.view.batch.states(), long=True)


def drive(
    engine: Engine,
    start: BoolArray | Batch,  # (runs, k)
    ending: Ending,
    limit: int,
    observers: Sequence[Observer] = (),
    long: int = LONG,
) -> Ends:
    """Runs every row of `start` to its end, but for at most `limit` steps; a batch goes on from where it is."""
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
        if view.step == limit:  # what comes is a look only; what was asked for is here
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
        if view.beyond:  # the last look showed that there is no fixed point
            runs.steps[view.rows[view.running]] = limit
        else:
            runs.finish(view.running, limit, ending.at_limit(limit))
    return Ends(runs.states, runs.steps, runs.halted)


class _Leaps:
    """How many steps to make at once; nothing but the looks in between depends on it."""

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
    """Looking for a fixed point costs about a fifth of a step; here it is done at 1, 2, 4, ..., 64, 128, 192, ..."""
    return step % 64 == 0 or step & (step - 1) == 0
