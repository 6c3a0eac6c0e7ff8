"""SUBLEQ in plain Python: the oracle of machine V. It knows the dialects and nothing of templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.machines.subleq.dialect import Shape

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

    @property
    def halted(self) -> bool:
        """Whether no further instruction begins."""
        top, width = self.shape.dialect.halt == "top", self.shape.width
        return self.fault or (self.pc >> (width - 1) != 0 if top else self.pc > self.shape.words - 3)

    def step(self) -> bool:
        """Executes one instruction; False, and nothing changes, if the machine has halted."""
        if self.halted:
            return False
        shape, memory = self.shape, self.memory
        dialect, words, ones = shape.dialect, shape.words, (1 << shape.width) - 1
        a, b, c = (memory[(self.pc + place) % words] for place in range(3))
        following = (self.pc + 3) & ones
        if dialect.io and a == ones:
            given = self._read()
            memory[b % words] = ones if given is None else given & ones
        elif dialect.io and b == ones:
            self._write(memory[a % words] & 0xFF)
        elif dialect.strict and max(a, b) >= words:
            self.fault = True
            return False
        else:
            result = shape.signed(memory[b % words]) - shape.signed(memory[a % words])
            if dialect.saturate:
                half = 1 << (shape.width - 1)
                result = min(max(result, -half), half - 1)
            memory[b % words] = result & ones
            if shape.signed(memory[b % words]) <= 0:
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
