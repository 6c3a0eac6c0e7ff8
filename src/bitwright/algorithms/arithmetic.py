"""Binary addition (Section 4.1, App. B.2) and multiplication (App. B.3), from the rule texts beside this file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from operator import index
from pathlib import Path

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.program import Algorithm
from bitwright.program.sizing import Sizing
from bitwright.program.text import parse

MAX_BITS = 1_000_000  # beyond it a program no longer fits into the memory of an ordinary machine


def check_bits(bits: int, most: int = MAX_BITS) -> int:
    """`bits` as an int, or an InputError."""
    try:
        bits = index(bits)
    except TypeError:
        raise InputError(f"bits must be an integer, got {shorten(repr(bits))}") from None
    if not 1 <= bits <= most:
        raise InputError(f"bits must be between 1 and {most:,}, got {shorten(bits)}")
    return bits


_WORK = 1 << 40  # rows that a text may stand for: these are our own, and their sizes are checked
_LONGEST = 20_000  # bits of a factor: beyond, the number of steps is more than rule text can say


def addition(bits: int, counter: bool = False) -> Algorithm:
    """Adds two numbers of `bits` bits; the sum is read after 2l steps.

    With `counter` the program tells by itself that it is done (App. B.2, "Termination").

    The paper's box writes the carry to c[i+1]; it has to be c[i] (see docs/explanation/errata.md).

    >>> from bitwright import run
    >>> run(addition(10), p=719, q=483).value
    1202
    """
    file = "addition-counter" if counter else "addition"
    return shipped(file, "addition", bits, partial(addition, counter=counter), "add two {}-bit numbers by ripple carry")


def multiplication(bits: int) -> Algorithm:
    """Multiplies two numbers of `bits` bits by shift and add, in 4l^2 + 3l steps.

    >>> from bitwright import run
    >>> run(multiplication(10), multiplicand=719, multiplier=483).value
    347277
    """
    about = "multiply two {}-bit numbers by shift and add"
    return shipped("multiplication", "multiplication", check_bits(bits, _LONGEST), multiplication, about)


def shipped(file: str, name: str, bits: int, again: Callable[[int], Algorithm], description: str) -> Algorithm:
    """The algorithm of a text, in one size; its size is called bits."""
    l, text = check_bits(bits), _texts()[file]
    found = parse(text, name, {"l": l}, _WORK)
    inputs = tuple(replace(word, sized_by="") for word in found.inputs)  # there is no line to change
    return replace(found, inputs=inputs, sizing=Sizing({"bits": l}, again, text), description=description.format(l))


@cache
def _texts() -> dict[str, str]:
    """All of them at once: a process that may read no files later needs to have them."""
    files = ("addition", "addition-counter", "multiplication", "permutation")
    return {file: (Path(__file__).parent / f"{file}.bw").read_text() for file in files}
