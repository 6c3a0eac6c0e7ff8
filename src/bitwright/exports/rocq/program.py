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
    """A program at every size: `make` builds it for a value of its parameter `size`; it is also compared at `own`."""

    name: str  # of its folder
    algorithm: Algorithm
    size: str
    make: Callable[[int], Algorithm]
    pattern: Pattern
    own: tuple[int, ...] = ()

    def listed(self, size: int) -> Listed:
        """Returns its rules and cells at a size."""
        return listed(self.make(size).program, self.pattern)

    @cached_property
    def families(self) -> ProgramSegments:
        """Its rules and cells as functions of the size; raises NotAffineError if there are none."""
        return families_of(self.listed, *self.own)

    @cached_property
    def sized(self) -> Mapping[int, Algorithm]:
        """The program at the fitted sizes and at all compared sizes."""
        return {l: self.make(l) for l in sorted({*FITTED, *self.families.compared})}

    @cached_property
    def words(self) -> Words:
        """Its inputs and outputs; raises NotAffineError if they are not functions of the size."""
        return Words.of(self.algorithm, self.sized)

    @property
    def pieces(self) -> dict[str, Any]:
        """Template values common to all files about the program."""
        about = comment(self.algorithm.name)
        return {"name": self.name, "about": about, "families": self.families, "words": self.words}
