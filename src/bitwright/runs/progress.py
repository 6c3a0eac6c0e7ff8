"""Progress reports, time limits, and Ctrl-C for long compiled work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from bitwright.common.errors import InputError

Progress = Callable[[int, int], None]  # amount done, total amount
_LINES = 20  # at most, in total


def as_progress(given: Progress | bool | None, what: str) -> Progress | None:
    """Returns the progress function; True becomes a function that prints a line for every twentieth of the work."""
    if given is None or isinstance(given, bool):
        return _Lines(what) if given else None
    if not callable(given):
        raise InputError(f"progress must be True or a function (done, total), got {type(given).__name__}")
    return given


def say(line: str) -> None:
    """Prints a line of progress to standard error."""
    print(line, file=sys.stderr, flush=True)


class _Lines:
    def __init__(self, what: str) -> None:
        self._what, self._shown = what, 0

    def __call__(self, done: int, total: int) -> None:
        share = done * _LINES // total if total else 0
        if share > self._shown:
            self._shown = share
            say(f"{self._what}: {done:,} of {total:,} ({100 * done // total} %)")


Result = TypeVar("Result")


def interruptible(work: Callable[[], Result]) -> Result:
    """Returns the result of work that blocks signals; runs it in a separate thread if possible."""
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
    except RuntimeError:  # no threads, as in a web page
        return work()
    while thread.is_alive():
        thread.join(0.2)
    if failed:
        raise failed[0]
    return found[0]
