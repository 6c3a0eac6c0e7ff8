"""The subtractor of machine V, minuend + inverted + 1, and the trees of ANDs and ORs that its units use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bitwright.machines.sbn.parts import CarryPrefix, Wires, rule
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.timing import Terms, Timing, check_levels
from bitwright.program import Builder, Ref, span

if TYPE_CHECKING:
    from bitwright.machines.subleq.units import Counter


def and_tree(b: Builder, name: str, inputs: int, levels: int, to: Wires, family: str = "") -> list[Ref]:
    """Blocks of two (an odd one alone) in exactly `levels` levels; sets `to` when all inputs are on together."""
    widths = [inputs]
    for _ in range(levels):
        widths.append(-(-widths[-1] // 2))
    layers = [b.bits(f"{name}_{level}", width, family=family or name) for level, width in enumerate(widths[:-1])]
    for level, layer in enumerate(layers):
        above = layers[level + 1] if level + 1 < levels else None
        pairs, odd = divmod(widths[level], 2)
        if pairs:
            i = span(1, pairs)
            b.block(layer[2 * i - 1], layer[2 * i])
            b.when(layer[2 * i - 1] == 1, layer[2 * i] == 1).write(*([above[i]] if above else to))
        if odd:
            b.block(layer[widths[level]])
            b.when(layer[widths[level]] == 1).write(*([above[pairs + 1]] if above else to))
    return [layers[0][i] for i in range(1, inputs + 1)]


Check = Mapping[int, Wires]  # for each bit of a number, what to set when it is on


def check(b: Builder, name: str, terms: Terms, to: Wires) -> Check:
    """Builds an OR of ANDs over the bits of a number: it sets `to` a fixed number of steps after the bits were set."""
    ands, ors = check_levels(terms)
    widths = [len(terms)]
    for _ in range(ors):
        widths.append(-(-widths[-1] // 2))
    nodes = [
        b.bits(f"{name}_or_{level}", width, family=f"{name}_or") for level, width in enumerate(widths[1:], start=1)
    ]
    for level, layer in enumerate(nodes):
        i = span(1, widths[level + 1])
        b.block(layer[i])
        b.when(layer[i] == 1).write(*([nodes[level + 1][(i + 1) // 2]] if level + 1 < ors else to))
    leaves: defaultdict[int, Wires] = defaultdict(list)
    for number, term in enumerate(terms, start=1):
        out = [nodes[0][(number + 1) // 2]] if nodes else to
        inputs = and_tree(b, f"{name}_and_{number}", len(term), ands, out, f"{name}_and") if ands else out
        for bit, leaf in zip(term, inputs, strict=True):
            leaves[bit].append(leaf)
    return leaves


class Subtractor:
    """Takes minuend and inverted subtrahend, and gives its result to the memory when `ready` is strobed."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width = b, timing.shape.width
        self.saturate = timing.shape.dialect.saturate
        n = self.width
        self.inverted = b.bits("D_inverted_early", n)  # the subtrahend comes a step before the minuend
        self.minuend, self.waiting = b.bits("D_minuend", n), b.bits("D_inverted", n)
        self.half, self.carry, self.ready = b.bits("D_half", n), b.bits("D_carry", n), b.bits("D_ready", n)
        self.zero = b.bit("D_zero")
        if self.saturate:
            self.both = b.bit("D_both")
            self.sum, self.raise_, self.lower = b.bits("D_sum", n), b.bits("D_raise", n - 1), b.bits("D_lower", n - 1)
        self.prefix = CarryPrefix(b, self.carry)

    def connect(self, memory: Memory, counter: Counter) -> None:
        self._halves()
        self.prefix.connect()
        self._result(memory, counter)

    def _halves(self) -> None:
        b, n = self.b, self.width
        j = span(1, n)
        b.block(self.inverted[j])
        b.when(self.inverted[j] == 1).write(self.waiting[j])
        b.block(self.minuend[j], self.waiting[j])
        b.cell(self.inverted[j], self.minuend[j], self.half[j], *([self.sum[j]] if self.saturate else []))
        equal = and_tree(b, "D_equal", n, self.prefix.levels, [self.zero])
        for i in range(1, n + 1):
            b.when(self.minuend[i] != self.waiting[i]).write(self.half[i], equal[i - 1], *self.prefix.propagated(0, i))
            top: Wires = [self.both] if self.saturate and i == n else []
            rule(b, self.minuend[i] == 1, self.waiting[i] == 1, to=[*self.prefix.generated(0, i), *top])

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
