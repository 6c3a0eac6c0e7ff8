"""Engines by name, and the settings they share."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.execution.engine import Engine
from bitwright.execution.limit import LimitEngine
from bitwright.execution.sampled import SampledEngine
from bitwright.execution.templates import TemplatesEngine
from bitwright.program import Program
from bitwright.theory.rounding import Rounding

ENGINES = ("templates", "limit", "kernel", "sampled")


@dataclass(frozen=True)
class Settings:
    """How an engine other than `templates` works: its rounding, the size of the training set, and the ensemble."""

    rounding: Rounding = "calibrated"
    examples: int | None = None  # K with padding; by default one for each template
    networks: int = 1
    seed: int = 0


def make_engine(name: str, program: Program, settings: Settings | None = None) -> Engine:
    """The engine of this name, ready to step this program."""
    chosen = settings or Settings()
    examples = program.templates if chosen.examples is None else chosen.examples
    if examples < program.templates:
        raise InputError(
            f"the training set has at least the program's {program.templates:,} templates, got {examples:,} examples"
        )
    if name == "templates":
        return TemplatesEngine(program)
    if name == "limit":
        return LimitEngine(program, examples, chosen.rounding)
    if name == "kernel":
        from bitwright.execution.kernel import KernelEngine  # brings SciPy along, which the others do not need

        return KernelEngine(program, examples, chosen.rounding)
    if name == "sampled":
        return SampledEngine(program, examples, chosen.rounding, chosen.networks, chosen.seed)
    raise InputError(f"there is no engine '{shorten(name)}'; choose {', '.join(ENGINES)}{suggestion(name, ENGINES)}")
