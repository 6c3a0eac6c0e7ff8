"""A trace in plain text: one line a step, one column a name, the highest bit on the left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np

from bitwright.execution import Trace
from bitwright.viewer.columns import choose_columns


def trace_text(trace: Trace, names: Sequence[str] = (), notes: Iterable[str] = ()) -> Iterator[str]:
    """The lines of the picture: `1` for a bit that is on, a dot for one that is off; n counts the matches.

    `notes` stand at the end of the lines, one for each step.
    """
    columns = choose_columns(trace.program, names)
    widths = [max(len(column.heading), len(column.bits)) for column in columns]
    margin = max(4, len(str(trace.steps)))
    count = max(1, len(str(trace.program.blocks)))
    headings = "  ".join(column.heading.ljust(width) for column, width in zip(columns, widths, strict=True))
    yield f"{'step':>{margin}}  {'n':>{count}}  {headings}".rstrip()
    for step, remark in zip_longest(range(len(trace)), notes, fillvalue=""):
        assert isinstance(step, int)
        signs = np.where(trace.state(step), "1", "·")
        cells = "  ".join(
            "".join(signs[list(column.bits)]).ljust(width) for column, width in zip(columns, widths, strict=True)
        )
        yield f"{step:>{margin}}  {len(trace.matches(step)):>{count}}  {cells}  {remark}".rstrip()


def trace_states(trace: Trace, names: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """The same as data: for every step its number, n, and the bits under each heading, highest first."""
    columns = choose_columns(trace.program, names)
    for step in range(len(trace)):
        signs = np.where(trace.state(step), "1", "0")
        bits = {column.heading: "".join(signs[list(column.bits)]) for column in columns}
        yield {"step": step, "n": len(trace.matches(step)), "state": bits}
