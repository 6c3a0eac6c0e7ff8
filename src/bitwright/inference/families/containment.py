"""Whether every atom that fits lies in atoms that every program has, at every size.

Then all programs that fit are the same, whatever sizes were seen. A cell is divided further, at lines with offsets up
to 2B, so that an index with a coefficient of 1 leads from each part into one cell of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from bitwright.inference.families.atoms import Atom, AtomSource, Evidences
from bitwright.inference.families.lines import FAR, Affine, Cell, LineCell, at, in_cell, value


def contained_from(evidence: Evidences) -> int | None:
    """The size from which on all sound atoms lie in forced ones; None where that is not seen."""
    if any(source not in evidence.seen for source in evidence.sources):
        return None
    forced: dict[tuple[AtomSource, int], list[Atom]] = {}
    for demand in evidence.demands:
        if len(demand) == 1:
            (atom,) = demand
            forced.setdefault((atom.source, atom.array), []).append(atom)
    first = 4 * evidence.bounds.offset + 1
    for (family, cell, array), sound in evidence.sound.items():
        parts = _parts(evidence.families[family].cells[cell], evidence.bounds.offset)
        for config, *choice in np.argwhere(sound).tolist():
            atom = Atom(AtomSource(family, cell, config), array, tuple(choice))
            sure = forced.get((atom.source, array), [])
            if atom not in sure:
                wanted, given = evidence.target(atom), [evidence.target(other) for other in sure]
                if not all(any(_covers(other, wanted, part, first) for other in given) for part in parts):
                    return None
    return first


def _parts(cell: Cell, offset: int) -> list[Cell]:
    """A cell, divided at lines with offsets up to 2B."""
    ways = []
    for one in cell:
        if one.fixed:
            ways.append([one])
            continue
        (s, low), (t, high) = one
        before = [(s, low + k) for k in range(offset)]
        behind = [(t, high - k) for k in reversed(range(offset))]
        lines = [LineCell(line, line) for line in (*before, *behind)]
        ways.append([*lines, LineCell((s, low + offset), (t, high - offset))])
    return list(product(*ways))


def _covers(given: Sequence[Affine | LineCell], wanted: Sequence[Affine | LineCell], part: Cell, first: int) -> bool:
    """Whether one target has all that another has, from the places of a part."""
    return all(_piece_covers(one, other, part, first) for one, other in zip(given, wanted, strict=True))


def _piece_covers(given: Affine | LineCell, wanted: Affine | LineCell, part: Cell, first: int) -> bool:
    if isinstance(wanted, LineCell):
        return given == wanted
    if not isinstance(given, LineCell):
        return in_cell(given, part) == in_cell(wanted, part)
    sizes = (first + any(not one.fixed for one in part), FAR)  # where a part is one gap, it is empty at the first
    return all(
        at(given.low, size) <= value(wanted, corner, size) <= at(given.high, size)
        for size in sizes
        for corner in zip(*((at(one.low, size), at(one.high, size)) for one in part), strict=True)
    )
