"""Tests wait for what happens, never for time to pass: no test may depend on how fast the machine is.

The one bound on time of all tests stands here. It is a last resort, so that something that never happens fails a test
instead of keeping it for ever; nothing that works comes near it, on however busy a machine.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

PATIENCE = 600.0  # seconds


Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found], what: str) -> Found:
    """What the condition gives, as soon as that is something; `what` says what did not come true otherwise."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, f"this did not come true: {what}"
        time.sleep(0.01)
    return found


def until(page: Any, expression: str) -> None:
    """Waits for something on a page; the page's own policy forbids Playwright's way of doing so."""
    wait_until(lambda: page.evaluate(expression), expression)


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it has not ended yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
