"""`bitwright run IMAGE`: a SUBLEQ image on machine V, at the terminal or in a pipe."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.api.open import MachineChoice, open_subleq, with_padding
from bitwright.cli.progress import working
from bitwright.cli.reporting import PREPARING, engine_choice, note
from bitwright.cli.terminal import terminal_of
from bitwright.cli.training import cached_shown
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.engines import EngineChoice
    from bitwright.engines.protocol import Engine
    from bitwright.machines.subleq import MachineV
    from bitwright.running.computer import MachineTally

_SAVE_EVERY = 60.0  # seconds between two checkpoints


def run_image(
    target: str,
    choice: MachineChoice | None,
    *,
    max_instructions: int | None,
    max_seconds: float | None,
    checkpoint: Path | None,
    resume: Path | None,
    memory: tuple[str, ...],
    signed: bool,
    start: str | None,
    width: int | None,
    max_steps: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Loads, runs and reports; exit 0 for a halt, 1 for any other end, 130 after Ctrl-C, 143 after SIGTERM."""
    from bitwright.api.engines import EngineChoice
    from bitwright.cli.image_report import Asked, report
    from bitwright.cli.memory import find_address, find_words
    from bitwright.engines.rules import RuleEngine
    from bitwright.files.storage import check_writable
    from bitwright.machines.subleq.dialect import MAX_WIDTH
    from bitwright.running.computer import Computer, RunLimits

    if max_steps is not None:
        raise InputError("an image is stopped by --max-instructions or --max-seconds; leave out --max-steps")
    if checkpoint is not None and checkpoint.suffix != ".npz":
        raise InputError(f"--checkpoint takes a .npz file, got {checkpoint}")
    if checkpoint is not None:
        check_writable(checkpoint)
    chosen = choice or MachineChoice()
    # --width is the word's, unless that has a name of its own.
    hidden = width if chosen.word_width is not None else None
    if hidden is not None and not EngineChoice(options["engine"]).runs_trained:
        raise InputError("beside --word-width, --width is that of a network to train; leave it out without one")
    if hidden is None and width is not None and width > MAX_WIDTH:
        raise InputError(f"--width is of a word, at most {MAX_WIDTH}, got {width}; for a network add --word-width")
    if hidden is None and width is not None:
        chosen = replace(chosen, word_width=width)
    program = open_subleq(target, chosen)
    machine, image, labels = program.machine, program.image, program.labels
    if not image and resume is None:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
    if start is not None and resume is not None:
        raise InputError("a run that is taken up goes on where it was; leave out --start")
    words = [find_words(text, labels, machine.shape) for text in memory]
    first = 0 if start is None else find_address(start, labels, "--start")
    if signed and not words and not as_json:
        raise InputError("--signed goes with --memory or --json")
    engine = _engine(machine, engine_choice({**options, "width": hidden}, quiet))
    truth = RuleEngine(machine.program) if engine.fallible else None
    state, tally, began_with = _start(machine, image, first, resume, quiet)
    asked = Asked(target, began_with, None if resume else first, words, signed, engine.seed, as_json, quiet)
    with terminal_of(as_json) as terminal:
        computer = Computer(machine, engine, state, terminal.read, terminal.write, tally, truth)
        saved = time.monotonic()

        def look(now: MachineTally) -> bool:
            nonlocal saved
            terminal.progress(now, max_instructions or 0, quiet)
            if checkpoint is not None and time.monotonic() - saved >= _SAVE_EVERY:
                terminal.flush()  # first: what a checkpoint says was written must not be lost with this process
                _save(checkpoint, machine, computer, began_with)
                saved = time.monotonic()
            return not terminal.stopped

        try:
            ending = computer.run(RunLimits(max_instructions, max_seconds), look)
        except KeyboardInterrupt:  # only while waiting for input, so nothing is half done
            ending = computer.interrupted()
    if checkpoint is not None:
        _save(checkpoint, machine, computer, began_with)
        note(f"wrote {checkpoint}", quiet)
    return report(asked, computer, engine, ending, terminal)


def _engine(machine: MachineV, choice: EngineChoice) -> Engine:
    """The engine that runs the machine; its K is that of the machine without an image, which has no part in it."""
    from bitwright.api.engines import choose_engine

    algorithm = machine.algorithm()
    if choice.trains and not choice.by_cells:
        _check_training(machine, choice.width)
    with working(PREPARING):
        return choose_engine(
            with_padding(algorithm) if choice.rounding == "sign" else algorithm, choice, train=cached_shown
        )


def _check_training(machine: MachineV, hidden: int | None) -> None:
    """Raises InputError where the network to train would not fit: weights, their speeds, gradients and a copy."""
    from bitwright.checking.width import suggested_width
    from bitwright.machines.subleq.resources import bytes_available

    program = machine.program
    width = hidden or suggested_width(machine.algorithm())
    needed, there = 16 * width * (program.templates + program.bits), bytes_available()
    if there is not None and needed > there:
        raise InputError(
            f"training a network of width {width:,} for {machine.shape} takes about {needed / 1e9:.0f} GB, and "
            f"{there / 1e9:.0f} GB are free; give a trained one by --network, or fewer --words"
        )


def _start(
    machine: MachineV, image: list[int], first: int, resume: Path | None, quiet: bool
) -> tuple[Any, MachineTally | None, str]:
    """The state to go on from, what was done before, and the hash of the image that the run began with."""
    from bitwright.machines.subleq import misfits
    from bitwright.running.checkpoint import image_hash, load_checkpoint

    if resume is None:
        for line in misfits(machine.shape, image):
            note(f"note: {line}", quiet)
        return machine.start(image, first), None, image_hash(machine, image)
    state, tally, began_with = load_checkpoint(resume, machine, image_hash(machine, image) if image else None)
    traffic = f"{counted(tally.inputs, 'byte')} of input and {counted(tally.outputs, 'byte')} of output"
    note(f"goes on after {counted(tally.instructions, 'instruction')}, {traffic}", quiet)
    return state, tally, began_with


def _save(path: Path, machine: MachineV, computer: Any, began_with: str) -> None:
    from bitwright.running.checkpoint import save_checkpoint

    save_checkpoint(path, machine, computer.state(), computer.tally, began_with)
