"""SUBLEQ in plain Python, the oracle of machine V; and images, which are programs as lists of words.

It knows the dialects and nothing of templates. A `.dec` file has words in decimal, separated by white space or commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import index
from pathlib import Path

from bitwright.bits import shorten
from bitwright.errors import InputError, Problem, ProgramError, counted
from bitwright.machines.subleq.dialect import MAX_ADDRESS_BITS, Dialect, Shape
from bitwright.program.text.files import read_text

Reader = Callable[[], int | None]  # the next byte of input; None at its end
Writer = Callable[[int], None]  # takes a byte of output


class Interpreter:
    """Words are unsigned here, 0 to 2^width - 1; `pc` is one too."""

    def __init__(
        self,
        shape: Shape,
        image: Sequence[int],
        read: Reader = lambda: None,
        write: Writer = lambda _: None,
        pc: int = 0,
    ) -> None:
        self.shape, self.pc, self.executed = shape, pc, 0
        self.memory = start_memory(shape, image)
        self.fault = False  # halted at an operand that a strict dialect does not allow
        self._read, self._write = read, write
        self._ones, self._half = (1 << shape.width) - 1, 1 << (shape.width - 1)
        self._end = self._half if shape.dialect.halt == "top" else shape.words - 2  # the first address to halt at

    @property
    def halted(self) -> bool:
        """Whether no further instruction begins."""
        return self.fault or self.pc >= self._end

    def step(self) -> bool:
        """Executes one instruction; False, and nothing changes, if the machine has halted."""
        pc, memory, ones, half = self.pc, self.memory, self._ones, self._half
        if self.fault or pc >= self._end:
            return False
        dialect, words = self.shape.dialect, self.shape.words
        a, b, c = memory[pc % words], memory[(pc + 1) % words], memory[(pc + 2) % words]
        following = (pc + 3) & ones
        if dialect.io and a == ones:
            given = self._read()
            memory[b % words] = ones if given is None else given & ones
        elif dialect.io and b == ones:
            self._write(memory[a % words] & 0xFF)
        elif dialect.strict and max(a, b) >= words:
            self.fault = True
            return False
        else:
            minuend, subtrahend = memory[b % words], memory[a % words]
            if dialect.saturate:
                difference = self.shape.signed(minuend) - self.shape.signed(subtrahend)
                result = min(max(difference, -half), half - 1) & ones
            else:
                result = (minuend - subtrahend) & ones
            memory[b % words] = result
            if not 0 < result < half:
                following = c
        self.pc = following
        self.executed += 1
        return True

    def run(self, limit: int) -> bool:
        """Up to `limit` instructions; whether it halted."""
        while self.executed < limit:
            if not self.step():
                return True
        return self.halted


def start_memory(shape: Shape, image: Sequence[int]) -> list[int]:
    """An image of signed or unsigned words at address 0, the rest 0; raises InputError where it does not fit."""
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
    """The words of a .dec file, as they are written; raises ProgramError where something in it is no word."""
    return parse_image(read_text(Path(path), ".dec"), str(path))


def parse_image(text: str, source: str = "the image") -> list[int]:
    """The words of a text. From `#` or `;` to the end of a line is a comment.

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
    """The words as the text of a .dec file, one instruction a line."""
    listed = [str(word) for word in words]
    return "\n".join(" ".join(listed[at : at + 3]) for at in range(0, len(listed), 3)) + "\n"


def no_ports(dialect: Dialect, count: int) -> str:
    """The message for `count` instructions that use a port in a dialect without ports."""
    subject = f"{counted(count, 'instruction')} name{'s' * (count == 1)} address -1"
    return f"{subject}, which dialects with io use as a port; {dialect.name} has none (try dialect howerj)"


def misfits(shape: Shape, image: Sequence[int]) -> list[str]:
    """Notes about an image that does not look as if it were written for this dialect; one line each.

    Nothing is certain here: any word can be data. But an image that begins with an instruction its dialect cannot
    execute was most likely made for another one.
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
