"""Runs machine V: an engine makes the steps, and a host answers the machine's requests for input and output.

A run ends at a halt, at a limit, on request, or when no bit changes any more; it can be resumed at any step.

A checkpoint is a run in a file, from which it can be resumed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, option, printable
from bitwright.common.files.arrays import ArrayFile, pack_arrays
from bitwright.common.files.documents import Check, check_fields, optional, parse, real, text, whole
from bitwright.common.files.storage import write_atomically
from bitwright.engines.protocol import Batch, Engine
from bitwright.machines.subleq import MachineV
from bitwright.machines.subleq.host import Host, InstructionLimit, Instructions
from bitwright.rules import Program
from bitwright.runs.loop import ENDLESS, Ending, FirstOf, FixedPoint, HaltBit, StepCount, Stuck, When, drive
from bitwright.runs.observers import Margins, Observer, StepComparison, View

Reader = Callable[[], int | None]
Writer = Callable[[int], None]


def _nowhere(byte: int) -> None:
    """Discards output."""


@dataclass(frozen=True)
class MachineTally:
    """The progress of a run, as saved in checkpoints."""

    steps: int = 0
    instructions: int = 0
    inputs: int = 0
    outputs: int = 0
    least: int | None = None  # the range of n, if the engine records it
    most: int | None = None
    margin: float | None = None  # the smallest margin so far, if outputs are rounded
    wrong: int = 0  # steps that differ from the rules; checked if an engine can be wrong
    seconds: float = 0.0


@dataclass(frozen=True)
class MachineEnding:
    """Why a run ended: halt, fault (an operand forbidden in a strict dialect), limit, time, stopped or stuck."""

    reason: str
    tally: MachineTally
    pc: int | None = None  # the final address, or the address of the next instruction
    memory: list[int] = field(default_factory=list)  # the memory of a halted machine


def at_rest(machine: MachineV, engine: Engine, halted: BoolArray | Batch) -> BoolArray:  # (runs, k)
    """Selects halted machines whose state no longer changes: their last result may still be in transit."""
    return drive(engine, halted, FixedPoint(), machine.timing.steps + machine.shape.width - 1).states


def with_result_landed(machine: MachineV, engine: Engine, states: BoolArray) -> BoolArray:  # (runs, k)
    """Machines at a boundary, after enough steps for the last result to reach memory."""
    steps = machine.timing.depth + 1
    return drive(engine, states, StepCount(steps), steps).states


def halted_how(machine: MachineV, state: BoolArray) -> str:
    """`halt`, or `fault` for an operand that a strict dialect forbids."""
    return "fault" if machine.fault is not None and state[machine.fault] else "halt"


class _Steps(Observer):
    """Counts the steps of a single run, and records the range of n if the engine provides it."""

    def __init__(self, before: MachineTally) -> None:
        self.made, self.least, self.most = before.steps, before.least, before.most

    def start(self, view: View) -> None:
        self._at = view.step

    def after(self, view: View) -> None:
        self.made += view.step - self._at
        self._at = view.step
        if view.batch.matches is not None:
            low, high = view.batch.matches
            self.least = low if self.least is None else min(self.least, low)
            self.most = high if self.most is None else max(self.most, high)

    def repeated(self, view: View, times: int) -> None:  # noqa: ARG002
        self.made += times


class _Clock(Observer):
    """The duration of a run in seconds, without the time that its host waits."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.spent = 0.0

    def start(self, view: View) -> None:  # noqa: ARG002
        self._begin = time.monotonic() - self.spent - self._host.waited

    def after(self, view: View) -> None:  # noqa: ARG002
        self.spent = time.monotonic() - self._begin - self._host.waited


