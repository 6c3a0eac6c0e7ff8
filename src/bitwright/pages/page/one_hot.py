"""Arrays that are one-hot: of which at most one bit is on in every state of a run, and in some state one is."""

from __future__ import annotations

import numpy as np

from bitwright.program.trace import Trace

_STATES = 4_096  # at a time


def one_hot(trace: Trace) -> list[int]:
    """The first bits of one-hot arrays of more than two bits, or of such rows of arrays of higher rank."""
    starts: list[int] = []
    sizes: list[int] = []
    for field in trace.layout.fields:
        width = field.shape[-1] if field.shape else 1
        starts += range(field.offset, field.offset + field.size, width)
        sizes += [width] * (field.size // width)
    most = np.zeros(len(starts), dtype=np.int64)
    for first in range(0, len(trace), _STATES):
        states = np.unpackbits(trace.packed[first : first + _STATES], axis=1, count=trace.layout.size)
        most = np.maximum(most, np.add.reduceat(states, starts, axis=1, dtype=np.int64).max(axis=0))
    return [start for start, size, on in zip(starts, sizes, most.tolist(), strict=True) if size > 2 and on == 1]
