"""States of all sizes at once, in which each array is off, on, a single bit, or a word, possibly shifted by one bit.

If a step leads from one such state to another at all sizes up to 4m+8, it does so at every size, where m bounds the
distances in the text (`affine.reach`): which rules write a bit, and which bits they test, depends only on the bit's
distances from both ends of its array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.runs import Stepper
from bitwright.rules.algorithm import Algorithm

Shape = tuple[str, str]  # a form and a word: ("up", "x") is x shifted up by one bit, "up1" sets the lowest bit
OFF, ON, FIRST, LAST = ("off", ""), ("on", ""), ("first", ""), ("last", "")
State = Mapping[str, Shape]  # by array
_ANY = "any "


class NoShapeError(Exception):
    """Raised if a proof for all sizes at once fails; the message gives the reason."""


@dataclass(frozen=True)
class SplitError(Exception):
    """Raised if the next state depends on a word's lowest bit, named as the word, or on its highest (`top_of`)."""

    bit: str


def top_of(word: str) -> str:
    """Returns the name of the highest bit of a word."""
    return f"{word} top"


@dataclass
class AtSize:
    """A program at one size, with words of free bits in one graph."""

    algorithm: Algorithm
    fixed: Mapping[str, int] = field(default_factory=dict)  # the known lowest and highest bits of words
    graph: AndGraph = field(default_factory=AndGraph)

    def __post_init__(self) -> None:
        self.stepper = Stepper(self.algorithm.program, self.graph)
        self.arrays = {item.name: item.bits().tolist() for item in self.algorithm.program.layout.fields}
        self.words: dict[str, list[Literal]] = {}

    def word(self, name: str, like: str) -> list[Literal]:
        """Returns the bits of a word that is as long as an array."""
        if name not in self.words:
            bits = [self.graph.input() for _ in self.arrays[like]]
            for place, bit in ((0, name), (-1, top_of(name))):
                if bit in self.fixed:
                    bits[place] = self.fixed[bit]
            self.words[name] = bits
        return self.words[name]

    def anything(self, array: str) -> list[Literal]:
        """Returns free bits for an array; they belong to no word and occur in no shape."""
        return self.word(f"{_ANY}{array}", array)

    def _named(self) -> list[tuple[str, list[Literal]]]:
        return [(name, word) for name, word in self.words.items() if not name.startswith(_ANY)]

    def bits(self, array: str, shape: Shape) -> list[Literal]:
        """Returns the bits of an array with this shape."""
        form, name = shape
        length = len(self.arrays[array])
        if form in ("off", "on"):
            return [TRUE if form == "on" else FALSE] * length
        if form in ("first", "last"):
            bits = [FALSE] * length
            bits[0 if form == "first" else -1] = TRUE
            return bits
        word = self.words[name]
        if len(word) != length:
            raise NoShapeError(f"{array} and {name} must have the same length")
        return {"word": word, "up": [FALSE, *word[:-1]], "up1": [TRUE, *word[:-1]], "down": [*word[1:], FALSE]}[form]

    def realized(self, state: State, free: Mapping[str, Sequence[Literal]] | None = None) -> list[Literal]:
        """Returns a state as literals; `free` replaces the bits of some arrays."""
        literals = [FALSE] * self.algorithm.program.bits
        for array, places in self.arrays.items():
            bits = (free or {}).get(array) or self.bits(array, state[array])
            for place, literal in zip(places, bits, strict=True):
                literals[place] = literal
        return literals

    def step(self, state: State, free: Mapping[str, Sequence[Literal]] | None = None) -> dict[str, list[Literal]]:
        """Returns the bits of all arrays one step later."""
        after = self.stepper.step(self.realized(state, free))
        return {array: [after[place] for place in places] for array, places in self.arrays.items()}

    def recognised(self, after: Mapping[str, Sequence[Literal]], arrays: Iterable[str]) -> dict[str, Shape]:
        """Returns the shapes of arrays with these bits; raises SplitError or NoShapeError."""
        shapes: dict[str, Shape] = {}
        for array in arrays:
            match = next((shape for shape in self._shapes(array) if self.bits(array, shape) == after[array]), None)
            if match is None:
                raise self._refusal(array, after[array])
            shapes[array] = match
        return shapes

    def _shapes(self, array: str) -> Iterable[Shape]:
        yield from (OFF, ON)
        for form in ("word", "up", "up1", "down"):
            yield from ((form, name) for name, word in self._named() if len(word) == len(self.arrays[array]))
        yield from (FIRST, LAST)

    def _refusal(self, array: str, bits: Sequence[Literal]) -> Exception:
        if len({literal & ~1 for literal in bits}) == 1:
            for name, word in self._named():
                for place, bit in ((0, name), (-1, top_of(name))):
                    if word[place] == bits[0] & ~1:
                        return SplitError(bit)
        return NoShapeError(f"after a step {array} is not off, on, one end bit, or a word shifted by at most one bit")
