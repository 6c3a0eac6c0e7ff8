"""Blocks of all sizes at once, where those found at single sizes are no families.

Runs show few states, and many blocks explain them. Here bits are only read together in the same way at every place and
size: x[i] with y[i+c], or a single bit with a fixed place. Of such joins the one that explains most is taken, until all
states are explained; joins that turn out not to be needed are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from bitwright.files.executions import Executions
from bitwright.inference.elimination import Evidence, Rows, unpack_rows
from bitwright.inference.families.lines import Array, Line, LineBounds, at
from bitwright.inference.find_blocks import MAX_FOUND
from bitwright.program import Layout

Join = tuple[int, int, Line | None, Line | int]  # two arrays; the lines of two bits, or None and a distance


def join_blocks(
    arrays: Sequence[Array], layouts: Mapping[int, Layout], executions: Mapping[int, Executions], bounds: LineBounds
) -> dict[int, list[list[int]]] | None:
    """Blocks that explain all states of all sizes; None where no joins were found that do."""
    sides = [_Side(arrays, layouts[size], size, one) for size, one in executions.items()]
    left, chosen = set(_joins(arrays, bounds)), list[Join]()
    while sum(side.unexplained(chosen) for side in sides):
        gains = {join: sum(side.unexplained([*chosen, join]) for side in sides) for join in left}
        best = min(gains, key=lambda join: (gains[join], str(join)), default=None)
        if best is None or gains[best] >= sum(side.unexplained(chosen) for side in sides):
            return None
        chosen.append(best)
        left.remove(best)
    for join in list(chosen):
        fewer = [other for other in chosen if other != join]
        if not any(side.unexplained(fewer) for side in sides):
            chosen = fewer
    return {side.size: [list(block) for block in side.blocks(chosen) or ()] for side in sides}


def _joins(arrays: Sequence[Array], bounds: LineBounds) -> Iterator[Join]:
    far = bounds.offset
    for m, n in combinations(range(len(arrays)), 2):
        grows = [number for number in (m, n) if arrays[number].length[0]]
        if len(grows) == 2:
            yield from ((m, n, None, c) for c in range(-far, far + 1))
            continue
        for one in (cell.low for cell in arrays[m].cells(bounds) if cell.fixed):
            yield from ((m, n, one, cell.low) for cell in arrays[n].cells(bounds) if cell.fixed)


class _Side:
    """The states of one size; what a block may have written is kept."""

    def __init__(self, arrays: Sequence[Array], layout: Layout, size: int, executions: Executions) -> None:
        self.size, self.layout = size, layout
        self.bits = [array.bits(layout).tolist() for array in arrays]
        self.evidence = Evidence(executions)
        self._kept: dict[tuple[int, ...], Rows] = {}

    def blocks(self, joins: Sequence[Join]) -> list[tuple[int, ...]] | None:
        """The blocks of these joins; None where one has too many bits."""
        block = {bit: frozenset([bit]) for bit in range(self.layout.size)}
        for m, n, line, far in joins:
            places = range(1, len(self.bits[m]) + 1) if line is None else [at(line, self.size)]
            for i in places:
                j = i + far if isinstance(far, int) else at(far, self.size)
                if 1 <= j <= len(self.bits[n]) and 1 <= i <= len(self.bits[m]):
                    merged = block[self.bits[m][i - 1]] | block[self.bits[n][j - 1]]
                    if len(merged) > MAX_FOUND:
                        return None
                    block.update(dict.fromkeys(merged, merged))
        return sorted({tuple(sorted(those)) for those in block.values()})

    def unexplained(self, joins: Sequence[Join]) -> int:
        """How many bits that were turned on nobody can have written."""
        blocks = self.blocks(joins)
        if blocks is None:
            return 1 << 60
        explained = np.zeros_like(self.evidence.after)
        for block in blocks:
            if block not in self._kept:
                self._kept[block] = self.evidence.block(block).candidates
            explained |= self._kept[block]
        return int(unpack_rows(self.evidence.after & ~explained, self.evidence.bits).sum())
