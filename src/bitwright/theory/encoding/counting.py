"""Counting in packed form: how many rows are on, for all states of a word at once, with full adders on words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.theory.encoding.packed import Words


def count_rows(rows: Words) -> list[Words]:  # (rows, words) -> planes of shape (words,)
    """The column sums of `rows` as binary planes: plane j holds bit j of the sum of every state."""
    planes: list[Words] = []
    level: NDArray[Any] = rows
    while len(level):
        carries: list[NDArray[Any]] = []
        while len(level) > 1:
            third = len(level) // 3
            if third:
                a, b, c = level[:third], level[third : 2 * third], level[2 * third : 3 * third]
                half = a ^ b
                carries.append((a & b) | (half & c))
                level = np.concatenate((half ^ c, level[3 * third :]))
            else:  # two rows left: a half adder
                carries.append(level[:1] & level[1:])
                level = level[:1] ^ level[1:]
        planes.append(level[0])
        level = np.concatenate(carries) if carries else level[:0]
    return planes


def largest(planes: list[Words]) -> int:
    """The largest of the counts that the planes hold."""
    value, candidates = 0, None
    for place in reversed(range(len(planes))):
        here = planes[place] if candidates is None else planes[place] & candidates
        if here.any():
            value |= 1 << place
            candidates = here
    return value
