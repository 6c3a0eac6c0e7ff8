"""`bitwright run IMAGE`: a SUBLEQ image on machine V, at the terminal or in a pipe."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import computer_size, find_computer
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.execution.computer import Ending, Tally
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
    width: int | None,
    max_steps: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Loads, runs and reports; exit 0 for a halt, 1 for any other end, 130 after Ctrl-C, 143 after SIGTERM."""
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
    machine, image = find_computer(target, choice, word_width=width)
    if not image and resume is None:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
    engine, truth = _engines(machine, hidden, quiet, **options)
    state, tally, began_with = _start(machine, image, resume, quiet)
    with _terminal(as_json) as terminal:
        computer = Computer(machine, engine, state, terminal.read, terminal.write, tally, truth)
        saved = time.monotonic()

        def look(now: Tally) -> bool:
            nonlocal saved
            terminal.progress(now, quiet)
            if checkpoint is not None and time.monotonic() - saved > _SAVE_EVERY:
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
    return _report(target, machine, engine, ending, terminal, as_json, quiet)


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


def _start(machine: MachineV, image: list[int], resume: Path | None, quiet: bool) -> tuple[Any, Tally | None, str]:
    """The state to go on from, what was done before, and the hash of the image that the run began with."""
    from bitwright.execution.checkpoint import image_hash, load_checkpoint
    from bitwright.machines.subleq import misfits

    if resume is None:
        for line in misfits(machine.shape, image):
            note(f"note: {line}", quiet)
        return machine.start(image), None, image_hash(machine, image)
    state, tally, began_with = load_checkpoint(resume, machine, image_hash(machine, image) if image else None)
    note(f"goes on after {tally.instructions:,} instructions and {tally.inputs:,} bytes of input", quiet)
    return state, tally, began_with


def _save(path: Path, machine: MachineV, computer: Any, began_with: str) -> None:
    from bitwright.execution.checkpoint import save_checkpoint

    save_checkpoint(path, machine, computer.state(), computer.tally, began_with)


def _report(
    target: str, machine: MachineV, engine: Engine, ending: Ending, terminal: _Terminal, as_json: bool, quiet: bool
) -> int:
    tally = ending.tally
    if as_json:
        print_json(
            {
                "algorithm": Path(target).stem,
                "machine": "V",
                "words": machine.shape.words,
                "width": machine.shape.width,
                "dialect": machine.shape.dialect.flags,
                "ended": ending.reason,
                "halted": ending.reason in ("halt", "fault"),
                "pc": ending.pc,
                "output": bytes(terminal.collected).decode("latin-1"),
                "engine": engine.name,
                "rounding": engine.rounding,
                "templates": machine.program.templates,
                **asdict(tally),
            }
        )
    elif not quiet:
        for line in _statistics(machine, engine, ending):
            note(line)
    reasons = {
        "limit": "stopped at --max-instructions",
        "time": "stopped at --max-seconds",
        "stopped": "stopped",
        "stuck": "nothing moves any more, and it has not halted; the engine has lost its way",
    }
    if ending.reason in reasons:
        click.echo(f"bitwright: {reasons[ending.reason]} after {_counted(tally.instructions, 'instruction')}", err=True)
    if tally.wrong:
        advice = "use more --networks" if engine.name == "sampled" else "use a wider network"
        wrong = _counted(tally.wrong, "step")
        click.echo(f"bitwright: {wrong} of {tally.steps:,} differ from what the rules give; {advice}", err=True)
    if ending.reason == "stopped":
        return 128 + (terminal.signal or signal.SIGINT)
    return 0 if ending.reason in ("halt", "fault") and not tally.wrong else 1


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _statistics(machine: MachineV, engine: Engine, ending: Ending) -> Iterator[str]:
    tally = ending.tally
    how = {
        "halt": f"halted at address {ending.pc}",
        "fault": f"halted at address {ending.pc}, at an operand out of range",
    }
    rate = f" ({tally.steps / tally.seconds / 1e6:.2f} million a second)" if tally.seconds > 0.5 else ""
    yield (
        f"machine V, {machine.shape}: {how.get(ending.reason, 'not halted')} after "
        f"{_counted(tally.instructions, 'instruction')}, {_counted(tally.steps, 'step')} in {tally.seconds:.3g} s{rate}"
    )
    rounded = "" if engine.rounding is None else f", {engine.rounding} rounding"
    margin = "" if tally.margin is None else f", smallest margin {tally.margin:.3g}"
    matches = "" if tally.least is None else f", n = {tally.least:,} to {tally.most:,}"
    traffic = f", {tally.inputs:,} bytes in, {tally.outputs:,} out" if machine.ports else ""
    yield f"{machine.program.templates:,} templates, engine {engine.name}{rounded}{matches}{margin}{traffic}"


class _Terminal:
    """Standard input and output as the machine sees them, and Ctrl-C or SIGTERM."""

    def __init__(self, collect: bool) -> None:
        self.collect, self.collected = collect, bytearray()
        self.signal: int | None = None  # the one that stopped the run
        self.in_line = False
        self._waiting = False
        self._shown = time.monotonic()
        self._bar = False

    @property
    def stopped(self) -> bool:
        return self.signal is not None

    def read(self) -> int | None:
        self._hide()
        if not self.collect and sys.stdout is not None:
            sys.stdout.flush()
        if sys.stdin is None:  # closed from the start: an input that has ended
            return None
        self._waiting = True
        if self.stopped:
            raise KeyboardInterrupt
        try:
            given = sys.stdin.buffer.read(1)
        except OSError as error:
            raise InputError(f"cannot read standard input: {error.strerror or error}") from None
        finally:
            self._waiting, self._shown = False, time.monotonic()
        return given[0] if given else None

    def write(self, byte: int) -> None:
        self._hide()
        if self.collect:
            self.collected.append(byte)
        if self.collect or sys.stdout is None:
            return
        sys.stdout.buffer.write(bytes([byte]))
        self.in_line = byte != 10 and sys.stdout.isatty()
        if byte == 10 or sys.stdout.isatty():
            sys.stdout.flush()

    def interrupt(self, number: int, _: object) -> None:
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def progress(self, tally: Tally, quiet: bool) -> None:
        """A line on a terminal's stderr, while the machine computes without saying anything."""
        if (
            quiet
            or self.in_line
            or sys.stderr is None
            or not sys.stderr.isatty()
            or time.monotonic() - self._shown < 1.0
        ):
            return
        self._shown, self._bar = time.monotonic(), True
        click.echo(f"\r{tally.instructions:,} instructions, {tally.steps:,} steps ", nl=False, err=True)

    def _hide(self) -> None:
        self._shown = time.monotonic()
        if self._bar:
            self._bar = False
            click.echo("\r\x1b[K", nl=False, err=True)


@contextlib.contextmanager
def _terminal(collect: bool) -> Iterator[_Terminal]:
    terminal = _Terminal(collect)
    try:
        before = {number: signal.signal(number, terminal.interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: then Ctrl-C is not ours to catch
        yield terminal
        return
    try:
        yield terminal
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        terminal._hide()
        if not collect and sys.stdout is not None:
            sys.stdout.flush()
        if terminal.in_line and sys.stderr is not None and sys.stderr.isatty():
            click.echo(err=True)  # what is said from here on has a line of its own
