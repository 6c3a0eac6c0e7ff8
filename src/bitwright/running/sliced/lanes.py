"""Numbers in sliced form: row j holds bit j of all numbers, 64 numbers to a word; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import from_bits
from bitwright.compiling import compiled
from bitwright.theory.encoding.packed import unpack

Rows = NDArray[np.uint64]  # (bits, words)
Numbers = NDArray[Any]  # int64, or Python's integers where they are longer
MOST_BITS = 62  # that an int64 holds with room for a sum of two
_LOW = (0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000)
_PATTERNS = np.array([*_LOW, 0xFFFFFFFF00000000], dtype=np.uint64)  # bits 0..5 of the numbers 0..63


def counting(first: int, words: int, bits: int) -> Rows:
    """The numbers first, first + 1, ... in sliced form; `first` is a multiple of 64."""
    rows = np.empty((bits, words), dtype=np.uint64)
    rows[: len(_PATTERNS)] = _PATTERNS[:bits, np.newaxis]
    high = (first >> 6) + np.arange(words, dtype=np.int64)
    for place in range(len(_PATTERNS), bits):
        rows[place] = np.where(high >> (place - len(_PATTERNS)) & 1, ~np.uint64(0), np.uint64(0))
    return rows


def first_lanes(count: int, words: int) -> NDArray[np.uint64]:  # (words,)
    """Words whose first `count` lanes are on."""
    octets = np.packbits(np.arange(64 * words) < count, bitorder="little")
    return octets.view(np.uint64)


def numbers(rows: Rows, count: int, signed: bool = False) -> Numbers:  # (bits, words) -> (count,)
    """The first `count` numbers that the rows hold; signed ones in two's complement."""
    bits = len(rows)
    if bits > MOST_BITS:
        return np.array([from_bits(lane, signed) for lane in unpack(rows, count)], dtype=object)
    values = np.zeros(64 * rows.shape[1], dtype=np.int64)
    transpose(np.ascontiguousarray(rows), values.view(np.uint64))
    values = values[:count]
    return values - (values >> (bits - 1) << bits) if signed else values


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
