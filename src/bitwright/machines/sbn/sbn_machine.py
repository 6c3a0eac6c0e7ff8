"""Defines generated SBN machines: the program, the bits of memory, address and flags, and the code that they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bitwright.common.bits import BoolArray, from_bits, to_bits
from bitwright.machines.sbn.code import Code, InterpreterOracle, Sizes, wrap
from bitwright.rules import Algorithm, Bits, Program, Ref, Word
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import Trace


@dataclass(frozen=True)
class Machine:
    """A computer made of templates. It runs any code of its sizes: instructions are part of the start state.

    >>> from bitwright.machines import assemble, machine_b
    >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> machine = machine_b(code.sizes)
    >>> machine.kind, machine.program
    ('B', <Program: 171 bits, 104 blocks, 128 templates>)
    """

    kind: str  # A or B
    sizes: Sizes
    program: Program
    operands: Mapping[str, IntArray]  # a, b, c: (instructions, address bits), the bits of the operands
    memory_bits: IntArray  # (words, width)
    always_on: tuple[int, ...]  # bits of the start state that do not depend on the code
    boundary: int  # this bit is on exactly when an instruction begins
    address_bits: tuple[int, ...]  # at a boundary, the address of the instruction that begins
    halt: int | None
    phases: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # a phase begins when one of its bits is on

    def algorithm(self, code: Code) -> Algorithm:
        """Returns the code as an algorithm whose inputs and outputs are named, signed words of memory.

        >>> from bitwright import run
        >>> from bitwright.machines import assemble, machine_b
        >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
        >>> machine = machine_b(code.sizes)
        >>> run(machine.algorithm(code), a=5, b=3).value
        -2
        """
        fed = {code.names[name] for name in code.inputs}
        start = list(self.always_on)
        for at, instruction in enumerate(code.instructions):
            for operand, value in (("a", instruction.a), ("b", instruction.b), ("c", instruction.c)):
                start.extend(_set_bits(self.operands[operand][at], value))
        for at, value in enumerate(code.words):
            if at not in fed:
                start.extend(_set_bits(self.memory_bits[at], value & (2**self.sizes.width - 1)))
        return Algorithm(
            name=code.name,
            program=self.program,
            inputs=tuple(self._word(name, code) for name in code.inputs),
            outputs=tuple(self._word(name, code) for name in code.outputs or tuple(code.names)),
            start=tuple(start),
            halt=self.halt if self.halt is not None else "fixed point",
            description=code.description,
            ensures=code.ensures,
            computer=Loaded(self, code),
        )

    def memory(self, state: BoolArray) -> list[int]:
        """Returns the words of memory in a state at a boundary.

        >>> from bitwright.machines import assemble, machine_b
        >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
        >>> machine = machine_b(code.sizes)
        >>> machine.memory(machine.algorithm(code).state({"a": 5, "b": 3}))
        [5, 3]
        """
        return [wrap(from_bits(state[bits]), self.sizes.width) for bits in self.memory_bits]

    def address(self, state: BoolArray) -> int:
        """Returns the address of the instruction that begins in a state at a boundary.

        >>> from bitwright.machines import assemble, machine_b
        >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
        >>> machine = machine_b(code.sizes)
        >>> machine.address(machine.algorithm(code).state({"a": 5, "b": 3}))
        0
        """
        return from_bits(state[list(self.address_bits)])

    def _word(self, name: str, code: Code) -> Word:
        return Word(name, tuple(self.memory_bits[code.names[name]].tolist()), signed=True)


def numbers(bits: Bits) -> IntArray:
    """Returns the bit numbers of a declared array, in its shape."""
    return bits.field.bits().reshape(bits.field.shape)


def bit_number(ref: Ref) -> int:
    """Returns the bit number of a reference to a single bit."""
    return int(ref.bits[0, 0])


def _set_bits(places: IntArray, value: int) -> list[int]:
    return [int(bit) for bit in np.asarray(places)[to_bits(value, len(places))]]


class Loaded(NamedTuple):
    """A machine with its code: the `computer` of an algorithm."""

    machine: Machine
    code: Code

    def oracle(self, limit: int) -> InterpreterOracle:
        """Returns the plain interpreter of this code, for at most `limit` instructions."""
        return InterpreterOracle(self.code, limit)

    def instructions(self, trace: Trace) -> tuple[IntArray, IntArray]:
        """Returns the steps at which instructions begin, and their addresses."""
        steps = np.flatnonzero(trace.bit(self.machine.boundary))
        address = np.zeros(len(steps), dtype=np.int64)
        for place, bit in enumerate(self.machine.address_bits):
            address |= trace.bit(bit)[steps].astype(np.int64) << place
        return steps, address

    def phases(self, trace: Trace) -> list[tuple[int, int]]:
        """Returns the steps at which phases begin, with the number of each phase."""
        return sorted(
            (int(step), number)
            for number, bits in enumerate(self.machine.phases.values())
            for step in np.flatnonzero(np.logical_or.reduce([trace.bit(bit) for bit in bits]))
        )

    def word(self, place: int) -> str:
        """Returns the first name of a word, or its address."""
        return next((name for name, at in self.code.names.items() if at == place), f"[{place}]")

    def label(self, address: int) -> str:
        """Returns the first label of an address, or an empty text."""
        return next((label for label, at in self.code.labels.items() if at == address), "")

    def memory_name(self) -> str:
        """Returns the name of the array with the bits of memory."""
        return self.machine.program.layout.field_of(int(self.machine.memory_bits[0, 0])).name

    def notes(self, trace: Trace) -> Iterator[str]:
        """Yields a line for each step: the instruction or phase that begins there, or an empty text."""
        steps, addresses = self.instructions(trace)
        at, began = dict(zip(steps.tolist(), addresses.tolist(), strict=True)), dict(self.phases(trace))
        names = list(self.machine.phases)
        for step in range(len(trace)):
            if step in at and at[step] < len(self.code.instructions):
                sbn = self.code.instructions[at[step]]
                yield f"{at[step]}: {self.word(sbn.b)} -= {self.word(sbn.a)}, {self.label(sbn.c) or sbn.c} if negative"
            elif step in at:
                yield "end"
            else:
                yield names[began[step]] if step in began else ""
