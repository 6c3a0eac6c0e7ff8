"""The compiled loop over active blocks; importing it takes numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled, entry
from bitwright.engines.sparse.tables import HOLD
from bitwright.program.program import MAX_BLOCK

# What the loop keeps in its counters between two calls, and what it says about the last one.
COUNTERS = (ACTIVE, HOLDERS, CLOCK, SIDE, UNCHANGED, LEAST, MOST, COUNTED, REFUSED) = range(9)
NONE_YET = 1 << 62  # more than any n
HOLD_FAR = 1 << 40  # the same as HOLD, for an entry that was searched for
FOUR, FIFTEEN, ONE, ZERO = np.uint32(4), np.uint32(15), np.uint32(1), np.uint32(0)
FULL = np.uint32((1 << MAX_BLOCK) - 1)  # a configuration
RESTING = np.uint32(1 << MAX_BLOCK)  # beside the configuration of a block that holds what it has and is not active


class WatchedBits(NamedTuple):
    """Bits as pairs of a block and a mask."""

    stops: NDArray[np.int64]  # (bits, 2) a leap ends where one of them is on
    counted: NDArray[np.int64]  # (bits, 2) the states in which they are on are counted


class ActiveMemory(NamedTuple):
    """A state on its way, and room to work in."""

    counters: NDArray[np.int64]
    config: NDArray[np.uint32]  # (b,) every block's configuration, with RESTING beside it
    lists: NDArray[np.uint32]  # (2, b) the active blocks, now and next
    before: NDArray[np.uint32]  # (b,) what each active block was before the step
    untouched: NDArray[np.uint32]  # (b,) what each block that is active next was before it was written to
    queue: NDArray[np.uint32]  # (b,) templates that match


@compiled
def _search(block: int, config: int, keys: Any, holds: Any) -> int:
    """The template among the sorted keys, as an entry of a table would have it: 0, or 1 + its number, + HOLD."""
    key = (np.int64(block) << MAX_BLOCK) | np.int64(config)
    at = np.searchsorted(keys, key)
    if at == len(keys) or keys[at] != key:
        return 0
    return int(at) + 1 + (HOLD_FAR if holds[at] else 0)


@compiled
def _shift(block: int, config: int, change: int, counts: Any) -> None:
    """Counts the bits that a block holds at rest, by how many writers they have."""
    first = counts.block_start[block]
    while config:
        if config & 1:
            counts.held[counts.class_of[counts.block_bits[first]]] += change
        config >>= 1
        first += 1


@compiled
def _weigh(n: int, clock: int, queue: Any, config: Any, writes: Any, counts: Any) -> None:
    """Notes the smallest mean, in absolute value, that the sign rule rounds in this step.

    mu = w0 c + (w1 - w0) m for a bit with c writers, m of which match, so all that counts is which pairs (c, m) there
    are. Blocks at rest give m = 1 to the bits that they hold.
    """
    pairs, last_noted, times_noted = counts.pairs, counts.last_noted, counts.times_noted
    pairs[:] = 0
    for at in range(len(counts.writers)):
        pairs[at, 0], pairs[at, 1] = counts.total[at] - counts.held[at], counts.held[at]
    for template in queue:
        for place in range(writes.start[template], writes.start[template + 1]):
            target, bit = writes.places[place], counts.write_bits[place]
            block, mask, at = target >> FOUR, ONE << (target & FIFTEEN), counts.class_of[bit]
            if last_noted[bit] != clock:
                last_noted[bit] = clock
                times_noted[bit] = (config[block] & mask) != 0
            pairs[at, times_noted[bit]] -= 1
            times_noted[bit] += 1
            pairs[at, times_noted[bit]] += 1
    for at in range(len(counts.writers)):
        writers = counts.writers[at]
        for m in range(writers + 1):
            if pairs[at, m] > 0:
                mean = counts.unmatched[n] * writers + counts.gap[n] * m
                counts.worst[0] = min(counts.worst[0], abs(mean))


@compiled
def advance(most: int, watch: Any, memory: Any, lookup: Any, writes: Any, counts: Any) -> int:
    """Makes up to `most` steps; stops after one that leaves one of the `stops` on, or changes nothing.

    A block rests if it is empty, or if the template it matches writes exactly what the block holds; all others are
    active (also blocks that are empty and match a template all the same, the `empties`). A step looks up the active
    blocks and clears them, then writes what their templates write; a block that is written to is active next.
    n = resting holders + active matches. A step that the sign rule could make otherwise is left to others:
    `counters[REFUSED]` is set.
    """
    counters, config, lists, before, untouched, queue = memory
    table, first, sparse, keys, holds = lookup
    write_start, places, empties = writes
    stops, counted = watch
    count, holders, clock, side = counters[ACTIVE], counters[HOLDERS], counters[CLOCK], counters[SIDE]
    least, largest, seen = np.int64(NONE_YET), np.int64(0), np.int64(0)
    made = 0
    counters[UNCHANGED] = counters[REFUSED] = 0
    while made < most:
        active, following = lists[side], lists[1 - side]
        matches = cleared = 0
        for at in range(count):
            block = active[at]
            now = config[block]
            before[at] = now
            if len(sparse) and sparse[block]:
                found = np.int64(_search(block, now, keys, holds))
                template, held_whole = (found & (HOLD_FAR - 1)) - 1, found >= HOLD_FAR
            else:
                entry = np.int64(table[first[block, 0] + now])
                held_whole = entry >= HOLD
                template = np.int64(first[block, 1]) + entry - 1 if entry else np.int64(-1)
            if held_whole:
                config[block] = now | RESTING
                holders += 1
                _shift(block, now, 1, counts)
                continue
            config[block] = ZERO
            cleared += 1
            if template >= 0:
                queue[matches] = template
                matches += 1
        n = holders + matches
        clock += 1
        if n >= counts.fails_from[0]:
            holders -= count - cleared
            for at in range(count):
                if config[active[at]] & RESTING:
                    _shift(active[at], before[at], -1, counts)
                config[active[at]] = before[at]
            counters[REFUSED] = 1
            break
        if counts.bound[n] < counts.worst[0]:
            _weigh(n, clock, queue[:matches], config, writes, counts)
        least, largest = min(least, n), max(largest, n)
        new = fresh = 0
        for at in range(matches):
            template = queue[at]
            for place in range(write_start[template], write_start[template + 1]):
                block, mask = places[place] >> FOUR, ONE << (places[place] & FIFTEEN)
                now = config[block]
                if now == 0:
                    following[new], untouched[new] = block, 0
                    new += 1
                    fresh += 1
                elif now & RESTING:
                    now &= FULL
                    _shift(block, now, -1, counts)
                    following[new], untouched[new] = block, now
                    new += 1
                    holders -= 1
                config[block] = now | mask
        for block in empties:
            if config[block] == 0:
                following[new], untouched[new] = block, 0
                new += 1
                fresh += 1
        same = fresh == cleared
        at = 0
        while same and at < count:
            same = (config[active[at]] & FULL) == before[at]
            at += 1
        at = 0
        while same and at < new:
            same = untouched[at] == 0 or untouched[at] == config[following[at]]
            at += 1
        count, side = new, 1 - side
        made += 1
        stopped = same
        for at in range(len(stops)):
            stopped = stopped or (config[stops[at, 0]] & stops[at, 1]) != 0
        for at in range(len(counted)):
            seen += (config[counted[at, 0]] & counted[at, 1]) != 0
        if stopped:
            counters[UNCHANGED] = same
            break
    counters[ACTIVE], counters[HOLDERS], counters[CLOCK], counters[SIDE] = count, holders, clock, side
    if made:
        counters[LEAST], counters[MOST] = min(counters[LEAST], least), max(counters[MOST], largest)
    counters[COUNTED] += seen
    return made


advance_from_python = entry(advance)
