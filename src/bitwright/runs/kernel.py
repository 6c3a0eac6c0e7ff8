"""The compiled loops of bit-sliced runs. Importing this module requires numba.

They share one file because numba recompiles a function only if its own file changes.

Bit i of 64 states is one word, and a row of words is one bit of a chunk of states. A template's match is an AND of
rows, a bit's next value an OR of matches, and n a sum of rows by full adders. Rows of zeros are skipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled, entry
from bitwright.rules.layout import IntArray
from bitwright.runs.sliced import SlicedTables

_EMPTY, _MIXED, _FULL = 0, 1, 2
ZERO, ONES = np.uint64(0), ~np.uint64(0)
NEVER, FIXED_POINT = -1, -2  # special values of `halt`: stop after exactly `limit` steps, or when nothing changes
EVALUATIONS, STEPS, WRONG_STEPS = 0, 1, 2  # positions in `totals`


class RunPorts(NamedTuple):
    """The input and output bits, and when a run ends."""

    inputs: IntArray
    start: IntArray
    outputs: IntArray
    limit: int
    halt: int  # a bit, or NEVER, or FIXED_POINT
    declared: int  # the declared maximum of matches


class Found(NamedTuple):
    """Arrays that receive the results."""

    outputs: NDArray[np.uint64]  # (output bits, words)
    unfinished: NDArray[np.uint64]  # (words,)
    beyond: NDArray[np.uint64]  # (words,) lanes that reached a state with more matches than declared
    met: NDArray[np.bool_]  # (n_max + 1,)
    occurred: NDArray[np.bool_]  # (n_max + 1, pairs)
    totals: NDArray[np.int64]  # (3,)


class Leaves(NamedTuple):
    """Running states grouped by n."""

    n: NDArray[np.int64]
    states: NDArray[np.uint64]


class Seen(NamedTuple):
    """For each pair (c, m), the states in which a bit with c writers has m matches, and whether that is none or all."""

    states: NDArray[np.uint64]
    share: NDArray[np.int64]


class Room(NamedTuple):
    """Buffers for a chunk of states."""

    rows: NDArray[np.uint64]  # (2, bits, chunk) current and next states
    live: NDArray[np.bool_]  # (2, bits) rows that are not all zeros
    matches: NDArray[np.uint64]  # (templates, chunk)
    alive: NDArray[np.bool_]  # (templates,)
    sums: NDArray[np.uint64]  # (places, 3, chunk)
    filled: NDArray[np.int64]  # (places,)
    leaf: Leaves
    seen: Seen
    level: NDArray[np.uint64]
    running: NDArray[np.uint64]  # (chunk,)
    wrong: NDArray[np.uint64]
    changed: NDArray[np.uint64]


def room_for(tables: SlicedTables, chunk: int) -> Room:
    """Allocates the buffers outside the loops, which then compile faster."""
    bits, templates, blocks = len(tables.class_of), len(tables.literal_start) - 1, len(tables.block_start) - 1
    pairs, writers = int(tables.pair_start[-1]), int(np.diff(tables.writer_start).max())
    places = max(1, blocks).bit_length() + 1

    def words(*shape: int) -> NDArray[np.uint64]:
        return np.empty((*shape, chunk), dtype=np.uint64)

    return Room(
        words(2, bits),
        np.zeros((2, bits), dtype=bool),
        words(templates),
        np.zeros(templates, dtype=bool),
        words(places, 3),
        np.zeros(places, dtype=np.int64),
        Leaves(np.zeros(blocks + 2, dtype=np.int64), words(blocks + 2)),
        Seen(words(pairs), np.zeros(pairs, dtype=np.int64)),
        words(writers + 2),
        *(words(), words(), words()),
    )


@compiled
def run_words(
    inputs: Any,  # (input bits, words)
    valid: Any,  # (words,) lanes that hold a state
    room: Any,  # buffers for the words to run at a time
    ports: Any,
    tables: Any,
    needed: Any,  # (n_max + 1, classes)
    found: Any,
) -> None:
    """Runs every state to its end."""
    input_bits, start_bits, output_bits, limit, halt, declared = ports
    outputs, unfinished, beyond, met, occurred, totals = found
    rows, live, matches, alive, sums, filled, leaf, seen, level, running, wrong, changed = room
    bits, chunk = rows.shape[1], rows.shape[2]
    last = (
        limit + 1 if halt == FIXED_POINT else limit
    )  # detecting a fixed point reached in the last step takes one more

    for at in range(0, inputs.shape[1], chunk):
        width = min(chunk, inputs.shape[1] - at)
        side = 0
        for bit in range(bits):
            live[0, bit] = live[1, bit] = False
            for w in range(width):
                rows[0, bit, w] = rows[1, bit, w] = ZERO
        for place in range(len(start_bits)):
            live[0, start_bits[place]] = True
            for w in range(width):
                rows[0, start_bits[place], w] = ONES
        for place in range(len(input_bits)):
            live[0, input_bits[place]] = True
            for w in range(width):
                rows[0, input_bits[place], w] = inputs[place, at + w]
        some = ZERO
        for w in range(width):
            running[w] = valid[at + w]
            if halt >= 0:
                running[w] &= ~rows[0, halt, w]
            some |= running[w]
        active = ones(running, width)
        step = 0
        while step < last and some != ZERO:
            step += 1
            now, after = rows[side], rows[1 - side]
            match(width, now, live[side], tables, matches, alive)
            count(width, matches, alive, tables.block_start, sums, filled)
            leaves = split(width, running, sums, filled, leaf)
            for w in range(width):
                wrong[w] = ZERO
            lost = write(width, matches, alive, tables, after, live[1 - side], level, seen, leaves, leaf, needed, wrong)
            note(width, leaves, leaf, seen, met, occurred)
            for f in range(leaves):
                if leaf.n[f] > declared:
                    for w in range(width):
                        beyond[at + w] |= leaf.states[f, w]
            totals[EVALUATIONS] += active
            wrong_here = ones(wrong, width) if lost else 0
            totals[WRONG_STEPS] += wrong_here

            look = halt == FIXED_POINT or (halt == NEVER and (step % 64 == 0 or step & (step - 1) == 0))
            if halt != NEVER:
                _keep_ended(width, now, after, live[side], live[1 - side], running)
            if look:
                _compare(width, now, after, live[side], live[1 - side], changed)
            if step <= limit:
                side = 1 - side
            some = ZERO
            if halt == NEVER:
                some = ONES
                if look:
                    some = ZERO
                    for w in range(width):
                        some |= changed[w] & valid[at + w]
                    if some == ZERO:  # a fixed point of all states: every further step would be the same
                        totals[EVALUATIONS] += active * (limit - step)
                        totals[WRONG_STEPS] += wrong_here * (limit - step)
                        step = limit
            else:
                for w in range(width):
                    running[w] &= changed[w] if halt == FIXED_POINT else ~rows[side, halt, w]
                    some |= running[w]
                still = ones(running, width)
                if still < active:
                    totals[STEPS] = max(totals[STEPS], step - 1 if halt == FIXED_POINT else step)
                active = still
        if halt == NEVER or some != ZERO:
            totals[STEPS] = max(totals[STEPS], limit)
        for w in range(width):
            unfinished[at + w] = running[w] if halt != NEVER else ZERO
        for place in range(len(output_bits)):
            for w in range(width):
                outputs[place, at + w] = rows[side, output_bits[place], w]


@compiled
def match(width: int, now: Any, live: Any, tables: Any, out: Any, alive: Any) -> None:
    """Computes which templates match, Eq. (5): the AND of their literals."""
    literal_start, literal_bit, flip = tables.literal_start, tables.literal_bit, tables.literal_flip
    for t in range(len(alive)):
        first, last = literal_start[t], literal_start[t + 1]
        dead = False
        for at in range(first, last):
            dead = dead or (flip[at] == ZERO and not live[literal_bit[at]])
        alive[t] = False
        if dead:
            continue
        some, second, third = (
            ZERO,
            min(first + 1, last - 1),
            min(first + 2, last - 1),
        )  # repeats the last literal if there are few
        a, b, c = literal_bit[first], literal_bit[second], literal_bit[third]
        fa, fb, fc = flip[first], flip[second], flip[third]
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
    """Computes n in binary: sums[j, 0] becomes bit j of n wherever filled[j] is not 0.

    Each position holds up to three rows; a full adder turns three into one and a carry to the next position.
    """
    for place in range(len(filled)):
        filled[place] = 0
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
        full = np.int64(0)  # with a literal, numba would compile the adder twice
        while filled[full] == 3:
            _full_adder(width, full, sums, filled)
            full += 1
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
def split(width: int, running: Any, sums: Any, filled: Any, leaf: Any) -> int:
    """Divides the running states by n: leaf.states[f] have leaf.n[f] matches. Returns the number of leaves."""
    some = ZERO
    for w in range(width):
        leaf.states[0, w] = running[w]
        some |= running[w]
    leaf.n[0] = 0
    leaves = 1 if some != ZERO else 0
    for place in range(len(filled) - 1, -1, -1):
        if filled[place] == 0:
            continue
        for f in range(leaves):
            with_it, without = ZERO, ZERO
            for w in range(width):
                here = leaf.states[f, w]
                high = here & sums[place, 0, w]
                leaf.states[leaves, w] = high
                with_it |= high
                without |= here ^ high
            if with_it == ZERO:
                continue
            if without == ZERO:
                leaf.n[f] += 1 << place
                continue
            for w in range(width):
                leaf.states[f, w] ^= leaf.states[leaves, w]
            leaf.n[leaves] = leaf.n[f] + (1 << place)
            leaves += 1
    return leaves


@compiled
def write(
    width: int,
    matches: Any,
    alive: Any,
    tables: Any,
    after: Any,
    live: Any,
    level: Any,
    seen: Any,
    leaves: int,
    leaf: Any,
    needed: Any,
    wrong: Any,
) -> bool:
    """Sets the next bits, Eq. (6), except where the table needs more matches; returns whether that cleared a bit.

    level[j] holds the states in which at least j writers of a bit match.
    """
    class_of, pair_start, writer_start, writer = (
        tables.class_of,
        tables.pair_start,
        tables.writer_start,
        tables.writer,
    )
    lost_any = False
    for pair in range(len(seen.share)):
        seen.share[pair] = _EMPTY
    for bit in range(len(class_of)):
        top = np.int64(0)
        for at in range(writer_start[bit], writer_start[bit + 1]):
            t = writer[at]
            if not alive[t]:
                continue
            if top == 0:
                for w in range(width):
                    level[1, w] = matches[t, w]
                top = np.int64(1)
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
        if class_of[bit] < 0 or top == 0:
            if live[bit]:
                for w in range(width):
                    after[bit, w] = ZERO
            live[bit] = False
            if class_of[bit] >= 0:
                seen.share[pair_start[class_of[bit]]] = _FULL
            continue
        pair = pair_start[class_of[bit]]
        _note_pairs(width, top, level, seen, pair)
        for w in range(width):
            after[bit, w] = level[1, w]
        live[bit] = True
        lost_here = False
        for f in range(leaves):
            need = needed[leaf.n[f], class_of[bit]]
            if need == 1:
                continue
            for w in range(width):
                lost = leaf.states[f, w] & level[1, w]
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
def _note_pairs(width: int, top: int, level: Any, seen: Any, pair: int) -> None:
    """Records how many matches this bit has in each state."""
    if seen.share[pair] == _EMPTY:
        seen.share[pair] = _MIXED
        for w in range(width):
            seen.states[pair, w] = ~level[1, w]
    elif seen.share[pair] == _MIXED:
        for w in range(width):
            seen.states[pair, w] |= ~level[1, w]
    for m in range(1, top + 1):
        if seen.share[pair + m] == _EMPTY:
            seen.share[pair + m] = _MIXED
            for w in range(width):
                seen.states[pair + m, w] = ZERO
        if m == top:
            for w in range(width):
                seen.states[pair + m, w] |= level[m, w]
        else:
            for w in range(width):
                seen.states[pair + m, w] |= level[m, w] & ~level[m + 1, w]


@compiled
def note(width: int, leaves: int, leaf: Any, seen: Any, met: Any, occurred: Any) -> None:
    """Records which n and which triples (n, c, m) occur in the running states."""
    for f in range(leaves):
        n = leaf.n[f]
        met[n] = True
        for pair in range(len(seen.share)):
            if occurred[n, pair] or seen.share[pair] == _EMPTY:
                continue
            some = ONES if seen.share[pair] == _FULL else ZERO
            if some == ZERO:
                for w in range(width):
                    some |= leaf.states[f, w] & seen.states[pair, w]
            occurred[n, pair] = some != ZERO


@compiled
def ones(words: Any, width: int) -> int:
    """The number of bits that are on in the words."""
    total = 0
    for w in range(width):
        x = words[w]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[assignment]
    return total


@compiled
def _keep_ended(width: int, now: Any, after: Any, live: Any, live_after: Any, running: Any) -> None:
    """Copies ended states unchanged."""
    every = ONES
    for w in range(width):
        every &= running[w]
    if every == ONES:
        return
    for bit in range(len(now)):
        if not (live[bit] or live_after[bit]):
            continue
        some = ZERO
        for w in range(width):
            value = (after[bit, w] & running[w]) | (now[bit, w] & ~running[w])
            after[bit, w] = value
            some |= value
        live_after[bit] = some != ZERO


@compiled
def _compare(width: int, now: Any, after: Any, live: Any, live_after: Any, changed: Any) -> None:
    """Finds the states that the step has changed."""
    for w in range(width):
        changed[w] = ZERO
    for bit in range(len(now)):
        if live[bit] or live_after[bit]:
            for w in range(width):
                changed[w] |= now[bit, w] ^ after[bit, w]


run_from_python = entry(run_words)
