"""Stored-program SUBLEQ: dialects, an interpreter, images, and machine V, of templates; with its assembler."""

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names
from bitwright.machines.subleq.interpreter import (
    DIALECTS,
    Dialect,
    Interpreter,
    Shape,
    find_dialect,
    image_text,
    load_image,
    misfits,
    parse_image,
)
from bitwright.machines.subleq.machine import MachineV, Ports, machine_v
from bitwright.machines.subleq.memory import Timing

if TYPE_CHECKING:
    from bitwright.machines.assembly.subleq_assembler import Assembly as Assembly
    from bitwright.machines.assembly.subleq_assembler import assemble_sq as assemble_sq
    from bitwright.machines.assembly.subleq_assembler import load_sq as load_sq

_NEXT_DOOR, __getattr__ = lazy_names(
    __name__,
    {"bitwright.machines.assembly.subleq_assembler": "Assembly assemble_sq load_sq"},
)
__all__ = [
    "DIALECTS",
    "Assembly",
    "Dialect",
    "Interpreter",
    "MachineV",
    "Ports",
    "Shape",
    "Timing",
    "assemble_sq",
    "find_dialect",
    "image_text",
    "load_image",
    "load_sq",
    "machine_v",
    "misfits",
    "parse_image",
]
