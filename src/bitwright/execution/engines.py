"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.execution.engine import Engine
from bitwright.execution.templates import TemplatesEngine
from bitwright.program import Program

ENGINES: dict[str, Callable[[Program], Engine]] = {
    "templates": TemplatesEngine,
}


def make_engine(name: str, program: Program) -> Engine:
    """The engine of this name, ready to step this program."""
    if name not in ENGINES:
        known = list(ENGINES)
        raise InputError(f"there is no engine '{shorten(name)}'; choose {' or '.join(known)}{suggestion(name, known)}")
    return ENGINES[name](program)
