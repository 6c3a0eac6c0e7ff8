"""SBN computers: the code of programs, a plain interpreter, and the machines A (the paper's) and B (logarithmic)."""

from bitwright.machines.sbn.code import Code, Executed, Instruction, Sizes, interpret, run_interpreter
from bitwright.machines.sbn.machine_a import machine_a, steps_of_instruction
from bitwright.machines.sbn.machine_b import machine_b, steps_per_instruction
from bitwright.machines.sbn.sbn_machine import Machine

__all__ = [
    "Code",
    "Executed",
    "Instruction",
    "Machine",
    "Sizes",
    "interpret",
    "machine_a",
    "machine_b",
    "run_interpreter",
    "steps_of_instruction",
    "steps_per_instruction",
]
