"""Builds machine A, the SBN computer of the paper (App. B.4), with the errors of its listing corrected.

Data and signals travel through delay chains past all instructions and all words, so the number of steps of an
instruction grows with both. Names are the paper's; docs/explanation/errata.md lists the differences.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bitwright.machines.sbn.code import Sizes
from bitwright.machines.sbn.parts import Wires, address_bit, latch
from bitwright.machines.sbn.sbn_machine import Machine, bit_number, numbers
from bitwright.rules import Bits, Builder, Ref, grid, span


@lru_cache(maxsize=8)
def machine_a(sizes: Sizes, halt: bool = True) -> Machine:
    """Builds the machine; with `halt`, a flag rises at the address right after the last instruction.

    >>> from bitwright import run
    >>> from bitwright.machines import assemble
    >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> machine = machine_a(code.sizes)
    >>> run(machine.algorithm(code), a=3, b=5).value
    2
    """
    return _MachineA(sizes, halt).build()


class _MachineA:
    def __init__(self, sizes: Sizes, halt: bool) -> None:
        self.sizes, self.halt = sizes, halt
        self.b = Builder()
        self.n_i, self.n_m, self.n_c = sizes.instruction_bits, sizes.word_bits, sizes.width
        self.l_i, self.l_m = sizes.instructions, sizes.words
        self.entries = self.l_i + halt

    def build(self) -> Machine:
        self.declare()
        self.fetch()
        self.send_operands()
        self.find_words()
        self.memory_cells()
        self.subtract()
        self.branch()
        self.b.rest_as_cells()
        k, i = grid((1, self.entries), (1, self.n_i))
        word, j = grid((1, self.l_m), (1, self.n_m))
        always = [
            *self.compare[:, :].bits.ravel(),
            *self.instr[k, i].bits.ravel()[address_bit(k, i) == 1],
            *self.addr[word, j].bits.ravel()[address_bit(word, j) == 1],
            bit_number(self.sum_p[1]),
        ]
        return Machine(
            kind="A",
            sizes=self.sizes,
            program=self.b.build(),
            operands={z: numbers(bits) for z, bits in self.operand.items()},
            memory_bits=numbers(self.memory),
            always_on=tuple(int(bit) for bit in always),
            boundary=bit_number(self.compare[1, 1]),
            address_bits=tuple(bit_number(self.current[1, i]) for i in range(1, self.n_i + 1)),
            halt=bit_number(self.halted) if self.halt else None,
            phases={
                "fetch": (bit_number(self.compare[1, 1]),),
                "read": (bit_number(self.word_compare[1, 1]),),
                "subtract": (bit_number(self.tc_counter[1]),),
                "write": (bit_number(self.copy_sub[1]),),
                "branch": tuple(bit_number(condition[1]) for condition in self.condition),
            },
        )

    def declare(self) -> None:
        """Declares the bits that the units share."""
        b, l_i, l_m, n_i, n_m, n_c = self.b, self.l_i, self.l_m, self.n_i, self.n_m, self.n_c
        self.compare, self.current = (
            b.bits("I_to_compare", self.entries, n_i),
            b.bits("I_curr_instr", self.entries, n_i),
        )
        self.instr = b.bits("I_instr", self.entries, n_i)
        self.clear = b.bits("I_clear", self.entries, n_i)
        self.operand = {"a": b.bits("I_a", l_i, n_m), "b": b.bits("I_b", l_i, n_m), "c": b.bits("I_c", l_i, n_i)}
        self.copy = {z: b.bits(f"I_to_copy_{z}", *bits.field.shape) for z, bits in self.operand.items()}
        self.word_compare, self.addr = b.bits("M_to_compare", l_m, n_m), b.bits("M_addr", l_m, n_m)
        self.wanted = {z: b.bits(f"M_{z}_addr", l_m, n_m) for z in "ab"}
        self.word_clear = {z: b.bits(f"M_clear_{z}", l_m, n_m) for z in "ab"}
        self.memory = b.bits("M_mem_cont", l_m, n_c)
        self.copy_a, self.copy_b = b.bits("M_to_copy_inv_a", l_m, n_c), b.bits("M_to_copy_b", l_m, n_c)
        self.match_b = b.bits("M_is_match_b", l_m, n_c)
        self.from_sub, self.result = b.bits("M_to_copy_from_sub", l_m, n_c), b.bits("M_sub_result", l_m, n_c)
        self.tc_p, self.tc_q = b.bits("D_tc_p", n_c), b.bits("D_tc_q", n_c)
        self.copy_tc = b.bits("D_to_copy_tc_p", n_c)
        self.sub_p, self.sub_q, self.copy_sub = (
            b.bits(f"D_{name}", n_c) for name in ("sub_p", "sub_q", "to_copy_sub_p")
        )
        self.tc_counter, self.sub_counter = b.bits("D_tc_counter", 2 * n_c), b.bits("D_sub_counter", 2 * n_c)
        self.sync_a, self.sync_b = b.bit("D_tc_sync_a"), b.bit("D_tc_sync_b")
        self.sync_c, self.sync_sub = b.bit("B_to_sync_c"), b.bit("B_to_sync_sub")
        self.sum_p, self.sum_q, self.copy_p = (b.bits(f"B_{name}", n_i) for name in ("sum_p", "sum_q", "to_copy_p"))
        self.pre_candidate = b.bits("B_pre_candidate_1", n_i, family="B_pre_candidate")
        self.copy_candidate = b.bits("B_to_copy_candidate_1", n_i, family="B_to_copy_candidate")
        self.candidate = [b.bits(f"B_candidate_{c}", n_i, family="B_candidate") for c in (0, 1)]
        self.condition = [b.bits(f"B_is_condition_{c}", n_i, family="B_is_condition") for c in (0, 1)]
        if self.halt:
            self.halted = b.bit("HALT")

    # Fetch: every entry compares its address with the current one; a counter then passes through the equal bits.

    def fetch(self) -> None:
        b = self.b
        equal, counter = b.bits("I_is_equal", self.entries, self.n_i), b.bits("I_counter", self.entries, self.n_i)
        k, i = grid((1, self.entries), (1, self.n_i))
        cmp, cur, ins = self.compare[k, i], self.current[k, i], self.instr[k, i]
        b.block(cmp, cur, ins)
        b.cell(cmp, equal[k, i])
        b.when(cmp == 0, cur == 0, ins == 1).write(ins)
        b.when(cmp == 1, cur == 0, ins == 1).write(ins)
        k = span(1, self.entries)
        for bit in range(1, self.n_i + 1):
            cmp, cur, ins = self.compare[k, bit], self.current[k, bit], self.instr[k, bit]
            found = [equal[k, bit], *([counter[k, 1]] if bit == 1 else [])]
            b.when(cmp == 1, cur == 0, ins == 0).write(*found)
            b.when(cmp == 1, cur == 1, ins == 1).write(ins, *found)
        k = span(1, self.l_i)
        hit = [self.copy[z][k, :] for z in "abc"]
        self._count_through(equal, counter, self.clear, self.l_i, self.n_i, hit)
        if self.halt:
            b.block(self.halted)
            b.when(self.halted == 1).write(self.halted)
            last = np.array([self.entries])
            self._count_through(equal, counter, self.clear, 1, self.n_i, [self.halted], last)

    def _count_through(
        self, equal: Bits, counter: Bits, clear: Bits, count: int, bits: int, hit: Wires, at: np.ndarray | None = None
    ) -> None:
        """[equal, counter, clear]: equal bits wait for the counter; a clear flag removes the rest of an old match."""
        b = self.b
        k = span(1, count) if at is None else at
        for i in range(1, bits + 1):
            eq, ctr = equal[k, i], counter[k, i]
            b.block(eq, ctr, clear[k, i])
            b.when(eq == 1, ctr == 0, clear[k, i] == 0).write(eq)
            b.when(eq == 1, ctr == 1, clear[k, i] == 0).write(*([counter[k, i + 1]] if i < bits else hit))

    # The matching entry puts its operands on delay chains past all other entries.

    def send_operands(self) -> None:
        b, l_i = self.b, self.l_i
        sync = b.bits("I_copy_sync", l_i)
        ends: dict[str, Bits] = {"a": self.wanted["a"], "b": self.wanted["b"]}
        for z, operand in self.operand.items():
            bits = operand.field.shape[1]
            delay = b.bits(f"I_{z}_delay", l_i, bits)
            k, j = grid((1, l_i), (1, bits))
            b.block(operand[k, j], self.copy[z][k, j])
            b.cell(operand[k, j], delay[k, j])
            b.when(operand[k, j] == 1, self.copy[z][k, j] == 0).write(operand[k, j])
            k = span(1, l_i)
            for bit in range(1, bits + 1):
                value, copy = operand[k, bit], self.copy[z][k, bit]
                started = [sync[k]] if (z, bit) == ("c", 1) else []
                b.when(value == 1, copy == 1).write(value, delay[k, bit], *started)
                if started:
                    b.when(value == 0, copy == 1).write(*started)
                self._chain(delay, bit, l_i, [ends[z][:, bit]] if z in ends else [self.pre_candidate[bit]])
        self._chain(
            sync,
            None,
            l_i,
            [self.word_compare[:, :], self.word_clear["a"][:, :], self.word_clear["b"][:, :], self.sync_c],
        )

    def _chain(self, delay: Bits, j: int | None, length: int, outs: Wires) -> None:
        """A delay chain of one-bit blocks; a signal entering at place k leaves after place `length`."""

        def at(k: np.ndarray | int) -> Ref:
            return delay[k] if j is None else delay[k, j]

        b = self.b
        b.block(at(span(1, length)))
        b.when(at(span(1, length - 1)) == 1).write(at(span(2, length)))
        b.when(at(length) == 1).write(*outs)

    # Words compare both requested addresses with their own, as instructions do.

    def find_words(self) -> None:
        b = self.b
        equal = {z: b.bits(f"M_is_equal_{z}", self.l_m, self.n_m) for z in "ab"}
        counter = {z: b.bits(f"M_counter_{z}", self.l_m, self.n_m) for z in "ab"}
        k, i = grid((1, self.l_m), (1, self.n_m))
        cmp, a, bb, addr = self.word_compare[k, i], self.wanted["a"][k, i], self.wanted["b"][k, i], self.addr[k, i]
        b.block(cmp, a, bb, addr)
        b.cell(cmp, equal["a"][k, i], equal["b"][k, i])
        b.when(cmp == 0, a == 0, bb == 0, addr == 1).write(addr)
        k = span(1, self.l_m)
        for bit in range(1, self.n_m + 1):
            cmp, addr = self.word_compare[k, bit], self.addr[k, bit]
            a, bb = self.wanted["a"][k, bit], self.wanted["b"][k, bit]
            for wanted_a, wanted_b, own in np.ndindex(2, 2, 2):
                writes: Wires = [addr] if own else []
                for z, value in (("a", wanted_a), ("b", wanted_b)):
                    if value == own:
                        writes += [equal[z][k, bit], *([counter[z][k, 1]] if bit == 1 else [])]
                if writes:
                    b.when(cmp == 1, a == wanted_a, bb == wanted_b, addr == own).write(*writes)
        found = {"a": [self.copy_a[k, :]], "b": [self.copy_b[k, :], self.match_b[k, :]]}
        for z in "ab":
            self._count_through(equal[z], counter[z], self.word_clear[z], self.l_m, self.n_m, found[z])

    # A cell keeps its bit, sends it (a inverted), remembers that it is the target, and takes the result.

    def memory_cells(self) -> None:
        b, l_m, n_c = self.b, self.l_m, self.n_c
        delay_a, delay_b = b.bits("M_a_cont_delay", l_m, n_c), b.bits("M_b_cont_delay", l_m, n_c)
        sync_a, sync_b = b.bits("M_a_cont_sync", l_m), b.bits("M_b_cont_sync", l_m)
        word, bit = grid((1, l_m), (1, n_c))
        b.cell(self.memory[word, bit], delay_a[word, bit], delay_b[word, bit])
        k = span(1, l_m)
        for j in range(1, n_c + 1):
            m, ca, cb = self.memory[k, j], self.copy_a[k, j], self.copy_b[k, j]
            mb, cs, r = self.match_b[k, j], self.from_sub[k, j], self.result[k, j]
            sa, sb = ([sync_a[k]], [sync_b[k]]) if j == 1 else ([], [])
            to_a, to_b = delay_a[k, j], delay_b[k, j]
            cell = (m, ca, cb, mb, cs, r)
            b.block(*cell)

            def rule(on: str, *writes: Ref, cell: tuple[Ref, ...] = cell) -> None:
                """A template of the cell: the named bits are on, the others off."""
                names = ("m", "ca", "cb", "mb", "cs", "r")
                chosen = on.split()
                b.when(*(bit == int(name in chosen) for name, bit in zip(names, cell, strict=True))).write(*writes)

            rule("m", m)
            rule("m ca", m, *sa)
            rule("ca", to_a, *sa)
            rule("m cb mb", m, mb, to_b, *sb)
            rule("cb mb", mb, *sb)
            rule("m ca cb mb", m, mb, to_b, *sa, *sb)
            rule("ca cb mb", mb, to_a, *sa, *sb)
            rule("m mb", m, mb)
            rule("mb", mb)
            rule("m mb cs r", m)
            rule("mb cs r", m)
            rule("m cs", m)
            rule("m cs r", m)
            self._chain(delay_a, j, l_m, [self.tc_p[j]])
            self._chain(delay_b, j, l_m, [self.sub_p[j]])
        self._chain(sync_a, None, l_m, [self.tc_q[1], self.tc_counter[1]])
        self._chain(sync_b, None, l_m, [self.sync_b])

    # Subtract: complete the two's complement of a (its inverse + 1), then add b.

    def _adder(self, p: Bits, q: Bits, copy: Bits, carry: str, n: int) -> None:
        b = self.b
        i = span(1, n)
        b.block(p[i], q[i], copy[i])
        b.when(p[i] == 1, q[i] == 0, copy[i] == 0).write(p[i])
        b.when(p[i] == 0, q[i] == 1, copy[i] == 0).write(p[i])
        b.cell(p[n])
        if n > 1:
            carries = b.bits(carry, n - 1)
            i = span(1, n - 1)
            b.block(carries[i])
            b.cell(p[i], carries[i])
            b.when(p[i] == 1, q[i] == 1, copy[i] == 0).write(carries[i])
            b.when(carries[i] == 1).write(q[i + 1])

    def subtract(self) -> None:
        b, n = self.b, self.n_c
        self._adder(self.tc_p, self.tc_q, self.copy_tc, "D_tc_carry", n)
        self._adder(self.sub_p, self.sub_q, self.copy_sub, "D_sub_carry", n)
        self._chain(self.tc_counter, None, 2 * n, [self.sync_a])
        self._chain(self.sub_counter, None, 2 * n, [self.sync_sub])
        latch(b, self.sync_a, self.sync_b, [self.copy_tc[:]])
        for i in range(1, n + 1):
            start = [self.sub_counter[1]] if i == 1 else []
            b.when(self.tc_p[i] == 1, self.copy_tc[i] == 1).write(self.sub_q[i], *start)
            if start:
                b.when(self.tc_p[i] == 0, self.copy_tc[i] == 1).write(*start)
            signs = [[self.condition[c][:], self.from_sub[:, :]] if i == n else [] for c in (0, 1)]
            b.when(self.sub_p[i] == 1, self.copy_sub[i] == 1).write(self.result[:, i], *signs[1])
            if i == n:
                b.when(self.sub_p[i] == 0, self.copy_sub[i] == 1).write(*signs[0])

    # Branch: the address after this one, or c; the condition lets one of them through, and everything starts again.

    def branch(self) -> None:
        b, n = self.b, self.n_i
        self._adder(self.sum_p, self.sum_q, self.copy_p, "B_carry", n)
        latch(b, self.sync_c, self.sync_sub, [self.copy_sub[:], self.copy_p[:], self.copy_candidate[:]])
        every = span(1, n)
        b.cell(self.pre_candidate[every], self.candidate[0][every], self.candidate[1][every])
        for i in range(1, n + 1):
            one = [self.sum_p[1]] if i == 1 else []
            b.when(self.sum_p[i] == 1, self.copy_p[i] == 1).write(self.candidate[0][i], *one)
            if one:
                b.when(self.sum_p[i] == 0, self.copy_p[i] == 1).write(*one)
            b.block(self.pre_candidate[i], self.copy_candidate[i])
            b.when(self.pre_candidate[i] == 1, self.copy_candidate[i] == 0).write(self.pre_candidate[i])
            b.when(self.pre_candidate[i] == 1, self.copy_candidate[i] == 1).write(self.candidate[1][i])
            again = [self.compare[:, :], self.clear[:, :]] if i == n else []
            for candidate, condition in zip(self.candidate, self.condition, strict=True):
                b.block(candidate[i], condition[i])
                b.when(candidate[i] == 1, condition[i] == 1).write(self.current[:, i], self.sum_q[i], *again)
                if again:
                    b.when(candidate[i] == 0, condition[i] == 1).write(*again)
