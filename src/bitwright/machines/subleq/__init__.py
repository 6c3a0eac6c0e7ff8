"""Stored-program SUBLEQ: dialects, an interpreter, images, an assembler, a compiler, and machine V, of templates."""

from bitwright.machines.subleq.assembler import Assembly, assemble_sq, load_sq
from bitwright.machines.subleq.compiler import compile_program
from bitwright.machines.subleq.dialect import DIALECTS, Dialect, Shape, find_dialect
from bitwright.machines.subleq.image import image_text, load_image, misfits, parse_image
from bitwright.machines.subleq.interpreter import Interpreter
from bitwright.machines.subleq.machine import MachineV, Ports, machine_v
from bitwright.machines.subleq.timing import Timing

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
    "compile_program",
    "find_dialect",
    "image_text",
    "load_image",
    "load_sq",
    "machine_v",
    "misfits",
    "parse_image",
]
