"""A generated SBN machine: an ordinary program, and the bits of its memory, address and flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bitwright.bits import BoolArray, from_bits, to_bits
from bitwright.machines.sbn.code import Code, Sizes, wrap
from bitwright.machines.sbn.loaded import Loaded
from bitwright.program import Algorithm, Bits, Program, Ref, Word
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class Machine:
    """A computer made of templates. Every code of its sizes runs on it: instructions are part of the start state.

    >>> from bitwright.machines import assemble, machine_b
    >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> machine = machine_b(code.sizes)
    >>> machine.kind, machine.program
    ('B', <Program: 171 bits, 104 blocks, 128 templates>)
    """

    kind: str  # A or B
    sizes: Sizes
    program: Program
    operands: Mapping[str, IntArray]  # a, b, c: (instructions, address bits), where the constants of instructions are
    memory_bits: IntArray  # (words, width)
    always_on: tuple[int, ...]  # bits of the start state that do not depend on the code
    boundary: int  # this bit is on exactly when an instruction begins
    address_bits: tuple[int, ...]  # at a boundary, the address of the instruction that begins
    halt: int | None
    phases: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # a phase begins when one of its bits is on

    def algorithm(self, code: Code) -> Algorithm:
        """The code as an algorithm: its inputs and outputs are words of memory, by name and signed.

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
        """The words of memory in a state at a boundary.

        >>> from bitwright.machines import assemble, machine_b
        >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
        >>> machine = machine_b(code.sizes)
        >>> machine.memory(machine.algorithm(code).state({"a": 5, "b": 3}))
        [5, 3]
        """
        return [wrap(from_bits(state[bits]), self.sizes.width) for bits in self.memory_bits]

    def address(self, state: BoolArray) -> int:
        """The address of the instruction that begins, in a state at a boundary.

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
    """The bit numbers of a declared array, in its shape."""
    return bits.field.bits().reshape(bits.field.shape)


def bit_number(ref: Ref) -> int:
    """The bit number of a reference to a single bit."""
    return int(ref.bits[0, 0])


def _set_bits(places: IntArray, value: int) -> list[int]:
    return [int(bit) for bit in np.asarray(places)[to_bits(value, len(places))]]
