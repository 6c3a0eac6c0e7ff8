"""Shows the states of a recorded run as lines of text, as plain data, or in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from bitwright.common.errors import InputError, counted, option, thousandths
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.pages import choose_columns, graph_page, trace_page
from bitwright.pages import trace_states as states_of
from bitwright.pages import trace_text as text_of
from bitwright.pages.text import heading_of, order_lines
from bitwright.rules import Algorithm, GraphAlgorithm
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run

KINDS = (".html", ".txt", ".npz")
_WHOLE = (".html", ".npz")  # files that contain all bits


def check_trace(
    algorithm: Algorithm, path: str | PathLike[str] | None, only: Sequence[str] = (), printed: bool = False
) -> None:
    """Raises InputError if a trace cannot be written or printed with these settings, before any long work starts."""
    kind = None if path is None else as_path(path, "a trace").suffix.lower()
    if kind is not None and kind not in KINDS:
        raise InputError(f"a trace must be a .html, .txt or .npz file, got {path}")
    if kind in _WHOLE and only and not printed:
        raise InputError(f"{option('only')} cannot be used with .html and .npz files, which contain all bits")
    if printed or kind not in _WHOLE:
        choose_columns(algorithm.program, _names(algorithm, only))


def write_trace(done: Run, path: str | PathLike[str], only: Sequence[str] = ()) -> str:
    """Writes a recorded run to a .html, .txt or .npz file; returns a line that describes it.

    `only` lists the names to show in a text; by default, a text shows all bits, or the memory of a machine.

    >>> from bitwright import addition, run
    >>> write_trace(run(addition(4), p=11, q=6, record=True), "addition.txt")
    'wrote addition.txt: 8 steps, 1 KiB'
    """
    trace = _recorded(done)
    check_trace(done.algorithm, path, only)
    place = as_path(path, "a trace")
    if place.suffix.lower() == ".npz":
        from bitwright.common.files.executions import save_executions
        from bitwright.runs.successors import executions_of_trace, lets_of

        save_executions(place, replace(executions_of_trace(trace), lets=lets_of(done.algorithm)))
        return f"wrote {place}: {counted(done.steps, 'step')} of {counted(trace.layout.size, 'bit')}"
    if place.suffix.lower() == ".txt":
        text = "\n".join(trace_text(done, only)) + "\n"
    else:
        text = graph_page(done) if isinstance(done.algorithm, GraphAlgorithm) else trace_page(done)
    write_atomically(place, text.encode())
    return f"wrote {place}: {counted(done.steps, 'step')}, {max(1, place.stat().st_size // 1024):,} KiB"


def trace_text(done: Run, only: Sequence[str] = ()) -> Iterator[str]:
    """Yields the states of a recorded run, one per line."""
    trace, names = _recorded(done), _names(done.algorithm, only)
    if isinstance(done.algorithm, GraphAlgorithm):
        yield from order_lines(done.algorithm)
        yield from text_of(trace, names, _margins(done), partial(heading_of, done.algorithm))
    else:
        computer = done.algorithm.computer
        yield from text_of(trace, names, computer.notes(trace) if computer else _margins(done))


def trace_states(done: Run, only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Returns the states of a recorded run as `trace --json` prints them: step, n, and the bits under each name.

    For a network of cells, adds the smallest margin of the next step, and the bit that has it.
    """
    states = list(states_of(_recorded(done), _names(done.algorithm, only)))
    for state, (margin, bit) in zip(states, _closest(done), strict=False):
        state["margin"], state["closest"] = margin, bit
    return states


def _closest(done: Run) -> Iterator[tuple[float | None, str | None]]:
    """Yields, for each step of a network of cells, the smallest margin of a port and the bit that the port is wired to.

    The margin is negative if the output was wrong.
    """
    trace, asked = _recorded(done), done.asked
    if asked is None:
        return
    for first in range(0, trace.steps, 64):
        rows = trace.packed[first : min(first + 64, trace.steps)]
        margins, bits = asked.closest(np.unpackbits(rows, axis=1, count=trace.layout.size).astype(bool))
        for margin, bit in zip(margins.tolist(), bits.tolist(), strict=True):
            yield (None, None) if bit < 0 else (margin, trace.layout.name_of(bit))


def _margins(done: Run) -> Iterator[str]:
    """Yields the smallest margin of each step as text, for the line of the state before the step."""
    return (
        "" if margin is None else f"margin {thousandths(margin)} at {bit}{', WRONG' if margin < 0 else ''}"
        for margin, bit in _closest(done)
    )


def _names(algorithm: Algorithm, only: Sequence[str]) -> Sequence[str]:
    """Returns the names to show: the given names, or the memory of a machine; an empty list means all."""
    computer = algorithm.computer
    return only or ([computer.memory_name()] if computer else ())


def _recorded(done: Run) -> Trace:
    if done.trace is None:
        raise InputError("this run was not recorded; run it with record=True to get its trace")
    return done.trace
