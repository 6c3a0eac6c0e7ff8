"""Rows of wires, one for each set of ports that may be on together; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled, entry
from bitwright.program.layout import IntArray

_SHIFT = 16
_SHORT = 64  # as many wires are sorted one by one


def wire_up(
    of: NDArray[np.int32],  # (units,) refined kind
    starts: IntArray,  # (units + 1,) the wires of each unit
    ports: NDArray[np.int32],  # (wires,)
    records: NDArray[np.uint64],  # (wires,) target << 16 | mask
    first_set: IntArray,  # (refined kinds + 1,)
    set_start: IntArray,  # (sets + 1,)
    set_ports: IntArray,
) -> tuple[IntArray, IntArray, NDArray[np.uint64]]:
    """Where each row begins, the first row of each unit, and the wires of all rows, one for each target."""
    counts = np.diff(first_set)[of]
    base = np.cumsum(counts) - counts
    rows = np.zeros(int(counts.sum()) + 1, dtype=np.int64)
    note = np.full((len(of), 2), -1, dtype=np.int64)
    ordered = np.arange(len(ports))
    _sort(starts, ports, ordered)
    for unit in np.flatnonzero(np.diff(starts) > _SHORT).tolist():
        first, last = starts[unit : unit + 2].tolist()
        ordered[first:last] = first + np.argsort(ports[first:last], kind="stable")
    given = (of, starts, ports, records, ordered, first_set, set_start, set_ports, base)
    _fill(given, rows, note, np.zeros(0, dtype=np.uint64), False)
    np.cumsum(rows, out=rows)
    note[:] = -1
    wires = np.zeros(int(rows[-1]), dtype=np.uint64)
    _fill(given, rows, note, wires, True)
    return rows, base, wires


@compiled
def _sorted_by_port(starts: Any, ports: Any, order: Any) -> None:
    """Puts the wires of every unit with few of them in the order of their ports."""
    for unit in range(len(starts) - 1):
        first, last = starts[unit], starts[unit + 1]
        if last - first > _SHORT:
            continue
        for at in range(first + 1, last):
            one, place = order[at], at
            while place > first and ports[order[place - 1]] > ports[one]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = one


@compiled
def _filled(given: Any, rows: Any, note: Any, wires: Any, write: bool) -> None:
    """Counts the wires of row r in rows[r + 1], or writes them from rows[r] on; `note`: the last of each target."""
    of, starts, ports, records, ordered, first_set, set_start, set_ports, base = given
    for unit in range(len(of)):
        kind = of[unit]
        for number in range(first_set[kind], first_set[kind + 1]):
            row = base[unit] + number - first_set[kind]
            at = rows[row] if write else 0
            first = at
            wire = starts[unit]
            for member in range(set_start[number], set_start[number + 1]):
                port = set_ports[member]
                while wire < starts[unit + 1] and ports[ordered[wire]] < port:
                    wire += 1
                while wire < starts[unit + 1] and ports[ordered[wire]] == port:
                    record = records[ordered[wire]]
                    target = np.int64(record >> np.uint64(_SHIFT))
                    if note[target, 0] == row:
                        if write:
                            wires[note[target, 1]] |= record
                    else:
                        note[target, 0], note[target, 1] = row, at
                        if write:
                            wires[at] = record
                        at += 1
                    wire += 1
            if not write:
                rows[row + 1] = at - first


_sort, _fill = entry(_sorted_by_port), entry(_filled)
