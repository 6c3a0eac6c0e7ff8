"""Defines the dialects of SUBLEQ, the sizes of machine V, and images, which are programs as lists of words.

An instruction consists of three words a, b, c: M[b] <- M[b] - M[a]; if the result is 0 or less, jump to c, otherwise
continue with the next instruction. Dialects differ in how a run ends, whether address -1 is a port, and how they handle
overflow and operands out of range. A `.dec` file contains decimal words, separated by white space or commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Literal

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, Problem, ProgramError, counted, suggestion
from bitwright.rules.text import read_text

MAX_WIDTH = 64
MAX_ADDRESS_BITS = 24


@dataclass(frozen=True)
class Dialect:
    """The properties of a dialect.

    halt: `top`, if the sign bit of the program counter is set; `range`, if no whole instruction fits at its address.
    io: a = -1 reads an external word into M[b], otherwise b = -1 writes M[a] to the outside; neither branches.
    strict: an operand beyond the last word halts before anything changes; otherwise addresses wrap.
    saturate: a difference that does not fit becomes the nearest number that does; otherwise it wraps.
    """

    name: str
    halt: Literal["top", "range"]
    io: bool = False
    strict: bool = False
    saturate: bool = False


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("howerj", "top", io=True),
        Dialect("kth", "range", strict=True, saturate=True),
        Dialect("plain", "range"),
    )
}


def find_dialect(name: str) -> Dialect:
    """Returns a dialect by its name."""
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise InputError(f"there is no dialect '{shorten(name)}'; choose {known}{suggestion(name, list(DIALECTS))}")
    return DIALECTS[name]


@dataclass(frozen=True)
class Shape:
    """A machine's size and dialect, which determine its templates."""

    words: int
    width: int
    dialect: Dialect

    def __post_init__(self) -> None:
        if not 3 <= self.words <= 1 << MAX_ADDRESS_BITS:
            raise InputError(f"a machine must have between 3 and 2^{MAX_ADDRESS_BITS} words, got {shorten(self.words)}")
        if not 2 <= self.width <= MAX_WIDTH:
            raise InputError(f"a word must have between 2 and {MAX_WIDTH} bits, got {shorten(self.width)}")
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
            why = " to detect operands beyond them" if dialect.strict else ""
            raise InputError(
                f"{self.words:,} words need a width of at least {least} bits{why}, got {self.width}; "
                f"use fewer words or a larger word width"
            )

    @property
    def address_bits(self) -> int:
        """A: the number of address bits; the address tree has 2^A leaves."""
        return (self.words - 1).bit_length()

    def signed(self, word: int) -> int:
        """Returns a word as a signed number in two's complement."""
        return word - (1 << self.width) if word >> (self.width - 1) else word

    def __str__(self) -> str:
        return f"{self.words:,} words of {self.width} bits, dialect {self.dialect.name}"


def start_memory(shape: Shape, image: Sequence[int]) -> list[int]:
    """Returns the memory with an image at address 0 and zeros after it; raises InputError if the image does not fit."""
    if len(image) > shape.words:
        raise InputError(
            f"the image has {len(image):,} words, more than the machine's {shape.words:,}; give more words"
        )
    low, high, modulus = -(1 << (shape.width - 1)), (1 << shape.width) - 1, 1 << shape.width
    words: list[int] = []
    for at, given in enumerate(image):
        try:
            word = index(given)
        except TypeError:
            raise InputError(f"word {at:,} of the image must be an integer, got {shorten(repr(given))}") from None
        words.append(word % modulus)
        if not low <= word <= high:
            raise InputError(
                f"word {at:,} of the image is {shorten(word)}, which {shape.width} bits cannot hold ({low} to {high}); "
                "give a larger word width"
            )
    return words + [0] * (shape.words - len(words))


_WORD = re.compile(r"[+-]?[0-9]{1,20}")


def load_image(path: str | Path) -> list[int]:
    """Reads the words of a .dec file; raises ProgramError for anything that is not a word."""
    return parse_image(read_text(Path(path), ".dec"), str(path))


def parse_image(text: str, source: str = "the image") -> list[int]:
    """Parses the words of a text. Comments start with `#` or `;` and end with the line.

    >>> parse_image("3, 4, 6   # copies nothing" + chr(10) + "7 7 7")
    [3, 4, 6, 7, 7, 7]
    """
    words: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for piece in re.finditer(r"[^\s,]+", re.split(r"[#;]", line, maxsplit=1)[0]):
            if not _WORD.fullmatch(piece[0]):
                wrong = Problem(number, piece.start() + 1, f"'{shorten(piece[0])}' is not a word such as 12 or -1")
                raise ProgramError([wrong], source)
            words.append(int(piece[0]))
            if len(words) > 1 << MAX_ADDRESS_BITS:
                raise InputError(f"{source} has more than 2^{MAX_ADDRESS_BITS} words, the most a machine can have")
    if not words:
        raise InputError(f"{source} has no words; an image is a list of numbers such as 3 4 6")
    return words


def image_text(words: Iterable[int]) -> str:
    """Returns the words as the text of a .dec file, one instruction per line."""
    listed = [str(word) for word in words]
    return "\n".join(" ".join(listed[at : at + 3]) for at in range(0, len(listed), 3)) + "\n"


def no_ports(dialect: Dialect, count: int) -> str:
    """Returns the message about `count` instructions that use a port in a dialect without ports."""
    subject = f"{counted(count, 'instruction')} name{'s' * (count == 1)} address -1"
    return f"{subject}, which dialects with io use as a port; {dialect.name} has none (try dialect howerj)"


def misfits(shape: Shape, image: Sequence[int]) -> list[str]:
    """Returns notes about an image that was probably written for another dialect, one line each.

    The notes are heuristic, since any word can be data. But if the first instruction is invalid in a dialect, the image
    was most likely written for another one.
    """
    modulus, dialect = 1 << shape.width, shape.dialect
    first = [word % modulus for word in [*image, 0, 0, 0][:3]]
    found = []
    ports = sum(-1 in image[at : at + 2] for at in range(0, len(image) - 2, 3))
    if not dialect.io and ports:
        found.append(no_ports(dialect, ports))
    if dialect.strict and max(first[:2]) >= shape.words:
        found.append(
            f"the first instruction names word {max(first[:2]):,} of {shape.words:,}, where {dialect.name} halts"
        )
    return found
