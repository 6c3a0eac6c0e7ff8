"""Stretches of rows of numbers that grow by constant steps, and ranges of sizes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import groupby


def even_stretches(rows: Sequence[tuple[Hashable, Sequence[int]]]) -> Iterator[tuple[int, int]]:
    """Yields first row and end of each stretch of rows of one form whose numbers grow by constant steps.

    If a longer stretch follows two rows, the second of them belongs to that stretch.

    >>> list(even_stretches([("a", [3]), ("a", [9]), ("a", [10]), ("a", [11]), ("a", [12]), ("b", [13])]))
    [(0, 1), (1, 5), (5, 6)]
    """

    def end_of(at: int) -> int:
        end = at + 1
        while end < len(rows) and rows[end][0] == rows[at][0]:
            last = [numbers for _, numbers in rows[max(at, end - 2) : end + 1]]
            if len(last) == 3 and any(c - b != b - a for a, b, c in zip(*last, strict=True)):
                break
            end += 1
        return end

    at = 0
    while at < len(rows):
        end = end_of(at)
        if end == at + 2 and end_of(at + 1) > at + 3:
            end = at + 1
        yield at, end
        at = end


def ranges_of(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Returns first and last of each range of consecutive sizes.

    >>> ranges_of([1, 2, 3, 48])
    [(1, 3), (48, 48)]
    """
    runs = [[size for _, size in run] for _, run in groupby(enumerate(sizes), key=lambda pair: pair[1] - pair[0])]
    return [(run[0], run[-1]) for run in runs]
