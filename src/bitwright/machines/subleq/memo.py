"""A cache of executed instructions for the compiled loop of engines/table/loop.py. Importing this requires numba.

The result of an instruction depends only on the active cells at its start and on the other cells that it reaches and
that can keep bits; all other cells are empty unless they are active. The first execution records these cells before
and after the instruction. When every recorded cell has its earlier value again, the recorded result applies. Which
cells an instruction reaches can depend on the cells that it reached before, so a tree leads to the record: each node
compares the cells that one step was the first to reach.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled, entry
from bitwright.engines.table import HOLD, WORD, PackedCells, loop
from bitwright.engines.table.batch import Advance

TOTALS = (NODES, USED, HITS, TRIES, REST, PAUSE, CLOCK) = range(7)
_NODES, _POOL = 1 << 22, 112 << 20  # nodes, and numbers in records; the cache is cleared when full
_LONGEST = 1 << 14  # most cells and steps of a cached instruction
_LOOK, _PAUSE = 1 << 13, 1 << 20  # instructions between two checks of the hit rate, and the longest pause
_BIAS, _PLACE = np.int64(1 << 31), (1 << 32) - 1
_K1, _K2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT, _HALF, _ONE, _WORD = np.uint64(29), np.uint64(32), np.uint64(1), np.uint64(WORD)
# A record: its successor at the last execution; steps, n at rest, least and largest n; the numbers of cells active,
# compared, changed and then active. Then the cells compared and changed, with their words; the active cells.
_NEXT, _STEPS, _HELD, _LOW, _HIGH, _WERE, _SEEN, _CHANGED, _ARE, _HEAD = range(10)
_KEY, _PARENT, _CELLS, _RECORD = range(4)  # the fields of a node


class Records(NamedTuple):
    """The tree, which finds a record by its keys, and the records, which are then compared with the state itself.

    The key of a child of node 0 depends on the active cells, that of any other child on the cells its parent compares.
    """

    totals: NDArray[np.int64]
    slots: NDArray[np.int32]  # a hash table of nodes with open addressing
    nodes: NDArray[np.int64]  # (nodes, 4) key, parent; number and position of the cells to compare next; record
    pool: NDArray[np.uint32]  # records
    can_hold: NDArray[np.uint8]  # (units,) whether a cell can keep bits
    stamp: NDArray[np.int64]  # (units,) the last recording that reached a cell
    was: NDArray[np.uint32]  # (units,) the word of the cell when that recording began
    reached: NDArray[np.uint32]  # the cells of the current recording, the active ones first
    ends: NDArray[np.int64]  # the number of these cells at the start and after each step


def with_memo(cells: PackedCells) -> Advance:
    """Returns a function like `loop.advance` that caches instructions; the one counted bit marks their boundaries."""
    tables = cells.tables
    holds = np.logical_or.reduceat(tables.entries & np.uint64(1 << HOLD) > 0, cells.start[:-1])
    totals = np.zeros(len(TOTALS), dtype=np.int64)
    totals[[NODES, USED, PAUSE]] = 1, 1, _LOOK
    memory = Records(
        totals,
        np.zeros(2 * _NODES, dtype=np.int32),
        np.zeros((_NODES, 4), dtype=np.int64),
        np.zeros(_POOL, dtype=np.uint32),
        holds[cells.of].astype(np.uint8),
        np.zeros(cells.units, dtype=np.int64),
        np.zeros(cells.units, dtype=np.uint32),
        np.zeros(2 * _LONGEST, dtype=np.uint32),
        np.zeros(_LONGEST + 2, dtype=np.int64),
    )
    return partial(_advance_from_python, memory)


@compiled
def _mix(value: Any) -> Any:
    value = value * _K1
    return (value ^ (value >> _SHIFT)) * _K2


@compiled
def _active_key(units: Any, count: int, words: Any) -> Any:
    """Returns a key for the active cells that does not depend on their order."""
    key = np.uint64(count)
    for at in range(count):
        unit = units[at]
        key += _mix((np.uint64(unit) << _HALF) | np.uint64(words[unit] & loop.FULL))
    return np.int64(key)


@compiled
def _contents_key(pool: Any, cells: int, words: Any) -> Any:
    """Returns a key of the cells that a node compares, which are part of a record."""
    key, first = np.uint64(0), cells & _PLACE
    for at in range(first, first + 2 * (cells >> 32), 2):
        key = _mix(key ^ np.uint64(words[pool[at]]))
    return np.int64(key)


@compiled
def _child(memory: Any, node: int, key: Any, grow: bool) -> Any:
    """Returns the child of a node with this key; if there is none, adds one with `grow`, and returns 0 without."""
    slots, nodes, totals = memory.slots, memory.nodes, memory.totals
    mask = np.uint64(len(slots) - 1)
    slot = _mix(np.uint64(key) + np.uint64(node)) >> _HALF & mask
    while slots[slot]:
        child = np.int64(slots[slot])
        if nodes[child, _KEY] == key and nodes[child, _PARENT] == node:
            return child
        slot = (slot + _ONE) & mask
    if not grow:
        return np.int64(0)
    child = totals[NODES]
    totals[NODES] += 1
    nodes[child, _KEY], nodes[child, _PARENT], nodes[child, _CELLS], nodes[child, _RECORD] = key, node, 0, 0
    slots[slot] = child
    return child


@compiled
def _matches(pool: Any, record: int, count: int, words: Any) -> bool:
    """Returns whether the state matches a record: as many active cells, and the same word in every compared cell.

    Every cell that is neither empty nor at rest is active, so the active cells are then the same.
    """
    if pool[record + _WERE] != count:
        return False
    for at in range(record + _HEAD, record + _HEAD + 2 * pool[record + _SEEN], 2):
        if words[pool[at]] != pool[at + 1]:
            return False
    return True


@compiled
def _find(memory: Any, units: Any, count: int, words: Any) -> int:
    """Returns the record of a state at a boundary, or 0 if there is none."""
    nodes, pool = memory.nodes, memory.pool
    node = _child(memory, np.int64(0), _active_key(units, count, words), False)
    while node and nodes[node, _RECORD] == 0:
        cells = nodes[node, _CELLS]
        node = _child(memory, node, _contents_key(pool, cells, words), False) if cells else 0
    record = nodes[node, _RECORD] if node else 0
    return record if record and _matches(pool, record, count, words) else 0


@compiled
def _record(most: int, stops: Any, boundary: Any, moving: Any, tables: Any, memory: Any) -> Any:
    """Makes the steps up to the next boundary and records every cell that they reach.

    Returns the number of steps, the range of n, and whether the recording is complete, whether the boundary was
    reached, and whether the loop must return.
    """
    counters, words, lists, queue = moving.counters, moving.words, moving.lists, moving.queue
    rows, wires = tables.rows, tables.wires
    stamp, was, reached, ends = memory.stamp, memory.was, memory.reached, memory.ends
    memory.totals[CLOCK] += 1
    clock = memory.totals[CLOCK]
    active, following = (lists[0], lists[1]) if counters[loop.SIDE] == 0 else (lists[1], lists[0])
    count, held = counters[loop.ACTIVE], counters[loop.HELD]
    least, largest = np.int64(loop.NONE_YET), np.int64(0)
    total = min(count, _LONGEST)
    complete = count < _LONGEST
    for at in range(total):
        unit = active[at]
        stamp[unit], was[unit], reached[at] = clock, words[unit], unit
    ends[0] = total
    made = 0
    same = arrived = stopped = False
    while made < most and not (same or arrived or stopped):
        step = loop.replace_active(active, count, held, following, moving, tables)
        n = step[3]
        for at in range(step[1]):
            row = queue[at]
            for wire in range(rows[row], rows[row + _ONE]):
                target = wires[wire] >> _WORD
                if complete and stamp[target] != clock:
                    stamp[target], was[target], reached[total] = clock, words[target], np.uint32(target)
                    total += 1
                    complete = total < 2 * _LONGEST
        count, held, same = loop.send_queued(active, count, step, following, moving, tables)
        active, following = following, active
        least, largest = min(least, n), max(largest, n)
        made += 1
        complete = complete and made < _LONGEST
        if complete:
            ends[made] = total
        stopped = loop.on_among(words, stops) > 0
        arrived = (words[boundary[0]] & boundary[1]) != 0
    counters[loop.ACTIVE], counters[loop.HELD], counters[loop.UNCHANGED] = count, held, same
    counters[loop.SIDE] = (counters[loop.SIDE] + made) % 2
    return made, least, largest, arrived and complete and not stopped and not same, arrived, stopped or same


@compiled
def _keep(made: int, began: int, held: int, least: int, largest: int, moving: Any, memory: Any) -> int:
    """Adds the recording to the tree; returns the record, or 0 if another record has the same keys."""
    totals, pool, nodes = memory.totals, memory.pool, memory.nodes
    words, was, reached, ends, stamp = moving.words, memory.was, memory.reached, memory.ends, memory.stamp
    clock, total, used = totals[CLOCK], ends[made], totals[USED]
    count = moving.counters[loop.ACTIVE]
    if used + 6 * total + count + made + 64 > len(pool) or totals[NODES] + made + 2 > len(nodes):
        memory.slots[:] = 0
        totals[NODES], totals[USED] = 1, 1
        used = np.int64(1)
    place = used + _HEAD
    for at in range(total):
        unit = reached[at]
        if at < began or memory.can_hold[unit]:
            pool[place], pool[place + 1] = unit, was[unit]
            place += 2
    key, node, seen = _active_key(reached, began, was), np.int64(0), began
    for step in range(-1, made):
        if step >= 0:
            chosen = 0
            for at in range(ends[step], ends[step + 1]):
                chosen += memory.can_hold[reached[at]]
            if not chosen:
                continue
            if nodes[node, _CELLS] == 0:
                nodes[node, _CELLS] = used + _HEAD + 2 * seen | chosen << 32
            seen += chosen
            cells = nodes[node, _CELLS]
            for at in range(cells & _PLACE, (cells & _PLACE) + 2 * (cells >> 32), 2):
                if stamp[pool[at]] != clock:
                    return 0
            key = _contents_key(pool, cells, was)
        node = _child(memory, node, key, True)
    nodes[node, _RECORD] = used
    changed = 0
    for at in range(total):
        unit = reached[at]
        if words[unit] != was[unit]:
            pool[place], pool[place + 1] = unit, words[unit]
            place += 2
            changed += 1
    pool[place : place + count] = moving.lists[moving.counters[loop.SIDE], :count]
    pool[used + _NEXT], pool[used + _STEPS] = 0, made
    pool[used + _HELD] = np.uint32(moving.counters[loop.HELD] - held + _BIAS)
    pool[used + _LOW], pool[used + _HIGH] = np.uint32(least - held + _BIAS), np.uint32(largest - held + _BIAS)
    pool[used + _WERE], pool[used + _SEEN], pool[used + _CHANGED], pool[used + _ARE] = began, seen, changed, count
    totals[USED] = place + count
    return used  # type: ignore[no-any-return]


@compiled
def _advance(memory: Any, most: int, stops: Any, counted: Any, moving: Any, tables: Any) -> int:
    """Does the work of `with_memo`; if instructions seldom repeat, it does not use the cache for a while."""
    counters, words, totals, pool = moving.counters, moving.words, memory.totals, memory.pool
    watched, boundary = np.concatenate((stops, counted)), counted[0]
    least, largest, found = np.int64(loop.NONE_YET), np.int64(0), np.int64(0)
    made = last = np.int64(0)
    done = False
    counters[loop.UNCHANGED] = 0
    while made < most and not done:
        if totals[REST] > 0 or not words[boundary[0]] & boundary[1]:
            made += loop.advance(most - made, watched, counted, moving, tables)
            last = np.int64(0)
            found += counters[loop.COUNTED]
            totals[REST] -= counters[loop.COUNTED]
            least, largest = min(least, counters[loop.LEAST]), max(largest, counters[loop.MOST])
            done = counters[loop.UNCHANGED] != 0 or loop.on_among(words, stops) > 0
            continue
        totals[TRIES] += 1
        if totals[TRIES] == _LOOK:
            if 2 * totals[HITS] < _LOOK:
                totals[REST], totals[PAUSE] = totals[PAUSE], min(2 * totals[PAUSE], _PAUSE)
            else:
                totals[PAUSE] = _LOOK
            totals[TRIES] = totals[HITS] = 0
        count, held = counters[loop.ACTIVE], counters[loop.HELD]
        active = moving.lists[counters[loop.SIDE]]
        record = np.int64(pool[last + _NEXT]) if last else np.int64(0)
        if record == 0 or not _matches(pool, record, count, words):
            record = np.int64(_find(memory, active, count, words))
            if last:
                pool[last + _NEXT] = record
        if record and pool[record + _STEPS] <= most - made:
            totals[HITS] += 1
            made += pool[record + _STEPS]
            counters[loop.HELD] = held + np.int64(pool[record + _HELD]) - _BIAS
            least = min(least, held + np.int64(pool[record + _LOW]) - _BIAS)
            largest = max(largest, held + np.int64(pool[record + _HIGH]) - _BIAS)
            first = record + _HEAD + 2 * np.int64(pool[record + _SEEN])
            end = first + 2 * np.int64(pool[record + _CHANGED])
            for at in range(first, end, 2):
                words[pool[at]] = pool[at + 1]
            counters[loop.ACTIVE] = count = np.int64(pool[record + _ARE])
            active[:count] = pool[end : end + count]
            found += 1
            last = record
            continue
        steps, low, high, keep, arrived, done = _record(most - made, stops, boundary, moving, tables, memory)
        used = totals[USED]
        record = np.int64(_keep(steps, count, held, low, high, moving, memory)) if keep else np.int64(0)
        if last and totals[USED] >= used:  # not if the cache was cleared
            pool[last + _NEXT] = record
        last = record
        made += steps
        found += arrived
        least, largest = min(least, low), max(largest, high)
    counters[loop.LEAST], counters[loop.MOST], counters[loop.COUNTED] = least, largest, found
    return made  # type: ignore[return-value]


_advance_from_python = entry(_advance)
