"""What the server takes on: sizes, steps, time and memory for one request, and how much waits or is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """All limits in one place; the page shows those that its users may meet."""

    text: int = 65_536  # characters of a pasted program
    body: int = 1 << 19  # bytes of a request
    bits: int = 20_000
    templates: int = 20_000
    steps: int = 20_000
    cells: int = 25_000_000  # steps times bits, all of which are recorded
    kernel: int = 700  # examples that are solved for densely
    network: int = 256  # examples that a network is trained on
    width: int = 16_384
    members: int = 4  # networks trained for one run
    seconds: float = 20.0
    check_seconds: float = 5.0
    memory: int = 3 << 30  # bytes of address space of one process
    waiting: int = 64  # runs that wait for a process
    kept: int = 64  # finished runs that can still be looked at
    kept_bytes: int = 1 << 28
    kept_seconds: float = 1800.0
    abandoned_seconds: float = 60.0  # a run that nobody asks about for so long is given up
