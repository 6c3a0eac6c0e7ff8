"""Reports on long work: notes, the amount done, and the compilation of loops."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, cast

from bitwright.runs.progress import Progress, as_progress, say


class Teller(Protocol):
    """A listener to long work."""

    def note(self, text: str) -> None:
        """Reports information that is not part of the result."""

    def working(self, what: str, *, at_most: bool = False) -> AbstractContextManager[Progress]:
        """Returns a context for some work, which yields a function to call with the amount done and the total.

        With `at_most`, the total is an upper bound that the work may not reach.
        """


class Listener:
    """The listener of Python programs: a function, lines on standard error, or silence."""

    def __init__(self, given: Progress | bool | None) -> None:
        self._given = given
        as_progress(given, "")  # rejects a value that cannot be called

    def note(self, text: str) -> None:
        if self._given is True:
            say(text)

    @contextmanager
    def working(self, what: str, *, at_most: bool = False) -> Iterator[Progress]:  # noqa: ARG002
        yield as_progress(self._given, what) or (lambda done, total: None)  # noqa: ARG005


def teller(given: Teller | Progress | bool | None) -> Teller:
    """Returns the listener for True (lines on standard error), a function, a Teller or None (silence)."""
    return cast(Teller, given) if hasattr(given, "working") else Listener(given)


_said: set[str] = set()  # in this process


def say_compiling(tell: Teller | None = None) -> bool:
    """Reports that loops are being compiled before the first of many runs; returns whether any have to be.

    In Python, the note is printed once, on standard error, even if there is no listener.
    """
    from bitwright.runs.sliced import COMPILING, to_be_compiled

    if not to_be_compiled():
        return False
    if tell is not None and not isinstance(tell, Listener):
        tell.note(COMPILING)
    elif COMPILING not in _said:
        _said.add(COMPILING)
        print(f"bitwright: {COMPILING}", file=sys.stderr)
    return True
