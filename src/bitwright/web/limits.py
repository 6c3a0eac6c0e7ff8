"""The limits of the server: sizes, steps, time and memory of a request, and how much waits or is kept."""

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
    proof: int = 1 << 24  # states that a network is tried on
    memory_bits: int = 1 << 15  # of machine V, of whose steps none is recorded: 1,024 words of 32 bits
    console: int = 1 << 16  # bytes that machine V prints
    nodes: int = 2_000  # of a graph
    edges: int = 10_000
    drawn: int = 300  # nodes of a graph that is drawn before it runs
    seconds: float = 20.0
    check_seconds: float = 5.0
    start_seconds: float = 120.0  # for a process to get ready
    memory: int = 3 << 30  # bytes of address space of one process
    waiting: int = 64  # runs that wait for a process
    result: int = 8 << 20  # bytes of one result
    kept: int = 1 << 30  # bytes of all results; the oldest make room
    kept_seconds: float = 1800.0  # how long a result is kept after its run ended or it was last looked at
    poll_seconds: float = 10.0  # the longest wait for news of a run
    warm: bool = True  # whether a process tries everything once before it is confined; without, it can only add
