"""The compiled loop over changed bits; importing it takes numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled, entry
from bitwright.program.layout import IntArray
from bitwright.program.program import MAX_BLOCK

# Pending bits, n of the state, the clock; how many bits the last step changed, and the largest n of the last leap.
COUNTERS = (PENDING, MATCHES, CLOCK, CHANGED, MOST) = range(5)


class ChangeMemory(NamedTuple):
    """A state on its way, and room to work in."""

    counters: NDArray[np.int64]
    bits: NDArray[np.uint8]  # (k,)
    config: NDArray[np.int32]  # (b,)
    current: NDArray[np.int32]  # (b,) the template that each block matches, or -1
    writers: NDArray[np.int32]  # (k,) how many matched templates write each bit
    pending: NDArray[np.int32]  # (k,) bits whose next value differs from the present one
    noted: NDArray[np.int32]  # (k,) bits whose number of matched writers changed
    touched: NDArray[np.int32]  # (b,) blocks whose configuration changed
    bit_clock: NDArray[np.int64]  # (k,) when a bit was last noted
    block_clock: NDArray[np.int64]  # (b,)


class ChangeTables(NamedTuple):
    """A program as the loop reads it."""

    block_of: NDArray[np.int32]
    position: NDArray[np.int32]
    table: NDArray[np.int32]
    start: IntArray
    keys: IntArray
    write_start: IntArray
    write_bits: NDArray[np.int32]


@compiled
def _lookup(block: int, config: int, table: Any, start: Any, keys: Any) -> int:
    """Program.lookup for a single block: a full table, or a search among the templates' sorted keys."""
    if start[block] >= 0:
        return table[start[block] + config]  # type: ignore[no-any-return]
    key = (np.int64(block) << MAX_BLOCK) | config
    at = np.searchsorted(keys, key)
    return at if at < len(keys) and keys[at] == key else -1  # type: ignore[return-value]


@compiled
def advance(most: int, stops: Any, memory: Any, tables: Any) -> int:
    """Makes up to `most` steps; stops after one that leaves one of the bits `stops` on, or changes nothing.

    A bit is on next if some matched template writes it.
    """
    counters, bits, config, current, writers, pending, noted, touched, bit_clock, block_clock = memory
    block_of, position, table, start, keys, write_start, write_bits = tables
    waiting, n, clock = counters[PENDING], counters[MATCHES], counters[CLOCK]
    made = 0
    counters[MOST] = 0
    while made < most:
        clock += 1
        counters[CHANGED], counters[MOST] = waiting, max(counters[MOST], n)
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
    counters[PENDING], counters[MATCHES], counters[CLOCK] = waiting, n, clock
    return made


advance_from_python = entry(advance)
