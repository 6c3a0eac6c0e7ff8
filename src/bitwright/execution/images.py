"""Many images on one machine V, all in step: each ends as it would alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bitwright.bits import BoolArray, from_bits, to_bits
from bitwright.errors import InputError
from bitwright.execution.engine import Batch, Engine
from bitwright.execution.engines import Settings, make_engine
from bitwright.machines.subleq import MachineV

_MOST = 10_000  # instructions, where no limit is given
_ROOM = 1 << 28  # bits of all machines that are stepped together
_LOOK = 64  # steps between two looks for machines in which nothing moves any more


@dataclass(frozen=True)
class ImageRun:
    """How one of them ended: halt, fault (an operand that a strict dialect does not allow), limit or stuck."""

    reason: str
    pc: int | None  # where the machine stands: at its end, or at the instruction that would have been the next
    memory: list[int]  # unsigned
    output: bytes
    instructions: int
    steps: int

    @property
    def halted(self) -> bool:
        return self.reason in ("halt", "fault")


def run_images(
    machine: MachineV,
    images: Sequence[Sequence[int]],
    inputs: Sequence[bytes] = (),
    *,
    engine: str | Engine = "templates",
    settings: Settings | None = None,
    max_instructions: int = _MOST,
    start: int = 0,
) -> list[ImageRun]:
    """Runs every image from address `start` on; `inputs` has what each of them reads, nothing where it is not given.

    >>> from bitwright.machines.subleq import DIALECTS, Shape, machine_v
    >>> machine = machine_v(Shape(8, 5, DIALECTS["plain"]))
    >>> [run.memory[7] for run in run_images(machine, [[6, 7, 30, 0, 0, 0, 2, 1], [6, 7, 30, 0, 0, 0, 1, 1]])]
    [31, 0]
    """
    if inputs and len(inputs) != len(images):
        raise InputError(f"give an input for each of the {len(images):,} images, or none; got {len(inputs):,}")
    if max_instructions < 0:
        raise InputError(f"max_instructions must be 0 or more, got {max_instructions}")
    chosen = make_engine(engine, machine.program, settings) if isinstance(engine, str) else engine
    if chosen.program is not machine.program and chosen.program != machine.program:
        raise InputError(f"this engine was made for another program than that of the machine of {machine.shape}")
    given = list(inputs) or [b""] * len(images)
    found: list[ImageRun] = []
    together = max(1, min(chosen.chunk, _ROOM // machine.program.bits))
    for at in range(0, len(images), together):
        part = slice(at, at + together)
        states = np.array([machine.start(image, start) for image in images[part]])
        found += _Together(machine, chosen, states, given[part], max_instructions).run()
    return found


@dataclass
class _Row:
    """One image on its way."""

    supply: Sequence[int]
    taken: int = 0
    said: bytearray = field(default_factory=bytearray)
    instructions: int = 0
    reason: str = ""  # set once it has ended
    pc: int | None = None
    steps: int = 0
    due: int | None = None  # the step in which its last result has landed in memory
    memory: list[int] | None = None

    def next_byte(self) -> int | None:
        self.taken += 1
        return self.supply[self.taken - 1] if self.taken <= len(self.supply) else None


class _Together:
    """A batch of machines of one shape. What has ended is stepped on with the others, and not looked at any more."""

    def __init__(
        self, machine: MachineV, engine: Engine, states: BoolArray, inputs: Sequence[bytes], most: int
    ) -> None:
        self.machine, self.engine, self.most, self.step = machine, engine, most, 0
        self.batch: Batch = engine.begin(states)
        self.rows = [_Row(supply) for supply in inputs]

    def run(self) -> list[ImageRun]:
        machine = self.machine
        if not self.most:
            self._note_limits(np.ones(len(self.rows), dtype=bool))
        while any(row.memory is None for row in self.rows):
            self.batch.step()
            self.step += 1
            begins, halted = self.batch.bit(machine.boundary), self.batch.bit(machine.halt)
            for number in np.flatnonzero(begins):
                self.rows[number].instructions += not self.rows[number].reason
            self._note_limits(begins)
            for number in np.flatnonzero(halted):
                row = self.rows[number]
                if not row.reason:
                    row.reason, row.steps = "halt", self.step
            self._read_memories(halted)
            served = self._serve() if machine.ports else False
            if self.step % _LOOK == 0 and not served:
                self._note_stuck()
        return [
            ImageRun(row.reason, row.pc, row.memory or [], bytes(row.said), row.instructions, row.steps)
            for row in self.rows
        ]

    def _note_limits(self, begins: BoolArray) -> None:
        """Ends machines that begin one instruction more than they may."""
        ended = [
            n for n in np.flatnonzero(begins) if not self.rows[n].reason and self.rows[n].instructions >= self.most
        ]
        states = self.batch.states() if ended else None
        for number in ended:
            assert states is not None
            row = self.rows[number]
            row.reason, row.steps, row.pc = "limit", self.step, self.machine.address(states[number])
            row.due = self.step + self.machine.timing.depth + 1

    def _read_memories(self, halted: BoolArray) -> None:
        """Of machines that have ended, once nothing is on its way any more."""
        rows = [(n, row) for n, row in enumerate(self.rows) if row.reason and row.memory is None]
        still = self.batch.unchanged() if any(halted[n] and row.reason == "halt" for n, row in rows) else halted
        ready = [(n, row) for n, row in rows if (still[n] if row.reason == "halt" else row.due == self.step)]
        states = self.batch.states() if ready else None
        for number, row in ready:
            assert states is not None
            state = states[number]
            row.memory = self.machine.memory(state)
            if row.reason == "halt":
                row.pc = self.machine.halted_at(state)
                fault = self.machine.fault is not None and bool(state[self.machine.fault])
                row.reason = "fault" if fault else "halt"

    def _serve(self) -> bool:
        """Answers all requests; whether there were any."""
        ports, width = self.machine.ports, self.machine.shape.width
        assert ports is not None
        asking, offering = self.batch.bit(ports.request), self.batch.bit(ports.offer)
        waiting = [n for n in np.flatnonzero(asking | offering) if not self.rows[n].reason]
        if not waiting:
            return False
        states = self.batch.states()
        for number in waiting:
            row, state = self.rows[number], states[number]
            if asking[number]:
                byte = row.next_byte()
                word = (1 << width) - 1 if byte is None else byte & ((1 << width) - 1)  # the end of input reads as -1
                state[ports.given] = to_bits(word, width)
                state[ports.give] = True
            else:
                row.said.append(from_bits(state[ports.shown]) & 0xFF)
                state[ports.taken] = True
        self.batch = self.engine.begin(states)
        return True

    def _note_stuck(self) -> None:
        """Ends machines of a network that has lost its way: no state follows any more, and it has not halted."""
        still = self.batch.unchanged()
        states = self.batch.states() if still.any() else None
        for number in np.flatnonzero(still):
            row = self.rows[number]
            if not row.reason and states is not None:
                row.reason, row.steps, row.memory = "stuck", self.step, self.machine.memory(states[number])
