"""Builds machine V, a SUBLEQ computer with stored programs, from its units, and reads and writes its states.

docs/explanation/machines.md describes the units.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bitwright.common.bits import BoolArray, from_bits, to_bits
from bitwright.common.errors import InputError
from bitwright.machines.sbn.sbn_machine import bit_number, numbers
from bitwright.machines.subleq.images import Shape, start_memory
from bitwright.machines.subleq.memory import Memory, Timing
from bitwright.machines.subleq.units import Console, Counter, Port, Sequencer, Subtractor, check
from bitwright.rules import Algorithm, Builder, Program, Word
from bitwright.rules.layout import IntArray

_BYTES_PER_BIT = 1_900  # memory use while building; measured from 1Ki to 64Ki words
_BASE = 200_000_000  # Python, NumPy and the compiled loops


@dataclass(frozen=True)
class Ports:
    """The bits through which a machine with `io` communicates."""

    request: int
    give: int
    given: IntArray  # (width,)
    offer: int
    taken: int
    shown: IntArray  # (width,)


@dataclass(frozen=True, eq=False)
class MachineV:
    """The program, and the positions of memory, counter and flags.

    >>> from bitwright.machines.subleq import find_dialect
    >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
    >>> machine.program
    <Program: 701 bits, 328 blocks, 520 templates>
    """

    shape: Shape
    timing: Timing
    program: Program
    memory_bits: IntArray  # (words, width)
    address_bits: IntArray  # (width,) at a boundary, the address of the instruction that begins
    next_bits: IntArray  # (width,) the register with the next address during an instruction
    boundary: int  # on exactly when an instruction begins
    halt: int
    fault: int | None
    ports: Ports | None

    def start(self, image: Sequence[int], pc: int = 0) -> BoolArray:  # (k,)
        """Returns the start state of an image.

        >>> from bitwright.machines.subleq import find_dialect
        >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
        >>> machine.memory(machine.start([6, 7, 3]))
        [6, 7, 3, 0, 0, 0, 0, 0]
        """
        memory = np.array(start_memory(self.shape, image), dtype=np.uint64)  # (words,)
        state = np.zeros(self.program.bits, dtype=bool)
        places = np.arange(self.shape.width, dtype=np.uint64)
        state[self.memory_bits] = (memory[:, np.newaxis] >> places & np.uint64(1)).astype(bool)
        state[self.address_bits] = to_bits(pc, self.shape.width, "the first address")
        state[self.boundary] = True
        return state

    def memory(self, state: BoolArray) -> list[int]:
        """Returns the unsigned words; a result arrives `timing.depth + 1` steps after the next boundary.

        >>> from bitwright.machines.subleq import find_dialect
        >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
        >>> machine.memory(machine.start([6, 7, -1]))
        [6, 7, 255, 0, 0, 0, 0, 0]
        """
        weights = np.uint64(1) << np.arange(self.shape.width, dtype=np.uint64)
        return [int(word) for word in (state[self.memory_bits] * weights).sum(axis=1, dtype=np.uint64)]

    def position(self, state: BoolArray) -> int | None:
        """Returns the address of the instruction that begins, waits for its host or has halted; None otherwise.

        The address of a halted machine is valid once its state is a fixed point.

        >>> from bitwright.machines.subleq import find_dialect
        >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
        >>> machine.position(machine.start([6, 7, 3], pc=3))
        3
        """
        after = from_bits(state[self.next_bits])
        inside = (after - 3) % (1 << self.shape.width)  # during an instruction 3 has already been added
        if state[self.halt]:
            return inside if self.fault is not None and state[self.fault] else after
        if state[self.boundary]:
            return from_bits(state[self.address_bits])
        return inside if self.ports and (state[self.ports.request] or state[self.ports.offer]) else None

    def algorithm(self, image: Sequence[int] = (), name: str = "machine V") -> Algorithm:
        """Returns the machine with an image as an algorithm that halts; its output `next` is the program counter.

        >>> from bitwright import run
        >>> from bitwright.machines.subleq import find_dialect
        >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
        >>> run(machine.algorithm([0, 0, 8])).outputs
        {'next': 8}
        """
        start = np.flatnonzero(self.start(image))
        outputs = [Word("next", tuple(self.next_bits.tolist()))]
        return Algorithm(
            name=name,
            program=self.program,
            outputs=tuple(outputs),
            start=tuple(start.tolist()),
            halt=self.halt,
            description=f"a stored-program SUBLEQ computer, {self.shape}",
        )


@lru_cache(maxsize=4)
def machine_v(shape: Shape) -> MachineV:
    """Builds the machine; raises InputError without building it if there is not enough memory.

    >>> from bitwright import run
    >>> from bitwright.machines.subleq import find_dialect
    >>> machine = machine_v(Shape(8, 8, find_dialect("plain")))
    >>> image = [6, 7, 3, 0, 0, 8, 2, 5]  # M[7] - M[6], then 0 - 0, which goes to 8, outside
    >>> machine.memory(run(machine.algorithm(image)).state)[7]
    3
    """
    check_memory(shape)
    timing, b = Timing(shape), Builder()
    memory, port, subtractor = Memory(b, timing), Port(b, timing), Subtractor(b, timing)
    counter, sequencer = Counter(b, timing), Sequencer(b, timing)
    console = Console(b, timing) if shape.dialect.io else None
    halted = check(b, "C_check", timing.counter_terms, [sequencer.out_of_range])
    operand = None
    if timing.operand_terms is not None and sequencer.special is not None:
        operand = check(b, "P_check", timing.operand_terms, [sequencer.special])

    memory.connect(port.arriving)
    port.connect(memory, subtractor, counter, operand, console)
    subtractor.connect(memory, counter)
    counter.connect(memory, halted)
    sequencer.connect(memory, port, subtractor, counter, console)
    if console:
        console.connect(memory, port, counter, sequencer)
    b.rest_as_cells()
    return MachineV(
        shape=shape,
        timing=timing,
        program=b.build(),
        memory_bits=numbers(memory.cell),
        address_bits=numbers(counter.address),
        next_bits=numbers(counter.next),
        boundary=bit_number(sequencer.begin),
        halt=bit_number(sequencer.halted),
        fault=None if sequencer.fault is None else bit_number(sequencer.fault),
        ports=None
        if console is None
        else Ports(
            request=bit_number(console.request),
            give=bit_number(console.give),
            given=numbers(console.given),
            offer=bit_number(console.offer),
            taken=bit_number(console.taken),
            shown=numbers(console.shown),
        ),
    )


def check_memory(shape: Shape) -> None:
    """Raises InputError if the machine is certainly too large for this computer."""
    needed, free = _BASE + _BYTES_PER_BIT * shape.words * shape.width, bytes_available()
    if free is not None and needed > free:
        raise InputError(
            f"a machine of {shape.words:,} words of {shape.width} bits takes about {needed / 1e9:.1f} GB, "
            f"and {free / 1e9:.1f} GB are free; give fewer words"
        )


def bytes_available() -> int | None:
    """Returns the free memory in bytes; None if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
