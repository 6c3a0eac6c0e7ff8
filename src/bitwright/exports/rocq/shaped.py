"""States of a loop as text for Rocq: what each array is, and lemmas about one step from such a state to the next.

Names that the file makes up end in a prime.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bitwright.exports.rocq.fitting import AffineIndex, NotAffineError
from bitwright.exports.rocq.templates import Templates
from bitwright.exports.rocq.words import bits_name
from bitwright.proofs.function.growth import Growth
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import Shape, State
from bitwright.rules.text import syntax

_ALL_OR_NOTHING = {"off": "false", "on": "true", "(only 1)": "true"}


def affine(growth: Growth) -> AffineIndex:
    """a * l + b from its coefficients."""
    return AffineIndex(0, int(growth[1]), int(growth[0]))


def word_name(word: str) -> str:
    """The bits of a word in a proof: those of an array at the cut, or those that it has after a phase."""
    array, _, phase = word.partition(" of phase ")
    return bits_name(f"{array}'{phase}")


def word_names(words: Iterable[str], between: str = " ") -> str:
    return between.join(map(word_name, words))


class Shaped:
    """The arrays of a loop, from size `least` on."""

    def __init__(self, proof: RoundsProof, least: int, form: Templates) -> None:
        self.proof, self.least, self.form = proof, least, form
        self.single = {  # whether an array is a bit without an index
            token.text: not extents
            for item in proof.tree.statements
            if isinstance(item, syntax.BitsDeclaration)
            for token, extents in item.items
        }
        if any(self.single[word] for word in proof.words):
            raise NotAffineError("a word of the invariant is a single bit")

    def length(self, array: str) -> str:
        return affine(self.proof.lengths[array]).argument()

    def shape(self, array: str, shape: Shape) -> str:
        """The bits of an array, as a function of the index."""
        what, word = shape
        if what in ("first", "last"):
            return f"(only {1 if what == 'first' else self.length(array)})"
        moved = {"up": f"(up {word_name(word)})", "down": f"(down {self.length(array)} {word_name(word)})"}
        return what if not word else moved.get(what, word_name(word))

    def shapes(self, words: Iterable[str], state: State, between: str = " ") -> str:
        return between.join(self.shape(word, state[word]) for word in words)

    def value(self, array: str, bits: str) -> str:
        """The number that these bits are in this array."""
        return f"val {self.length(array)} {bits}"

    def values(self) -> dict[str, str]:
        """Those of all words at the cut."""
        return {word: self.value(word, word_name(word)) for word in self.proof.words}

    def holds(self, array: str, bits: str) -> str:
        if self.single[array]:
            return f's (flag "{array}") = {_ALL_OR_NOTHING.get(bits, f"{bits} 1")}'
        return f'holds s "{array}" {self.length(array)} {bits}'

    def state(self, state: State, but: Sequence[str] = ()) -> str:
        """What all arrays are, but some."""
        return conjunction(self.holds(one, self.shape(one, state[one])) for one in self.single if one not in but)

    def define(self, name: str, state: State, words: str, but: Sequence[str] = ()) -> str:
        given = f" ({words} : nat -> bool)" if words else ""
        return self.form("state", lemma=name, given_words=given, holds=self.state(state, but))

    def facts(self, way: Path) -> list[str]:
        """The lowest bits of words on a path."""
        return [f"{word_name(word)} 1 = {'true' if bit else 'false'}" for word, bit in way.fixed.items()]

    def assumptions(self, way: Path) -> dict[str, object]:
        """What a lemma about a path takes for granted, and the names of that in a proof."""
        facts = self.facts(way)
        names = " ".join(["L", *(f"F{at}" for at in range(len(facts)))])
        return {"assumed": " -> ".join([f"{self.least} <= l", *facts]), "names": names}

    def step(self, lemma: str, way: Path, words: str, before: str, after: str, ended: str) -> str:
        """That a step leads from one state to another, whose words are `ended`."""
        pieces = {"lemma": lemma, "words": words, "before": before, "after": after, "ended": ended}
        return self.form("step", **pieces, **self.assumptions(way))


def cases_of(ways: Iterable[Path], names: str = "F") -> str:
    """The case distinction on all bits that some path looks at, as the beginning of a tactic."""
    asked = dict.fromkeys(word for way in ways for word in way.fixed)
    return "".join(f"destruct ({word_name(word)} 1) eqn:{names}{at}; " for at, word in enumerate(asked))


def taken(fact: str, names: Sequence[str]) -> str:
    """A tactic that names the parts of a fact: a conjunction, or something that exists."""
    return f"pose proof {fact} as {names[0]}" if len(names) == 1 else f"destruct {fact} as {pattern(names)}"


def pattern(names: Sequence[str]) -> str:
    """How Rocq takes a conjunction apart, or something that exists."""
    return names[0] if len(names) == 1 else f"({' & '.join(names)})"


def conjunction(parts: Iterable[str]) -> str:
    return " /\\ ".join(parts)
