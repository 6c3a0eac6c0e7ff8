"""Renders Jinja templates of source text, and formats numbers and endings for them."""

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
    """Returns the templates in a folder of this package with these filters; undefined names are errors."""
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
    """Renders an asset with these values."""
    return _assets().get_template(asset).render(pieces)


def number_lines(values: NDArray[np.integer]) -> str:
    """Formats numbers with commas, several on a line."""
    texts = [str(value) for value in values.ravel().tolist()]
    return ",\n".join(",".join(texts[at : at + _PER_LINE]) for at in range(0, len(texts), _PER_LINE))


def unsigned_bits(values: NDArray[np.integer]) -> int:
    """Returns the bits of the smallest unsigned integer type for these numbers: 8, 16 or 32."""
    return next(bits for bits in (8, 16, 32) if width_of(int(values.max(initial=0))) <= bits)


def ending_of(what: Algorithm | Schema) -> tuple[str, int, int]:
    """Returns how runs end (steps, bit or rest), the maximum number of steps, and the bit that ends a run."""
    halt, steps = what.halt, what.steps
    most = DEFAULT_LIMIT if steps is None else steps
    if halt == FIXED_POINT or (halt is None and steps is None):
        return "rest", most, 0
    return ("steps", most, 0) if halt is None else ("bit", most, int(halt))
