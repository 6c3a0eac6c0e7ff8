"""The compiled loop over packed cells. Importing this module requires numba.

numba checks only a function's own file before it uses cached code. After a change here, change machines/subleq/memo.py
as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled, entry, inlined
from bitwright.engines.table import HOLD, SET, WORD
from bitwright.engines.table import N as N_AT
from bitwright.rules.layout import IntArray

# What the loop stores in its counters between calls, and what it reports about the last call.
COUNTERS = (ACTIVE, HELD, SIDE, UNCHANGED, LEAST, MOST, COUNTED) = range(7)
NONE_YET = 1 << 62  # more than any n
FULL = np.uint32((1 << WORD) - 1)  # the bits of a cell
RESTING = np.uint32(1 << WORD)  # flag next to the bits of a cell that keeps them and is not active
_FULL, _HOLDS, _WORD = np.uint64((1 << WORD) - 1), np.uint64(1 << HOLD), np.uint64(WORD)
_ONE = np.uint64(1)
_N_AT, _N, _SET = np.uint64(N_AT), np.uint64((1 << SET - N_AT) - 1), np.uint64(SET)


class Moving(NamedTuple):
    """A running state and its buffers."""

    counters: NDArray[np.int64]
    words: NDArray[np.uint32]  # (units,) the bits of every cell, with RESTING beside them
    lists: NDArray[np.uint32]  # (2, units + 1) the active cells, now and next
    before: NDArray[np.uint32]  # (units,) the word of each active cell before the step
    queue: NDArray[np.uint64]  # (units + 1,) rows of wires that are on
    seen: NDArray[np.uint8]  # (entries,) which entries occurred


@compiled
def _send(row: Any, new: Any, held: Any, words: Any, following: Any, tables: Any) -> Any:
    """Sets the targets of a row of wires; returns the number of cells active next, n of the resting cells, and whether
    one of these was woken."""
    entries, table, rows, wires = tables.entries, tables.table, tables.rows, tables.wires
    woken = False
    for wire in range(rows[row], rows[row + _ONE]):
        record = wires[wire]
        target, mask = record >> _WORD, np.uint32(record & _FULL)
        now = words[target]
        if now & RESTING:
            if now & mask == mask:
                continue
            now &= FULL
            held -= np.int64((entries[table[target] + now] >> _N_AT) & _N)
            following[new] = np.uint32(target)
            new += 1
            woken = True
        else:
            following[new] = np.uint32(target)
            new += now == 0
        words[target] = now | mask
    return new, held, woken


@inlined
def replace_active(active: Any, count: int, held: Any, following: Any, moving: Any, tables: Any) -> Any:
    """Replaces active cells by the bits that they keep, and queues the rows of wires that are on.

    Returns the number of cells active next, the number of queued rows, the number of cells that came to rest or were
    empty, n, and n of the resting cells.
    """
    words, before, queue, seen = moving.words, moving.before, moving.queue, moving.seen
    entries, table, base = tables.entries, tables.table, tables.base
    new = fired = quiet = 0
    n = held
    for at in range(count):
        unit = active[at]
        now = words[unit]
        before[at] = now
        place = table[unit] + now
        entry = entries[place]
        seen[place] = 1
        own = np.int64((entry >> _N_AT) & _N)
        n += own
        if entry & _HOLDS:
            words[unit] = now | RESTING
            held += own
            quiet += 1
            continue
        kept = np.uint32(entry & _FULL)
        words[unit] = kept
        following[new] = unit
        new += kept != 0
        which = entry >> _SET
        queue[fired] = np.uint64(base[unit]) + which
        fired += which != 0
        quiet += now == 0
    return new, fired, quiet, n, held


@inlined
def send_queued(active: Any, count: int, found: Any, following: Any, moving: Any, tables: Any) -> Any:
    """Completes a step after `replace_active`, given its result; returns the number of cells active next, n of the
    resting cells, and whether the step changed nothing."""
    new, fired, quiet, _, held = found
    words, before, always = moving.words, moving.before, tables.always
    woken = False
    for at in range(fired):
        new, held, also = _send(moving.queue[at], new, held, words, following, tables)
        woken = woken or also
    same = not woken and new == count - quiet
    for at in range(len(always)):
        unit = always[at]
        if words[unit] == 0:
            following[new] = unit
            new += 1
    at = 0
    while same and at < count:
        same = words[active[at]] & FULL == before[at]
        at += 1
    return new, held, same


@inlined
def on_among(words: Any, places: Any) -> int:
    """Returns the number of these bits that are on."""
    found = 0
    for at in range(len(places)):
        found += (words[places[at, 0]] & places[at, 1]) != 0
    return found


@compiled
def advance(most: int, stops: Any, counted: Any, moving: Any, tables: Any) -> int:
    """Takes up to `most` steps; stops early once a step changes nothing or one of the `stops` is on.

    A cell rests if it is empty or only keeps its bits; all others are active, including cells that act when empty. A
    step reduces every active cell to the bits that it keeps, then sets the targets of all wires that are on. A cell
    changed by a wire is active in the next step. n is the sum over resting and active cells. If only one cell is
    active, as in a carry or a counter, no lists are kept.
    """
    counters, words, lists, seen = moving.counters, moving.words, moving.lists, moving.seen
    entries, table, base, rows, wires, always = tables
    active, following = (lists[0], lists[1]) if counters[SIDE] == 0 else (lists[1], lists[0])
    count, held = counters[ACTIVE], counters[HELD]
    least, largest, found = np.int64(NONE_YET), np.int64(0), np.int64(0)
    made = swaps = 0
    same = False
    while made < most:
        if count == 1 and len(always) == 0:
            lone, stopped = True, False
            unit = active[0]
            now = words[unit]
            while lone and made < most:
                place = table[unit] + now
                entry = entries[place]
                if entry & _HOLDS:
                    lone = False
                    break
                seen[place] = 1
                n = held + np.int64((entry >> _N_AT) & _N)
                kept = np.uint32(entry & _FULL)
                words[unit] = kept
                count = np.int64(kept != 0)
                which = entry >> _SET
                row = np.uint64(base[unit]) + which
                first = rows[row]
                record = wires[first] if which != 0 and rows[row + _ONE] == first + 1 else np.uint64(0)
                if record != 0 and count == 0 and words[record >> _WORD] == 0:  # it moves to an empty cell
                    unit, now, count = np.uint32(record >> _WORD), np.uint32(record & _FULL), 1
                    words[unit] = now
                    active[0] = unit
                    same = False
                else:
                    active[0] = unit
                    woken = False
                    if which != 0:
                        count, held, woken = _send(row, count, held, words, active, tables)
                    same = not woken and count == (now != 0) and words[unit] == now
                    unit = active[0]
                    now = words[unit]
                least, largest = min(least, n), max(largest, n)
                made += 1
                stopped = same or on_among(words, stops) > 0
                found += on_among(words, counted)
                lone = count == 1 and not stopped
            if stopped or made == most:
                break
        found_now = replace_active(active, count, held, following, moving, tables)
        n = found_now[3]
        count, held, same = send_queued(active, count, found_now, following, moving, tables)
        active, following = following, active
        swaps += 1
        least, largest = min(least, n), max(largest, n)
        made += 1
        found += on_among(words, counted)
        if same or on_among(words, stops):
            break
    counters[ACTIVE], counters[HELD], counters[UNCHANGED] = count, held, same
    counters[SIDE] = (counters[SIDE] + swaps) % 2
    counters[LEAST], counters[MOST], counters[COUNTED] = least, largest, found
    return made


advance_from_python = entry(advance)


_SHIFT = 16
_SHORT = 64  # up to this many wires are sorted by insertion


def wire_up(
    of: NDArray[np.int32],  # (units,) refined kind
    starts: IntArray,  # (units + 1,) the wires of each unit
    ports: NDArray[np.int32],  # (wires,)
    records: NDArray[np.uint64],  # (wires,) target << 16 | mask
    first_set: IntArray,  # (refined kinds + 1,)
    set_start: IntArray,  # (sets + 1,)
    set_ports: IntArray,
) -> tuple[IntArray, IntArray, NDArray[np.uint64]]:
    """Returns the start of each row, the first row of each unit, and the wires of all rows, one for each target."""
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
    """Sorts the wires of every unit with few wires by port."""
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
    """Counts the wires of row r in rows[r + 1], or writes them from rows[r]; `note` has the last row of each target."""
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
