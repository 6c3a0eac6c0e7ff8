"""`bitwright run IMAGE`: a SUBLEQ image on machine V, at the terminal or in a pipe."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.cli.reporting import note
from bitwright.cli.targets import computer_size, find_computer
from bitwright.cli.terminal import terminal_of
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.execution.computer import Tally
    from bitwright.execution.engine import Engine
    from bitwright.machines.subleq import MachineV

_SAVE_EVERY = 60.0  # seconds between two checkpoints


def run_image(
    target: str,
    choice: str | None,
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
    from bitwright.cli.computer_report import Asked, report
    from bitwright.cli.memory import find_address, find_words
    from bitwright.execution.computer import Computer, Limits
    from bitwright.files.storage import check_writable
    from bitwright.machines.subleq.dialect import MAX_WIDTH

    if max_steps is not None:
        raise InputError("an image is stopped by --max-instructions or --max-seconds; leave out --max-steps")
    if checkpoint is not None and checkpoint.suffix != ".npz":
        raise InputError(f"--checkpoint takes a .npz file, got {checkpoint}")
    if checkpoint is not None:
        check_writable(checkpoint)
    named = getattr(choice, "word_width", None)
    hidden = width if named is not None else None  # --width is the word's, unless that has a name of its own
    if hidden is not None and options["engine"] not in ("sampled", "network"):
        raise InputError("beside --word-width, --width is that of a network to train; leave it out without one")
    if hidden is None and width is not None and width > MAX_WIDTH:
        raise InputError(f"--width is of a word, at most {MAX_WIDTH}, got {width}; for a network add --word-width")
    machine, image, labels = find_computer(target, choice, word_width=width)
    if not image and resume is None:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
    if start is not None and resume is not None:
        raise InputError("a run that is taken up goes on where it was; leave out --start")
    words = [find_words(text, labels, machine.shape) for text in memory]
    first = 0 if start is None else find_address(start, labels, "--start")
    if signed and not words and not as_json:
        raise InputError("--signed goes with --memory or --json")
    engine, truth = _engines(machine, hidden, quiet, **options)
    state, tally, began_with = _start(machine, image, first, resume, quiet)
    drawn = options["seed"] if engine.name in ("sampled", "network") and not options["files"] else None
    asked = Asked(target, began_with, None if resume else first, words, signed, drawn, as_json, quiet)
    with terminal_of(as_json) as terminal:
        computer = Computer(machine, engine, state, terminal.read, terminal.write, tally, truth)
        saved = time.monotonic()

        def look(now: Tally) -> bool:
            nonlocal saved
            terminal.progress(now, quiet)
            if checkpoint is not None and time.monotonic() - saved >= _SAVE_EVERY:
                terminal.flush()  # first: what a checkpoint says was written must not be lost with this process
                _save(checkpoint, machine, computer, began_with)
                saved = time.monotonic()
            return not terminal.stopped

        try:
            ending = computer.run(Limits(max_instructions, max_seconds), look)
        except KeyboardInterrupt:  # only while waiting for input, so nothing is half done
            ending = computer.interrupted()
    if checkpoint is not None:
        _save(checkpoint, machine, computer, began_with)
        note(f"wrote {checkpoint}", quiet)
    return report(asked, computer, engine, ending, terminal)


def _engines(
    machine: MachineV,
    hidden: int | None,
    quiet: bool,
    *,
    engine: str,
    rounding: str,
    padding: int | None,
    files: tuple[Path, ...],
    networks: int,
    seed: int,
    device: str,
    precision: str,
) -> tuple[Engine, Engine | None]:
    """The engine that runs the machine; and the rules, to compare with where it can be wrong."""
    from bitwright.execution import Settings, make_engine
    from bitwright.theory import check_rounding

    fallible = engine in ("sampled", "network")
    if files and engine != "network":
        raise InputError("--network goes with --engine network")
    if engine != "network" and (device, precision) != ("cpu", "float32"):
        raise InputError("--device and --precision go with --engine network")
    if not fallible and (hidden is not None or networks != 1 or seed != 0):
        raise InputError("--width, --networks and --seed go with --engine sampled or network")
    if engine == "network" and not files:
        _check_training(machine, hidden)
        note("training a network on the spot, unless an earlier run has left one in the cache", quiet)
    chosen = check_rounding(rounding)
    examples = machine.program.templates if engine == "templates" else computer_size(machine, chosen, padding)
    settings = Settings(chosen, examples, networks, seed, files, hidden, device, precision)
    stepper = make_engine(engine, machine.program, settings)
    return stepper, make_engine("templates", machine.program) if fallible else None


def _check_training(machine: MachineV, hidden: int | None) -> None:
    """Raises InputError where the network to train would not fit: weights, their speeds, gradients and a copy."""
    from bitwright.learning.cache import suggested_width
    from bitwright.machines.subleq.resources import bytes_available

    program = machine.program
    width = hidden or suggested_width(program.templates)
    needed, there = 16 * width * (program.templates + program.bits), bytes_available()
    if there is not None and needed > there:
        raise InputError(
            f"training a network of width {width:,} for {machine.shape} takes about {needed / 1e9:.0f} GB, and "
            f"{there / 1e9:.0f} GB are free; give a trained one by --network, or fewer --words"
        )


def _start(
    machine: MachineV, image: list[int], first: int, resume: Path | None, quiet: bool
) -> tuple[Any, Tally | None, str]:
    """The state to go on from, what was done before, and the hash of the image that the run began with."""
    from bitwright.execution.checkpoint import image_hash, load_checkpoint
    from bitwright.machines.subleq import misfits

    if resume is None:
        for line in misfits(machine.shape, image):
            note(f"note: {line}", quiet)
        return machine.start(image, first), None, image_hash(machine, image)
    state, tally, began_with = load_checkpoint(resume, machine, image_hash(machine, image) if image else None)
    traffic = f"{counted(tally.inputs, 'byte')} of input and {counted(tally.outputs, 'byte')} of output"
    note(f"goes on after {counted(tally.instructions, 'instruction')}, {traffic}", quiet)
    return state, tally, began_with


def _save(path: Path, machine: MachineV, computer: Any, began_with: str) -> None:
    from bitwright.execution.checkpoint import save_checkpoint

    save_checkpoint(path, machine, computer.state(), computer.tally, began_with)
