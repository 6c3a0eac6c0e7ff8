"""Stored-program SUBLEQ: dialects, a plain interpreter, images, an assembler, and machine V, the computer by templates."""

from bitwright.machines.subleq.dialect import DIALECTS, Dialect, Shape, find_dialect
from bitwright.machines.subleq.interpreter import Interpreter
from bitwright.machines.subleq.machine import MachineV, machine_v

__all__ = ["DIALECTS", "Dialect", "Interpreter", "MachineV", "Shape", "find_dialect", "machine_v"]
