"""The port of machine V: words that come up from memory meet the strobe that says what they are for.

The sequencer knows when which word arrives: first a, b and c of the instruction, then M[a], then M[b].
"""

from __future__ import annotations

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.console import Console
from bitwright.machines.subleq.counter import Counter
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.subtractor import Subtractor
from bitwright.machines.subleq.timing import Timing
from bitwright.machines.subleq.wiring import Check, rule
from bitwright.program import Builder, span


class Port:
    """Arriving bits, strobes, and the register of b, which waits for the result."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        width, self.width = timing.shape.width, timing.shape.width
        self.address_bits = timing.shape.address_bits
        self.b = b
        self.arriving = b.bits("P_word", width)
        self.is_a, self.is_b, self.is_c = (b.bits(f"P_is_{x}", width) for x in "abc")
        self.is_subtrahend, self.is_minuend = b.bits("P_is_subtrahend", width), b.bits("P_is_minuend", width)
        self.is_output = b.bits("P_is_output", width) if timing.shape.dialect.io else None
        self.target, self.release = b.bits("P_target", self.address_bits), b.bits("P_release", self.address_bits)

    def connect(
        self,
        memory: Memory,
        subtractor: Subtractor,
        counter: Counter,
        operand: Check | None,
        console: Console | None,
    ) -> None:
        b = self.b
        for j in range(1, self.width + 1):
            word = self.arriving[j]
            strobes = [self.is_a[j], self.is_b[j], self.is_c[j], self.is_subtrahend[j], self.is_minuend[j]]
            b.block(word, *strobes, *([self.is_output[j]] if self.is_output else []))
            seen: Wires = [*memory.root_address(j), *(operand.leaves(j) if operand else [])]
            kept: Wires = [self.target[j]] if j <= self.address_bits else []
            rule(b, word == 1, self.is_a[j] == 1, to=seen)
            rule(b, word == 1, self.is_b[j] == 1, to=[*seen, *kept])
            rule(b, word == 1, self.is_c[j] == 1, to=[counter.target[j]])
            rule(b, self.is_subtrahend[j] == 1, to=[subtractor.inverted[j]])  # the word is 0 there: this inverts
            rule(b, word == 1, self.is_minuend[j] == 1, to=[subtractor.minuend[j]])
            if self.is_output and console:
                b.when(word == 1, self.is_output[j] == 1).write(console.shown[j])
        i = span(1, self.address_bits)
        b.block(self.target[i], self.release[i])
        b.cell(self.arriving[i], self.target[i])
        b.when(self.target[i] == 1).write(self.target[i])
        for bit in range(1, self.address_bits + 1):
            b.when(self.target[bit] == 1, self.release[bit] == 1).write(*memory.root_address(bit))
