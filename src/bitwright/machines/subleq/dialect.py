"""The size of a SUBLEQ computer, and the dialect of its images.

One instruction, three words a, b, c: M[b] <- M[b] - M[a]; if the result is 0 or less go to c, else to the next
instruction. Dialects differ in how a run ends, in whether address -1 is a port, and in what happens at the edges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion

MAX_WIDTH = 64
MAX_ADDRESS_BITS = 24
FLAGS = ("top", "range", "io", "strict", "saturate")


@dataclass(frozen=True)
class Dialect:
    """The flags behind a name.

    halt: `top`, when the sign bit of the program counter is set; `range`, when no whole instruction fits at it.
    io: a = -1 reads a word from outside into M[b], else b = -1 sends M[a] outside; neither branches.
    strict: an operand beyond the last word halts before anything changes; otherwise addresses wrap.
    saturate: a difference that does not fit stays at the nearest number that does; otherwise it wraps.
    """

    name: str
    halt: Literal["top", "range"]
    io: bool = False
    strict: bool = False
    saturate: bool = False

    def __post_init__(self) -> None:
        if self.io and (self.strict or self.saturate):
            raise InputError("a dialect with io is neither strict nor saturating; leave out one of them")

    @property
    def flags(self) -> str:
        """`range,strict,saturate`: how the dialect is written without a name."""
        on = {"io": self.io, "strict": self.strict, "saturate": self.saturate}
        return ",".join([self.halt, *(flag for flag, value in on.items() if value)])


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("howerj", "top", io=True),
        Dialect("kth", "range", strict=True, saturate=True),
        Dialect("plain", "range"),
    )
}


def find_dialect(text: str) -> Dialect:
    """A dialect by its name, or by its flags such as `range,strict`; it is never guessed."""
    if text in DIALECTS:
        return DIALECTS[text]
    flags = [flag for flag in re.split(r"[,+ ]+", text) if flag]
    strange = next((flag for flag in flags if flag not in FLAGS), None)
    if strange is not None or not flags:
        known = [*DIALECTS, *FLAGS]
        raise InputError(
            f"there is no dialect '{shorten(text)}'; choose {', '.join(DIALECTS)}, or give its flags, such as "
            f"range,strict (of {', '.join(FLAGS)}){suggestion(strange or text, known)}"
        )
    if ("top" in flags) == ("range" in flags):
        raise InputError(f"a dialect halts by top or by range, one of the two, got '{shorten(text)}'")
    return Dialect(
        text,
        "top" if "top" in flags else "range",
        io="io" in flags,
        strict="strict" in flags,
        saturate="saturate" in flags,
    )


@dataclass(frozen=True)
class Shape:
    """A machine's size and dialect: all that its templates depend on."""

    words: int
    width: int
    dialect: Dialect

    def __post_init__(self) -> None:
        if not 3 <= self.words <= 1 << MAX_ADDRESS_BITS:
            raise InputError(f"a machine has between 3 and 2^{MAX_ADDRESS_BITS} words, got {shorten(self.words)}")
        if not 2 <= self.width <= MAX_WIDTH:
            raise InputError(f"a word has between 2 and {MAX_WIDTH} bits, got {shorten(self.width)}")
        dialect = self.dialect
        whole = self.words & (self.words - 1) == 0
        if not whole and not (dialect.strict and dialect.halt == "range"):
            near = 1 << self.address_bits
            raise InputError(
                f"dialect {dialect.name} wraps addresses, so the number of words must be a power of two such as "
                f"{near:,}, got {self.words:,}"
            )
        least = self.address_bits + dialect.strict
        if self.width < least:
            why = " to see that an operand lies beyond them" if dialect.strict else ""
            raise InputError(
                f"{self.words:,} words need a width of at least {least} bits{why}, got {self.width}; "
                f"use fewer words or a larger word width"
            )

    @property
    def address_bits(self) -> int:
        """A: an address has this many bits, and the address tree 2^A leaves."""
        return (self.words - 1).bit_length()

    def signed(self, word: int) -> int:
        """A word as a number in two's complement."""
        return word - (1 << self.width) if word >> (self.width - 1) else word

    def __str__(self) -> str:
        return f"{self.words:,} words of {self.width} bits, dialect {self.dialect.name}"
