"""Machine V at work: an engine makes the steps, and a host answers the machine's requests for input and output.

The run ends at a halt, at a limit, when asked to, or where nothing moves any more; it can be taken up at any step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bitwright.bits import BoolArray, from_bits
from bitwright.engines.protocol import Batch, Engine
from bitwright.machines.subleq import MachineV
from bitwright.program.layout import IntArray

_LEAP = 400_000  # steps between two looks at the clock: a tenth of a second
_CLOSE = 32  # instructions before a limit from which every boundary is looked at
Reader = Callable[[], int | None]
Writer = Callable[[int], None]


def _nowhere(byte: int) -> None:
    """Output that nobody reads."""


@dataclass(frozen=True)
class MachineTally:
    """What a run has done so far; it goes into checkpoints, and on from there."""

    steps: int = 0
    instructions: int = 0
    inputs: int = 0
    outputs: int = 0
    least: int | None = None  # the range of n, where the engine follows it
    most: int | None = None
    margin: float | None = None  # the smallest so far, where outputs are rounded
    wrong: int = 0  # steps that were not those of the rules; looked at where an engine can be wrong
    seconds: float = 0.0

    def with_leap(self, steps: int, instructions: int, batch: Batch) -> MachineTally:
        least, most, margin = self.least, self.most, self.margin
        if batch.matches is not None and steps:
            low, high = batch.matches
            least, most = low if least is None else min(least, low), high if most is None else max(most, high)
        now = batch.margin()
        if now is not None and np.isfinite(now[0]):
            margin = float(now[0]) if margin is None else min(margin, float(now[0]))
        return replace(
            self,
            steps=self.steps + steps,
            instructions=self.instructions + instructions,
            least=least,
            most=most,
            margin=margin,
        )


@dataclass(frozen=True)
class RunLimits:
    """When to stop a run that does not end by itself; both count from the start of this run, not from a checkpoint."""

    instructions: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class MachineEnding:
    """Why a run ended: halt, fault (an operand that a strict dialect does not allow), limit, time, stopped or stuck."""

    reason: str
    tally: MachineTally
    pc: int | None = None  # where the machine stands: at its end, or at the instruction that would have been the next
    memory: list[int] = field(default_factory=list)  # of a halted machine


def _go_on(tally: MachineTally) -> bool:  # noqa: ARG001
    return True


class Computer:
    """One machine, one engine, one state on its way."""

    def __init__(
        self,
        machine: MachineV,
        engine: Engine,
        state: BoolArray,
        read: Reader = lambda: None,
        write: Writer = _nowhere,
        tally: MachineTally | None = None,
        truth: Engine | None = None,
    ) -> None:
        """With `truth`, another engine makes every step too, from the same state, and differences are counted."""
        self.machine, self.tally = machine, tally or MachineTally()
        self._engine, self._truth, self._read, self._write = engine, truth, read, write
        self._batch = engine.begin(state[np.newaxis], long=True)
        ports = machine.ports
        self._stops = (machine.halt, *((ports.request, ports.offer) if ports else ()))

    def state(self) -> BoolArray:  # (k,)
        return np.asarray(self._batch.states()[0])

    def run(
        self,
        limits: RunLimits | None = None,
        look: Callable[[MachineTally], bool] = _go_on,
    ) -> MachineEnding:
        """Runs on; `look` is called a few times a second, and stops the run by giving False."""
        limits = limits or RunLimits()
        done = self.tally.instructions
        last = None if limits.instructions is None else done + limits.instructions
        waited, begin, before = 0.0, time.monotonic(), self.tally.seconds
        if self._on(self.machine.halt):  # taken up after its end: no step is left to make
            return self._halted()
        while True:
            if last is not None and self.tally.instructions >= last:
                return self._end("limit")
            self._leap(None if last is None else last - self.tally.instructions)
            asked = time.monotonic()
            spent = asked - begin - waited
            self.tally = replace(self.tally, seconds=before + spent)
            if self._on(self.machine.halt):
                return self._halted()
            served = self._serve()
            waited += time.monotonic() - asked
            if not served and self._batch.unchanged()[0]:
                return self._end("stuck")
            late = limits.seconds is not None and spent >= limits.seconds
            if late or not look(self.tally):
                return self._between("time" if late else "stopped")

    def _between(self, reason: str) -> MachineEnding:
        """Ends where the state can be read: when the instruction that runs is done, or waits for its host."""
        for _ in range(2 * self.machine.timing.steps):
            if self._on(self.machine.boundary):
                break
            self._leap(1)
            if self._on(self.machine.halt):
                return self._halted()
            if any(self._on(bit) for bit in self._stops):
                break
        return self._end(reason)

    @property
    def pc(self) -> int | None:
        """The address of the instruction that begins, or that waits for its host; None in the midst of one."""
        machine = self.machine
        if self._on(machine.halt):
            return machine.halted_at(self.state())
        if self._on(machine.boundary):
            return from_bits(self._bits(machine.address_bits))
        if any(self._on(bit) for bit in self._stops):  # 3 has been added already
            return (from_bits(self._bits(machine.next_bits)) - 3) % (1 << machine.shape.width)
        return None

    def memory(self) -> list[int]:
        """The words, unsigned, as the last whole instruction has left them."""
        state, machine = self.state(), self.machine
        if state[machine.boundary]:  # the last result is on its way down the address tree; see it land, on a copy
            ahead = self._engine.begin(state[np.newaxis])
            for _ in range(machine.timing.depth + 1):
                ahead.step()
            state = np.asarray(ahead.states()[0])
        return machine.memory(state)

    def _leap(self, left: int | None) -> None:
        """Goes on to the next request, halt or look; with few instructions left, to the next boundary at most."""
        machine, batch = self.machine, self._batch
        if self._truth is not None:  # an engine that can be wrong is followed step by step
            rules = self._truth.begin(batch.states())
            rules.step()
            batch.step()
            wrong = bool((rules.states() != batch.states()).any())
            self.tally = replace(self.tally, wrong=self.tally.wrong + wrong)
            self.tally = self.tally.with_leap(1, int(batch.bit(machine.boundary)[0]), batch)
            return
        shortest = min(machine.timing.steps, machine.timing.steps_of_input, machine.timing.steps_of_output)
        close = left is not None and left <= _CLOSE
        most = _LEAP if left is None else min(_LEAP, left * shortest)
        stops = (*self._stops, machine.boundary) if close else self._stops
        steps = batch.leap(_LEAP if close else most, stops, (machine.boundary,))
        self.tally = self.tally.with_leap(steps, batch.counted, batch)

    def _serve(self) -> bool:
        """Answers a request; False if there was none."""
        ports = self.machine.ports
        if ports is None:
            return False
        if self._on(ports.request):
            byte = self._read()
            self.tally = replace(self.tally, inputs=self.tally.inputs + (byte is not None))
            word = (1 << self.machine.shape.width) - 1 if byte is None else byte  # the end of input reads as -1
            self._turn_on([int(bit) for j, bit in enumerate(ports.given) if word >> j & 1] + [ports.give])
            return True
        if self._on(ports.offer):
            self._write(from_bits(self._bits(ports.shown)) & 0xFF)
            self.tally = replace(self.tally, outputs=self.tally.outputs + 1)
            self._turn_on([ports.taken])
            return True
        return False

    def _halted(self) -> MachineEnding:
        """The last result may still be on its way; the machine is done when nothing moves."""
        batch = self._batch
        for _ in range(self.machine.timing.steps + self.machine.shape.width):
            batch.step()
            if batch.unchanged()[0]:
                break
        state = self.state()
        fault = self.machine.fault is not None and bool(state[self.machine.fault])
        ending = self._end("fault" if fault else "halt")
        return replace(ending, pc=self.machine.halted_at(state), memory=self.machine.memory(state))

    def interrupted(self) -> MachineEnding:
        """How a run ends whose reader has raised an exception: it stands at the request, and can be taken up there."""
        return self._end("stopped")

    def _end(self, reason: str) -> MachineEnding:
        return MachineEnding(reason, self.tally, self.pc)

    # The batch, by whatever engine.

    def _on(self, bit: int) -> bool:
        return bool(self._batch.bit(bit)[0])

    def _bits(self, bits: IntArray) -> BoolArray:
        return self._batch.read(bits)

    def _turn_on(self, bits: list[int]) -> None:
        self._batch.turn_on(bits)
