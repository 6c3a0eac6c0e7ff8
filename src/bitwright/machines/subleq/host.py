"""The host of machine V, which answers requests for input and output between two steps; instruction counters."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bitwright.common.bits import BoolArray, from_bits
from bitwright.engines.table.batch import TableBatch
from bitwright.machines.subleq import MachineV
from bitwright.machines.subleq.machine import Ports
from bitwright.machines.subleq.memo import InstructionMemo
from bitwright.rules.layout import IntArray
from bitwright.runs.loop import ENDLESS, Ending
from bitwright.runs.observers import Observer, View

Reader = Callable[[int], int | None]  # maps a run number to its next byte; None at the end of input
Writer = Callable[[int, int], None]  # called with a run number and a byte that the run wrote


class Host(Observer):
    """Answers the requests of every run immediately. Halted machines, and machines without ports, get no answer."""

    def __init__(self, machine: MachineV, read: Reader, write: Writer) -> None:
        self._machine, self._read, self._write = machine, read, write
        self.stops = (machine.ports.request, machine.ports.offer) if machine.ports else ()
        self.inputs = self.outputs = 0  # bytes so far
        self.waited = 0.0  # seconds spent in reading and writing

    def after(self, view: View) -> None:
        view.answered = None
        if self._machine.ports is not None:
            self._answer(view, self._machine.ports)

    def _answer(self, view: View, ports: Ports) -> None:
        batch = view.batch
        asking = batch.bit(ports.request)
        waiting = (asking | batch.bit(ports.offer)) & view.running
        if not waiting.any():
            return
        waiting &= ~batch.bit(self._machine.halt)
        offering = (waiting & ~asking).nonzero()[0]
        bits, rows = [ports.taken] * len(offering), offering.tolist()
        begin = time.monotonic()
        try:
            for row, shown in zip(rows, batch.read(ports.shown, offering) if rows else (), strict=True):
                self._write(int(view.rows[row]), from_bits(shown) & 0xFF)
                self.outputs += 1
            for row in (waiting & asking).nonzero()[0].tolist():
                given = self._input(int(view.rows[row]), ports)
                bits += given
                rows += [row] * len(given)
        finally:
            self.waited += time.monotonic() - begin
        batch.turn_on(bits, rows)
        view.answered = waiting

    def _input(self, run: int, ports: Ports) -> list[int]:
        """The bits that pass the next byte to a machine."""
        byte = self._read(run)
        self.inputs += byte is not None
        word = -1 if byte is None else byte  # the end of input
        return [bit for place, bit in enumerate(ports.given.tolist()) if word >> place & 1] + [ports.give]


class Instructions(Observer):
    """Counts the boundaries that every run reaches, at which an instruction is done and the next one begins.

    A single run is counted by its leaps; multiple runs stop at every boundary.
    """

    def __init__(self, machine: MachineV, runs: int) -> None:
        self._boundary = machine.boundary
        self.done: IntArray = np.zeros(runs, dtype=np.int64)
        self.alone = runs == 1
        self.counted, self.stops = ((machine.boundary,), ()) if self.alone else ((), (machine.boundary,))

    def before(self, view: View) -> None:
        if self.alone and isinstance(view.batch, TableBatch) and view.batch.memo is None:
            view.batch.memo = InstructionMemo

    def after(self, view: View) -> None:
        if self.alone:
            self.done[0] += view.batch.counted
        else:
            self.done[view.rows] += view.batch.bit(self._boundary) & view.running


class InstructionLimit(Ending):
    """Ends after the given number of instructions, counted from the start of an observer."""

    def __init__(self, machine: MachineV, instructions: Instructions, most: int) -> None:
        self._instructions, self._most, timing = instructions, most, machine.timing
        self._shortest = min(timing.steps, timing.steps_of_input, timing.steps_of_output)

    def at_start(self, view: View) -> BoolArray:
        return self.reached(view)

    def reached(self, view: View) -> BoolArray:
        return np.asarray(self._instructions.done[view.rows] >= self._most)

    def most_steps(self, view: View) -> int:  # noqa: ARG002
        """The earliest last boundary: the next boundary can be one step away, the ones after it cannot."""
        if not self._instructions.alone:
            return ENDLESS
        left = self._most - int(self._instructions.done[0])
        return max(1, (left - 1) * self._shortest + 1)
