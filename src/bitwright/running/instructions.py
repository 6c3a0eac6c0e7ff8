"""Instructions of machines: how many a run has begun or executed, and an end after some number of them."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.machines.subleq import MachineV
from bitwright.program.layout import IntArray
from bitwright.running.endings import ENDLESS, Ending
from bitwright.running.observers import Observer, View


class Instructions(Observer):
    """Counts the boundaries that every run reaches: there an instruction is done, and the next one begins.

    A single run is counted by its leaps; many stop at every boundary.
    """

    def __init__(self, machine: MachineV, runs: int) -> None:
        self._boundary = machine.boundary
        self.done: IntArray = np.zeros(runs, dtype=np.int64)
        self.alone = runs == 1
        self.counted, self.stops = ((machine.boundary,), ()) if self.alone else ((), (machine.boundary,))

    def after(self, view: View) -> None:
        if self.alone:
            self.done[0] += view.batch.counted
        else:
            self.done[view.rows] += view.batch.bit(self._boundary) & view.running


class Begun(Observer):
    """Counts the states of a single run, its start included, in which an instruction begins."""

    def __init__(self, boundary: int) -> None:
        self._boundary, self.stops, self.count = boundary, (boundary,), 0

    def start(self, view: View) -> None:
        self.after(view)

    def after(self, view: View) -> None:
        self.count += not view.beyond and bool(view.batch.bit(self._boundary)[0])


class InstructionLimit(Ending):
    """Done after this many instructions, counted from the first that an observer has counted."""

    def __init__(self, machine: MachineV, instructions: Instructions, most: int) -> None:
        self._instructions, self._most, timing = instructions, most, machine.timing
        self._shortest = min(timing.steps, timing.steps_of_input, timing.steps_of_output)

    def at_start(self, view: View) -> BoolArray:
        return self.reached(view)

    def reached(self, view: View) -> BoolArray:
        return np.asarray(self._instructions.done[view.rows] >= self._most)

    def most_steps(self, view: View) -> int:  # noqa: ARG002
        """Until the last boundary at the soonest: the next one can be a step away, those after it are not."""
        if not self._instructions.alone:
            return ENDLESS
        left = self._most - int(self._instructions.done[0])
        return max(1, (left - 1) * self._shortest + 1)
