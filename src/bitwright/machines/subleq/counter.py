"""The program counter of machine V: it counts on by 3 while the instruction runs, and then gives way or goes on.

The next address waits in `next`, the jump's in `target`; strobes let one of them out and clear the other.
"""

from __future__ import annotations

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.timing import Timing
from bitwright.machines.subleq.wiring import Check, rule
from bitwright.program import Builder, span


class Counter:
    """`address` is on for one step, when an instruction begins."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width = b, timing.shape.width
        n = self.width
        self.next, self.count = b.bits("C_next", n), b.bits("C_count", n)
        self.next_if = [b.bits("C_next_if_not", n), b.bits("C_next_if", n)]
        self.target = b.bits("C_target", n)
        self.target_if = [b.bits("C_target_if_not", n), b.bits("C_target_if", n)]
        self.address = b.bits("C_address", n)

    @property
    def plus_three(self) -> Wires:
        """One and two at once: a ripple in place does the rest."""
        return [self.count[1], self.count[2]]

    @property
    def fall_through(self) -> Wires:
        return [self.next_if[0][:], self.target_if[0][:]]

    @property
    def jump(self) -> Wires:
        return [self.next_if[1][:], self.target_if[1][:]]

    def connect(self, memory: Memory, halted: Check) -> None:
        b, every = self.b, span(1, self.width)
        b.cell(self.next[every], self.target[every], self.address[every])
        for i in range(1, self.width + 1):
            held, carry, target, address = self.next[i], self.count[i], self.target[i], self.address[i]
            b.block(held, carry, self.next_if[0][i], self.next_if[1][i])
            b.when(held == 1).write(held)
            b.when(carry == 1).write(held)
            rule(b, held == 1, carry == 1, to=[self.count[i + 1]] if i < self.width else [])
            b.when(held == 1, self.next_if[0][i] == 1).write(address)
            b.block(target, self.target_if[0][i], self.target_if[1][i])
            b.when(target == 1).write(target)
            b.when(target == 1, self.target_if[1][i] == 1).write(address)
            b.block(address)
            b.when(address == 1).write(*memory.root_address(i), held, *halted.leaves(i))
