"""Long work: its progress, a limit in seconds, and what Ctrl-C ends although it is compiled."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from bitwright.common.errors import InputError

Progress = Callable[[int, int], None]  # how much is done, and of how much
_LINES = 20  # at most, for all of the work


def as_progress(given: Progress | bool | None, what: str) -> Progress | None:
    """The given function; for True, one that prints a line for every twentieth of the work."""
    if given is None or isinstance(given, bool):
        return _Lines(what) if given else None
    if not callable(given):
        raise InputError(f"progress is True, or a function that is called on the way, got a {type(given).__name__}")
    return given


def say(line: str) -> None:
    """A line for a person who watches."""
    print(line, file=sys.stderr, flush=True)


class _Lines:
    def __init__(self, what: str) -> None:
        self._what, self._said = what, 0

    def __call__(self, done: int, total: int) -> None:
        share = done * _LINES // total if total else 0
        if share > self._said:
            self._said = share
            say(f"{self._what}: {done:,} of {total:,} ({100 * done // total} %)")


Result = TypeVar("Result")


class TimeUpError(Exception):
    """The limit came before an answer."""


class Deadline:
    """A number of seconds from now; None for no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raises TimeUpError once the time is up."""
        if self._end is not None and time.monotonic() > self._end:
            raise TimeUpError


def interruptible(work: Callable[[], Result]) -> Result:
    """The result of work that holds back signals: it has a thread of its own, where there are threads."""
    found: list[Result] = []
    failed: list[BaseException] = []

    def attempt() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again below
            failed.append(error)

    thread = Thread(target=attempt, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # none can be started, as in a web page
        return work()
    while thread.is_alive():
        thread.join(0.2)
    if failed:
        raise failed[0]
    return found[0]
