"""Machine V with a program, run in one go: what it reads is given, and what it prints is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bitwright.api.open import SubleqProgram
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import RuleEngine
from bitwright.machines.subleq import image_text
from bitwright.running.computer import Computer, MachineTally, RunLimits

__all__ = ["Computed", "Engine", "MachineTally", "compute", "image_text"]


@dataclass(frozen=True)
class Computed:
    """How a run of machine V ended."""

    reason: str  # halt, fault, limit, time, stopped or stuck
    tally: MachineTally
    printed: bytes
    memory: list[int]  # words, signed
    pc: int | None


def compute(
    program: SubleqProgram,
    engine: Engine,
    console: bytes = b"",
    *,
    instructions: int | None = None,
    seconds: float | None = None,
    most_printed: int,
    report: Callable[[MachineTally, bytes], None],
) -> Computed:
    """Runs an image until it halts, or a limit is met; an engine that can be wrong is compared with the rules."""
    machine, supply, said = program.machine, iter(console), bytearray()

    def look(tally: MachineTally) -> bool:
        report(tally, bytes(said))
        return len(said) < most_printed

    def write(byte: int) -> None:
        if len(said) < most_printed:
            said.append(byte)

    truth = RuleEngine(machine.program) if engine.fallible else None
    state = machine.start(program.image, 0)
    computer = Computer(machine, engine, state, lambda: next(supply, None), write, truth=truth)
    ending = computer.run(RunLimits(instructions, seconds), look)
    signed = machine.shape.signed
    memory = [signed(word) for word in ending.memory or computer.memory()]
    return Computed(ending.reason, ending.tally, bytes(said), memory, None if ending.pc is None else signed(ending.pc))
