"""Terms of `ensure` lines: weighted sums of words, as text for people and as laws for the verified checker.

A certificate has a chain, in which every bit of the program is a track of a letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bitwright.api.export.rocq.fitting import AffineIndex, NotAffineError, affine_of
from bitwright.api.export.rocq.listed import Bit
from bitwright.api.export.rocq.printed import listing
from bitwright.api.export.rocq.words import Part, Words, output_name
from bitwright.program.expressions import COMPARISONS, CONNECTIVES, Combined, Constant, Expression, Named, Negation
from bitwright.proofs.unrolling.polynomials import combine


@dataclass(frozen=True)
class Chained:
    """The chain of a certificate, and where its tracks stand."""

    certificate: Mapping[str, Any]
    tracks: tuple[tuple[str, int, int], ...]  # array, and g and o: bit k at position i is array[g * i + o]
    positions: AffineIndex  # n, a function of l

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> Chained:
        chain = certificate["chain"]
        tracks = [(array, growth, growth * shift - sub) for array, growth, sub, shift in chain["places"]]
        if any(offset < 0 for _, _, offset in tracks):
            raise NotAffineError("an array begins two positions after another one")
        return cls(certificate, tuple(tracks), AffineIndex(0, chain["unit"], chain["extra"]))

    @property
    def classes(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.certificate["chain"]["classes"]
        return found

    @property
    def flags(self) -> list[str]:
        found: list[str] = self.certificate["chain"]["globals"]
        return found

    @property
    def clock(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.certificate["clock"]
        return found

    @property
    def steps(self) -> AffineIndex:
        """The number of steps after which the clock says that a run is over."""
        clock, n = self.clock, self.positions
        if clock["fixed"] is not None:
            return AffineIndex(0, 0, clock["fixed"])
        rate = sum(rate for _, rate in clock["sweeps"])
        return AffineIndex(0, rate * n.size, rate * n.constant + clock["delay"] - clock["early"])

    def place(self, bit: Bit) -> tuple[int, int] | None:
        """Track and position, from 0, of a bit; None for a global."""
        name, index = bit
        for number, (array, growth, offset) in enumerate(self.tracks):
            if array == name and index and (index[0] - offset) % growth == 0:
                return number, (index[0] - offset) // growth
        return None


@dataclass
class LinearForm:
    """A weighted sum of words, a constant, and a multiple of 2^positions."""

    words: dict[tuple[bool, str], int] = field(default_factory=dict)  # (whether it is the input, name): factor
    constant: int = 0
    power: int = 0

    def plus(self, other: LinearForm, times: int = 1) -> LinearForm:
        words, constant = combine(self.words, other.words, times), self.constant + times * other.constant
        return LinearForm(words, constant, self.power + times * other.power)

    @property
    def key(self) -> tuple[Any, ...]:
        return tuple(sorted(self.words.items())), self.constant, self.power


class LinearTerms:
    """The terms of one program's lines, and the laws that the lines compare."""

    def __init__(self, chained: Chained, words: Words, size: str) -> None:
        self.chained, self.words, self.size = chained, words, size
        self.inputs, self.outputs = words.inputs, words.outputs
        self.laws: list[tuple[int, LinearForm, int]] = []  # constant, words, scale

    def linear(self, part: Expression) -> LinearForm:
        if isinstance(part, Constant):
            return LinearForm(constant=part.value)
        if isinstance(part, Named) and part.index is None:
            if not part.entered and part.text in self.outputs:
                return LinearForm({(False, part.text): 1})
            if part.text in self.inputs:
                return LinearForm({(True, part.text): 1})
        if (exponent := self.power(part)) is not None:
            if not exponent.size:
                return LinearForm(constant=2**exponent.constant)
            if exponent == self.chained.positions:
                return LinearForm(power=1)
            raise NotAffineError(
                f"2^({exponent.text()}) is not 2^({self.chained.positions.text()}), the length of the chain"
            )
        if isinstance(part, Combined) and part.sign in "+-":
            return self.linear(part.left).plus(self.linear(part.right), 1 if part.sign == "+" else -1)
        if isinstance(part, Combined) and part.sign == "*":
            left, right = self.linear(part.left), self.linear(part.right)
            for one, other in ((left, right), (right, left)):
                if not one.words and not one.power:
                    return LinearForm().plus(other, one.constant)
        raise NotAffineError("a term of an ensure line is not a weighted sum of words")

    def power(self, part: Expression) -> AffineIndex | None:
        if isinstance(part, Combined) and part.sign == "^" and part.left == Constant(2):
            return affine_of(part.right, self.size)
        return None

    def text(self, part: Expression) -> str:
        if isinstance(part, Constant):
            return str(part.value)
        if isinstance(part, Named):
            if part.index is None and not part.entered and part.text in self.outputs:
                bit = self.place(part)
                return f"{output_name(part.text)} l s" if bit is None else f"Z.b2z ({output_name(part.text)} l s)"
            if part.index is None and part.text in self.inputs:
                return self.words.variables[part.text]
            raise NotAffineError(f"'{part.text}' stands where a word is expected")
        if isinstance(part, Negation) or part.sign in (*COMPARISONS, *CONNECTIVES):
            raise NotAffineError("a truth is used as a number")
        if (power := self.power(part)) is not None:
            return f"2 ^ Z.of_nat ({power.text()})"
        sign = {"%": "mod", "//": "/"}.get(part.sign, part.sign)
        return f"({self.text(part.left)} {sign} {self.text(part.right)})"

    def length(self, part: Expression) -> AffineIndex | None:
        """The bits of a word of one array."""
        if not isinstance(part, Named) or part.index is not None:
            return None
        if not part.entered and part.text in self.outputs:
            first, *others = self.outputs[part.text]
            return None if others else first.length
        return self.inputs[part.text].length if part.text in self.inputs else None

    def place(self, name: Named) -> tuple[str, str] | None:
        """The formula and the text of an output of one bit, or of a bit of an output."""
        if name.entered or name.text not in self.outputs:
            if name.index is not None:
                raise NotAffineError(f"a line is about a bit of the input {name.text}")
            return None
        parts = self.outputs[name.text]
        if name.index is None:
            if len(parts) != 1 or parts[0].length is not None:
                return None
            return self.end(parts[0])[0], f"{output_name(name.text)} l s"
        at, (part, *others) = affine_of(name.index, self.size), parts
        if at is None or others or part.length is None:
            raise NotAffineError(f"a line is about a bit of {name.text}, which is no array from its first bit on")
        bit = Part(part.array, at)
        return self.end(bit)[0], bit.bit("s")

    def end(self, part: Part) -> tuple[str, str, int]:
        """A bit near an end: its formula, which end it is, and its track or global."""
        if part.index is None:
            return f"Global {self.chained.flags.index(part.array)}", "global", self.chained.flags.index(part.array)
        n = self.chained.positions
        for track, (array, growth, offset) in enumerate(self.chained.tracks):
            if array == part.array:
                if part.index == AffineIndex(0, 0, offset):
                    return f"First {track}", "first", track
                if part.index == AffineIndex(0, growth * n.size, growth * (n.constant - 1) + offset):
                    return f"Last {track}", "last", track
        raise NotAffineError(f"{part.array}[{part.index.text()}] is not at an end")

    def parts(self, word: tuple[bool, str]) -> tuple[Part, ...]:
        """The arrays and bits of a word."""
        entered, name = word
        return (self.inputs[name],) if entered else self.outputs[name]

    def sign(self, sum_: LinearForm, signs: Sequence[bool | int]) -> str:
        """The formula that a sum has one of these signs: negative, zero, positive. Bits without a weight are cases."""
        for word, factor in sum_.words.items():
            parts = self.parts(word)
            if all(part.length is None for part in parts) and any(self._weight(part) is None for part in parts):
                rest = LinearForm({w: f for w, f in sum_.words.items() if w != word}, sum_.constant, sum_.power)
                return self._cases(rest, [(part, factor << part.exponent.constant) for part in parts], signs)
        law = self.law(sum_)
        return f"Sign {law} ({sum_.power * self.laws[law][2]})%Z {' '.join(('false', 'true')[sign] for sign in signs)}"

    def _cases(self, sum_: LinearForm, bits: Sequence[tuple[Part, int]], signs: Sequence[bool | int]) -> str:
        if not bits:
            return self.sign(sum_, signs)
        (part, weight), *others = bits
        if part.exponent.size:
            raise NotAffineError(f"{part.array} weighs nothing at its position")
        bit, _, _ = self.end(part)
        on = self._cases(sum_.plus(LinearForm(constant=weight)), others, signs)
        return f"Or (And ({bit}) ({on})) (And (Not ({bit})) ({self._cases(sum_, others, signs)}))"

    def law(self, sum_: LinearForm) -> int:
        shifted = [
            self._shift(part.array) for word in sum_.words for part in self.parts(word) if part.length is not None
        ]
        self.laws.append((sum_.constant, LinearForm(sum_.words), 2 ** max([0, *shifted])))
        return len(self.laws) - 1

    def _shift(self, array: str) -> int:
        """The position of the first bit of an array."""
        place = self.chained.place((array, (1,)))
        if place is None or self.chained.tracks[place[0]][1] != 1:
            raise NotAffineError(f"{array} is no track of single bits")
        return place[1]

    def _weight(self, part: Part) -> tuple[str, int, Fraction] | None:
        """Of a single bit its end, its track, and its weight there; None if it weighs nothing at its position."""
        _, end, track = self.end(part)
        last = self.chained.positions.plus(AffineIndex(0, 0, -1))
        distance = part.exponent.plus(last, -1 if end == "last" else 0)
        return None if end == "global" or distance.size else (end, track, Fraction(2) ** distance.constant)

    def law_text(self, law: tuple[int, LinearForm, int]) -> str:
        """Weights by track: of all positions, of the inputs, and of the bits at both ends."""
        constant, sum_, scale = law
        weights: dict[str, dict[int, int]] = {"base": {}, "entered": {}, "first": {}, "last": {}}
        for word, factor in sum_.words.items():
            for part in self.parts(word):
                if part.length is not None:
                    place = self.chained.place((part.array, (1,)))
                    assert place is not None
                    own, weight = weights["entered" if word[0] else "base"], Fraction(factor * scale, 2 ** place[1])
                    track = place[0]
                else:
                    found = self._weight(part)
                    if found is None:
                        raise NotAffineError(f"{part.array} weighs nothing at its position")
                    end, track, weight = found
                    own, weight = weights[end], factor * scale * weight
                if weight.denominator > 1:
                    raise NotAffineError(f"the weight of {part.array} is no integer")
                own[track] = own.get(track, 0) + int(weight)
        texts = [
            listing(f"({track}, ({weight})%Z)" for track, weight in sorted(own.items())) for own in weights.values()
        ]
        return f"(({constant * scale})%Z, Law {' '.join(texts)})"
