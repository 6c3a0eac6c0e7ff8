"""The subtractor of machine V: minuend + inverted + 1, the carries by a parallel prefix, the sign and zero on the way.

Position i of the prefix is bit i; position 0 is the carry that enters, the + 1. A `generate` signal says that a carry
leaves a position, a `propagate` signal that one would pass; level d combines spans of 2^d positions.
"""

from __future__ import annotations

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.counter import Counter
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.timing import Timing
from bitwright.machines.subleq.wiring import and_tree, rule
from bitwright.program import Builder, span


class Subtractor:
    """Takes minuend and inverted subtrahend, and gives its result to the memory when `ready` is strobed."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width, self.levels = b, timing.shape.width, timing.prefix
        self.saturate = timing.shape.dialect.saturate
        n = self.width
        self.inverted = b.bits("D_inverted_early", n)  # the subtrahend comes a step before the minuend
        self.minuend, self.waiting = b.bits("D_minuend", n), b.bits("D_inverted", n)
        self.half, self.carry, self.ready = b.bits("D_half", n), b.bits("D_carry", n), b.bits("D_ready", n)
        self.zero = b.bit("D_zero")
        if self.saturate:
            self.both = b.bit("D_both")
            self.sum, self.raise_, self.lower = b.bits("D_sum", n), b.bits("D_raise", n - 1), b.bits("D_lower", n - 1)
        self.generate = [{i: b.bit(f"D_generate_{d}_{i}", "D_generate") for i in range(n)} for d in range(self.levels)]
        self.keep = [{i: b.bit(f"D_keep_{d}_{i}", "D_keep") for i in range(2**d, n)} for d in range(self.levels)]
        self.from_low = [{i: b.bit(f"D_low_{d}_{i}", "D_low") for i in range(2**d, n)} for d in range(self.levels)]
        self.pass_low = [
            {i: b.bit(f"D_pass_{d}_{i}", "D_pass") for i in range(2 ** (d + 1), n)} for d in range(self.levels)
        ]

    def generated(self, d: int, i: int) -> Wires:
        """G(d, i): what to set when a carry leaves the span of 2^d positions that ends at i."""
        if i >= self.width:
            return []
        if d == self.levels:
            return [self.carry[i + 1]]
        return [self.generate[d][i], *([self.from_low[d][i + 2**d]] if i + 2**d < self.width else [])]

    def propagated(self, d: int, i: int) -> Wires:
        """P(d, i): what to set when a carry would pass through that span."""
        if d == self.levels or i < 2**d or i >= self.width:
            return []
        return [self.keep[d][i], *([self.pass_low[d][i + 2**d]] if i + 2**d < self.width else [])]

    def connect(self, memory: Memory, counter: Counter) -> None:
        self._halves()
        self._prefix()
        self._result(memory, counter)

    def _halves(self) -> None:
        b, n = self.b, self.width
        j = span(1, n)
        b.block(self.inverted[j])
        b.when(self.inverted[j] == 1).write(self.waiting[j])
        b.block(self.minuend[j], self.waiting[j])
        b.cell(self.inverted[j], self.minuend[j], self.half[j], *([self.sum[j]] if self.saturate else []))
        equal = and_tree(b, "D_equal", n, self.levels, [self.zero])
        for i in range(1, n + 1):
            b.when(self.minuend[i] != self.waiting[i]).write(self.half[i], equal[i - 1], *self.propagated(0, i))
            top: Wires = [self.both] if self.saturate and i == n else []
            rule(b, self.minuend[i] == 1, self.waiting[i] == 1, to=[*self.generated(0, i), *top])

    def _prefix(self) -> None:
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

    def _result(self, memory: Memory, counter: Counter) -> None:
        b, n = self.b, self.width
        j = span(1, n - 1)
        lower_bits = self.sum[j] if self.saturate else memory.root_data(j)
        half, carry, ready = self.half[j], self.carry[j], self.ready[j]
        b.block(half, carry, ready)
        b.when(half == 1).write(half)
        b.when(half == 1, ready == 1).write(lower_bits)
        b.when(carry == 1, ready == 1).write(lower_bits)

        # The top bit also decides the branch: yes if the result is negative or zero.
        top = self.sum[n] if self.saturate else memory.root_data(n)
        half, carry, ready = self.half[n], self.carry[n], self.ready[n]
        no, yes = counter.fall_through, counter.jump
        b.block(half, carry, ready, self.zero, *([self.both] if self.saturate else []))
        b.when(half == 1).write(half)
        b.when(ready == 1).write(*no)
        b.when(half == 1, carry == 1, ready == 1).write(*no)
        b.when(half == 1, carry == 1, ready == 1, self.zero == 1).write(*yes)
        b.when(half == 1, ready == 1).write(top, *yes)
        if not self.saturate:
            b.when(carry == 1, ready == 1).write(top, *yes)
            return
        both = self.both
        b.when(both == 1).write(both)
        b.when(carry == 1, ready == 1).write(*no, self.raise_[:])  # too large: all bits but the top one
        b.when(both == 1, ready == 1).write(top, *yes, self.lower[:])  # too small: the top one only
        b.when(both == 1, carry == 1, ready == 1).write(top, *yes)
        b.block(self.sum[j], self.raise_[j], self.lower[j])
        b.when(self.sum[j] == 1).write(memory.root_data(j))
        b.when(self.raise_[j] == 1).write(memory.root_data(j))
        b.when(self.sum[j] == 1, self.raise_[j] == 1).write(memory.root_data(j))
        b.block(self.sum[n])
        b.when(self.sum[n] == 1).write(memory.root_data(n))
