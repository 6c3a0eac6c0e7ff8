"""A cache of executed instructions of a machine, in compiled loops (engines/table/loop.py); requires numba.

From one boundary to the next, an instruction depends on the active cells and on every other cell that it reaches and
that can hold something; cells that cannot are empty unless they are active. The first execution is recorded: the
cells before it, and all of them after it. If the cells are the same again, compared one by one, the recorded result
applies. The cells to compare next may depend on those compared so far, so a tree leads to the record: a node
compares the cells that one step reached first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled, entry
from bitwright.engines.table import HOLD, WORD, PackedCells, loop

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


class Remembered(NamedTuple):
    """The tree, which finds a record by keys, and the records, which are then compared with the full state.

    The children of node 0 are distinguished by their active cells, other children by the cells that the node compares.
    """

    totals: NDArray[np.int64]
    slots: NDArray[np.int32]  # open addressing: the node
    nodes: NDArray[np.int64]  # (nodes, 4) key, parent; number and position of the cells to compare next; a record
    pool: NDArray[np.uint32]  # records
    can_hold: NDArray[np.uint8]  # (units,)
    stamp: NDArray[np.int64]  # (units,) the last recording that reached a cell
    was: NDArray[np.uint32]  # (units,) its word when that recording began
    reached: NDArray[np.uint32]  # the cells of the current recording, the active ones first
    ends: NDArray[np.int64]  # their number at the start and after each step


def _empty(cells: PackedCells) -> Remembered:
    """Nothing yet."""
    tables = cells.tables
    holds = np.logical_or.reduceat(tables.entries & np.uint64(1 << HOLD) > 0, cells.start[:-1])
    totals = np.zeros(len(TOTALS), dtype=np.int64)
    totals[[NODES, USED, PAUSE]] = 1, 1, _LOOK
    return Remembered(
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


@compiled
def _mix(value: Any) -> Any:
    value = value * _K1
    return (value ^ (value >> _SHIFT)) * _K2


@compiled
def _active_key(units: Any, count: int, words: Any) -> Any:
    """A key of the active cells, independent of their order."""
    key = np.uint64(count)
    for at in range(count):
        unit = units[at]
        key += _mix((np.uint64(unit) << _HALF) | np.uint64(words[unit] & loop.FULL))
    return np.int64(key)


@compiled
def _contents_key(pool: Any, cells: int, words: Any) -> Any:
    """A key of the cells that a node compares: the given number of those that a record has compared."""
    key, first = np.uint64(0), cells & _PLACE
    for at in range(first, first + 2 * (cells >> 32), 2):
        key = _mix(key ^ np.uint64(words[pool[at]]))
    return np.int64(key)


@compiled
def _child(memory: Any, node: int, key: Any) -> int:
    """The child of a node with this key; 0 if there is none."""
    slots, nodes = memory.slots, memory.nodes
    mask = np.uint64(len(slots) - 1)
    slot = _mix(np.uint64(key) + np.uint64(node)) >> _HALF & mask
    while slots[slot]:
        found = slots[slot]
        if nodes[found, _KEY] == key and nodes[found, _PARENT] == node:
            return found  # type: ignore[no-any-return]
        slot = (slot + _ONE) & mask
    return 0


@compiled
def _grow(memory: Any, node: int, key: Any) -> int:
    """A new child of a node."""
    slots, nodes = memory.slots, memory.nodes
    found = memory.totals[NODES]
    memory.totals[NODES] += 1
    nodes[found, _KEY], nodes[found, _PARENT], nodes[found, _CELLS], nodes[found, _RECORD] = key, node, 0, 0
    mask = np.uint64(len(slots) - 1)
    slot = _mix(np.uint64(key) + np.uint64(node)) >> _HALF & mask
    while slots[slot]:
        slot = (slot + _ONE) & mask
    slots[slot] = found
    return found  # type: ignore[no-any-return]


@compiled
def _is(pool: Any, record: int, count: int, words: Any) -> bool:
    """Whether the state matches the start of a record: as many cells are active, and every compared cell is equal.

    A nonempty cell that is not at rest is active, so the active cells are then the same ones.
    """
    if pool[record + _WERE] != count:
        return False
    for at in range(record + _HEAD, record + _HEAD + 2 * pool[record + _SEEN], 2):
        if words[pool[at]] != pool[at + 1]:
            return False
    return True


@compiled
def _known(memory: Any, units: Any, count: int, words: Any) -> int:
    """The record for a state at a boundary; 0 if there is none."""
    nodes, pool = memory.nodes, memory.pool
    node = _child(memory, np.int64(0), _active_key(units, count, words))
    while node and nodes[node, _RECORD] == 0:
        cells = nodes[node, _CELLS]
        node = _child(memory, node, _contents_key(pool, cells, words)) if cells else 0
    record = nodes[node, _RECORD] if node else 0
    return record if record and _is(pool, record, count, words) else 0


@compiled
def _record(most: int, stops: Any, boundary: Any, moving: Any, tables: Any, memory: Any) -> Any:
    """Makes the steps to the next boundary and records every cell on the way; returns their number, the range of n
    above the rest at the start, and whether the boundary was reached in a repeatable way."""
    counters, words, lists, queue = moving.counters, moving.words, moving.lists, moving.queue
    rows, wires = tables.rows, tables.wires
    stamp, was, reached, ends = memory.stamp, memory.was, memory.reached, memory.ends
    memory.totals[CLOCK] += 1
    clock = memory.totals[CLOCK]
    active, following = (lists[0], lists[1]) if counters[loop.SIDE] == 0 else (lists[1], lists[0])
    count, held = counters[loop.ACTIVE], counters[loop.HELD]
    least, largest = np.int64(loop.NONE_YET), np.int64(0)
    whole = count < _LONGEST
    total = 0
    if whole:
        for at in range(count):
            unit = active[at]
            stamp[unit], was[unit], reached[at] = clock, words[unit], unit
        total = count
    ends[0] = total
    made = 0
    same = arrived = stopped = False
    while made < most and not (same or arrived or stopped):
        found = loop.replace_active(active, count, held, following, moving, tables)
        n = found[3]
        for at in range(found[1]):
            row = queue[at]
            for wire in range(rows[row], rows[row + _ONE]):
                target = wires[wire] >> _WORD
                if whole and stamp[target] != clock:
                    stamp[target], was[target], reached[total] = clock, words[target], np.uint32(target)
                    total += 1
                    whole = total < 2 * _LONGEST
        count, held, same = loop.send_queued(active, count, found, following, moving, tables)
        active, following = following, active
        least, largest = min(least, n), max(largest, n)
        made += 1
        whole = whole and made < _LONGEST
        if whole:
            ends[made] = total
        stopped = loop.on_among(words, stops) > 0
        arrived = (words[boundary[0]] & boundary[1]) != 0
    counters[loop.ACTIVE], counters[loop.HELD], counters[loop.UNCHANGED] = count, held, same
    counters[loop.SIDE] = (counters[loop.SIDE] + made) % 2
    return made, least, largest, arrived and whole and not stopped and not same, arrived, stopped or same


@compiled
def _keep(made: int, began: int, held: int, least: int, largest: int, moving: Any, memory: Any) -> int:
    """Enters the recording into the tree; returns the record, or 0."""
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
                if stamp[pool[at]] != clock:  # another record has the same keys
                    return 0
            key = _contents_key(pool, cells, was)
        following = _child(memory, node, key)
        node = following if following else _grow(memory, node, key)
    nodes[node, _RECORD] = used
    changed = 0
    for at in range(total):
        unit = reached[at]
        if words[unit] != was[unit]:
            pool[place], pool[place + 1] = unit, words[unit]
            place += 2
            changed += 1
    active = moving.lists[moving.counters[loop.SIDE]]
    for at in range(count):
        pool[place + at] = active[at]
    pool[used + _NEXT], pool[used + _STEPS] = 0, made
    pool[used + _HELD] = np.uint32(moving.counters[loop.HELD] - held + _BIAS)
    pool[used + _LOW], pool[used + _HIGH] = np.uint32(least - held + _BIAS), np.uint32(largest - held + _BIAS)
    pool[used + _WERE], pool[used + _SEEN], pool[used + _CHANGED], pool[used + _ARE] = began, seen, changed, count
    totals[USED] = place + count
    return used  # type: ignore[no-any-return]


@compiled
def leap(most: int, stops: Any, watched: Any, counted: Any, moving: Any, tables: Any, memory: Any) -> int:
    """Like `advance`, with one counted bit: the boundary between instructions. `watched`: the stops and this bit.

    The cache pauses for a while if instructions seldom repeat.
    """
    counters, words, totals, pool = moving.counters, moving.words, memory.totals, memory.pool
    boundary = counted[0]
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
        if record == 0 or not _is(pool, record, count, words):
            record = np.int64(_known(memory, active, count, words))
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
            count = np.int64(pool[record + _ARE])
            for at in range(count):
                active[at] = pool[end + at]
            counters[loop.ACTIVE] = count
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


_leap_from_python = entry(leap)


class InstructionMemo:
    """Makes the leaps of a run whose instructions are counted."""

    def __init__(self, cells: PackedCells) -> None:
        self.memory = _empty(cells)

    def leap(self, most: int, stops: NDArray[Any], boundary: NDArray[Any], moving: Any, tables: Any) -> int:
        """Makes at most the given number of steps; ends at a stop, or at a fixed point."""
        both = np.concatenate((stops, boundary))
        return int(_leap_from_python(most, stops, both, boundary, moving, tables, self.memory))
