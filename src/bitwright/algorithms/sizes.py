"""The sizes in which the shipped algorithms can be built."""

from __future__ import annotations

from operator import index

from bitwright.bits import shorten
from bitwright.errors import InputError

MAX_BITS = 1_000_000  # beyond it a program no longer fits into the memory of an ordinary machine


def check_bits(bits: int, most: int = MAX_BITS) -> int:
    """`bits` as an int, or an InputError."""
    try:
        bits = index(bits)
    except TypeError:
        raise InputError(f"bits must be an integer, got {shorten(repr(bits))}") from None
    if not 1 <= bits <= most:
        raise InputError(f"bits must be between 1 and {most:,}, got {shorten(bits)}")
    return bits
