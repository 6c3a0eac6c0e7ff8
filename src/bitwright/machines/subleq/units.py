"""Builds the units around the memory of machine V: subtractor, counter, port, console and sequencer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from bitwright.machines.sbn.parts import CarryPrefix, Wires, delay_line, rule
from bitwright.machines.subleq.memory import Memory, Terms, Timing, check_levels
from bitwright.rules import Builder, Ref, span


def and_tree(b: Builder, name: str, inputs: int, levels: int, to: Wires, family: str = "") -> list[Ref]:
    """Builds a tree of two-bit blocks with exactly `levels` levels; it sets `to` when all inputs are on at once."""
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


Check = Mapping[int, Wires]  # for each bit of a number, the wires to set when it is on


def check(b: Builder, name: str, terms: Terms, to: Wires) -> Check:
    """Builds an OR of ANDs over the bits of a number, which sets `to` a fixed number of steps later."""
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
    """Subtracts, with an inverted subtrahend, and passes the result to memory when `ready` is strobed."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width = b, timing.shape.width
        self.saturate = timing.shape.dialect.saturate
        n = self.width
        self.inverted = b.bits("D_inverted_early", n)  # the subtrahend arrives a step before the minuend
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


class Counter:
    """The program counter, which adds 3 during an instruction; the result or the jump target becomes the next address.

    The next address waits in `next`, the jump's in `target`; strobes release one of them and clear the other.
    `address` is on for one step, when an instruction begins.
    """

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.width = b, timing.shape.width
        n = self.width
        self.next, self.count = b.bits("C_next", n), b.bits("C_count", n)
        self.next_if = [b.bits("C_next_if_not", n), b.bits("C_next_if", n)]
        self.target = b.bits("C_target", n)
        self.target_if = [b.bits("C_target_if_not", n), b.bits("C_target_if", n)]
        self.address = b.bits("C_address", n)

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
            bit, carry, target, address = self.next[i], self.count[i], self.target[i], self.address[i]
            b.block(bit, carry, self.next_if[0][i], self.next_if[1][i])
            b.when(bit == 1).write(bit)
            b.when(carry == 1).write(bit)
            rule(b, bit == 1, carry == 1, to=[self.count[i + 1]] if i < self.width else [])
            b.when(bit == 1, self.next_if[0][i] == 1).write(address)
            b.block(target, self.target_if[0][i], self.target_if[1][i])
            b.when(target == 1).write(target)
            b.when(target == 1, self.target_if[1][i] == 1).write(address)
            b.block(address)
            b.when(address == 1).write(*memory.root_address(i), bit, *halted[i])


class Port:
    """Routes the words from memory by strobes; the address b waits here for the result.

    Words arrive in a fixed order: a, b and c of the instruction, then M[a], then M[b].
    """

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
        self, memory: Memory, subtractor: Subtractor, counter: Counter, operand: Check | None, console: Console | None
    ) -> None:
        b = self.b
        for j in range(1, self.width + 1):
            word = self.arriving[j]
            strobes = [self.is_a[j], self.is_b[j], self.is_c[j], self.is_subtrahend[j], self.is_minuend[j]]
            b.block(word, *strobes, *([self.is_output[j]] if self.is_output else []))
            seen: Wires = [*memory.root_address(j), *(operand[j] if operand is not None else [])]
            kept: Wires = [self.target[j]] if j <= self.address_bits else []
            rule(b, word == 1, self.is_a[j] == 1, to=seen)
            rule(b, word == 1, self.is_b[j] == 1, to=[*seen, *kept])
            rule(b, word == 1, self.is_c[j] == 1, to=[counter.target[j]])
            rule(b, self.is_subtrahend[j] == 1, to=[subtractor.inverted[j]])  # this inverts, since the word is 0 there
            rule(b, word == 1, self.is_minuend[j] == 1, to=[subtractor.minuend[j]])
            if self.is_output and console:
                b.when(word == 1, self.is_output[j] == 1).write(console.shown[j])
        i = span(1, self.address_bits)
        b.block(self.target[i], self.release[i])
        b.cell(self.arriving[i], self.target[i])
        b.when(self.target[i] == 1).write(self.target[i])
        for bit in range(1, self.address_bits + 1):
            b.when(self.target[bit] == 1, self.release[bit] == 1).write(*memory.root_address(bit))


class Console:
    """Input and output: the machine stops at a request until its host has answered.

    A waiting machine is a fixed point. The host sets the bits of a word in `given`, and `give`, in one step while
    `request` is on; while `offer` is on it reads the word in `shown`, and then sets `taken`.
    """

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


class Sequencer:
    """A token that passes once through each instruction and strobes the units.

    All times are fixed in advance (`Timing`), so no unit has to signal that it is done. `begin` is on exactly when an
    instruction begins; `halted` stays on after the last one.
    """

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.timing = b, timing
        self.at = b.bits("S_at", timing.last + 1)
        self.begin, self.finish, self.ask, self.store = (b.bit(f"S_{x}") for x in ("begin", "finish", "ask", "store"))
        self.out_of_range, self.halted = b.bit("S_out_of_range"), b.bit("HALT")
        self.special = b.bit("S_special") if timing.operand_terms is not None else None
        self.fault = b.bit("FAULT") if timing.shape.dialect.strict else None
        self.is_output = b.bit("S_is_output") if timing.shape.dialect.io else None

    def moment(self, t: int) -> Ref:
        """Returns S_t, the bit of moment t."""
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
        """Returns the bits that each moment sets, starting with the next moment."""
        timing = self.timing
        strobes: list[Wires] = [[self.moment(t + 1)] if t < timing.last else [] for t in range(timing.last + 1)]
        answer, ready = timing.answer, timing.subtract + timing.prefix
        for t, outs in (
            (timing.counter_check, [counter.count[1], counter.count[2]]),  # + 3: a ripple in place does the rest
            (answer - 1, [port.is_a[:], self.ask]),
            (answer, [port.is_b[:], self.ask]),
            (answer + 1, [port.is_c[:]]),
            (2 * answer, [port.is_subtrahend[:]]),
            (2 * answer + 1, [port.is_minuend[:]]),
            (timing.subtract, subtractor.prefix.generated(0, 0)),
            (ready, [subtractor.ready[:]]),
            (timing.last, [port.release[:], self.store]),
            (timing.last, [self.finish] if timing.shape.dialect.saturate else []),
        ):
            strobes[t] += outs
        return strobes

    def _choices(self, strobes: list[Wires], port: Port, console: Console | None) -> set[int]:
        """Returns the moments at which a check can intervene; they share a block with its verdict."""
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
