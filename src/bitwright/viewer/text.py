"""A trace in plain text: one line a step, one column a name, the highest bit on the left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bitwright.execution import Trace
from bitwright.viewer.columns import choose_columns


def trace_text(trace: Trace, names: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the picture: `1` for a bit that is on, a dot for one that is off; n counts the matches."""
    columns = choose_columns(trace.program, names)
    widths = [max(len(column.heading), len(column.bits)) for column in columns]
    margin = max(4, len(str(trace.steps)))
    count = max(1, len(str(trace.program.blocks)))
    headings = "  ".join(column.heading.ljust(width) for column, width in zip(columns, widths, strict=True))
    yield f"{'step':>{margin}}  {'n':>{count}}  {headings}".rstrip()
    for step in range(len(trace)):
        signs = np.where(trace.state(step), "1", "·")
        cells = "  ".join(
            "".join(signs[list(column.bits)]).ljust(width) for column, width in zip(columns, widths, strict=True)
        )
        yield f"{step:>{margin}}  {len(trace.matches(step)):>{count}}  {cells}".rstrip()
