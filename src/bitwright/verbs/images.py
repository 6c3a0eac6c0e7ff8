"""Runs SUBLEQ images on machine V, with a console and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.bits import parse_number, shorten
from bitwright.common.errors import InputError, Report, counted, option, suggestion
from bitwright.common.files.storage import as_path, check_output
from bitwright.engines.cells.engine import cells_sentence
from bitwright.engines.rules import RuleEngine
from bitwright.machines.programs import SubleqProgram as SubleqProgram
from bitwright.machines.programs import with_padding as with_padding
from bitwright.machines.subleq import Shape
from bitwright.machines.subleq import image_text as image_text
from bitwright.machines.subleq import misfits as misfits
from bitwright.machines.subleq.computer import Computer, image_hash, load_checkpoint, save_checkpoint
from bitwright.machines.subleq.computer import MachineTally as MachineTally
from bitwright.machines.subleq.machine import bytes_available
from bitwright.proofs.width import suggested_width
from bitwright.rules.pattern import Pattern
from bitwright.runs.progress import Progress
from bitwright.runs.run import program_id
from bitwright.verbs.engines import engine_for
from bitwright.verbs.progress import Teller, teller

if TYPE_CHECKING:
    from bitwright.engines.protocol import Engine
    from bitwright.machines.subleq import MachineV
    from bitwright.machines.subleq.computer import Computer, MachineEnding

SAVE_EVERY = 60.0  # seconds between two checkpoints
_IN_A_LINE = 8


class ImageConsole:
    """The console of a machine: it supplies input bytes and collects the output."""

    def __init__(self, given: bytes = b"") -> None:
        self.collected, self._given = bytearray(), iter(given)

    def __enter__(self) -> ImageConsole:
        return self

    def __exit__(self, *_: object) -> None:
        """The run is over."""

    def read(self) -> int | None:
        """The next byte; None at the end."""
        return next(self._given, None)

    def write(self, byte: int) -> None:
        """Collects a byte of output."""
        self.collected.append(byte)

    def flush(self) -> None:
        """Flushes the output before a checkpoint records it as written."""

    def look(self, now: MachineTally) -> bool:  # noqa: ARG002
        """Called a few times a second with the progress; returning False stops the run."""
        return True


@dataclass(frozen=True, repr=False)
class ComputerRun(Report):
    """The result of a run of machine V."""

    name: str
    machine: MachineV
    engine: Engine
    ending: MachineEnding
    image_id: str  # the hash of the initial memory
    words: Sequence[MemoryRange]  # the requested words
    output: bytes = b""

    def __bool__(self) -> bool:
        """Whether the run halted and every step agreed with the rules."""
        return self.halted and not self.ending.tally.wrong

    @property
    def halted(self) -> bool:
        return self.ending.reason in ("halt", "fault")

    @property
    def pc(self) -> int | None:
        """The current address of the machine."""
        return self.ending.pc

    def report(self) -> list[str]:
        """Returns how the run ended, and the engine that ran it."""
        tally, machine, engine = self.ending.tally, self.machine, self.engine
        how = {
            "halt": f"halted at address {self.pc}",
            "fault": f"halted at address {self.pc}, at an operand out of range",
        }
        rate = f" ({tally.steps / tally.seconds / 1e6:.2f} million a second)" if tally.seconds > 0.5 else ""
        rounded = "" if engine.rounding is None else f", {engine.rounding} rounding"
        margin = "" if tally.margin is None else f", smallest margin {tally.margin:.3g}"
        matches = "" if tally.least is None else f", n = {tally.least:,} to {tally.most:,}"
        traffic = f", {counted(tally.inputs, 'byte')} in, {tally.outputs:,} out" if machine.ports else ""
        templates = counted(machine.program.templates, "template")
        done = f"{counted(tally.instructions, 'instruction')}, {counted(tally.steps, 'step')} in {tally.seconds:.3g} s"
        return [
            f"machine V, {machine.shape}: {how.get(self.ending.reason, 'not halted')} after {done}{rate}",
            f"{templates}, engine {engine.name}{rounded}{matches}{margin}{traffic}",
            *([] if engine.cell_facts is None else [cells_sentence(engine.cell_facts, tally.steps, tally.margin)]),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as `run --json` prints it."""
        machine, engine, tally = self.machine, self.engine, self.ending.tally
        return {
            "name": self.name,
            "program_id": program_id(machine.program),
            "image_id": self.image_id,
            "machine": "V",
            "words": machine.shape.words,
            "word_width": machine.shape.width,
            "dialect": machine.shape.dialect.name,
            "ended": self.ending.reason,
            "halted": self.halted,
            "pc": self.pc,
            "memory": [{"asked": one.asked, "address": one.first, "words": one.words} for one in self.words],
            "output": self.output.decode("latin-1"),
            "engine": engine.name,
            "rounding": engine.rounding,
            "examples": engine.examples,
            **({} if engine.cell_facts is None else {"cells": dict(engine.cell_facts)}),
            "seed": engine.seed,
            "templates": machine.program.templates,
            "steps": tally.steps,
            "instructions": tally.instructions,
            "bytes_in": tally.inputs,
            "bytes_out": tally.outputs,
            "n_min": tally.least,
            "n_max": tally.most,
            "margin": tally.margin,
            "wrong": tally.wrong,
            "seconds": tally.seconds,
        }


