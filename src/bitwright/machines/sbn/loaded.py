"""Code on an SBN machine: what recorded runs show of it, its oracle, and the proof of what it computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bitwright.machines.sbn.code import Code
from bitwright.program import Algorithm
from bitwright.program.layout import IntArray
from bitwright.program.trace import Trace

if TYPE_CHECKING:
    from bitwright.machines.sbn.oracle import InterpreterOracle
    from bitwright.machines.sbn.proof import CodeProof
    from bitwright.machines.sbn.sbn_machine import Machine
    from bitwright.proofs.unrolling.solver import Prover


class Loaded(NamedTuple):
    """A machine and the code that it runs: the `computer` of an algorithm."""

    machine: Machine
    code: Code

    def oracle(self, limit: int) -> InterpreterOracle:
        """The plain interpreter on this code, for at most `limit` instructions."""
        from bitwright.machines.sbn.oracle import InterpreterOracle

        return InterpreterOracle(self.code, limit)

    def proof(self, algorithm: Algorithm, prover: Prover) -> CodeProof | None:
        """The proof of what the algorithm computes, by its instructions: on machine B, if it halts."""
        from bitwright.machines.sbn.proof import CodeProof

        return CodeProof(algorithm, prover) if self.machine.kind == "B" and algorithm.halt is not None else None

    def instructions(self, trace: Trace) -> tuple[IntArray, IntArray]:
        """The steps in which instructions begin, and their addresses."""
        steps = np.flatnonzero(trace.bit(self.machine.boundary))
        address = np.zeros(len(steps), dtype=np.int64)
        for place, bit in enumerate(self.machine.address_bits):
            address |= trace.bit(bit)[steps].astype(np.int64) << place
        return steps, address

    def phases(self, trace: Trace) -> list[tuple[int, int]]:
        """Every step in which a phase begins, and the phase's number."""
        return sorted(
            (int(step), number)
            for number, bits in enumerate(self.machine.phases.values())
            for step in np.flatnonzero(np.logical_or.reduce([trace.bit(bit) for bit in bits]))
        )

    def word(self, place: int) -> str:
        """The first name of a word, or its address."""
        return next((name for name, at in self.code.names.items() if at == place), f"[{place}]")

    def label(self, address: int) -> str:
        """The first label of an address, or nothing."""
        return next((label for label, at in self.code.labels.items() if at == address), "")

    def memory_name(self) -> str:
        """The array of bits that memory is."""
        return self.machine.program.layout.field_of(int(self.machine.memory_bits[0, 0])).name

    def notes(self, trace: Trace) -> Iterator[str]:
        """One line per step: the instruction that begins there, or else the phase, or nothing."""
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
