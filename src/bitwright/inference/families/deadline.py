"""A limit in seconds, and work in compiled code that Ctrl-C ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

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
