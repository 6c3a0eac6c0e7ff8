"""SUBLEQ with stored programs: dialects, images, an assembler, and machine V."""

from bitwright.machines.subleq.assembler import Assembly, assemble_sq, load_sq
from bitwright.machines.subleq.images import (
    DIALECTS,
    Dialect,
    Shape,
    find_dialect,
    image_text,
    load_image,
    misfits,
    parse_image,
)
from bitwright.machines.subleq.machine import MachineV, Ports, machine_v
from bitwright.machines.subleq.memory import Timing

__all__ = [
    "DIALECTS",
    "Assembly",
    "Dialect",
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
