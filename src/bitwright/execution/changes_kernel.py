"""The compiled loop behind ChangeBatch; importing it takes numba."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bitwright.program.program import MAX_BLOCK


@numba.njit(cache=True)
def _lookup(block: int, config: int, table: Any, start: Any, keys: Any) -> int:
    """Program.lookup for a single block: a full table, or a search among the templates' sorted keys."""
    if start[block] >= 0:
        return table[start[block] + config]  # type: ignore[no-any-return]
    key = (np.int64(block) << MAX_BLOCK) | config
    at = np.searchsorted(keys, key)
    return at if at < len(keys) and keys[at] == key else -1  # type: ignore[return-value]


@numba.njit(cache=True)
def advance(
    most: int,
    stops: Any,
    counters: Any,
    bits: Any,
    config: Any,
    current: Any,
    writers: Any,
    pending: Any,
    noted: Any,
    touched: Any,
    bit_clock: Any,
    block_clock: Any,
    block_of: Any,
    position: Any,
    table: Any,
    start: Any,
    keys: Any,
    write_start: Any,
    write_bits: Any,
) -> int:
    """Makes up to `most` steps; stops after one that leaves one of the bits `stops` on, or changes nothing.

    `pending` are the bits whose next value differs from the present one: a bit is on next if some matched template
    writes it. `current` is the template that each block matches, `writers` how many matched ones write each bit.
    """
    waiting, n, clock = counters[0], counters[1], counters[2]
    made = 0
    counters[4] = 0
    while made < most:
        clock += 1
        counters[3], counters[4] = waiting, max(counters[4], n)
        blocks = 0
        for at in range(waiting):
            bit = pending[at]
            bits[bit] ^= 1
            block = block_of[bit]
            config[block] ^= 1 << position[bit]
            if block_clock[block] != clock:
                block_clock[block] = clock
                touched[blocks] = block
                blocks += 1
        candidates = 0
        for at in range(blocks):
            block = touched[at]
            old, new = current[block], _lookup(block, config[block], table, start, keys)
            if old == new:
                continue
            current[block] = new
            for side in range(2):
                template, change = (old, -1) if side == 0 else (new, 1)
                if template < 0:
                    continue
                n += change
                for place in range(write_start[template], write_start[template + 1]):
                    bit = write_bits[place]
                    writers[bit] += change
                    if bit_clock[bit] != clock:
                        bit_clock[bit] = clock
                        noted[candidates] = bit
                        candidates += 1
        changed, waiting = waiting, 0
        for at in range(candidates):
            bit = noted[at]
            if (writers[bit] > 0) != (bits[bit] != 0):
                pending[waiting] = bit
                waiting += 1
        made += 1
        stopped = changed == 0
        for at in range(len(stops)):
            stopped = stopped or bits[stops[at]] != 0
        if stopped:
            break
    counters[0], counters[1], counters[2] = waiting, n, clock
    return made
