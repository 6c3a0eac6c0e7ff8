"""Builds components of the machines: delay lines, OR trees, latches and the carries of an adder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bitwright.rules import Bits, Builder, Condition, Ref, grid, span
from bitwright.rules.layout import IntArray

Wires = list[Ref]  # the bits that a component sets


def ceil_log2(n: int) -> int:
    """Returns ceil(log2 n), at least 1."""
    return max(1, (n - 1).bit_length())


def rule(b: Builder, *conditions: Condition, to: Wires) -> None:
    """Adds a rule, unless it writes nothing."""
    if to:
        b.when(*conditions).write(*to)


def delay_line(b: Builder, name: str, length: int, outs: Wires, family: str = "") -> Wires:
    """Chains `length` one-bit delays before `outs`; returns the input bit (or `outs` themselves)."""
    if length == 0:
        return outs
    line = b.bits(name, length, family=family)
    at = span(1, length)
    b.block(line[at])
    at = span(1, length - 1)
    b.when(line[at] == 1).write(line[at + 1])
    b.when(line[length] == 1).write(*outs)
    return [line[1]]


Leaf = Callable[[IntArray | int, IntArray | int], Ref]  # maps a copy and a leaf number to the leaf's input bit


def or_tree(b: Builder, name: str, copies: int, leaves: int, outs: Callable[[int], Wires]) -> Leaf:
    """Builds `copies` trees of one-bit blocks over `leaves` leaves, in which a signal at any leaf reaches the root.

    A signal rises one level per step, through ceil(log2 leaves) levels, at least one. The root of copy j sets outs(j).
    """
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
    return lambda copy, number: levels[0][copy, (np.asarray(number) + 1) // 2]  # two leaves share a node


def latch(b: Builder, first: Ref, second: Ref, outs: Wires) -> None:
    """Builds a latch that keeps one signal until the other arrives, and then sets `outs`."""
    b.block(first, second)
    b.when(first == 1, second == 0).write(first)
    b.when(first == 0, second == 1).write(second)
    b.when(first == 1, second == 1).write(*outs)


def address_bit(k: IntArray, i: IntArray | int) -> IntArray:
    """Returns bit i of the address of entry k, which is k - 1."""
    return np.asarray((np.asarray(k) - 1) >> (np.asarray(i) - 1) & 1, dtype=np.int64)


class CarryPrefix:
    """Computes the carries of a sum with a parallel prefix of ceil(log2 n) levels, at least one, and sets `carry`.

    Position i of the prefix is bit i; position 0 is the incoming carry. A `generate` signal means that a position
    produces a carry, a `keep` signal that it would pass one on; level d combines spans of 2^d positions.
    """

    def __init__(self, b: Builder, carry: Bits) -> None:
        self.b, self.carry, self.width = b, carry, carry.field.size
        self.levels = ceil_log2(self.width)
        self.generate = self._bits("generate", lambda _: 0)
        self.keep, self.from_low = self._bits("keep", lambda d: 2**d), self._bits("low", lambda d: 2**d)
        self.pass_low = self._bits("pass", lambda d: 2 ** (d + 1))

    def _bits(self, name: str, first: Callable[[int], int]) -> list[dict[int, Ref]]:
        return [
            {i: self.b.bit(f"D_{name}_{d}_{i}", f"D_{name}") for i in range(first(d), self.width)}
            for d in range(self.levels)
        ]

    def generated(self, d: int, i: int) -> Wires:
        """Returns G(d, i), the bits to set if the span of 2^d positions ending at i produces a carry."""
        if i >= self.width:
            return []
        if d == self.levels:
            return [self.carry[i + 1]]
        return [self.generate[d][i], *([self.from_low[d][i + 2**d]] if i + 2**d < self.width else [])]

    def propagated(self, d: int, i: int) -> Wires:
        """Returns P(d, i), the bits to set if a carry would pass through that span."""
        if d == self.levels or i < 2**d or i >= self.width:
            return []
        return [self.keep[d][i], *([self.pass_low[d][i + 2**d]] if i + 2**d < self.width else [])]

    def connect(self) -> None:
        """Adds the blocks, cells and rules of all levels."""
        b = self.b
        for d in range(self.levels):
            for i in range(self.width):
                b.block(self.generate[d][i])
                b.cell(self.generate[d][i], *([self.keep[d][i]] if i >= 2**d else []))
                b.when(self.generate[d][i] == 1).write(*self.generated(d + 1, i))
                if i < 2**d:
                    continue
                keep, low = self.keep[d][i], self.from_low[d][i]
                passing = [self.pass_low[d][i]] if i in self.pass_low[d] else []
                b.block(keep, low, *passing)
                b.when(keep == 1, low == 1).write(*self.generated(d + 1, i))
                if passing:
                    rule(b, keep == 1, passing[0] == 1, to=self.propagated(d + 1, i))
