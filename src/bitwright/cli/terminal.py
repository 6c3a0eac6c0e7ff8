"""Standard input and output as machine V sees them."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.images import ImageConsole
from bitwright.cli.progress import StepProgress
from bitwright.cli.streams import reader_gone
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.images import MachineTally


class Terminal(ImageConsole):
    """Standard input and output as the machine sees them, and Ctrl-C or SIGTERM."""

    def __init__(self, collect: bool, most: int = 0, quiet: bool = False) -> None:
        super().__init__()
        self.collect, self._most, self._quiet = collect, most, quiet
        self._before: dict[int, Any] = {}  # who heard signals
        self.signal: int | None = None  # the one that stopped the run
        self.in_line = False  # whether the cursor of a terminal stands behind something
        self.mid_line = False  # whether the last byte of output was not the end of a line
        self._waiting = False
        self._shown = time.monotonic()
        self._bar = False
        self._far = StepProgress(True, "instructions", at_most=True, terminal=False)

    def __enter__(self) -> Terminal:
        with contextlib.suppress(ValueError):  # not the main thread: then Ctrl-C is not ours to catch
            self._before = {one: signal.signal(one, self.interrupt) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self.hide()
        self.flush()
        if self.in_line and sys.stderr is not None and sys.stderr.isatty():
            click.echo(err=True)  # what is said from here on has a line of its own

    @property
    def stopped(self) -> bool:
        """Whether the run should end: because of a signal, or because nobody reads what it writes."""
        return self.signal is not None or (not self.collect and reader_gone())

    def read(self) -> int | None:
        self.hide()
        self.flush()
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
        self.hide()
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
        """Hands on what was written so far."""
        if not self.collect and sys.stdout is not None:
            sys.stdout.flush()

    def interrupt(self, number: int, _: object) -> None:
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def look(self, now: MachineTally) -> bool:
        """Shows how far the run is; False if it should end."""
        if not self._quiet and sys.stderr is not None:
            self._progress(now)
        return not self.stopped

    def _progress(self, tally: MachineTally) -> None:
        """How many instructions were executed, of how many at most where there is a limit.

        A line that stays in its place on a terminal's stderr, while the machine computes without saying anything;
        elsewhere a line about every ten seconds.
        """
        if not sys.stderr.isatty():
            self._far(tally.instructions, self._most)
            return
        self._far.note(tally.instructions, self._most)
        if self.in_line or time.monotonic() - self._shown < 1.0:
            return
        self._shown, self._bar = time.monotonic(), True
        line = f"{self._far.line(time.monotonic())}; {counted(tally.steps, 'step')}"
        click.echo(f"\r\x1b[K{line} ", nl=False, err=True)

    def hide(self) -> None:
        """Takes the line of progress away."""
        self._shown = time.monotonic()
        if self._bar:
            self._bar = False
            click.echo("\r\x1b[K", nl=False, err=True)
