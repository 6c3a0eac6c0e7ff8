"""How large machine V becomes, said before it is built."""

from __future__ import annotations

import os

from bitwright.errors import InputError
from bitwright.machines.subleq.dialect import Shape

_BYTES_PER_BIT = 1_900  # of memory, while building; measured from 1Ki to 64Ki words
_BASE = 200_000_000  # Python, NumPy and the compiled loops


def bytes_needed(shape: Shape) -> int:
    """About how much memory building and running this machine takes at its peak."""
    return _BASE + _BYTES_PER_BIT * (shape.words * shape.width)


def check_memory(shape: Shape) -> None:
    """Raises InputError where the machine is certainly too large for this computer."""
    needed, there = bytes_needed(shape), bytes_available()
    if there is not None and needed > there:
        raise InputError(
            f"a machine of {shape.words:,} words of {shape.width} bits takes about {needed / 1e9:.1f} GB, "
            f"and {there / 1e9:.1f} GB are free; give fewer words"
        )


def bytes_available() -> int | None:
    """Memory that is free for us now, as far as the system says; None where it does not."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