class Computer:
    """One machine, one engine and the current state."""

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
        """With `truth`, a second engine repeats every step from the same state, and differences are counted."""
        self.machine, self._engine = machine, engine
        self._before = tally or MachineTally()
        self._batch = engine.begin(state[np.newaxis], long=True)
        self._host = Host(machine, lambda _: read(), lambda _, byte: write(byte))
        self._steps, self._margins, self._clock = _Steps(self._before), Margins(), _Clock(self._host)
        self._instructions = Instructions(machine, 1)
        self._comparison = StepComparison(lambda states, _: successors(truth, states)) if truth else None
        counting = (self._instructions, self._steps, self._margins, self._comparison)
        self._counting = [observer for observer in counting if observer is not None]

    @property
    def tally(self) -> MachineTally:
        """The progress of the run, including steps before this computer resumed it."""
        before, margins = self._before, [self._before.margin]
        if self._margins.smallest is not None and np.isfinite(self._margins.smallest[0]):
            margins.append(float(self._margins.smallest[0]))
        return MachineTally(
            steps=self._steps.made,
            instructions=before.instructions + int(self._instructions.done[0]),
            inputs=before.inputs + self._host.inputs,
            outputs=before.outputs + self._host.outputs,
            least=self._steps.least,
            most=self._steps.most,
            margin=min((margin for margin in margins if margin is not None), default=None),
            wrong=before.wrong + (self._comparison.wrong_steps if self._comparison else 0),
            seconds=before.seconds + self._clock.spent,
        )

    def state(self) -> BoolArray:  # (k,)
        return np.asarray(self._batch.states()[0])

    def run(
        self,
        instructions: int | None = None,
        seconds: float | None = None,
        look: Callable[[MachineTally], bool] | None = None,
    ) -> MachineEnding:
        """Continues the run until it ends, or for the given number of instructions or seconds.

        Args:
            look: called a few times a second with the progress; stops the run by returning False.
        """
        endings: dict[str, Ending] = {"halt": HaltBit(self.machine.halt), "stuck": Stuck()}  # in the order of checks
        if seconds is not None:
            last = self._clock.spent + seconds
            endings["time"] = When(lambda: self._clock.spent >= last)
        if look is not None:
            endings["stopped"] = When(lambda: not look(self.tally))
        if instructions is not None:
            most = int(self._instructions.done[0]) + instructions
            endings["limit"] = InstructionLimit(self.machine, self._instructions, most)
        ending = FirstOf(endings)
        drive(self._engine, self._batch, ending, ENDLESS, [*self._counting, self._clock, self._host])
        reason = ending.reason[0]
        if reason in ("time", "stopped"):
            reason = self._to_a_boundary(reason)
        if reason != "halt":
            return self.interrupted(reason)
        at_rest(self.machine, self._engine, self._batch)
        state, machine = self.state(), self.machine
        return MachineEnding(halted_how(machine, state), self.tally, machine.position(state), machine.memory(state))

    def _to_a_boundary(self, reason: str) -> str:
        """Continues until the state is readable: the current instruction is done, waits for its host or halts."""
        ending = FirstOf(
            {
                "halt": HaltBit(self.machine.halt),
                "boundary": HaltBit(self.machine.boundary),
                **{f"port {bit}": HaltBit(bit, at_start=False) for bit in self._host.stops},
            }
        )
        drive(self._engine, self._batch, ending, 2 * self.machine.timing.steps, self._counting)
        return "halt" if ending.reason.get(0) == "halt" else reason

    @property
    def pc(self) -> int | None:
        """The address of the instruction that begins, or that waits for its host; None during an instruction."""
        return self.machine.position(self.state())

    def memory(self) -> list[int]:
        """The words, unsigned, after the last whole instruction."""
        state, machine = self.state(), self.machine
        if state[machine.boundary]:  # the last result is still in the address tree; let it arrive, on a copy
            state = with_result_landed(machine, self._engine, state[np.newaxis])[0]
        return machine.memory(state)

    def interrupted(self, reason: str = "stopped") -> MachineEnding:
        """A result that can be resumed, such as after an exception of the reader at a request."""
        return MachineEnding(reason, self.tally, self.pc)


def successors(engine: Engine, states: BoolArray) -> BoolArray:  # (batch, k)
    """The successors of states by an engine."""
    batch = engine.begin(states)
    batch.step()
    return batch.states()


