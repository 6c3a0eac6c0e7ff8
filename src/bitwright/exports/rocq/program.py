"""A program at every size: its rules, cells and words as functions of the size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bitwright.exports.rocq.families import Listed, ProgramSegments, families_of, listed
from bitwright.exports.rocq.forms import FITTED
from bitwright.exports.rocq.templates import comment
from bitwright.exports.rocq.words import Words
from bitwright.rules import Algorithm
from bitwright.rules.pattern import Pattern


@dataclass(frozen=True)
class SizedProgram:
    """A program at every size: `make` gives it at one of its number `size`, and it is compared at `own` too."""

    name: str  # of its folder
    algorithm: Algorithm
    size: str
    make: Callable[[int], Algorithm]
    pattern: Pattern
    own: tuple[int, ...] = ()

    def listed(self, size: int) -> Listed:
        """Its rules and cells at a size."""
        return listed(self.make(size).program, self.pattern)

    @cached_property
    def families(self) -> ProgramSegments:
        """Its rules and cells as functions of the size; raises NotAffineError."""
        return families_of(self.listed, *self.own)

    @cached_property
    def sized(self) -> Mapping[int, Algorithm]:
        """The program at sizes that show what it is, and at all at which it is compared."""
        return {l: self.make(l) for l in sorted({*FITTED, *self.families.compared})}

    @cached_property
    def words(self) -> Words:
        """Its inputs and outputs; raises NotAffineError."""
        return Words.of(self.algorithm, self.sized)

    @property
    def pieces(self) -> dict[str, Any]:
        """What every file about it says of it."""
        about = comment(self.algorithm.name)
        return {"name": self.name, "about": about, "families": self.families, "words": self.words}
