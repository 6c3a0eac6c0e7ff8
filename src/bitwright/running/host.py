"""The host of machine V: it answers requests for input and output between two steps."""

from __future__ import annotations

import time
from collections.abc import Callable

from bitwright.bits import from_bits
from bitwright.machines.subleq import MachineV
from bitwright.machines.subleq.machine import Ports
from bitwright.running.observers import Observer, View

Reader = Callable[[int], int | None]  # from the number of a run to its next byte; None: there is no more
Writer = Callable[[int, int], None]  # the number of a run and a byte that it has written


class Host(Observer):
    """Answers every run that asks, at once. A halted machine is not answered, nor is one without ports."""

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
        """The bits that hand over the next byte."""
        byte = self._read(run)
        self.inputs += byte is not None
        word = -1 if byte is None else byte  # so the end of input reads
        return [bit for place, bit in enumerate(ports.given.tolist()) if word >> place & 1] + [ports.give]