FORMAT = "bitwright run 2"
_KIND = "a checkpoint of a run"
_MOST_ABOUT = 1 << 14
_COUNT = whole(0, 2**62)
_ABOUT: dict[str, Check] = {
    **dict.fromkeys(("format", "dialect", "program", "image"), text(256)),
    **dict.fromkeys(("words", "width"), _COUNT),
    "tally": lambda value: None if type(value) is dict else "an object",
}
_TALLY: dict[str, Check] = {
    **dict.fromkeys(("steps", "instructions", "inputs", "outputs", "wrong"), _COUNT),
    **dict.fromkeys(("least", "most"), optional(_COUNT)),
    "margin": optional(real(-(2**62), 2**62)),
    "seconds": real(0, 2**62),
}


def fingerprint(program: Program) -> str:
    """sha256 of a program's arrays: faster than its id, which hashes a text of many megabytes."""
    digest = hashlib.sha256()
    blocks, templates = (program.block_start, program.block_bits), (program.template_block, program.template_config)
    for array in (*blocks, *templates, program.write_start, program.write_bits):
        digest.update(array.tobytes())
    return digest.hexdigest()


def image_hash(machine: MachineV, image: Sequence[int]) -> str:
    """sha256 of the initial memory; trailing zeros do not count."""
    words = [word % (1 << machine.shape.width) for word in image]
    while words and not words[-1]:
        words.pop()
    return hashlib.sha256(np.array(words, dtype="<u8").tobytes()).hexdigest()


def save_checkpoint(path: Path, machine: MachineV, state: BoolArray, tally: MachineTally, image: str) -> None:
    """Writes the file completely or not at all; `image` is the hash of the initial memory."""
    about = {
        "format": FORMAT,
        **_machine(machine),
        "program": fingerprint(machine.program),
        "image": image,
        "tally": asdict(tally),
    }
    packed = pack_arrays({"about": json.dumps(about).encode(), "state": np.packbits(state).tobytes()})
    write_atomically(path, packed)


def load_checkpoint(path: Path, machine: MachineV, image: str | None = None) -> tuple[BoolArray, MachineTally, str]:
    """The state, the tally and the image's hash of a file for this machine; raises InputError for any other machine.

    With `image`, a hash, it also rejects runs of other images. A file larger than any checkpoint of this machine
    is not unpacked.
    """
    shown, bits = printable(str(path)), machine.program.bits
    with ArrayFile(path, ("about", "state"), _KIND) as file:
        about = parse(file.read("about", _MOST_ABOUT), shown, _KIND)
        _check(about, machine, image, shown)
        packed = np.frombuffer(file.read("state", -(-bits // 8)), dtype=np.uint8)
    if len(packed) != -(-bits // 8):
        raise InputError(f"{shown} is not {_KIND}: its state does not have {bits:,} bits")
    return np.unpackbits(packed, count=bits).astype(bool), MachineTally(**about["tally"]), about["image"]


def _check(about: dict[str, Any], machine: MachineV, image: str | None, shown: str) -> None:
    """Raises InputError unless the metadata is that of a checkpoint of the machine."""
    if not str(about.get("format")).startswith("bitwright run "):
        raise InputError(f"{shown} is not {_KIND}: its metadata is missing")
    if about["format"] != FORMAT:
        raise InputError(f"{shown} was made by another version of bitwright; start the run again")
    check_fields(about, shown, _KIND, _ABOUT)
    check_fields(about["tally"], shown, _KIND, _TALLY)
    mine = _machine(machine)
    theirs = {name: about[name] for name in mine}
    if mine != theirs:
        given = printable("V:{words}x{width}:{dialect}".format(**theirs))
        raise InputError(f"{shown} belongs to another machine; run it with {option('machine')} {given}")
    if about["program"] != fingerprint(machine.program):
        raise InputError(f"{shown} was made by another version of this machine; start the run again")
    if image is not None and about["image"] != image:
        raise InputError(f"{shown} is a run of another program; give its original image")


def _machine(machine: MachineV) -> dict[str, object]:
    shape = machine.shape
    return {"words": shape.words, "width": shape.width, "dialect": shape.dialect.flags}
