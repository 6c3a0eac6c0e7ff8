"""What people are told before loops are compiled."""

from __future__ import annotations

import sys

from bitwright.api.telling import Teller
from bitwright.compiling import keep_nothing as keep_nothing  # for a process that may not write files

_said: set[str] = set()  # in this process


def say_compiling(tell: Teller | None = None) -> bool:
    """Says that loops are compiled before the first of many runs, and whether they are: not where they are kept.

    Python programs read it on standard error, once, whether they listen or not.
    """
    from bitwright.api.telling import Listener
    from bitwright.running.sliced.runs import COMPILING, to_be_compiled

    if not to_be_compiled():
        return False
    if tell is not None and not isinstance(tell, Listener):
        tell.note(COMPILING)
    elif COMPILING not in _said:
        _said.add(COMPILING)
        print(f"bitwright: {COMPILING}", file=sys.stderr)
    return True
