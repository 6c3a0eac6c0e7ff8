"""The compiled loops behind EventBatch; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bitwright.program.program import MAX_BLOCK

# What the loop keeps in `counters` between two calls, and what it says about the last one.
ACTIVE, HOLDERS, CLOCK, UNCHANGED, LEAST, MOST, COUNTED, REFUSED = range(8)


@numba.njit(cache=True, inline="always")
def _lookup(block: int, config: int, table: Any, start: Any, keys: Any) -> int:
    """Program.lookup for a single block: a full table, or a search among the templates' sorted keys."""
    if start[block] >= 0:
        return table[start[block] + config]  # type: ignore[no-any-return]
    key = (np.int64(block) << MAX_BLOCK) | config
    at = np.searchsorted(keys, key)
    return at if at < len(keys) and keys[at] == key else -1  # type: ignore[return-value]


@numba.njit(cache=True)
def _weigh(
    n: int,
    clock: int,
    active: Any,
    queue: Any,
    config: Any,
    write_start: Any,
    write_block: Any,
    write_mask: Any,
    tally: Any,
) -> bool:
    """Notes the smallest mean, in absolute value, that the sign rule rounds in this step; False if n is too large.

    mu = w0 c + (w1 - w0) m for a bit with c writers, m of which match, so all that counts is which pairs (c, m) there
    are. Resting holders give m = 1 to the bits that they hold, and change seldom; `held` counts those by c.
    """
    limits, worst, crowds, total, held, w0, gap, crowd_of, written, clocks, counts, block_start, block_bits = tally
    if n >= limits[0]:
        return False
    deepest = limits[1]
    pairs = np.zeros((len(crowds), deepest + 2), dtype=np.int64)
    leaving = np.zeros(len(crowds), dtype=np.int64)
    for block in active:
        if config[block] != 0:  # it has just come to rest
            for place in range(block_start[block], block_start[block + 1]):
                if config[block] >> (place - block_start[block]) & 1:
                    held[crowd_of[block_bits[place]]] += 1
    for at in range(len(crowds)):
        pairs[at, 0], pairs[at, 1] = total[at] - held[at], held[at]
    for template in queue:
        for place in range(write_start[template], write_start[template + 1]):
            block, bit = write_block[place], written[place]
            at = crowd_of[bit]
            if clocks[bit] != clock:
                clocks[bit] = clock
                counts[bit] = (config[block] & write_mask[place]) != 0
            pairs[at, counts[bit]] -= 1
            counts[bit] += 1
            pairs[at, counts[bit]] += 1
            if config[block] != 0 and clocks[len(crowd_of) + block] != clock:  # it will rest no longer
                clocks[len(crowd_of) + block] = clock
                for place_ in range(block_start[block], block_start[block + 1]):
                    if config[block] >> (place_ - block_start[block]) & 1:
                        leaving[crowd_of[block_bits[place_]]] += 1
    if n > 1:
        for at in range(len(crowds)):
            for m in range(min(crowds[at], deepest) + 1):
                if pairs[at, m] > 0:
                    worst[0] = min(worst[0], abs(w0[n] * crowds[at] + gap[n] * m))
    for at in range(len(crowds)):
        held[at] -= leaving[at]
    return True


@numba.njit(cache=True)
def advance(
    most: int,
    stops: Any,
    counted: Any,
    counters: Any,
    config: Any,
    active: Any,
    before: Any,
    following: Any,
    untouched: Any,
    touched: Any,
    queue: Any,
    table: Any,
    start: Any,
    keys: Any,
    holds: Any,
    write_start: Any,
    write_block: Any,
    write_mask: Any,
    empties: Any,
    tracked: bool,
    tally: Any,
) -> int:
    """Makes up to `most` steps; stops after one that leaves one of the `stops` on, or changes nothing.

    A block rests if it is empty, or if the template it matches writes exactly what the block holds; all others are
    `active` (also blocks that are empty and match a template all the same, the `empties`). A step looks up the active blocks and clears them, then writes what their templates write; a block that
    is written to is active next. n = resting holders + active matches. `stops` and `counted` are pairs of a block and
    a mask. With `tracked`, a step that the rounding could make otherwise is left to others: `counters[REFUSED]` is set.
    """
    count, holders, clock = counters[ACTIVE], counters[HOLDERS], counters[CLOCK]
    least, largest, seen = np.int64(1) << 62, np.int64(0), np.int64(0)
    made = 0
    counters[UNCHANGED] = counters[REFUSED] = 0
    while made < most:
        clock += 1
        matches = cleared = 0
        for at in range(count):
            block = active[at]
            now = config[block]
            before[at] = now
            template = _lookup(block, now, table, start, keys)
            if template >= 0 and holds[template]:
                holders += 1
                continue
            config[block] = 0
            cleared += 1
            if template >= 0:
                queue[matches] = template
                matches += 1
        n = holders + matches
        if tracked and not _weigh(
            n, clock, active[:count], queue[:matches], config, write_start, write_block, write_mask, tally
        ):
            holders -= count - cleared
            for at in range(count):
                config[active[at]] = before[at]
            counters[REFUSED] = 1
            break
        least, largest = min(least, n), max(largest, n)
        new = fresh = 0
        for at in range(matches):
            template = queue[at]
            for place in range(write_start[template], write_start[template + 1]):
                block = write_block[place]
                now = config[block]
                if touched[block] != clock:
                    touched[block] = clock
                    following[new] = block
                    untouched[new] = now
                    new += 1
                    if now != 0:
                        holders -= 1
                    else:
                        fresh += 1
                config[block] = now | write_mask[place]
        for at in range(len(empties)):
            block = empties[at]
            if config[block] == 0:
                following[new], untouched[new] = block, 0
                new += 1
                fresh += 1
        same = fresh == cleared
        at = 0
        while same and at < count:
            same = config[active[at]] == before[at]
            at += 1
        at = 0
        while same and at < new:
            same = untouched[at] == 0 or untouched[at] == config[following[at]]
            at += 1
        for at in range(new):
            active[at] = following[at]
        count = new
        made += 1
        stopped = same
        for at in range(len(stops)):
            stopped = stopped or (config[stops[at, 0]] & stops[at, 1]) != 0
        for at in range(len(counted)):
            seen += (config[counted[at, 0]] & counted[at, 1]) != 0
        if stopped:
            counters[UNCHANGED] = same
            break
    counters[ACTIVE], counters[HOLDERS], counters[CLOCK] = count, holders, clock
    if made:
        counters[LEAST], counters[MOST] = min(counters[LEAST], least), max(counters[MOST], largest)
    counters[COUNTED] += seen
    return made
