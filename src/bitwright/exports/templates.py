"""Templates of source text in Jinja, and what they say of numbers and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpy.typing import NDArray

from bitwright.common.bits import width_of
from bitwright.rules import FIXED_POINT, Algorithm
from bitwright.rules.graph.schema import Schema
from bitwright.runs.loop import DEFAULT_LIMIT

_PER_LINE = 24


def environment(folder: str, filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """The templates of a folder of this package, with these filters; a name without a value is an error."""
    found = Environment(
        loader=FileSystemLoader(str(files(__package__).joinpath(folder))),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= filters
    return found


@cache
def _assets() -> Environment:
    names = lambda words: " | ".join(f'"{word.name}"' for word in words) or "never"  # noqa: E731
    array_type = lambda values: f"Uint{unsigned_bits(values)}Array"  # noqa: E731
    c_type = lambda values: f"uint{unsigned_bits(values)}_t"  # noqa: E731
    return environment("assets", {"numbers": number_lines, "names": names, "array_type": array_type, "c_type": c_type})


def filled(asset: str, **pieces: object) -> str:
    """A template among the assets with these pieces."""
    return _assets().get_template(asset).render(pieces)


def number_lines(values: NDArray[np.integer]) -> str:
    """Numbers with commas, some on a line."""
    texts = [str(value) for value in values.ravel().tolist()]
    return ",\n".join(",".join(texts[at : at + _PER_LINE]) for at in range(0, len(texts), _PER_LINE))


def unsigned_bits(values: NDArray[np.integer]) -> int:
    """The smallest unsigned integer of 8, 16 or 32 bits that holds these numbers."""
    return next(bits for bits in (8, 16, 32) if width_of(int(values.max(initial=0))) <= bits)


def ending_of(what: Algorithm | Schema) -> tuple[str, int, int]:
    """How runs end (steps, bit or rest), after how many steps at most, and at which bit."""
    halt, steps = what.halt, what.steps
    most = DEFAULT_LIMIT if steps is None else steps
    if halt == FIXED_POINT or (halt is None and steps is None):
        return "rest", most, 0
    return ("steps", most, 0) if halt is None else ("bit", most, int(halt))
