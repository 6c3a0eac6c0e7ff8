"""The compiled loops of the bit-sliced engine; importing it takes numba.

Bit i of 64 states is one word, and a row of words is one bit of a chunk of states. A template's match is an AND of rows,
a bit's next value an OR of matches, n a sum of rows by full adders; a row that is 0 throughout is not looked at.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_EMPTY, _MIXED, _FULL = 0, 1, 2
ZERO, ONES = np.uint64(0), ~np.uint64(0)
compiled = numba.njit(cache=True, nogil=True)


@compiled
def match(width: int, now: Any, live: Any, literal_start: Any, literal_bit: Any, flip: Any, out: Any, alive: Any) -> None:
    """Which templates match, Eq. (5): the AND of their literals."""
    for t in range(len(alive)):
        first, last = literal_start[t], literal_start[t + 1]
        dead = False
        for at in range(first, last):
            dead = dead or (flip[at] == ZERO and not live[literal_bit[at]])
        alive[t] = False
        if dead:
            continue
        some = ZERO
        a, fa = literal_bit[first], flip[first]
        if last - first == 1:
            for w in range(width):
                value = now[a, w] ^ fa
                out[t, w] = value
                some |= value
        elif last - first == 2:
            b, fb = literal_bit[first + 1], flip[first + 1]
            for w in range(width):
                value = (now[a, w] ^ fa) & (now[b, w] ^ fb)
                out[t, w] = value
                some |= value
        else:
            b, fb = literal_bit[first + 1], flip[first + 1]
            c, fc = literal_bit[first + 2], flip[first + 2]
            for w in range(width):
                value = (now[a, w] ^ fa) & (now[b, w] ^ fb) & (now[c, w] ^ fc)
                out[t, w] = value
                some |= value
            for at in range(first + 3, last):
                b, fb = literal_bit[at], flip[at]
                some = ZERO
                for w in range(width):
                    value = out[t, w] & (now[b, w] ^ fb)
                    out[t, w] = value
                    some |= value
        alive[t] = some != ZERO


@compiled
def count(width: int, matches: Any, alive: Any, block_start: Any, sums: Any, filled: Any) -> None:
    """n in binary: sums[j, 0] becomes bit j of it wherever filled[j] is not 0.

    Up to three rows wait at every place; a full adder turns three into one, and a carry to the next place.
    """
    filled[:] = 0
    for block in range(len(block_start) - 1):
        free, found = filled[0], False
        for t in range(block_start[block], block_start[block + 1]):
            if not alive[t]:
                continue
            if found:
                for w in range(width):
                    sums[0, free, w] |= matches[t, w]
            else:
                for w in range(width):
                    sums[0, free, w] = matches[t, w]
            found = True
        if not found:
            continue
        filled[0] += 1
        place = 0
        while filled[place] == 3:
            _full_adder(width, place, sums, filled)
            place += 1
    for place in range(len(filled) - 1):
        if filled[place] == 3:
            _full_adder(width, place, sums, filled)
        elif filled[place] == 2:
            free, some = filled[place + 1], ZERO
            for w in range(width):
                a, b = sums[place, 0, w], sums[place, 1, w]
                sums[place, 0, w] = a ^ b
                carry = a & b
                sums[place + 1, free, w] = carry
                some |= carry
            filled[place] = 1
            filled[place + 1] += some != ZERO


@compiled
def _full_adder(width: int, place: int, sums: Any, filled: Any) -> None:
    free, some = filled[place + 1], ZERO
    for w in range(width):
        a, b, c = sums[place, 0, w], sums[place, 1, w], sums[place, 2, w]
        half = a ^ b
        carry = (a & b) | (half & c)
        sums[place, 0, w] = half ^ c
        sums[place + 1, free, w] = carry
        some |= carry
    filled[place] = 1
    filled[place + 1] += some != ZERO


@compiled
def split(width: int, running: Any, sums: Any, filled: Any, leaf_n: Any, leaf: Any) -> int:
    """Divides the running states by their n: leaf[f] are those with leaf_n[f] matches. Gives the number of leaves."""
    some = ZERO
    for w in range(width):
        leaf[0, w] = running[w]
        some |= running[w]
    leaf_n[0] = 0
    leaves = 1 if some != ZERO else 0
    for place in range(len(filled) - 1, -1, -1):
        if filled[place] == 0:
            continue
        for f in range(leaves):
            with_it, without = ZERO, ZERO
            for w in range(width):
                here = leaf[f, w]
                high = here & sums[place, 0, w]
                leaf[leaves, w] = high
                with_it |= high
                without |= here ^ high
            if with_it == ZERO:
                continue
            if without == ZERO:
                leaf_n[f] += 1 << place
                continue
            for w in range(width):
                leaf[f, w] ^= leaf[leaves, w]
            leaf_n[leaves] = leaf_n[f] + (1 << place)
            leaves += 1
    return leaves


@compiled
def write(
    width: int,
    matches: Any,
    alive: Any,
    writer_start: Any,
    writer: Any,
    crowd: Any,
    pair_start: Any,
    after: Any,
    live: Any,
    level: Any,
    seen: Any,
    seen_state: Any,
    leaves: int,
    leaf_n: Any,
    leaf: Any,
    needed: Any,
    wrong: Any,
) -> bool:
    """What the matches set, Eq. (6), but where the table asks for more than one match; says if a bit was lost so.

    level[j] are the states in which at least j writers of a bit match. seen[pair] collects the states in which some bit
    with that many writers has that many matches.
    """
    lost_any = False
    seen_state[:] = _EMPTY
    for bit in range(len(crowd)):
        top = 0
        for at in range(writer_start[bit], writer_start[bit + 1]):
            t = writer[at]
            if not alive[t]:
                continue
            if top == 0:
                for w in range(width):
                    level[1, w] = matches[t, w]
                top = 1
                continue
            some = ZERO
            for w in range(width):
                more = level[top, w] & matches[t, w]
                level[top + 1, w] = more
                some |= more
            for j in range(top, 1, -1):
                for w in range(width):
                    level[j, w] |= level[j - 1, w] & matches[t, w]
            for w in range(width):
                level[1, w] |= matches[t, w]
            top += some != ZERO
        if crowd[bit] < 0 or top == 0:
            if live[bit]:
                for w in range(width):
                    after[bit, w] = ZERO
            live[bit] = False
            if crowd[bit] >= 0:
                seen_state[pair_start[crowd[bit]]] = _FULL
            continue
        pair = pair_start[crowd[bit]]
        _see(width, top, level, seen, seen_state, pair)
        for w in range(width):
            after[bit, w] = level[1, w]
        live[bit] = True
        lost_here = False
        for f in range(leaves):
            need = needed[leaf_n[f], crowd[bit]]
            if need == 1:
                continue
            for w in range(width):
                lost = leaf[f, w] & level[1, w]
                if need <= top:
                    lost &= ~level[need, w]
                after[bit, w] &= ~lost
                wrong[w] |= lost
                lost_here = lost_here or lost != ZERO
        if lost_here:
            lost_any = True
            some = ZERO
            for w in range(width):
                some |= after[bit, w]
            live[bit] = some != ZERO
    return lost_any


@compiled
def _see(width: int, top: int, level: Any, seen: Any, seen_state: Any, pair: int) -> None:
    if seen_state[pair] == _EMPTY:
        seen_state[pair] = _MIXED
        for w in range(width):
            seen[pair, w] = ~level[1, w]
    elif seen_state[pair] == _MIXED:
        for w in range(width):
            seen[pair, w] |= ~level[1, w]
    for m in range(1, top + 1):
        if seen_state[pair + m] == _EMPTY:
            seen_state[pair + m] = _MIXED
            for w in range(width):
                seen[pair + m, w] = ZERO
        if m == top:
            for w in range(width):
                seen[pair + m, w] |= level[m, w]
        else:
            for w in range(width):
                seen[pair + m, w] |= level[m, w] & ~level[m + 1, w]


@compiled
def note(
    width: int, leaves: int, leaf_n: Any, leaf: Any, seen: Any, seen_state: Any, met: Any, occurred: Any
) -> None:
    """Enters which n, and which triples (n, c, m), occur in the running states."""
    for f in range(leaves):
        n = leaf_n[f]
        met[n] = True
        for pair in range(len(seen_state)):
            if occurred[n, pair] or seen_state[pair] == _EMPTY:
                continue
            some = ONES if seen_state[pair] == _FULL else ZERO
            if some == ZERO:
                for w in range(width):
                    some |= leaf[f, w] & seen[pair, w]
            occurred[n, pair] = some != ZERO


@compiled
def ones(words: Any, width: int) -> int:
    """How many bits of the words are on."""
    total = 0
    for w in range(width):
        x = words[w]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return total


@compiled
def transpose(rows: Any, values: Any) -> None:
    """Up to 64 rows of words into one number for each lane: bit j of values[64 w + lane] is that lane of rows[j, w]."""
    square = np.empty(64, dtype=np.uint64)
    for w in range(rows.shape[1]):
        square[:] = ZERO
        for j in range(rows.shape[0]):
            square[j] = rows[j, w]
        half, mask = 32, np.uint64(0x00000000FFFFFFFF)
        while half:  # swap ever smaller squares off the diagonal
            shift = np.uint64(half)
            for first in range(0, 64, 2 * half):
                for j in range(first, first + half):
                    swap = ((square[j] >> shift) ^ square[j + half]) & mask
                    square[j] ^= swap << shift
                    square[j + half] ^= swap
            half >>= 1
            mask ^= mask << np.uint64(half)
        values[64 * w : 64 * w + 64] = square
