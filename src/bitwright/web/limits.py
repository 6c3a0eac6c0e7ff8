"""What the local page allows one request, and its worker process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """All limits; the page shows those that its users may meet."""

    text: int = 65_536  # characters of a pasted program
    body: int = 1 << 19  # bytes of a request
    bits: int = 20_000
    templates: int = 20_000
    steps: int = 20_000
    cells: int = 25_000_000  # steps times bits, all of which are recorded
    kernel: int = 700  # examples that are solved for densely
    network: int = 256  # examples that a network is trained on
    width: int = 16_384
    proof: int = 1 << 24  # states that a network is tried on
    memory_bits: int = 1 << 15  # of machine V, whose steps are not recorded: 1,024 words of 32 bits
    console: int = 1 << 16  # bytes that machine V prints
    nodes: int = 2_000  # of a graph
    edges: int = 10_000
    drawn: int = 300  # nodes of a graph that is drawn before it runs
    seconds: float = 20.0
    check_seconds: float = 5.0
    memory: int = 3 << 30  # bytes of address space of the worker
    result: int = 32 << 20  # bytes of the files of one result, and of any file that the worker writes
    kept: int = 8  # results whose files can be downloaded
