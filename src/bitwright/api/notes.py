"""What Python programs are told on stderr while they wait."""

from __future__ import annotations

import sys

_said: set[str] = set()  # in this process


def say_compiling() -> None:
    """Says, once, that loops are compiled before the first of many runs; nothing where they are kept from before."""
    from bitwright.running.sliced.runs import COMPILING, to_be_compiled

    if COMPILING not in _said and to_be_compiled():
        _said.add(COMPILING)
        print(f"bitwright: {COMPILING}", file=sys.stderr)
