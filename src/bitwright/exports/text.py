"""Tables of numbers as text, and templates with places to fill."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import width_of
from bitwright.rules import FIXED_POINT, Algorithm
from bitwright.rules.graph.schema import Schema
from bitwright.runs.loop import DEFAULT_LIMIT

_PER_LINE = 24


def filled(asset: str, pieces: Mapping[str, object]) -> str:
    """A template among the assets, each {{name}} replaced by its piece."""
    return fill((files(__package__) / "assets" / asset).read_text("utf-8"), pieces)


def fill(template: str, pieces: Mapping[str, object]) -> str:
    """A template with each {{name}} replaced by its piece."""
    before, *rest = template.split("{{")
    return before + "".join(str(pieces[name]) + after for name, _, after in (part.partition("}}") for part in rest))


def number_lines(values: NDArray[np.integer]) -> str:
    """Numbers with commas, some on a line."""
    texts = [str(value) for value in values.ravel().tolist()]
    return ",\n".join(",".join(texts[at : at + _PER_LINE]) for at in range(0, len(texts), _PER_LINE))


def unsigned_bits(largest: int) -> int:
    """The smallest unsigned integer of 8, 16 or 32 bits that holds numbers up to this one."""
    return next(bits for bits in (8, 16, 32) if width_of(largest) <= bits)


def ending_of(what: Algorithm | Schema) -> tuple[str, int, int]:
    """How runs end (steps, bit or rest), after how many steps at most, and at which bit."""
    halt, steps = what.halt, what.steps
    most = DEFAULT_LIMIT if steps is None else steps
    if halt == FIXED_POINT or (halt is None and steps is None):
        return "rest", most, 0
    return ("steps", most, 0) if halt is None else ("bit", most, int(halt))


def most_digits(bits: int) -> int:
    """Decimal digits of numbers with this many bits; log10(2) is below 0.30103."""
    return bits * 30103 // 100000 + 1
