"""Binary permutation (App. B.1): every bit moves to its place in one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bitwright.algorithms.arithmetic import check_bits, shipped
from bitwright.bits import shorten, whole_number
from bitwright.errors import InputError, counted
from bitwright.program import Algorithm, Builder, span, word

_STATED = 256  # bits of a permutation that says what it computes


def permutation(order: Sequence[int]) -> Algorithm:
    """Moves bit i to position `order[i-1]`, the paper's pi(i), for all bits at once.

    >>> from bitwright import run
    >>> run(permutation([2, 3, 1]), p=0b011).value == 0b110  # bit 1 to place 2, bit 2 to place 3
    True
    """
    order = checked_order(order)
    l = len(order)
    if order == list(range(l, 0, -1)):
        return reversal(l)
    b = Builder()
    p = b.bits("p", l)
    i, pi = span(1, l), np.asarray(order, dtype=np.int64)

    b.block(p[i])
    b.cell(p[i])
    b.when(p[i] == 1).write(p[pi])

    return Algorithm(
        name="permutation",
        program=b.build(),
        inputs=(word(p[:]),),
        outputs=(word(p[:]),),
        steps=1,
        ensures=_lines(order),  # type: ignore[arg-type]
        description=f"permute {counted(l, 'bit')} in one step",
    )


def _lines(order: Sequence[int]) -> tuple[str, ...]:
    """What it computes, bit by bit, unless that would be longer than anybody reads."""
    return tuple(f"p[{to}] == in.p[{bit}]" for bit, to in enumerate(order, 1)) if len(order) <= _STATED else ()


def reversal(bits: int) -> Algorithm:
    """The permutation that reverses the bits: the one that there is in every size.

    >>> from bitwright import run
    >>> run(reversal(4), p=0b0011).value == 0b1100
    True
    """
    about = "permute {} in one step".format(counted(check_bits(bits), "bit"))
    return shipped("permutation", "permutation", bits, reversal, about)


def checked_order(given: object) -> list[int]:
    """The places in a list; raises InputError unless it contains each of 1..l exactly once."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"an order is a list of the places of bits, such as [3, 1, 2], got {shorten(repr(given))}")
    order = [whole_number(place, "each position of an order") for place in given]
    l, seen = check_bits(len(order)), set[int]()
    for place in order:
        if not 1 <= place <= l:
            raise InputError(f"an order of {counted(l, 'bit')} uses the positions 1 to {l}, got {shorten(place)}")
        if place in seen:
            raise InputError(f"an order moves each bit to a place of its own, but {place} occurs twice")
        seen.add(place)
    return order