def run_image(
    program: SubleqProgram,
    console: ImageConsole | None = None,
    *,
    engine: str | Engine | None = None,
    network: Any = None,
    instructions: int | None = None,
    seconds: float | None = None,
    resume: str | PathLike[str] | None = None,
    memory: Sequence[str] = (),
    progress: Teller | Progress | bool | None = None,
    **settings: Any,
) -> ComputerRun:
    """Runs an image until it halts, for at most `instructions` or `seconds`.

    `memory` selects words to return at the end as signed numbers: `FROM:TO`, an address or a label. `resume` is a .npz
    file to which the run is saved, about once a minute and at its end, and from which it continues if the file exists.

    >>> from bitwright.verbs.open import MachineChoice, open_subleq
    >>> from pathlib import Path
    >>> _ = Path("halt.dec").write_text("0 0 -1")
    >>> run_image(open_subleq("halt.dec", MachineChoice("V", 8, 5, "howerj"))).halted
    True
    """
    tell, console = teller(progress), ImageConsole() if console is None else console
    kept = None if resume is None else as_path(resume, "a file that keeps the run")
    if kept is not None:
        check_output(kept, ".npz", "resume")
    going_on = kept is not None and kept.exists()
    machine, labels = program.machine, program.labels
    if not program.image and not going_on:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
    ranges = [find_words(text, labels, machine.shape) for text in memory]
    chosen = _engine(machine, engine, network, settings, tell)
    state, tally, began_with = _start(program, kept if going_on else None, tell)
    truth = RuleEngine(machine.program) if chosen.fallible else None
    computer = Computer(machine, chosen, state, console.read, console.write, tally, truth)
    saved = time.monotonic()

    def save(path: Path) -> None:
        save_checkpoint(path, machine, computer.state(), computer.tally, began_with)

    def look(now: MachineTally) -> bool:
        nonlocal saved
        going = console.look(now)
        if kept is not None and time.monotonic() - saved >= SAVE_EVERY:
            console.flush()  # first, because output that a checkpoint records as written must not be lost
            save(kept)
            saved = time.monotonic()
        return going

    with console:
        try:
            ending = computer.run(instructions, seconds, look)
        except KeyboardInterrupt:  # only while waiting for input, when no instruction is incomplete
            ending = computer.interrupted()
    if kept is not None:
        save(kept)
        tell.note(f"wrote {kept}")
    left = (ending.memory or computer.memory()) if ranges else []
    words = [replace(one, words=[*map(machine.shape.signed, left[one.first : one.last + 1])]) for one in ranges]
    return ComputerRun(program.name, machine, chosen, ending, began_with, words, bytes(console.collected))


def _engine(
    machine: MachineV, engine: str | Engine | None, network: Any, settings: Mapping[str, Any], tell: Teller
) -> Engine:
    """Returns the engine that runs the machine; its K does not depend on the image."""
    algorithm = machine.algorithm()
    if engine == "network" and network is None and settings.get("tile") == "all":
        _check_training(machine, settings.get("width"))
    padded = with_padding(algorithm) if settings.get("rounding") == "sign" else algorithm
    return engine_for(padded, engine, network, settings, tell)


def _check_training(machine: MachineV, hidden: int | None) -> None:
    """Raises InputError if training would not fit in memory: weights, momenta, gradients and a copy."""
    program = machine.program
    width = hidden or suggested_width(Pattern.of_state(program), machine.algorithm())
    needed, there = 16 * width * (program.templates + program.bits), bytes_available()
    if there is not None and needed > there:
        raise InputError(
            f"training a network of width {width:,} for {machine.shape} takes about {needed / 1e9:.0f} GB, and "
            f"{there / 1e9:.0f} GB are free; give a trained network with {option('network')}, or fewer "
            f"{option('words')}"
        )


def _start(program: SubleqProgram, resume: Path | None, tell: Teller) -> tuple[Any, MachineTally | None, str]:
    """Returns the start state, the tally so far, and the hash of the initial image."""
    machine, image = program.machine, program.image
    if resume is None:
        for line in misfits(machine.shape, image):
            tell.note(f"note: {line}")
        return machine.start(image), None, image_hash(machine, image)
    state, tally, began_with = load_checkpoint(resume, machine, image_hash(machine, image) if image else None)
    traffic = f"{counted(tally.inputs, 'byte')} of input and {counted(tally.outputs, 'byte')} of output"
    tell.note(f"continuing after {counted(tally.instructions, 'instruction')}, {traffic}")
    return state, tally, began_with


@dataclass(frozen=True)
class MemoryRange:
    """The words from `first` to `last`, inclusive, and the text that requested them."""

    asked: str
    first: int
    last: int
    words: Sequence[int] = ()

    def lines(self, bare: bool) -> Iterator[str]:
        """Yields lines of a few words, each after its first address; a single word comes after its requested name."""
        for at in range(0, len(self.words), _IN_A_LINE):
            shown = " ".join(map(str, self.words[at : at + _IN_A_LINE]))
            place = self.asked if self.first == self.last else self.first + at
            yield shown if bare else f"{place}: {shown}"


def find_words(text: str, labels: Mapping[str, int], shape: Shape) -> MemoryRange:
    """Parses a range of words: `FROM:TO`, `ADDRESS` or a label."""
    first, colon, last = text.partition(":")
    begin = _find_address(first, labels)
    end = _find_address(last, labels) if colon else begin
    if end < begin:
        raise InputError(f"{option('memory')} takes FROM:TO with FROM before TO, got '{shorten(text)}'")
    if end >= shape.words:
        raise InputError(f"{option('memory')} takes addresses from 0 to {shape.words - 1:,}, got {shorten(end)}")
    return MemoryRange(text, begin, end)


def _find_address(text: str, labels: Mapping[str, int]) -> int:
    """Parses an address: a number or a label."""
    text = text.strip()
    if text in labels:
        return labels[text]
    if text[:1].isdigit():
        return parse_number(text, option("memory"))
    known = "a number such as 12 or a label" if labels else "a number such as 12 (only .sq files have labels)"
    raise InputError(f"{option('memory')} takes {known}, got '{shorten(text)}'{suggestion(text, list(labels))}")
