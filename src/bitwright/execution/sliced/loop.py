"""The compiled run loop of the bit-sliced engine: chunk after chunk of states, each from its start to its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.execution.sliced.kernel import ONES, ZERO, compiled, count, match, note, ones, split, write

NEVER, FIXED_POINT = -1, -2  # values of `halt` that are no bit: after exactly `limit` steps, or when nothing changes
EVALUATIONS, STEPS, WRONG_STEPS = 0, 1, 2  # places in `totals`


@compiled
def run_words(
    inputs: Any,  # (input bits, words)
    valid: Any,  # (words,) lanes that hold a state
    chunk: int,  # words to run at a time, so that a chunk of states stays in a core's own cache
    input_bits: Any,
    start_bits: Any,
    output_bits: Any,
    limit: int,
    halt: int,
    literal_start: Any,
    literal_bit: Any,
    literal_flip: Any,
    block_start: Any,
    writer_start: Any,
    writer: Any,
    crowd: Any,
    pair_start: Any,
    needed: Any,  # (n_max + 1, crowds)
    outputs: Any,  # (output bits, words) to be filled
    unfinished: Any,  # (words,) to be filled
    met: Any,  # (n_max + 1,)
    occurred: Any,  # (n_max + 1, pairs)
    totals: Any,  # (3,)
) -> None:
    """Runs every state to its end."""
    bits, templates, blocks = len(crowd), len(literal_start) - 1, len(block_start) - 1
    places = 2
    while 1 << (places - 1) <= blocks:
        places += 1
    rows = np.zeros((2, bits, chunk), dtype=np.uint64)
    live = np.zeros((2, bits), dtype=np.bool_)
    matches = np.empty((templates, chunk), dtype=np.uint64)
    alive = np.zeros(templates, dtype=np.bool_)
    sums = np.empty((places, 3, chunk), dtype=np.uint64)
    filled = np.zeros(places, dtype=np.int64)
    leaf = np.empty((blocks + 2, chunk), dtype=np.uint64)
    leaf_n = np.zeros(blocks + 2, dtype=np.int64)
    seen = np.empty((pair_start[-1], chunk), dtype=np.uint64)
    seen_state = np.zeros(pair_start[-1], dtype=np.int64)
    level = np.empty((np.diff(writer_start).max() + 2, chunk), dtype=np.uint64)
    running, wrong, changed = np.empty(chunk, np.uint64), np.empty(chunk, np.uint64), np.empty(chunk, np.uint64)
    last = limit + 1 if halt == FIXED_POINT else limit  # a fixed point reached in the last step takes one more to see

    for at in range(0, inputs.shape[1], chunk):
        width = min(chunk, inputs.shape[1] - at)
        rows[:] = ZERO
        live[:] = False
        side = 0
        for place in range(len(start_bits)):
            rows[0, start_bits[place], :width] = ONES
            live[0, start_bits[place]] = True
        for place in range(len(input_bits)):
            rows[0, input_bits[place], :width] = inputs[place, at : at + width]
            live[0, input_bits[place]] = True
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
            match(width, now, live[side], literal_start, literal_bit, literal_flip, matches, alive)
            count(width, matches, alive, block_start, sums, filled)
            leaves = split(width, running, sums, filled, leaf_n, leaf)
            wrong[:width] = ZERO
            lost = write(
                width, matches, alive, writer_start, writer, crowd, pair_start, after, live[1 - side], level,
                seen, seen_state, leaves, leaf_n, leaf, needed, wrong,
            )  # fmt: skip
            note(width, leaves, leaf_n, leaf, seen, seen_state, met, occurred)
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
                    if some == ZERO:  # a fixed point of all: the steps that are left would be this one again
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
            outputs[place, at : at + width] = rows[side, output_bits[place], :width]


@compiled
def _keep_ended(width: int, now: Any, after: Any, live: Any, live_after: Any, running: Any) -> None:
    """States that have ended stay as they are."""
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
    """The states that the step has changed."""
    changed[:width] = ZERO
    for bit in range(len(now)):
        if live[bit] or live_after[bit]:
            for w in range(width):
                changed[w] |= now[bit, w] ^ after[bit, w]
