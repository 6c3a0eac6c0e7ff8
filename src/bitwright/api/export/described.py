"""A program's wiring as arithmetic progressions: a few numbers, however many cells there are.

Cells of one kind that follow each other, and whose bits and wires grow evenly from one to the next, are one segment.
The `shape` of a description says how many numbers there are of what; the numbers follow in one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bitwright.api.export.model import Core, WiresOut
from bitwright.api.export.text import ending_of
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class Description:
    """The wiring and the words of a program."""

    shape: dict[str, Any]
    numbers: tuple[int, ...]


def describe(core: Core, wires: WiresOut) -> Description:
    """The description of a program of the network's kinds."""
    algorithm = wires.algorithm
    how, steps, halt = ending_of(algorithm)
    fields = algorithm.program.layout.fields
    numbers = [steps, halt, *(extent for field in fields for extent in field.shape)]
    shape: dict[str, Any] = {"ending": how, "fields": [[field.name, len(field.shape)] for field in fields]}
    for name, words in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs)):
        shape[name] = [[word.name, int(word.signed), _put(progressions(word.bits), numbers)] for word in words]
    shape["start"] = _put(progressions(algorithm.start), numbers)
    shape["kinds"] = [[kind, _segments(rows, numbers)] for kind, rows in _cells_by_kind(core, wires)]
    return Description(shape, tuple(int(number) for number in numbers))


def progressions(values: Iterable[int]) -> list[tuple[int, int, int]]:
    """Integers as progressions: first, step, how many.

    >>> progressions([3, 4, 5, 9, 11])
    [(3, 1, 3), (9, 2, 2)]
    """
    found: list[tuple[int, int, int]] = []
    for value in values:
        first, step, count = found[-1] if found else (0, 0, 0)
        if count == 1:
            found[-1] = (first, value - first, 2)
        elif count and value == first + step * count:
            found[-1] = (first, step, count + 1)
        else:
            found.append((value, 0, 1))
    return found


def _put(found: Sequence[tuple[int, int, int]], numbers: list[int]) -> int:
    for progression in found:
        numbers += progression
    return len(found)


Row = tuple[tuple[int, ...], IntArray]  # how many progressions each port of a cell has; its bits, and these


def _cells_by_kind(core: Core, wires: WiresOut) -> Iterator[tuple[int, list[Row]]]:
    """Cells that follow each other and are of one kind; a program may come back to a kind."""
    sizes = [
        int(core.block_bits[core.kind_block[kind] : core.kind_block[kind + 1]].sum())
        for kind in range(len(core.kind_block) - 1)
    ]
    ports = np.diff(core.kind_port).tolist()
    rows: list[Row] = []
    before, at, port = -1, 0, 0
    for kind in wires.cell_kind.tolist():
        if kind != before and rows:
            yield before, rows
            rows = []
        starts = wires.wire_start[port : port + ports[kind] + 1].tolist()
        said = [progressions(wires.wire_bit[begin:end].tolist()) for begin, end in pairwise(starts)]
        flat = [number for one in said for progression in one for number in progression]
        bits = wires.cell_bit[at : at + sizes[kind]]
        rows.append((tuple(map(len, said)), np.concatenate((bits, np.array(flat, dtype=np.int64)))))
        before, at, port = kind, at + sizes[kind], port + ports[kind]
    if rows:
        yield before, rows


def _segments(rows: Sequence[Row], numbers: list[int]) -> list[tuple[int, ...]]:
    """The forms of segments of rows that grow evenly; `numbers` gets the length, first row and growth of each."""
    found = []
    at = 0
    while at < len(rows):
        form, first = rows[at]
        end = at + 1
        growth = np.zeros_like(first)
        if end < len(rows) and rows[end][0] == form:
            growth = rows[end][1] - first
            while (
                end < len(rows) and rows[end][0] == form and np.array_equal(rows[end][1], first + growth * (end - at))
            ):
                end += 1
        found.append(form)
        numbers += [end - at, *first.tolist(), *growth.tolist()]
        at = end
    return found
