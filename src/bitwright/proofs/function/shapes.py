"""States of every size at once: each array is off, on, one bit, or a word, perhaps moved by one place.

A step that leads from one such state to another at all sizes up to 4m+8 does so at every size, where m bounds the
distances in the text (`affine.reach`): which rules write a bit, and what they look at, depends only on how far that bit
is from both ends of its array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.runs import Stepper
from bitwright.rules.algorithm import Algorithm

Shape = tuple[str, str]  # what an array is, and of which word: ("up", "x") is x moved one place up, "up1" with a 1
OFF, ON, FIRST, LAST = ("off", ""), ("on", ""), ("first", ""), ("last", "")
State = Mapping[str, Shape]  # by array
_ANY = "any "


class NoShapeError(Exception):
    """A proof for all sizes at once fails; the message says where."""


@dataclass(frozen=True)
class SplitError(Exception):
    """What comes next depends on the lowest bit of a word, or on its highest one (`top_of`)."""

    bit: str


def top_of(word: str) -> str:
    """The name of the highest bit of a word."""
    return f"{word} top"


@dataclass
class AtSize:
    """One size of a program, with words of free bits in one graph."""

    algorithm: Algorithm
    fixed: Mapping[str, int] = field(default_factory=dict)  # the lowest bits of words, and highest, where known
    graph: AndGraph = field(default_factory=AndGraph)

    def __post_init__(self) -> None:
        self.stepper = Stepper(self.algorithm.program, self.graph)
        self.arrays = {item.name: item.bits().tolist() for item in self.algorithm.program.layout.fields}
        self.words: dict[str, list[Literal]] = {}

    def word(self, name: str, like: str) -> list[Literal]:
        """The bits of a word as long as an array."""
        if name not in self.words:
            bits = [self.graph.input() for _ in self.arrays[like]]
            for place, bit in ((0, name), (-1, top_of(name))):
                if bit in self.fixed:
                    bits[place] = self.fixed[bit]
            self.words[name] = bits
        return self.words[name]

    def anything(self, array: str) -> list[Literal]:
        """Bits for an array of which nothing is known; no shape is made of them."""
        return self.word(f"{_ANY}{array}", array)

    def _named(self) -> list[tuple[str, list[Literal]]]:
        return [(name, word) for name, word in self.words.items() if not name.startswith(_ANY)]

    def bits(self, array: str, shape: Shape) -> list[Literal]:
        """What an array of this shape has at this size."""
        what, name = shape
        length = len(self.arrays[array])
        if what in ("off", "on"):
            return [TRUE if what == "on" else FALSE] * length
        if what in ("first", "last"):
            found = [FALSE] * length
            found[0 if what == "first" else -1] = TRUE
            return found
        word = self.words[name]
        if len(word) != length:
            raise NoShapeError(f"{array} and {name} have different lengths")
        return {"word": word, "up": [FALSE, *word[:-1]], "up1": [TRUE, *word[:-1]], "down": [*word[1:], FALSE]}[what]

    def realized(self, state: State, free: Mapping[str, Sequence[Literal]] | None = None) -> list[Literal]:
        """A state as literals; the bits of some arrays may be given."""
        found = [FALSE] * self.algorithm.program.bits
        for array, places in self.arrays.items():
            bits = (free or {}).get(array) or self.bits(array, state[array])
            for place, literal in zip(places, bits, strict=True):
                found[place] = literal
        return found

    def step(self, state: State, free: Mapping[str, Sequence[Literal]] | None = None) -> dict[str, list[Literal]]:
        """The arrays one step later."""
        after = self.stepper.step(self.realized(state, free))
        return {array: [after[place] for place in places] for array, places in self.arrays.items()}

    def recognised(self, after: Mapping[str, Sequence[Literal]], arrays: Iterable[str]) -> dict[str, Shape]:
        """The shapes of arrays; raises SplitError or NoShapeError."""
        shapes: dict[str, Shape] = {}
        for array in arrays:
            found = next((shape for shape in self._shapes(array) if self.bits(array, shape) == after[array]), None)
            if found is None:
                raise self._refusal(array, after[array])
            shapes[array] = found
        return shapes

    def _shapes(self, array: str) -> Iterable[Shape]:
        yield from (OFF, ON)
        for what in ("word", "up", "up1", "down"):
            yield from ((what, name) for name, word in self._named() if len(word) == len(self.arrays[array]))
        yield from (FIRST, LAST)

    def _refusal(self, array: str, bits: Sequence[Literal]) -> Exception:
        if len({literal & ~1 for literal in bits}) == 1:
            for name, word in self._named():
                for place, bit in ((0, name), (-1, top_of(name))):
                    if word[place] == bits[0] & ~1:
                        return SplitError(bit)
        return NoShapeError(f"{array} is neither off nor on nor a word that was moved")
