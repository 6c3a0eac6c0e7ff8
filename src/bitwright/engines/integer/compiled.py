"""The sums of a network of integers, as loops over integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.compiling import compiled, entry


@compiled
def _add_up(columns: Any, start: Any, by_example: Any, last: Any, narrow: bool, sums: Any) -> None:
    """sums[s, i] = sum_u last[i, u] relu(sum of by_example[j, u] over the examples j that state s matches)."""
    width = by_example.shape[1]
    hidden = np.empty(width, dtype=np.int32)  # at most 2^7 K, far below 2^31
    for state in range(len(start) - 1):
        hidden[:] = 0
        for at in range(start[state], start[state + 1]):
            example = by_example[columns[at]]
            for unit in range(width):
                hidden[unit] += example[unit]
        for unit in range(width):
            hidden[unit] = max(hidden[unit], np.int32(0))
        for bit in range(last.shape[0]):
            weights = last[bit]
            if narrow:  # no sum can leave 32 bits
                short = np.int32(0)
                for unit in range(width):
                    short += np.int32(weights[unit]) * hidden[unit]
                sums[state, bit] = short
            else:
                total = np.int64(0)
                for unit in range(width):
                    total += np.int64(weights[unit]) * np.int64(hidden[unit])
                sums[state, bit] = total


add_up = entry(_add_up)
