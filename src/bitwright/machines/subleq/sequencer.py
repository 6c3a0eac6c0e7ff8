"""The sequencer of machine V: a token that walks once through an instruction and strobes the units as it passes.

Every time is fixed beforehand (timing.py), so no unit ever has to say that it is done.
"""

from __future__ import annotations

from bitwright.machines.sbn.parts import Wires, delay_line
from bitwright.machines.subleq.console import Console
from bitwright.machines.subleq.counter import Counter
from bitwright.machines.subleq.memory import Memory
from bitwright.machines.subleq.port import Port
from bitwright.machines.subleq.subtractor import Subtractor
from bitwright.machines.subleq.timing import Timing
from bitwright.program import Builder, Ref


class Sequencer:
    """`begin` is on exactly when an instruction begins; `halted` stays on when none will."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.timing = b, timing
        self.at = b.bits("S_at", timing.last + 1)
        self.begin, self.finish, self.ask, self.store = (b.bit(f"S_{x}") for x in ("begin", "finish", "ask", "store"))
        self.out_of_range, self.halted = b.bit("S_out_of_range"), b.bit("HALT")
        self.special = b.bit("S_special") if timing.operand_terms is not None else None
        self.fault = b.bit("FAULT") if timing.shape.dialect.strict else None
        self.is_output = b.bit("S_is_output") if timing.shape.dialect.io else None

    def moment(self, t: int) -> Ref:
        """S_t."""
        return self.at[t + 1]

    def connect(
        self, memory: Memory, port: Port, subtractor: Subtractor, counter: Counter, console: Console | None
    ) -> None:
        b, timing = self.b, self.timing
        strobes = self._strobes(port, subtractor, counter)
        shared = self._choices(strobes, port, console)
        for t in range(timing.last + 1):
            if t not in shared:
                b.block(self.moment(t))
            b.when(self.moment(t) == 1).write(*strobes[t])
        saturating = timing.shape.dialect.saturate
        for signal, outs in (
            (self.ask, memory.launch("read")),
            (self.store, [*memory.launch("write"), *([] if saturating else [self.finish])]),
            (self.finish, [self.begin]),
            (self.begin, [*memory.launch("fetch"), self.moment(0)]),
            (self.halted, [self.halted]),
            *(((self.fault, [self.fault]),) if self.fault is not None else ()),
        ):
            b.block(signal)
            b.when(signal == 1).write(*outs)

    def _strobes(self, port: Port, subtractor: Subtractor, counter: Counter) -> list[Wires]:
        """What each moment sets, the next moment first."""
        timing = self.timing
        strobes: list[Wires] = [[self.moment(t + 1)] if t < timing.last else [] for t in range(timing.last + 1)]
        answer, ready = timing.answer, timing.subtract + timing.prefix
        for t, outs in (
            (timing.counter_check, counter.plus_three),
            (answer - 1, [port.is_a[:], self.ask]),
            (answer, [port.is_b[:], self.ask]),
            (answer + 1, [port.is_c[:]]),
            (2 * answer, [port.is_subtrahend[:]]),
            (2 * answer + 1, [port.is_minuend[:]]),
            (timing.subtract, subtractor.generated(0, 0)),
            (ready, [subtractor.ready[:]]),
            (timing.last, [port.release[:], self.store]),
            (timing.last, [self.finish] if timing.shape.dialect.saturate else []),
        ):
            strobes[t] += outs
        return strobes

    def _choices(self, strobes: list[Wires], port: Port, console: Console | None) -> set[int]:
        """Moments at which a check has its say; they share a block with its verdict."""
        b, timing = self.b, self.timing
        end = timing.counter_check
        b.block(self.moment(end), self.out_of_range)
        b.when(self.moment(end) == 1, self.out_of_range == 1).write(self.halted)
        if self.special is None:
            return {end}
        a = timing.answer + 1 + timing.operand_check
        b.block(self.special, self.moment(a), self.moment(a + 1))
        if self.fault is not None:
            for t in (a, a + 1):
                b.when(self.moment(t) == 1, self.special == 1).write(self.halted, self.fault)
            return {end, a, a + 1}
        assert console is not None
        assert port.is_output is not None
        assert self.is_output is not None
        request = delay_line(b, "IO_wait", timing.wait_for_input, [console.request])
        b.when(self.moment(a) == 1, self.special == 1).write(*request)
        b.when(self.moment(a + 1) == 1, self.special == 1).write(*strobes[a + 1], self.is_output)
        read = 2 * timing.answer
        b.block(self.moment(read), self.is_output)
        b.when(self.is_output == 1).write(self.is_output)
        b.when(self.moment(read) == 1, self.is_output == 1).write(port.is_output[:], console.offer_early)
        return {end, a, a + 1, read}
