"""Runs many images on one machine V in lockstep; each ends as it would alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray, shorten, whole_number
from bitwright.common.errors import InputError
from bitwright.engines.make import make_engine
from bitwright.engines.protocol import Engine
from bitwright.machines.subleq import MachineV
from bitwright.machines.subleq.computer import at_rest, halted_how, with_result_landed
from bitwright.machines.subleq.host import Host, InstructionLimit, Instructions
from bitwright.runs.loop import ENDLESS, FirstOf, HaltBit, Stuck, drive

_MOST = 10_000  # default limit of instructions
_ROOM = 1 << 28  # most bits of all machines stepped together
_LOOK = 64  # steps between two checks for stuck machines


@dataclass(frozen=True)
class ImageRun:
    """How the run ended: halt, fault (an operand forbidden in a strict dialect), limit or stuck."""

    reason: str
    pc: int | None  # the final address, or the address of the next instruction
    memory: list[int]  # unsigned
    output: bytes
    instructions: int
    steps: int

    @property
    def halted(self) -> bool:
        return self.reason in ("halt", "fault")

    def __bool__(self) -> bool:
        return self.halted


def run_images(
    machine: MachineV,
    images: Sequence[Sequence[int]],
    inputs: Sequence[bytes] = (),
    *,
    engine: Engine | None = None,
    max_instructions: int = _MOST,
    start: int = 0,
) -> list[ImageRun]:
    """Runs every image from address `start` on, by default with the rules themselves.

    `inputs` contains the input of each image; by default there is none.

    >>> from bitwright.machines.subleq import DIALECTS, Shape, machine_v
    >>> machine = machine_v(Shape(8, 5, DIALECTS["plain"]))
    >>> [run.memory[7] for run in run_images(machine, [[6, 7, 30, 0, 0, 0, 2, 1], [6, 7, 30, 0, 0, 0, 1, 1]])]
    [31, 0]
    """
    images, inputs = _listed(images, "images", "lists of integers"), _listed(inputs, "inputs", "bytes")
    if wrong := [one for one in inputs if not isinstance(one, bytes | bytearray)]:
        raise InputError(f"inputs must be bytes, one value for each image, got a {type(wrong[0]).__name__}")
    if inputs and len(inputs) != len(images):
        raise InputError(f"give an input for each of the {len(images):,} images, or none; got {len(inputs):,}")
    if whole_number(max_instructions, "max_instructions") < 0:
        raise InputError(f"max_instructions must be 0 or more, got {max_instructions}")
    chosen = make_engine("templates", machine.program) if engine is None else engine
    if chosen.program is not machine.program and chosen.program != machine.program:
        raise InputError(f"this engine belongs to another program than the machine of {machine.shape}")
    given = inputs or [b""] * len(images)
    found: list[ImageRun] = []
    together = max(1, min(chosen.chunk, _ROOM // machine.program.bits))
    for at in range(0, len(images), together):
        part = slice(at, at + together)
        states = np.array([machine.start(image, start) for image in images[part]])
        found += _together(machine, chosen, states, given[part], max_instructions)
    return found


def _listed(given: Iterable[Sized], name: str, what: str) -> list[Any]:
    """Converts several values with a length each to a list."""
    try:
        found = list(given)
        [len(one) for one in found]
    except TypeError:
        raise InputError(f"{name} must be several {what}, such as a list of them, got {shorten(repr(given))}") from None
    return found


def _together(
    machine: MachineV, engine: Engine, states: BoolArray, inputs: Sequence[bytes], most: int
) -> Iterator[ImageRun]:
    """Runs machines of one shape in lockstep."""
    supply, outputs = [iter(given) for given in inputs], [bytearray() for _ in inputs]
    instructions = Instructions(machine, len(states))
    host = Host(machine, lambda run: next(supply[run], None), lambda run, byte: outputs[run].append(byte))
    ending = FirstOf(
        {
            "limit": InstructionLimit(machine, instructions, most),
            "halt": HaltBit(machine.halt),
            "stuck": Stuck(every=_LOOK),
        }
    )
    done = drive(engine, states, ending, ENDLESS, [instructions, host])
    halted, limited = (
        np.array([ending.reason[run] == reason for run in range(len(states))]) for reason in ("halt", "limit")
    )
    final = done.states.copy()
    if halted.any():
        final[halted] = at_rest(machine, engine, done.states[halted])
    if limited.any():
        final[limited] = with_result_landed(machine, engine, done.states[limited])
    for run, state in enumerate(final):
        yield ImageRun(
            reason=halted_how(machine, state) if halted[run] else ending.reason[run],
            pc=machine.position(state if halted[run] else done.states[run]),
            memory=machine.memory(state),
            output=bytes(outputs[run]),
            instructions=int(instructions.done[run]),
            steps=int(done.steps[run]),
        )
