"""Runs machine V: an engine makes the steps, and a host answers requests for input and output.

A run ends at a halt, at a limit, on request, or when no bit changes. It can be resumed at any step, even from a file,
a checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray, from_bits
from bitwright.common.errors import InputError, option, printable
from bitwright.common.files.arrays import ArrayFile, pack_arrays
from bitwright.common.files.documents import Check, check_fields, optional, parse, real, text, whole
from bitwright.common.files.storage import write_atomically
from bitwright.engines.protocol import Engine
from bitwright.engines.table.batch import TableBatch
from bitwright.machines.subleq.machine import MachineV, Ports
from bitwright.machines.subleq.memo import with_memo
from bitwright.rules import Program
from bitwright.runs.loop import ENDLESS, Ending, FixedPoint, StepCount, drive
from bitwright.runs.observers import Margins, Observer, StepComparison, View

Reader = Callable[[], int | None]  # the next byte of input; None at its end
Writer = Callable[[int], None]  # takes a byte of output


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


class _Host(Observer):
    """Answers the requests of a machine immediately, unless it has halted or has no ports."""

    def __init__(self, machine: MachineV, read: Reader, write: Writer) -> None:
        self._machine, self._read, self._write = machine, read, write
        self.stops = (machine.ports.request, machine.ports.offer) if machine.ports else ()
        self.inputs = self.outputs = 0  # bytes so far
        self.waited = 0.0  # seconds spent in reading and writing

    def after(self, view: View) -> None:
        view.answered, ports, batch = None, self._machine.ports, view.batch
        if ports is None or batch.bit(self._machine.halt)[0]:
            return
        begin = time.monotonic()
        try:
            if batch.bit(ports.request)[0]:
                bits = self._input(ports)
            elif batch.bit(ports.offer)[0]:
                bits = [ports.taken]
                self._write(from_bits(batch.read(ports.shown)) & 0xFF)
                self.outputs += 1
            else:
                return
        finally:
            self.waited += time.monotonic() - begin
        batch.turn_on(bits)
        view.answered = view.running

    def _input(self, ports: Ports) -> list[int]:
        """Returns the bits that pass the next byte to the machine."""
        byte = self._read()
        self.inputs += byte is not None
        word = -1 if byte is None else byte  # the end of input
        return [bit for place, bit in enumerate(ports.given.tolist()) if word >> place & 1] + [ports.give]


class _Counts(Observer):
    """Counts instructions and steps, and records the range of n if the engine provides it."""

    def __init__(self, machine: MachineV, before: MachineTally) -> None:
        self.counted = (machine.boundary,)  # a boundary ends one instruction and begins the next
        self.steps, self.instructions = before.steps, before.instructions
        self.least, self.most = before.least, before.most

    def start(self, view: View) -> None:
        self._at = view.step

    def after(self, view: View) -> None:
        self.steps += view.step - self._at
        self._at = view.step
        self.instructions += view.batch.counted
        if view.batch.matches is not None:
            low, high = view.batch.matches
            self.least = low if self.least is None else min(self.least, low)
            self.most = high if self.most is None else max(self.most, high)


class _FirstReason(Ending):
    """Ends the run for the first reason that applies; `most_steps` bounds a leap."""

    ends_at_rest = True

    def __init__(
        self,
        reasons: Mapping[str, Callable[[View], bool]],
        stops: tuple[int, ...],
        most_steps: Callable[[], int] = lambda: ENDLESS,
    ) -> None:
        self._reasons, self.stops, self._most_steps, self.reason = reasons, stops, most_steps, ""

    def at_start(self, view: View) -> BoolArray | None:
        return self.reached(view)

    def reached(self, view: View) -> BoolArray | None:
        self.reason = next((name for name, applies in self._reasons.items() if applies(view)), "")
        return view.running if self.reason else None

    def most_steps(self, view: View) -> int:  # noqa: ARG002
        return self._most_steps()


class Computer:
    """One machine, one engine and the current state."""

    def __init__(
        self,
        machine: MachineV,
        engine: Engine,
        state: BoolArray,
        read: Reader = lambda: None,
        write: Writer = lambda _: None,
        tally: MachineTally | None = None,
        truth: Engine | None = None,
    ) -> None:
        """With `truth`, a second engine repeats every step from the same state, and differences are counted."""
        self.machine, self._engine = machine, engine
        self._before = tally or MachineTally()
        self._batch = engine.begin(state[np.newaxis], long=True)
        if isinstance(self._batch, TableBatch):
            self._batch.memo = with_memo
        self._host, self._counts, self._margins = _Host(machine, read, write), _Counts(machine, self._before), Margins()
        self._comparison = StepComparison(lambda states, _: successors(truth, states)) if truth else None
        self._counting: list[Observer] = [self._counts, self._margins]
        self._counting += [self._comparison] if self._comparison else []
        self._seconds = 0.0  # of earlier calls of `run`
        self._since: float | None = None

    @property
    def tally(self) -> MachineTally:
        """The progress of the run, including steps before this computer resumed it."""
        before, counts, margins = self._before, self._counts, [self._before.margin]
        if self._margins.smallest is not None and np.isfinite(self._margins.smallest[0]):
            margins.append(float(self._margins.smallest[0]))
        return MachineTally(
            steps=counts.steps,
            instructions=counts.instructions,
            inputs=before.inputs + self._host.inputs,
            outputs=before.outputs + self._host.outputs,
            least=counts.least,
            most=counts.most,
            margin=min((margin for margin in margins if margin is not None), default=None),
            wrong=before.wrong + (self._comparison.wrong_steps if self._comparison else 0),
            seconds=before.seconds + self._spent(),
        )

    def _spent(self) -> float:
        """Returns the duration of the run in seconds, excluding the time spent in the host."""
        running = 0.0 if self._since is None else time.monotonic() - self._since
        return max(0.0, self._seconds + running - self._host.waited)

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
        machine, counts, timing = self.machine, self._counts, self.machine.timing
        most = ENDLESS if instructions is None else counts.instructions + instructions
        end = None if seconds is None else self._spent() + seconds
        shortest = min(timing.steps, timing.steps_of_input, timing.steps_of_output)
        ending = _FirstReason(
            {
                "halt": lambda view: bool(view.batch.bit(machine.halt)[0]),
                "stuck": lambda view: view.step > 0 and view.answered is None and bool(view.batch.unchanged()[0]),
                "time": lambda _: end is not None and self._spent() >= end,
                "stopped": lambda view: view.step > 0 and look is not None and not look(self.tally),
                "limit": lambda _: counts.instructions >= most,
            },
            (machine.halt,),
            # the next boundary can be one step away, the ones after it cannot
            lambda: max(1, (most - counts.instructions - 1) * shortest + 1),
        )
        self._since = time.monotonic()
        try:
            drive(self._engine, self._batch, ending, ENDLESS, [*self._counting, self._host])
        finally:
            self._seconds += time.monotonic() - self._since
            self._since = None
        reason = ending.reason
        if reason in ("time", "stopped"):
            reason = self._to_a_boundary(reason)
        if reason != "halt":
            return self.interrupted(reason)
        # the last result may not have reached memory yet
        drive(self._engine, self._batch, FixedPoint(), timing.steps + machine.shape.width - 1)
        state = self.state()
        how = "fault" if machine.fault is not None and state[machine.fault] else "halt"
        return MachineEnding(how, self.tally, machine.position(state), machine.memory(state))

    def _to_a_boundary(self, reason: str) -> str:
        """Continues until the state is readable: the current instruction is done, waits for its host or halts."""
        machine, ports = self.machine, self._host.stops
        ending = _FirstReason(
            {
                "halt": lambda view: bool(view.batch.bit(machine.halt)[0]),
                "boundary": lambda view: bool(view.batch.bit(machine.boundary)[0]),
                "port": lambda view: view.step > 0 and any(view.batch.bit(bit)[0] for bit in ports),
            },
            (machine.halt, machine.boundary, *ports),
        )
        drive(self._engine, self._batch, ending, 2 * machine.timing.steps, self._counting)
        return "halt" if ending.reason == "halt" else reason

    @property
    def pc(self) -> int | None:
        """The address of the instruction that begins, or that waits for its host; None during an instruction."""
        return self.machine.position(self.state())

    def memory(self) -> list[int]:
        """Returns the unsigned words after the last complete instruction."""
        state, machine = self.state(), self.machine
        if state[machine.boundary]:  # the last result is still in the address tree: continue on a copy until it arrives
            steps = machine.timing.depth + 1
            state = drive(self._engine, state[np.newaxis], StepCount(steps), steps).states[0]
        return machine.memory(state)

    def interrupted(self, reason: str = "stopped") -> MachineEnding:
        """Returns the ending of a run that can be resumed, such as after an exception in the reader."""
        return MachineEnding(reason, self.tally, self.pc)


def successors(engine: Engine, states: BoolArray) -> BoolArray:  # (batch, k)
    """Returns the successors of states, computed by an engine."""
    batch = engine.begin(states)
    batch.step()
    return batch.states()


FORMAT = "bitwright run 3"
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
    """Returns the sha256 of a program's arrays, which is faster than its id, a hash of its entire text."""
    digest = hashlib.sha256()
    blocks, templates = (program.block_start, program.block_bits), (program.template_block, program.template_config)
    for array in (*blocks, *templates, program.write_start, program.write_bits):
        digest.update(array.tobytes())
    return digest.hexdigest()


def image_hash(machine: MachineV, image: Sequence[int]) -> str:
    """Returns the sha256 of the initial memory, without trailing zeros."""
    words = [word % (1 << machine.shape.width) for word in image]
    while words and not words[-1]:
        words.pop()
    return hashlib.sha256(np.array(words, dtype="<u8").tobytes()).hexdigest()


def save_checkpoint(path: Path, machine: MachineV, state: BoolArray, tally: MachineTally, image: str) -> None:
    """Writes a checkpoint completely or not at all; `image` is the hash of the initial memory."""
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
    """Reads the state, the tally and the hash of the image; raises InputError for checkpoints of other machines.

    With `image`, a hash, it also rejects runs of other images. It does not unpack files that are larger than any
    checkpoint of this machine.
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
    """Raises InputError unless the metadata describes a checkpoint of the machine."""
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
    return {"words": shape.words, "width": shape.width, "dialect": shape.dialect.name}
