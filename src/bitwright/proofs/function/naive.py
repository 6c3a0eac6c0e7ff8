"""Runs of many inputs at once by the definition of a step, one Python integer a bit and one of its digits an input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from bitwright.program.algorithm import FIXED_POINT, Algorithm, Word

LATE = "the run is not over in time"


def final_states(algorithm: Algorithm, starts: Sequence[int], most: int) -> Iterator[tuple[int, int | None]]:
    """For start states (bit k of the number is bit k of the state): the place of each, and its last state.

    None for a run that is not over after its `steps`, or after `most` where the text says nothing.
    """
    program = algorithm.program
    lanes = len(starts)
    full = (1 << lanes) - 1
    state = [0] * program.bits
    for lane, start in enumerate(starts):
        for bit in _ones(start):
            state[bit] |= 1 << lane
    rules = [
        (
            [int(b) for b in program.block_members(int(program.template_block[t]))],
            int(program.template_config[t]),
            program.writes(t).tolist(),
        )
        for t in range(program.templates)
    ]
    limit = most if algorithm.steps is None else algorithm.steps
    running = full
    for step in range(limit + 1):
        if isinstance(algorithm.halt, int):
            over = state[algorithm.halt]
        elif algorithm.halt is None:
            over = full if step == limit else 0
        else:
            over = 0
        if done := running & over:
            yield from _read(state, done)
            running &= ~done
        if not running or step == limit:
            break
        after = [0] * program.bits
        for members, config, targets in rules:
            match = running
            for place, bit in enumerate(members):
                match &= state[bit] if config >> place & 1 else ~state[bit]
            if match:
                for bit in targets:
                    after[bit] |= match
        if algorithm.halt == FIXED_POINT:
            moved = 0
            for one, two in zip(state, after, strict=True):
                moved |= (one ^ two) & running
            if done := running & ~moved:
                yield from _read(state, done)
                running &= ~done
        state = after
    yield from ((lane, None) for lane in _ones(running))


def _read(state: Sequence[int], lanes: int) -> Iterator[tuple[int, int | None]]:
    for lane in _ones(lanes):
        yield lane, sum((on >> lane & 1) << bit for bit, on in enumerate(state))


def _ones(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def wrong_input(algorithm: Algorithm, values: Sequence[dict[str, int]], most: int) -> tuple[dict[str, int], str] | None:
    """The first of these inputs of which an `ensure` line is not true, or whose run is not over; and what is wrong."""
    bits = {word.name: word.bits for word in algorithm.inputs}
    begin = sum(1 << bit for bit in algorithm.start)
    starts = [
        begin | sum(1 << bit for name, value in one.items() for k, bit in enumerate(bits[name]) if value >> k & 1)
        for one in values
    ]
    wrong: tuple[int, str] | None = None
    for lane, state in final_states(algorithm, starts, most):
        if wrong is not None and wrong[0] < lane:
            continue
        if state is None:
            wrong = lane, LATE
            continue
        outputs = {word.name: _value(state, word.bits, word.signed) for word in algorithm.outputs}
        for line in algorithm.ensures:
            if not line.holds(values[lane], outputs):
                wrong = lane, f"{line} is not true"
                break
    return None if wrong is None else (values[wrong[0]], wrong[1])


def _value(state: int, bits: Sequence[int], signed: bool) -> int:
    value = sum((state >> bit & 1) << k for k, bit in enumerate(bits))
    return value - (1 << len(bits)) if signed and value >> (len(bits) - 1) & 1 else value


def all_inputs(algorithm: Algorithm) -> Iterator[dict[str, int]]:
    """Every value of every input."""
    names = [word.name for word in algorithm.inputs]
    for values in product(*map(range_of, algorithm.inputs)):
        yield dict(zip(names, values, strict=True))


def range_of(word: Word) -> range:
    """The values of a number."""
    low = -(1 << (len(word.bits) - 1)) if word.signed else 0
    return range(low, low + (1 << len(word.bits)))
