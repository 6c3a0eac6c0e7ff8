"""Progress of long work on stderr: a line updated in place on a terminal, otherwise a line about every ten seconds."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from typing import ClassVar

import click

_SOON, _OFTEN = 0.5, 0.1  # seconds until a terminal shows progress, and between two changes of its line
SELDOM = 10.0  # seconds between two lines elsewhere
_CLEAR = "\r\x1b[K"
_PERCENT = "percent of the "  # prefix of work that counts in percent
QUIET = "bitwright.quiet"  # key of --quiet in the context


class StepProgress:
    """Shows the progress of some work, which calls it from any thread with the number of steps done and their total.

    If the work never calls it, only the elapsed time is shown. If several are open, the last one is shown.

    Args:
        show: whether to show anything.
        what: the name of the work or its unit.
        at_most: whether the work may end before it reaches the total.
    """

    _open: ClassVar[list[StepProgress]] = []

    def __init__(self, show: bool, what: str = "steps", *, at_most: bool = False) -> None:
        self._what, self._at_most = what, at_most
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._first: tuple[float, int] | None = None  # time and progress of the first call
        self._done, self._total, self._drawn = 0, 0, False
        self._lock, self._end = Lock(), Event()
        self._thread = Thread(target=self._show, daemon=True) if show and sys.stderr is not None else None

    def __enter__(self) -> StepProgress:
        if self._thread is not None:
            for other in self._open[-1:]:
                other.hide()
            self._open.append(self)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join(60)
            self._open.remove(self)
            if self._drawn:
                self.hide()

    def __call__(self, step: int, limit: int) -> None:
        """Records the steps done and their total number, or 0 if unknown."""
        self._first = self._first or (time.monotonic(), step)
        self._done, self._total = step, limit

    def hide(self) -> None:
        """Clears the line on a terminal until the next update."""
        with self._lock:
            if self._drawn:
                self._drawn = False
                click.echo(_CLEAR, nl=False, err=True)

    def _show(self) -> None:
        pause = _SOON if self._terminal else SELDOM
        while not self._end.wait(pause):
            pause = _OFTEN if self._terminal else SELDOM
            with self._lock, suppress(OSError, ValueError):  # stderr is closed
                if self._open[-1] is not self:
                    continue
                line = self.line(time.monotonic())
                self._drawn = self._terminal
                if self._terminal:
                    click.echo(f"{_CLEAR}{line[: get_terminal_size().columns - 1]}", nl=False, err=True)
                else:
                    click.echo(line, err=True)

    def line(self, now: float) -> str:
        """Returns the progress as text."""
        spent = f"{_duration(now - self._begin)} so far"
        if not self._total:
            return f"{self._what}: {spent}" if not self._done else f"{self._what}: {self._done:,}, {spent}"
        share, what = f"{100 * self._done / self._total:.0f} %", self._what.removeprefix(_PERCENT)
        share = share if what != self._what else f"{self._done:,} of {self._total:,} ({share})"
        line = f"{what}: {share}, {spent}"
        if self._first is None or self._done <= self._first[1] or now <= self._first[0]:
            return line
        rate = (self._done - self._first[1]) / (now - self._first[0])  # since the first call
        left = _duration((self._total - self._done) / rate)
        return f"{line}, {'at most' if self._at_most else 'about'} {left} left"


def is_quiet() -> bool:
    """Whether the running verb has --quiet; also true if no verb is running."""
    context = click.get_current_context(silent=True)
    return context is None or bool(context.meta.get(QUIET))


class TerminalTeller:
    """The user at the command line as a `Teller`: notes and progress on stderr, unless quiet.

    By default, the running verb decides whether it is quiet.
    """

    def __init__(self, quiet: bool | None = None) -> None:
        self._quiet = is_quiet() if quiet is None else quiet

    def note(self, text: str) -> None:
        """Prints information that is not part of the result."""
        if not self._quiet:
            for shown in StepProgress._open[-1:]:
                shown.hide()
            with suppress(OSError):  # stderr is closed
                click.secho(text, err=True, dim=True)

    def working(self, what: str, *, at_most: bool = False) -> StepProgress:
        """Shows progress during this work."""
        return StepProgress(not self._quiet, what, at_most=at_most)


def note(text: str) -> None:
    """Prints a note to stderr unless the running verb is quiet."""
    TerminalTeller().note(text)


def working(what: str) -> StepProgress:
    """Shows progress unless the running verb is quiet."""
    return TerminalTeller().working(what)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
