"""Computers as programs: the SBN machines A (the paper's) and B (logarithmic), and an SBN interpreter as oracle."""

from bitwright.machines.sbn.assembler import assemble, load_sbn
from bitwright.machines.sbn.code import Code, Instruction, Sizes, interpret
from bitwright.machines.sbn.machine_a import machine_a
from bitwright.machines.sbn.machine_b import machine_b
from bitwright.machines.sbn.sbn_machine import Machine

__all__ = [
    "Code",
    "Instruction",
    "Machine",
    "Sizes",
    "assemble",
    "interpret",
    "load_sbn",
    "machine_a",
    "machine_b",
]
