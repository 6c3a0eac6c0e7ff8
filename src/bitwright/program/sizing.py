"""A program in other sizes: the numbers that say how large it is, and how it is made with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sizing:
    """The numbers of a program by name, and the function that makes it from such numbers.

    A shipped algorithm has one number, `bits`; a rule text has its plain `let` lines, of which the first is its size.

    >>> from bitwright import addition
    >>> sizing = addition(4).sizing
    >>> dict(sizing.numbers), sizing.at(bits=7)
    ({'bits': 4}, Algorithm 'addition': 21 bits, 14 blocks, 28 templates)
    """

    numbers: Mapping[str, int]
    make: Callable[..., Any]  # an Algorithm or a NodeProgram; found by name, so that it travels to other processes
    text: str | None = None  # the rule text that says it for every size

    def at(self, **numbers: int) -> Any:
        """The program with these numbers in place of its own."""
        return self.make(**{**self.numbers, **numbers})
