"""Progress of long work: a function that the caller gives, or for True lines on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bitwright.errors import InputError

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
