"""Input and output of machine V: it stops at a request until the world outside has answered.

A waiting machine is a fixed point. The host sets the bits of a word and `give` in one step while `request` is on; it
reads the word that is shown while `offer` is on, and then sets `taken`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.machines.subleq.counter import Counter
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.timing import Timing
from bitwright.program import Builder, span

if TYPE_CHECKING:
    from bitwright.machines.subleq.port import Port
    from bitwright.machines.subleq.sequencer import Sequencer


class Console:
    """The bits that a host reads and sets are request, given, give; and offer, shown, taken."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width = b, timing.shape.width
        self.request, self.give = b.bit("IO_request"), b.bit("IO_give")
        self.given, self.given_late = b.bits("IO_given", self.width), b.bits("IO_given_late", self.width)
        self.offer_early, self.offer, self.taken = b.bit("IO_offer_early"), b.bit("IO_offer"), b.bit("IO_taken")
        self.shown, self.clear = b.bits("IO_shown", self.width), b.bits("IO_clear", self.width)
        self.go_on, self.done = b.bit("IO_go_on"), b.bit("IO_done")

    def connect(self, memory: Memory, port: Port, counter: Counter, sequencer: Sequencer) -> None:
        b, j, release = self.b, span(1, self.width), port.release[:]
        b.block(self.request, self.give)
        b.when(self.request == 1).write(self.request)
        b.when(self.request == 1, self.give == 1).write(sequencer.store, self.go_on, release)
        for signal, outs in (
            (self.go_on, counter.fall_through),
            (self.done, [sequencer.finish]),
            (self.offer_early, [self.offer]),
        ):
            b.block(signal)
            b.when(signal == 1).write(*outs)
        b.block(self.given[j])
        b.when(self.given[j] == 1).write(self.given_late[j])
        b.block(self.given_late[j])
        b.when(self.given_late[j] == 1).write(memory.root_data(j))
        b.block(self.offer, self.taken)
        b.when(self.offer == 1).write(self.offer)
        b.when(self.offer == 1, self.taken == 1).write(self.clear[:], release, self.go_on, self.done)
        b.block(self.shown[j], self.clear[j])
        b.cell(self.given[j], self.given_late[j], self.shown[j])
        b.when(self.shown[j] == 1).write(self.shown[j])
