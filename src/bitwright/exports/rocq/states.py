"""Rocq text for the states of a loop, array by array. Invented names end in a prime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bitwright.exports.rocq.forms import SIZE, NotAffineError, argument
from bitwright.exports.rocq.words import bits_name
from bitwright.proofs.function.affine import Growth
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import Shape, State
from bitwright.proofs.kinds.affine import Affine

_ALL_OR_NOTHING = {"off": "false", "on": "true", "(only 1)": "true"}


def affine(growth: Growth) -> Affine:
    """Returns a * l + b from its coefficients."""
    return SIZE * int(growth[1]) + int(growth[0])


def word_name(word: str) -> str:
    """Returns the name of a word's bits in a proof, at the cut or after a phase."""
    array, _, phase = word.partition(" of phase ")
    return bits_name(f"{array}'{phase}")


def word_names(words: Iterable[str], between: str = " ") -> str:
    """Returns the names of the bits of several words."""
    return between.join(map(word_name, words))


class States:
    """The arrays of a loop, from size `least` on."""

    def __init__(self, proof: RoundsProof, least: int) -> None:
        self.proof, self.least = proof, least
        self.single = {array: not extents for array, extents in proof.reader.rules.extents.items()}
        if any(self.single[word] for word in proof.words):
            raise NotAffineError("a word of the invariant is a single bit")

    def length(self, array: str) -> str:
        """The number of bits of an array."""
        return argument(affine(self.proof.lengths[array]))

    def shape(self, array: str, shape: Shape) -> str:
        """The bits of an array, as a function of the index."""
        what, word = shape
        if what in ("first", "last"):
            return f"(only {1 if what == 'first' else self.length(array)})"
        moved = {"up": f"(up {word_name(word)})", "down": f"(down {self.length(array)} {word_name(word)})"}
        return what if not word else moved.get(what, word_name(word))

    def shapes(self, words: Iterable[str], state: State, between: str = " ") -> str:
        """The bits of several arrays."""
        return between.join(self.shape(word, state[word]) for word in words)

    def value(self, array: str, bits: str) -> str:
        """The number that these bits represent in this array."""
        return f"val {self.length(array)} {bits}"

    def values(self) -> dict[str, str]:
        """The values of all words at the cut."""
        return {word: self.value(word, word_name(word)) for word in self.proof.words}

    def holds(self, array: str, bits: str) -> str:
        """The fact that an array has these bits."""
        if self.single[array]:
            return f's (flag "{array}") = {_ALL_OR_NOTHING.get(bits, f"{bits} 1")}'
        return f'holds s "{array}" {self.length(array)} {bits}'

    def state(self, state: State, but: Sequence[str] = ()) -> str:
        """The facts about all arrays except those in `but`."""
        return conjunction(self.holds(one, self.shape(one, state[one])) for one in self.single if one not in but)

    def facts(self, way: Path) -> list[str]:
        """The lowest bits of words on a path."""
        return [f"{word_name(word)} 1 = {'true' if bit else 'false'}" for word, bit in way.fixed.items()]

    def assumed(self, way: Path) -> str:
        """The assumptions of a lemma about a path."""
        return " -> ".join([f"{self.least} <= l", *self.facts(way)])

    def assumptions(self, way: Path) -> str:
        """The names of these assumptions in a proof."""
        return " ".join(["L", *(f"F{at}" for at in range(len(way.fixed)))])


def cases_of(ways: Iterable[Path], names: str = "F") -> str:
    """Returns the opening of a tactic that splits on every bit a path depends on."""
    words = dict.fromkeys(word for way in ways for word in way.fixed)
    return "".join(f"destruct ({word_name(word)} 1) eqn:{names}{at}; " for at, word in enumerate(words))


def taken(fact: str, names: Sequence[str]) -> str:
    """Returns a tactic that names the parts of a conjunction or existential."""
    return f"pose proof {fact} as {names[0]}" if len(names) == 1 else f"destruct {fact} as {pattern(names)}"


def pattern(names: Sequence[str]) -> str:
    """Returns the pattern that destructs a conjunction or existential."""
    return names[0] if len(names) == 1 else f"({' & '.join(names)})"


def conjunction(parts: Iterable[str]) -> str:
    """Joins facts to a conjunction."""
    return " /\\ ".join(parts)
