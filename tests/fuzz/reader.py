"""One reader under attack: how its input is made, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Reader:
    """`read` returns or raises a BitwrightError of one line, whatever `make` gives; anything else is a breach."""

    name: str
    make: Callable[[Random], Any]
    read: Callable[[Any], object]

    def case(self, seed: int, number: int) -> Any:
        """The input of this number, the same in every process."""
        return self.make(Random(f"{seed} {self.name} {number}"))
