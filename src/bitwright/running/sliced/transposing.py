"""From rows of bits to numbers, in compiled loops; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.compiling import compiled


@compiled
def transpose(rows: Any, values: Any) -> None:
    """Up to 64 rows of words into one number for each lane: bit j of values[64 w + lane] is that lane of rows[j, w]."""
    for w in range(rows.shape[1]):
        square = values[64 * w : 64 * w + 64]
        for j in range(64):
            square[j] = rows[j, w] if j < rows.shape[0] else np.uint64(0)
        half, mask = 32, np.uint64(0x00000000FFFFFFFF)
        while half:  # swap ever smaller squares off the diagonal
            shift = np.uint64(half)
            for first in range(0, 64, 2 * half):
                for j in range(first, first + half):
                    swap = ((square[j] >> shift) ^ square[j + half]) & mask
                    square[j] ^= swap << shift
                    square[j + half] ^= swap
            half >>= 1
            mask ^= mask << np.uint64(half)
