"""Parts that both SBN machines are made of: delay lines, OR trees, and wires that several units share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bitwright.program import Bits, Builder, Ref, grid, span
from bitwright.program.layout import IntArray

Wires = list[Ref]  # bits to set


def ceil_log2(n: int) -> int:
    """How many halvings lead from n to 1, at least one."""
    return max(1, (n - 1).bit_length())


def delay_line(b: Builder, name: str, length: int, outs: Wires, family: str = "") -> Wires:
    """`length` one-bit delays in a row, then `outs`; gives the bit where a signal enters (or `outs` themselves)."""
    if length == 0:
        return outs
    line = b.bits(name, length, family=family)
    at = span(1, length)
    b.block(line[at])
    at = span(1, length - 1)
    b.when(line[at] == 1).write(line[at + 1])
    b.when(line[length] == 1).write(*outs)
    return [line[1]]


@dataclass(frozen=True)
class OrTree:
    """Trees of one-bit blocks, one for each copy: a signal at any leaf reaches the root a level a step."""

    first: Bits  # (copies, nodes of the first level)

    def leaf(self, copy: IntArray | int, number: IntArray | int) -> Ref:
        """Where leaf `number` of a copy enters: two leaves share a node of the first level."""
        return self.first[copy, (np.asarray(number) + 1) // 2]


def or_tree(b: Builder, name: str, copies: int, leaves: int, outs: Callable[[int], Wires]) -> OrTree:
    """Builds trees over `leaves` leaves, of ceil(log2 leaves) levels but at least one; root j sets outs(j)."""
    widths = [-(-leaves // 2)]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // 2))
    levels = [b.bits(f"{name}_{level}", copies, width, family=name) for level, width in enumerate(widths, start=1)]
    for level, width in zip(levels, widths, strict=True):
        j, q = grid((1, copies), (1, width))
        b.block(level[j, q])
    for lower, upper, width in zip(levels, levels[1:], widths, strict=False):
        j, q = grid((1, copies), (1, width))
        b.when(lower[j, q] == 1).write(upper[j, (q + 1) // 2])
    for copy in range(1, copies + 1):
        b.when(levels[-1][copy, 1] == 1).write(*outs(copy))
    return OrTree(levels[0])


def latch(b: Builder, first: Ref, second: Ref, outs: Wires) -> None:
    """Two signals that wait for each other: each alone is kept, both together set `outs`."""
    b.block(first, second)
    b.when(first == 1, second == 0).write(first)
    b.when(first == 0, second == 1).write(second)
    b.when(first == 1, second == 1).write(*outs)


def address_bit(k: IntArray, i: IntArray | int) -> IntArray:
    """Bit i of the address of entry k; entry k has address k - 1."""
    return np.asarray((np.asarray(k) - 1) >> (np.asarray(i) - 1) & 1, dtype=np.int64)
