"""The compiled loops behind EventBatch; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bitwright.program.program import MAX_BLOCK

# What the loop keeps in `counters` between two calls, and what it says about the last one.
ACTIVE, HOLDERS, CLOCK, SIDE, UNCHANGED, LEAST, MOST, COUNTED, REFUSED = range(9)
HOLD, HOLD_FAR = 128, 1 << 40  # in an entry: the template writes exactly what it matches
FOUR, FIFTEEN, ONE, ZERO = np.uint32(4), np.uint32(15), np.uint32(1), np.uint32(0)
FULL = np.uint32((1 << MAX_BLOCK) - 1)  # a configuration
RESTING = np.uint32(1 << MAX_BLOCK)  # beside the configuration of a block that holds what it has and is not active


@numba.njit(cache=True)
def _search(block: int, config: int, keys: Any, holds: Any) -> int:
    """The template among the sorted keys, as an entry of a table would have it: 0, or 1 + its number, + HOLD."""
    key = (np.int64(block) << MAX_BLOCK) | np.int64(config)
    at = np.searchsorted(keys, key)
    if at == len(keys) or keys[at] != key:
        return 0
    return int(at) + 1 + (HOLD_FAR if holds[at] else 0)


@numba.njit(cache=True)
def _shift(block: int, config: int, change: int, held: Any, crowd_of: Any, block_start: Any, block_bits: Any) -> None:
    """Counts the bits that a block holds at rest, by how many writers they have."""
    first = block_start[block]
    while config:
        if config & 1:
            held[crowd_of[block_bits[first]]] += change
        config >>= 1
        first += 1


@numba.njit(cache=True)
def _weigh(n: int, clock: int, queue: Any, config: Any, write_start: Any, writes: Any, tally: Any) -> None:
    """Notes the smallest mean, in absolute value, that the sign rule rounds in this step.

    mu = w0 c + (w1 - w0) m for a bit with c writers, m of which match, so all that counts is which pairs (c, m) there
    are. Blocks at rest give m = 1 to the bits that they hold.
    """
    _, worst, _, crowds, total, held, w0, gap, crowd_of, written, clocks, counts, pairs, _, _ = tally
    pairs[:] = 0
    for at in range(len(crowds)):
        pairs[at, 0], pairs[at, 1] = total[at] - held[at], held[at]
    for template in queue:
        for place in range(write_start[template], write_start[template + 1]):
            block, mask, bit = writes[place] >> FOUR, ONE << (writes[place] & FIFTEEN), written[place]
            at = crowd_of[bit]
            if clocks[bit] != clock:
                clocks[bit] = clock
                counts[bit] = (config[block] & mask) != 0
            pairs[at, counts[bit]] -= 1
            counts[bit] += 1
            pairs[at, counts[bit]] += 1
    for at in range(len(crowds)):
        for m in range(crowds[at] + 1):
            if pairs[at, m] > 0:
                worst[0] = min(worst[0], abs(w0[n] * crowds[at] + gap[n] * m))


@numba.njit(cache=True)
def advance(
    most: int,
    stops: Any,
    counted: Any,
    counters: Any,
    config: Any,
    lists: Any,
    before: Any,
    untouched: Any,
    queue: Any,
    table: Any,
    meta: Any,
    sparse: Any,
    keys: Any,
    holds: Any,
    write_start: Any,
    writes: Any,
    empties: Any,
    tracked: bool,
    tally: Any,
) -> int:
    """Makes up to `most` steps; stops after one that leaves one of the `stops` on, or changes nothing.

    A block rests if it is empty, or if the template it matches writes exactly what the block holds; all others are
    active (also blocks that are empty and match a template all the same, the `empties`). A step looks up the active
    blocks and clears them, then writes what their templates write; a block that is written to is active next.
    n = resting holders + active matches. `stops` and `counted` are pairs of a block and a mask. With `tracked`, a step
    that the rounding could make otherwise is left to others: `counters[REFUSED]` is set.
    """
    count, holders, clock, side = counters[ACTIVE], counters[HOLDERS], counters[CLOCK], counters[SIDE]
    least, largest, seen = np.int64(1) << 62, np.int64(0), np.int64(0)
    fails_from, worst, bound, _, _, held, _, _, crowd_of, _, _, _, _, block_start, block_bits = tally
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
                entry = np.int64(table[meta[block, 0] + now])
                held_whole = entry >= HOLD
                template = np.int64(meta[block, 1]) + entry - 1 if entry else np.int64(-1)
            if held_whole:
                config[block] = now | RESTING
                holders += 1
                if tracked:
                    _shift(block, now, 1, held, crowd_of, block_start, block_bits)
                continue
            config[block] = ZERO
            cleared += 1
            if template >= 0:
                queue[matches] = template
                matches += 1
        n = holders + matches
        clock += 1
        if tracked and n >= fails_from[0]:
            holders -= count - cleared
            for at in range(count):
                if config[active[at]] & RESTING:
                    _shift(active[at], before[at], -1, held, crowd_of, block_start, block_bits)
                config[active[at]] = before[at]
            counters[REFUSED] = 1
            break
        if tracked and bound[n] < worst[0]:
            _weigh(n, clock, queue[:matches], config, write_start, writes, tally)
        least, largest = min(least, n), max(largest, n)
        new = fresh = 0
        for at in range(matches):
            template = queue[at]
            for place in range(write_start[template], write_start[template + 1]):
                block, mask = writes[place] >> FOUR, ONE << (writes[place] & FIFTEEN)
                now = config[block]
                if now == 0:
                    following[new], untouched[new] = block, 0
                    new += 1
                    fresh += 1
                elif now & RESTING:
                    now &= FULL
                    if tracked:
                        _shift(block, now, -1, held, crowd_of, block_start, block_bits)
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
