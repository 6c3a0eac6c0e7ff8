"""The sizes in which the shipped algorithms can be built."""

from __future__ import annotations

from bitwright.bits import shorten
from bitwright.errors import InputError

MAX_BITS = 1_000_000  # beyond it a program no longer fits into the memory of an ordinary machine


def check_bits(bits: int) -> int:
    """`bits` itself, or an InputError."""
    if not 1 <= bits <= MAX_BITS:
        raise InputError(f"bits must be between 1 and {MAX_BITS:,}, got {shorten(bits)}")
    return bits
