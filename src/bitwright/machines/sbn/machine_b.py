"""Builds machine B, an SBN computer in logarithmic time, with trees for delay chains and a prefix subtractor.

No bit has more than two writers. A signal starts at `B_carry[1]`, fetches and decodes the instruction, reads both
words, subtracts, writes back, selects the next address, and returns after a fixed number of steps.
"""

from __future__ import annotations

from functools import lru_cache

from bitwright.machines.sbn.code import Sizes
from bitwright.machines.sbn.parts import CarryPrefix, address_bit, ceil_log2, delay_line, or_tree
from bitwright.machines.sbn.sbn_machine import Machine, bit_number, numbers
from bitwright.rules import Builder, Ref, grid, span


@lru_cache(maxsize=8)
def machine_b(sizes: Sizes, halt: bool = True) -> Machine:
    """Builds the machine; with `halt`, a flag rises at the address right after the last instruction.

    >>> from bitwright import run
    >>> from bitwright.machines import assemble
    >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> machine = machine_b(code.sizes)
    >>> run(machine.algorithm(code), a=3, b=5).value
    2
    """
    return _MachineB(sizes, halt).build()


class _MachineB:
    def __init__(self, sizes: Sizes, halt: bool) -> None:
        self.sizes, self.halt = sizes, halt
        self.b = Builder()
        self.n_i, self.n_m, self.n_c = sizes.instruction_bits, sizes.word_bits, sizes.width
        self.l_i, self.l_m = sizes.instructions, sizes.words

    def build(self) -> Machine:
        self.declare()
        self.fetch()
        self.decode()
        self.read()
        self.subtract()
        self.write_back()
        self.branch()
        self.b.rest_as_cells()
        program = self.b.build()
        return Machine(
            kind="B",
            sizes=self.sizes,
            program=program,
            operands={z: numbers(bits) for z, bits in self.operand.items()},
            memory_bits=numbers(self.memory),
            always_on=(bit_number(self.carry[1]),),
            boundary=bit_number(self.carry[1]),
            address_bits=tuple(bit_number(entry[0]) for entry in self.selected),
            halt=bit_number(self.halted) if self.halt else None,
            phases={
                "fetch": (bit_number(self.carry[1]),),
                "read": (bit_number(self.done),),
                "subtract": (bit_number(self.go[1]),),
                "write": (bit_number(self.begin),),
                "branch": (bit_number(self.then),),
            },
        )

    def declare(self) -> None:
        """Declares the bits that the units share."""
        b, l_i, l_m, n_i, n_m, n_c = self.b, self.l_i, self.l_m, self.n_i, self.n_m, self.n_c
        entries = l_i + self.halt
        self.address, self.ok = b.bits("I_address", entries, n_i), b.bits("I_ok", entries, n_i)
        self.match = b.bits("I_match", entries)
        self.operand = {"a": b.bits("I_a", l_i, n_m), "b": b.bits("I_b", l_i, n_m), "c": b.bits("I_c", l_i, n_i)}
        self.copy = {z: b.bits(f"I_copy_{z}", *bits.field.shape) for z, bits in self.operand.items()}
        self.wanted = {z: b.bits(f"M_address_{z}", l_m, n_m) for z in "ab"}
        self.word_ok = {z: b.bits(f"M_ok_{z}", l_m, n_m) for z in "ab"}
        self.found = {z: b.bits(f"M_match_{z}", l_m) for z in "ab"}
        self.memory, self.overwrite = b.bits("M_word", l_m, n_c), b.bits("M_overwrite", l_m, n_c)
        self.load, self.result = b.bits("M_load", l_m, n_c), b.bits("M_result", l_m, n_c)
        self.target, self.store = b.bits("M_is_target", l_m), b.bits("M_store", l_m)
        self.minuend, self.inverse = b.bits("D_minuend", n_c), b.bits("D_inverse", n_c)
        self.go = b.bits("D_go", ceil_log2(n_c) + 1)
        self.target_address, self.next = b.bits("B_target", n_i), b.bits("B_next", n_i)
        self.fall_through = [b.bits("B_next_if_not", n_i), b.bits("B_next_if", n_i)]
        self.jump = [b.bits("B_target_if_not", n_i), b.bits("B_target_if", n_i)]
        self.carry = b.bits("B_carry", n_i)
        if self.halt:
            self.halted = b.bit("HALT")

    # Fetch and decode: every entry compares the address, bit by bit; the matching entry sends its operands.

    def fetch(self) -> None:
        b, k = self.b, span(1, self.l_i + self.halt)
        for i in range(1, self.n_i + 1):
            b.block(self.address[k, i], self.ok[k, i])
            hit = b.when(self.ok[k, i] == 1, self.address[k, i] == address_bit(k, i))
            hit.write(self.ok[k, i + 1] if i < self.n_i else self.match[k])
        b.block(self.match[k])
        if self.halt:
            b.block(self.halted)
            b.when(self.match[self.l_i + 1] == 1).write(self.halted)
            b.when(self.halted == 1).write(self.halted)

    def decode(self) -> None:
        b, l_i = self.b, self.l_i
        self.done = done = b.bit("I_done")
        b.block(done)
        signal = or_tree(b, "I_signal", 1, l_i, lambda _: [done])
        k = span(1, l_i)
        b.when(self.match[k] == 1).write(*(self.copy[z][k, :] for z in "abc"), signal(1, k))
        outs = {
            "a": lambda j: delay_line(b, f"I_skew_a{j}", j - 1, [self.wanted["a"][:, j]], "I_skew_a"),
            "b": lambda j: delay_line(b, f"I_skew_b{j}", j - 1, [self.wanted["b"][:, j]], "I_skew_b"),
            "c": lambda i: [self.target_address[i]],
        }
        for z, operand in self.operand.items():
            bits = operand.field.shape[1]
            port = b.bits(f"I_port_{z}", l_i, bits)
            tree = or_tree(b, f"I_tree_{z}", bits, l_i, outs[z])
            k, j = grid((1, l_i), (1, bits))
            b.block(operand[k, j])
            b.block(port[k, j], self.copy[z][k, j])
            b.cell(operand[k, j], port[k, j])
            b.when(operand[k, j] == 1).write(operand[k, j], port[k, j])
            b.when(port[k, j] == 1, self.copy[z][k, j] == 1).write(tree(j, k))
        wait = delay_line(b, "D_wait", self.n_m + 2 + ceil_log2(self.l_m), [self.go[1]])
        b.when(done == 1).write(self.word_ok["a"][:, 1], self.word_ok["b"][:, 1], *wait)

    # Read: words compare their addresses as entries do; `a` is read inverted, for the subtraction.

    def read(self) -> None:
        b, l_m = self.b, self.l_m
        k = span(1, l_m)
        for z in "ab":
            for i in range(1, self.n_m + 1):
                b.block(self.wanted[z][k, i], self.word_ok[z][k, i])
                hit = b.when(self.word_ok[z][k, i] == 1, self.wanted[z][k, i] == address_bit(k, i))
                hit.write(self.word_ok[z][k, i + 1] if i < self.n_m else self.found[z][k])
            b.block(self.found[z][k])
        ports = {z: b.bits(f"M_port_{z}", l_m, self.n_c) for z in "ab"}
        copies = {z: b.bits(f"M_copy_{z}", l_m, self.n_c) for z in "ab"}
        b.when(self.found["a"][k] == 1).write(copies["a"][k, :])
        b.when(self.found["b"][k] == 1).write(copies["b"][k, :], self.target[k])
        trees = {
            "a": or_tree(b, "M_tree_a", self.n_c, l_m, lambda j: [self.inverse[j]]),
            "b": or_tree(b, "M_tree_b", self.n_c, l_m, lambda j: [self.minuend[j]]),
        }
        k, j = grid((1, l_m), (1, self.n_c))
        b.block(self.memory[k, j], self.overwrite[k, j])
        b.cell(self.memory[k, j], ports["a"][k, j], ports["b"][k, j], self.load[k, j])
        b.when(self.memory[k, j] == 1, self.overwrite[k, j] == 0).write(
            self.memory[k, j], ports["a"][k, j], ports["b"][k, j]
        )
        for z, on in (("a", 0), ("b", 1)):
            b.block(ports[z][k, j], copies[z][k, j])
            b.when(ports[z][k, j] == on, copies[z][k, j] == 1).write(trees[z](j, k))

    # Subtract: minuend + inverse + 1 by a parallel prefix of generate and propagate signals.

    def subtract(self) -> None:
        b, n = self.b, self.n_c
        self.carry_in = b.bits("D_carry_in", n)
        half, self.half = b.bits("D_half", n), b.bits("D_half_kept", n)
        prefix = CarryPrefix(b, self.carry_in)
        j = span(1, n)
        b.block(self.minuend[j], self.inverse[j])
        b.block(half[j])
        b.cell(self.minuend[j], half[j], self.half[j])
        b.when(half[j] == 1).write(self.half[j])
        for i in range(1, n + 1):
            b.when(self.minuend[i] != self.inverse[i]).write(half[i], *prefix.propagated(0, i))
            if i < n:
                b.when(self.minuend[i] == 1, self.inverse[i] == 1).write(*prefix.generated(0, i))
        prefix.connect()

        steps = prefix.levels + 1
        self.ready = b.bits("D_ready", n)
        at = span(1, steps)
        b.block(self.go[at])
        b.when(self.go[1] == 1).write(*prefix.generated(0, 0), *([self.go[2]] if steps > 1 else []))
        at = span(2, steps - 1)
        b.when(self.go[at] == 1).write(self.go[at + 1])

    # Write back: the result goes to the target, and its sign decides the branch.

    def write_back(self) -> None:
        b, n = self.b, self.n_c
        self.begin, self.then = begin, then = b.bit("B_begin"), b.bit("B_then")
        b.block(begin)
        b.block(then)
        b.when(self.go[ceil_log2(n) + 1] == 1).write(self.ready[:], self.store[:], begin)
        b.when(begin == 1).write(then)
        b.when(then == 1).write(self.carry[1])
        k = span(1, self.l_m)
        b.block(self.target[k], self.store[k])
        b.when(self.target[k] == 1, self.store[k] == 0).write(self.target[k])
        b.when(self.target[k] == 1, self.store[k] == 1).write(self.overwrite[k, :], self.load[k, :])
        k, j = grid((1, self.l_m), (1, n))
        b.block(self.load[k, j], self.result[k, j])
        b.when(self.load[k, j] == 1, self.result[k, j] == 1).write(self.memory[k, j])

        negative = [self.fall_through[1][:], self.jump[1][:]]
        positive = [self.fall_through[0][:], self.jump[0][:]]
        for bit in range(1, n + 1):
            half, carry, ready = self.half[bit], self.carry_in[bit], self.ready[bit]
            sign = negative if bit == n else []
            b.block(half, carry, ready)
            b.when(half == 1, carry == 0, ready == 0).write(half)
            b.when(half == 1, carry == 0, ready == 1).write(self.result[:, bit], *sign)
            b.when(half == 0, carry == 1, ready == 1).write(self.result[:, bit], *sign)
            if bit == n:
                b.when(half == 0, carry == 0, ready == 1).write(*positive)
                b.when(half == 1, carry == 1, ready == 1).write(*positive)

    # Branch: the next address is the incremented one or the target; both wait, and one is selected.

    def branch(self) -> None:
        b, n = self.b, self.n_i
        choice = b.bits("B_choice", n)
        # The bits of the chosen address arrive one step apart, as the carry of the increment needs them.
        self.selected = [delay_line(b, f"B_skew{i}", i - 1, [choice[i]], "B_skew") for i in range(1, n + 1)]
        sum_ = b.bits("B_sum", n)
        every = span(1, n)
        b.block(sum_[every])
        b.cell(sum_[every], self.next[every], self.target_address[every], choice[every])
        b.when(sum_[every] == 1).write(self.next[every])
        for i in range(1, n + 1):
            b.block(self.next[i], self.fall_through[0][i], self.fall_through[1][i])
            b.when(self.next[i] == 1).write(self.next[i])
            b.when(self.next[i] == 1, self.fall_through[0][i] == 1).write(*self.selected[i - 1])
            b.block(self.target_address[i], self.jump[0][i], self.jump[1][i])
            b.when(self.target_address[i] == 1).write(self.target_address[i])
            b.when(self.target_address[i] == 1, self.jump[1][i] == 1).write(*self.selected[i - 1])
            b.block(choice[i], self.carry[i])
            start: list[Ref] = [self.ok[:, 1]] if i == 1 else []
            ripple = [self.carry[i + 1]] if i < n else []
            if i > 1:
                b.when(choice[i] == 1, self.carry[i] == 0).write(self.address[:, i], sum_[i])
            b.when(choice[i] == 1, self.carry[i] == 1).write(self.address[:, i], *ripple, *start)
            b.when(choice[i] == 0, self.carry[i] == 1).write(sum_[i], *start)
