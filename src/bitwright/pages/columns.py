"""Which bits a picture of a trace shows, and in which order: arrays side by side, highest bit first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bitwright.errors import InputError
from bitwright.program import Layout, Program


@dataclass(frozen=True)
class Column:
    """One array, or one row of an array of higher rank: a heading over adjacent bits."""

    heading: str
    bits: tuple[int, ...]  # as shown, left to right


def choose_columns(what: Program | Layout, names: Sequence[str] = ()) -> list[Column]:
    """The columns of the given names, or of all names."""
    layout = what.layout if isinstance(what, Program) else what
    if not names:
        names = [field.name for field in layout.fields]
    columns = []
    for name in names:
        field = layout[name]
        bits = field.bits().tolist()
        width = field.shape[-1] if field.shape else 1
        for first in range(0, len(bits), width):
            label = field.name
            if len(field.shape) > 1:
                label = layout.name_of(bits[first]).rsplit(",", 1)[0] + "]"
            columns.append(Column(label, tuple(reversed(bits[first : first + width]))))
    if sum(len(column.bits) for column in columns) > 20_000:
        raise InputError("a picture shows at most 20,000 bits; choose some names")
    return columns
