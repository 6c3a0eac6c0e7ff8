"""`bitwright run IMAGE`: a SUBLEQ image on machine V, at the terminal or in a pipe.

stdout receives the output of the image, then the words of --memory or JSON; stderr receives a summary.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json, print_lines
from bitwright.cli.targets import open_network
from bitwright.common.errors import InputError, counted
from bitwright.verbs.images import ImageConsole
from bitwright.verbs.images import run_image as run
from bitwright.verbs.open import MachineChoice, open_subleq

if TYPE_CHECKING:
    from bitwright.verbs.images import ComputerRun, MachineTally


class Terminal(ImageConsole):
    """The console of the machine on standard input and output, with Ctrl-C and SIGTERM."""

    def __init__(self, collect: bool) -> None:
        super().__init__()
        self.collect = collect
        self._before: dict[int, Any] = {}  # earlier signal handlers
        self.signal: int | None = None  # the signal that stopped the run
        self.in_line = False  # whether the terminal's cursor is not at the start of a line
        self.mid_line = False  # whether the last output byte did not end a line
        self._waiting = False

    def __enter__(self) -> Terminal:
        with contextlib.suppress(ValueError):  # only the main thread can catch Ctrl-C
            self._before = {one: signal.signal(one, self.interrupt) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self.flush()
        if self.in_line and sys.stderr is not None and sys.stderr.isatty():
            click.echo(err=True)  # starts a new line for the summary

    @property
    def stopped(self) -> bool:
        """Whether a signal has ended the run."""
        return self.signal is not None

    def read(self) -> int | None:
        self.flush()
        if sys.stdin is None:  # closed, so the input has ended
            return None
        self._waiting = True
        if self.stopped:
            raise KeyboardInterrupt
        try:
            given = sys.stdin.buffer.read(1)
        except OSError as error:
            raise InputError(f"cannot read standard input: {error.strerror or error}") from None
        finally:
            self._waiting = False
        return given[0] if given else None

    def write(self, byte: int) -> None:
        self.mid_line = byte != 10
        if self.collect:
            self.collected.append(byte)
        if self.collect or sys.stdout is None:
            return
        sys.stdout.buffer.write(bytes([byte]))
        self.in_line = byte != 10 and sys.stdout.isatty()
        if byte == 10 or sys.stdout.isatty():
            sys.stdout.flush()

    def flush(self) -> None:
        """Flushes the output."""
        if not self.collect and sys.stdout is not None:
            sys.stdout.flush()

    def interrupt(self, number: int, _: object) -> None:
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def look(self, now: MachineTally) -> bool:  # noqa: ARG002
        """Whether the run should continue."""
        return not self.stopped


_REASONS = {
    "limit": "stopped at --max-steps",
    "time": "stopped at --seconds",
    "stopped": "stopped",
    "stuck": "the state no longer changes, but the machine has not halted: the engine failed",
}


def run_image(
    target: str, choice: MachineChoice | None, *, max_steps: int | None, as_json: bool, **options: Any
) -> int:
    """Loads, runs and reports an image; exit code 0 if it halts, 130 after Ctrl-C, 143 after SIGTERM, otherwise 1."""
    terminal = Terminal(as_json)
    done = run(
        open_subleq(target, choice or MachineChoice()),
        terminal,
        network=open_network(options),
        instructions=max_steps,
        progress=TerminalTeller(),
        **options,
    )
    return _report(done, terminal, as_json)


def _report(done: ComputerRun, terminal: Terminal, as_json: bool) -> int:
    """Prints the result; returns the exit code."""
    reason, tally = done.ending.reason, done.ending.tally
    if as_json:
        print_json(done.to_dict())
    elif done.words:
        if terminal.mid_line:
            click.echo()
        print_lines(line for words in done.words for line in words.lines(is_quiet()))
    if not as_json:
        for line in done.report():
            note(line)
        if not done.words and not done.machine.shape.dialect.io:
            note("this dialect has no output instruction; --memory FROM:TO shows words of memory")
    if reason in _REASONS:
        where = "" if done.pc is None else f", at address {done.pc}"
        after = counted(tally.instructions, "instruction")
        click.echo(f"bitwright: {_REASONS[reason]} after {after}{where}", err=True)
    if tally.wrong:
        advice = "use a wider network" if done.engine.digests else "use more --networks"
        wrong = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ" + "s" * (tally.wrong == 1)
        click.echo(f"bitwright: {wrong} from the rules; {advice}", err=True)
    if reason == "stopped":
        return 128 + (terminal.signal or signal.SIGINT)
    return 0 if done else 1
