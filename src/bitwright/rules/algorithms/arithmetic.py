"""The paper's algorithms (Section 4.1, App. B.1-B.3): addition, multiplication and permutation.

Their rule texts are in the same folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from operator import index
from pathlib import Path

import numpy as np

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import InputError, counted
from bitwright.rules import Algorithm, Builder, span, word
from bitwright.rules.algorithm import Sizing
from bitwright.rules.text import parse

MAX_BITS = 1_000_000  # larger programs exceed the memory of an ordinary machine


def check_bits(bits: int, most: int = MAX_BITS) -> int:
    """Returns `bits` as an int; raises InputError if it is invalid."""
    try:
        bits = index(bits)
    except TypeError:
        raise InputError(f"bits must be an integer, got {shorten(repr(bits))}") from None
    if not 1 <= bits <= most:
        raise InputError(f"bits must be between 1 and {most:,}, got {shorten(bits)}")
    return bits


_WORK = 1 << 40  # row limit; the sizes of shipped texts are checked beforehand
_KEPT = 16  # programs of at most this many bits are cached, with their derived values
_SMALL: dict[tuple[str, int], Algorithm] = {}
_LONGEST = 20_000  # most bits of a factor; more would need more steps than rule text can express


def addition(bits: int, counter: bool = False) -> Algorithm:
    """Adds two numbers of l = `bits` bits; the sum is read after 2l steps.

    With `counter`, the program itself detects when it is done (App. B.2, "Termination").

    The paper's box writes the carry to c[i+1]; the correct bit is c[i] (see docs/explanation/errata.md).

    >>> from bitwright import run
    >>> run(addition(10), p=719, q=483).value
    1202
    """
    file = "addition-counter" if counter else "addition"
    return shipped(file, "addition", bits, partial(addition, counter=counter), "add two {}-bit numbers by ripple carry")


def multiplication(bits: int) -> Algorithm:
    """Multiplies two numbers of l = `bits` bits by shift and add, in 4l^2 + 3l steps.

    >>> from bitwright import run
    >>> run(multiplication(10), multiplicand=719, multiplier=483).value
    347277
    """
    about = "multiply two {}-bit numbers by shift and add"
    return shipped("multiplication", "multiplication", check_bits(bits, _LONGEST), multiplication, about)


def shipped(file: str, name: str, bits: int, again: Callable[[int], Algorithm], description: str) -> Algorithm:
    """Returns the algorithm of a shipped text at one size; its number is named `bits`."""
    l, text = check_bits(bits), _texts()[file]
    if (file, l) in _SMALL:
        return _SMALL[file, l]
    algorithm = parse(text, name, {"l": l}, _WORK)
    algorithm = replace(algorithm, sizing=Sizing({"bits": l}, again, text), description=description.format(l))
    if l <= _KEPT:
        _SMALL[file, l] = algorithm
    return algorithm


@cache
def _texts() -> dict[str, str]:
    """Reads the texts of all algorithms at once, because a sandboxed process cannot read files later."""
    files = ("addition", "addition-counter", "multiplication", "permutation")
    return {file: (Path(__file__).parent / f"{file}.bw").read_text() for file in files}


_STATED = 256  # most bits of a permutation with `ensure` lines


def permutation(order: Sequence[int]) -> Algorithm:
    """Moves each bit i to position `order[i-1]`, pi(i) in the paper, in one step.

    >>> from bitwright import run
    >>> run(permutation([2, 3, 1]), p=0b011).value == 0b110  # bit 1 to position 2, bit 2 to position 3
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
    """Returns an `ensure` line for each bit; none for a long permutation."""
    return tuple(f"p[{to}] == in.p[{bit}]" for bit, to in enumerate(order, 1)) if len(order) <= _STATED else ()


def reversal(bits: int) -> Algorithm:
    """Reverses the bits, a permutation that exists at every size.

    >>> from bitwright import run
    >>> run(reversal(4), p=0b0011).value == 0b1100
    True
    """
    about = "permute {} in one step".format(counted(check_bits(bits), "bit"))
    return shipped("permutation", "permutation", bits, reversal, about)


def checked_order(given: object) -> list[int]:
    """Returns an order as a list; raises InputError unless it contains each of 1..l exactly once."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"an order must be a list of bit positions, such as [3, 1, 2], got {shorten(repr(given))}")
    order = [whole_number(place, "each position of an order") for place in given]
    l, seen = check_bits(len(order)), set[int]()
    for place in order:
        if not 1 <= place <= l:
            raise InputError(f"an order of {counted(l, 'bit')} must use positions 1 to {l}, got {shorten(place)}")
        if place in seen:
            raise InputError(f"an order must move each bit to a different position, but {place} occurs twice")
        seen.add(place)
    return order


def known_algorithm(bits: Sequence[str], templates: Iterable[str], program_id: str) -> Algorithm | None:
    """Returns the shipped algorithm whose program has this id, or None.

    >>> adder = addition(2).program
    >>> known_algorithm(adder.layout.names, [adder.template_text(t) for t in range(adder.templates)], adder.id)
    Algorithm 'addition': 6 bits, 4 blocks, 8 templates
    """
    length = Counter(name.partition("[")[0] for name in bits)
    try:
        if set(length) == {"p"}:
            algorithm = permutation(_order(templates, length["p"]))
        elif set(length) in ({"p", "q", "c"}, {"p", "q", "c", "counter"}):
            algorithm = addition(length["p"], counter="counter" in length)
        elif "multiplier" in length:
            algorithm = multiplication(length["multiplier"])
        else:
            return None
    except InputError:
        return None
    return algorithm if algorithm.program.id == program_id else None


def order_of(permutation: Algorithm) -> list[int]:
    """Returns the target position of each bit of a permutation, bit 1 first."""
    program = permutation.program
    by_bit = sorted(
        range(program.templates), key=lambda t: int(program.block_members(int(program.template_block[t]))[0])
    )
    return [int(program.writes(template)[0]) + 1 for template in by_bit]


def _order(templates: Iterable[str], length: int) -> list[int]:
    """Reads the target position of each bit from lines such as `when p[2]=1 write p[1]`; 0 for a bit without a line."""
    places = [0] * length
    for line in templates:
        match = re.fullmatch(r"when p\[([1-9][0-9]{0,6})\]=1 write p\[([1-9][0-9]{0,6})\]", line, re.ASCII)
        if match and int(match[1]) <= length:
            places[int(match[1]) - 1] = int(match[2])
    return places
