"""Translates the `ensure` lines of a chain program to formulas for the verified checker, statements and tests.

A formula, a readable statement and a computable test have the same connectives, which keeps the proof short. Numbers
are weighted sums of words, written as readable text and as laws for the checker. In the chain of a certificate, every
bit of the program is on a track or is a global.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bitwright.exports.rocq.families import Bit
from bitwright.exports.rocq.forms import SIZE, NotAffineError, natural
from bitwright.exports.rocq.program import Part, SizedProgram, Word, output_name
from bitwright.exports.rocq.templates import each
from bitwright.proofs.kinds.affine import ONE, Affine
from bitwright.proofs.kinds.lines import Case, NotCoveredError, Reader
from bitwright.proofs.unrolling.polynomials import combine
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import COMPARISONS, CONNECTIVES, Combined, Constant, Expression, Named, Negation

_FLIPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS = {  # whether left - right may be negative, zero or positive
    "==": (0, 1, 0),
    "!=": (1, 0, 1),
    "<": (1, 0, 0),
    "<=": (1, 1, 0),
    ">": (0, 0, 1),
    ">=": (0, 1, 1),
}
_TESTS = {"==": "=?", "<": "<?", "<=": "<=?", ">": ">?", ">=": ">=?"}
_CONNECTED = {
    "and": ("And", "/\\", "({} && {})"),
    "or": ("Or", "\\/", "({} || {})"),
    "=>": ("Implies", "->", "(implb {} {})"),
}
Sum = dict[Word | str, int]  # a weighted sum of words, ONE and POWER
_ARITHMETIC = {sign: f"({{}} {sign} {{}})" for sign in "+-*^"} | {"%": "({} mod {})", "//": "({} / {})"}
POWER = "2^"  # 2^positions


@dataclass(frozen=True)
class CertifiedChain:
    """The chain of a certificate with the positions of its tracks."""

    certificate: Mapping[str, Any]
    classes: Mapping[str, Any]
    flags: list[str]
    clock: Mapping[str, Any]
    tracks: tuple[tuple[str, int, int], ...]  # array, and g and o: bit k at position i is array[g * i + o]
    positions: Affine  # n, a function of l

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> CertifiedChain:
        chain = certificate["chain"]
        tracks = tuple((array, growth, growth * shift - sub) for array, growth, sub, shift in chain["places"])
        if any(offset < 0 for _, _, offset in tracks):
            raise NotAffineError("arrays must begin at most one position apart")
        positions = SIZE * chain["unit"] + chain["extra"]
        return cls(certificate, chain["classes"], chain["globals"], certificate["clock"], tracks, positions)

    @property
    def steps(self) -> Affine:
        """The number of steps after which the clock ends a run."""
        clock, n = self.clock, self.positions
        if clock["fixed"] is not None:
            return Affine.of(clock["fixed"])
        rate = sum(int(rate) for _, rate in clock["sweeps"])
        return n * rate + int(clock["delay"] - clock["early"])

    def place(self, bit: Bit) -> tuple[int, int] | None:
        """Returns the track and position, from 0, of a bit; None for a global."""
        name, index = bit
        for number, (array, growth, offset) in enumerate(self.tracks):
            if array == name and index and (index[0] - offset) % growth == 0:
                return number, (index[0] - offset) // growth
        return None


@dataclass(frozen=True)
class ScaledSum:
    """A sum that the checker multiplies by `scale` and compares with 0."""

    sum: Sum
    scale: int

    @property
    def constant(self) -> int:
        return self.sum.get(ONE, 0)

    @property
    def words(self) -> dict[Word, int]:
        """The weight of each word."""
        return {word: factor for word, factor in self.sum.items() if not isinstance(word, str)}


@dataclass(frozen=True)
class Truth:
    """A truth value as a formula, a statement and a test."""

    formula: str
    statement: str
    test: str


@dataclass(frozen=True)
class Line:
    """A line; `after` is an earlier statement that its proof needs."""

    truth: Truth
    laws: range
    after: str = ""


class ChainLines:
    """The lines of a program and the laws that they compare; raises NotAffineError for a line without a law."""

    def __init__(self, chain: CertifiedChain, program: SizedProgram) -> None:
        self.chain, self.words, self.size = chain, program.words, program.size
        self.laws: list[ScaledSum] = []
        self.lines: list[Line] = []
        self._quotients: dict[tuple[Hashable, int], tuple[str, str]] = {}  # earlier quotients: an output and its line
        self._after = ""
        for line in program.algorithm.claims:
            if line.ranges:
                raise NotAffineError(f"'{line}' is about single bits; only lines about numbers can be exported")
            self.lines.append(self._line(line))
        self.halt = self.words.halt

    @property
    def formulas(self) -> list[str]:
        """The checker's goals: the run has halted, and the lines are true."""
        halted = [] if self.halt is None else [self.end(self.halt)[0]]
        return [*halted, *(line.truth.formula for line in self.lines)]

    @property
    def halting(self) -> str:
        """The bit that ends a run, in the form of a chain program."""
        if self.halt is None:
            return "None"
        _, end, number = self.end(self.halt)
        return f"Some ({ {'global': 0, 'first': 1, 'last': 5}[end] }, {number})"

    def _line(self, line: EnsureLine) -> Line:
        first, self._after = len(self.laws), ""
        truth = self._truth(line.truth)
        part = line.truth
        if isinstance(part, Combined) and part.sign == "==":
            for word, other in ((part.left, part.right), (part.right, part.left)):
                if not (isinstance(word, Named) and isinstance(other, Combined) and other.sign == "//"):
                    continue
                if isinstance(other.right, Constant):
                    key = _key(self.linear(other.left)), other.right.value
                    self._quotients[key] = word.text, f"{self.text(word)} = {self.text(other)}"
        return Line(truth, range(first, len(self.laws)), self._after)

    # Truths.

    def _truth(self, part: Expression) -> Truth:
        if isinstance(part, Negation):
            body = self._truth(part.body)
            return _negated(body, f"~ ({body.statement})")
        if isinstance(part, Combined) and part.sign in CONNECTIVES:
            left, right = self._truth(part.left), self._truth(part.right)
            formula, sign, test = _CONNECTED[part.sign]
            return Truth(
                f"{formula} ({left.formula}) ({right.formula})",
                f"({left.statement}) {sign} ({right.statement})",
                test.format(left.test, right.test),
            )
        if isinstance(part, Combined) and part.sign in COMPARISONS:
            if part.sign in ("==", "!=") and (self._is_truth(part.left) or self._is_truth(part.right)):
                return self._same(part)
            return self._compared(part)
        return self._bit(part)

    def _is_truth(self, part: Expression) -> bool:
        if isinstance(part, Named):
            return self.place(part) is not None
        return isinstance(part, Negation) or (isinstance(part, Combined) and part.sign in (*COMPARISONS, *CONNECTIVES))

    def _same(self, part: Combined) -> Truth:
        """Compares two truths, or a truth with 0 or 1."""
        equal = part.sign == "=="
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(other, Constant):
                if other.value not in (0, 1):
                    raise NotAffineError(f"a bit can only be compared with 0 or 1, got {other.value}")
                truth, on = self._truth(one), bool(other.value) == equal
                statement = f"{truth.test} = {'true' if on else 'false'}"
                return Truth(truth.formula, statement, truth.test) if on else _negated(truth, statement)
            if not self._is_truth(other):
                return self._compared(part)  # a bit as a number
        left, right = self._truth(part.left), self._truth(part.right)
        shown = left.test[1:-1] if isinstance(part.left, Named) else left.test
        same = Truth(
            f"Same ({left.formula}) ({right.formula})",
            f"{shown} = {right.test}",
            f"(Bool.eqb {left.test} {right.test})",
        )
        return same if equal else _negated(same, f"{left.test} <> {right.test}")

    def _bit(self, part: Expression) -> Truth:
        place = self.place(part) if isinstance(part, Named) else None
        if place is None:
            raise NotAffineError("a line uses a number where a comparison is expected")
        formula, text = place
        return Truth(formula, f"{text} = true", f"({text})")

    # Comparisons of numbers.

    def _compared(self, part: Combined) -> Truth:
        one, other = self.text(part.left), self.text(part.right)
        sign = {"==": "=", "!=": "<>"}.get(part.sign, part.sign)
        test = f"({one} {_TESTS[part.sign]} {other})" if part.sign in _TESTS else f"(negb ({one} =? {other}))"
        return Truth(self._formula(part), f"{one} {sign} {other}", test)

    def _formula(self, part: Combined) -> str:
        for left, sign, right in (
            (part.left, part.sign, part.right),
            (part.right, _FLIPPED[part.sign], part.left),
        ):
            if isinstance(left, Combined) and left.sign in ("//", "%"):
                return self._divided(left, sign, right)
        return self.sign(combine(self.linear(part.left), self.linear(part.right), -1), _SIGNS[part.sign])

    def _divided(self, left: Combined, sign: str, right: Expression) -> str:
        """Returns the formula for a comparison of E // k, for E mod 2^l == W, or E % k == W after a line for E // k."""
        inner, other, k = self.linear(left.left), self.linear(right), left.right
        if isinstance(k, Constant) and left.sign == "//":
            scaled = combine(inner, other, -k.value)  # E // k compares with R as E - k * R with 0, or with k - 1
            one_less: Sum = {ONE: 1 - k.value}
            above, below = combine(scaled, one_less), (True, True, False)
            if sign in ("<", ">="):
                return self.sign(scaled, _SIGNS[sign])
            if sign in ("<=", ">"):
                return self.sign(above, _SIGNS[sign])
            both = f"And ({self.sign(scaled, (False, True, True))}) ({self.sign(above, below)})"
            return both if sign == "==" else f"Not ({both})"
        if sign == "==" and isinstance(k, Constant) and left.sign == "%" and (_key(inner), k.value) in self._quotients:
            quotient, self._after = self._quotients[_key(inner), k.value]
            times: Sum = {(False, quotient): k.value}
            return self.sign(combine(combine(other, inner, -1), times), (False, True, False))
        exponent = self.power(k)
        if sign in ("==", "!=") and left.sign == "%" and exponent is not None and POWER not in inner:
            law = self.law(combine(other, inner, -1))
            scale = self.laws[law].scale.bit_length() - 1
            n = self.chain.positions
            if exponent == n - scale and self.length(right) == exponent:
                return f"Multiple {law}" if sign == "==" else f"Not (Multiple {law})"
        raise NotAffineError(f"this use of '{self.text(left)}' cannot be exported")

    # Numbers.

    def word(self, part: Expression) -> Word | None:
        """Returns the output or input that an expression names, or None."""
        if not isinstance(part, Named) or part.index is not None:
            return None
        if not part.entered and part.text in self.words.outputs:
            return False, part.text
        return (True, part.text) if part.text in self.words.inputs else None

    def linear(self, part: Expression) -> Sum:
        """Returns an expression as a weighted sum; raises NotAffineError if it is none."""
        if isinstance(part, Constant):
            return {ONE: part.value}
        if (word := self.word(part)) is not None:
            return {word: 1}
        if (exponent := self.power(part)) is not None:
            if exponent.constant is not None:
                return {ONE: 2 ** int(exponent.constant)}
            if exponent == self.chain.positions:
                return {POWER: 1}
            raise NotAffineError(
                f"a power of 2 must be 2^({natural(self.chain.positions)}), for the length of the chain, got "
                f"2^({natural(exponent)})"
            )
        if isinstance(part, Combined) and part.sign in "+-*":
            left, right = self.linear(part.left), self.linear(part.right)
            if part.sign != "*":
                return combine(left, right, 1 if part.sign == "+" else -1)
            for one, other in ((left, right), (right, left)):
                if one.keys() <= {ONE}:
                    return combine({}, other, one.get(ONE, 0))
        raise NotAffineError("a term of an ensure line is not a weighted sum of words")

    def power(self, part: Expression) -> Affine | None:
        """Returns the exponent of a power of 2, or None."""
        if isinstance(part, Combined) and part.sign == "^" and part.left == Constant(2):
            return self.form(part.right)
        return None

    def form(self, part: Expression) -> Affine | None:
        """Returns an expression of the size and constants as a form, or None."""
        with suppress(NotCoveredError, ValueError):
            ((form, _),) = Reader({}, {}).form(part, Case({}))
            if form.names <= {self.size}:
                return form.put({self.size: SIZE})
        return None

    def text(self, part: Expression) -> str:
        """Formats an expression of a line as Rocq text."""
        if isinstance(part, Constant):
            return str(part.value)
        if isinstance(part, Named):
            if (word := self.word(part)) is None:
                raise NotAffineError(f"'{part.text}' is not an input or output")
            return self.words.value(word)
        if (power := self.power(part)) is not None:
            return f"2 ^ Z.of_nat ({natural(power)})"
        if isinstance(part, Combined) and part.sign in _ARITHMETIC:
            return _ARITHMETIC[part.sign].format(self.text(part.left), self.text(part.right))
        raise NotAffineError("a line uses a comparison as a number")

    def length(self, part: Expression) -> Affine | None:
        """Returns the number of bits of a word that is a single array, or None."""
        word = self.word(part)
        first, *others = self.words.parts(word) if word else [None]
        return None if others or first is None else first.length

    def place(self, name: Named) -> tuple[str, str] | None:
        """Returns the formula and the text of a one-bit output, or of a bit of an output; None for a number."""
        if name.entered or name.text not in self.words.outputs:
            if name.index is not None:
                raise NotAffineError(f"a line uses a bit of the input {name.text}; only bits of outputs are supported")
            return None
        part, *others = self.words.outputs[name.text]
        if name.index is None:
            if not self.words.is_bit(name.text):
                return None
            return self.end(part)[0], f"{output_name(name.text)} l s"
        at = self.form(name.index)
        if at is None or others or not part.whole:
            raise NotAffineError(f"a line uses a bit of {name.text}, which does not start at the first bit of an array")
        bit = Part(part.array, at)
        return self.end(bit)[0], bit.bit("s")

    def end(self, part: Part) -> tuple[str, str, int]:
        """Returns the formula of a bit at an end, the name of the end, and the bit's track or global."""
        if part.index is None:
            return f"Global {self.chain.flags.index(part.array)}", "global", self.chain.flags.index(part.array)
        n = self.chain.positions
        for track, (array, growth, offset) in enumerate(self.chain.tracks):
            if array == part.array:
                if part.index == Affine.of(offset):
                    return f"First {track}", "first", track
                if part.index == (n - 1) * growth + offset:
                    return f"Last {track}", "last", track
        raise NotAffineError(f"{part.array}[{natural(part.index)}] must be at the first or last position")

    def sign(self, sum_: Sum, signs: Sequence[bool | int]) -> str:
        """Returns the formula that a sum has one of these signs (negative, zero, positive), by cases of its bits."""
        for word, factor in ScaledSum(sum_, 1).words.items():
            parts = self.words.parts(word)
            if all(not part.whole for part in parts) and any(self._weight(part) is None for part in parts):
                rest = {other: own for other, own in sum_.items() if other != word}
                return self._cases(rest, [(part, factor << int(part.exponent[ONE])) for part in parts], signs)
        law = self.law(sum_)
        power = sum_.get(POWER, 0) * self.laws[law].scale
        return f"Sign {law} ({power})%Z {' '.join(('false', 'true')[sign] for sign in signs)}"

    def _cases(self, sum_: Sum, bits: Sequence[tuple[Part, int]], signs: Sequence[bool | int]) -> str:
        if not bits:
            return self.sign(sum_, signs)
        (part, weight), *others = bits
        if part.exponent.constant is None:
            raise NotAffineError(f"the weight of {part.array} depends on the size")
        bit, _, _ = self.end(part)
        on = self._cases(combine(sum_, {ONE: weight}), others, signs)
        return f"Or (And ({bit}) ({on})) (And (Not ({bit})) ({self._cases(sum_, others, signs)}))"

    def law(self, sum_: Sum) -> int:
        """Returns the number of the law for a sum."""
        arrays = [part for word in ScaledSum(sum_, 1).words for part in self.words.parts(word) if part.whole]
        self.laws.append(ScaledSum(sum_, 2 ** max([0, *(self._first(part)[1] for part in arrays)])))
        return len(self.laws) - 1

    def _first(self, part: Part) -> tuple[int, int]:
        """Returns the track and position of the first bit of an array."""
        place = self.chain.place((part.array, (1,)))
        if place is None or self.chain.tracks[place[0]][1] != 1:
            raise NotAffineError(f"{part.array} must have exactly one bit at each position")
        return place

    def _weight(self, part: Part) -> tuple[str, int, Fraction] | None:
        """Returns the end, track and weight of a single bit; None if it has no fixed weight at its position."""
        _, end, track = self.end(part)
        distance = part.exponent - (self.chain.positions - 1) * (end == "last")
        return None if end == "global" or distance.constant is None else (end, track, Fraction(2) ** int(distance[ONE]))

    def law_text(self, law: ScaledSum) -> str:
        """Formats the weights of a law by track, for all positions, the inputs, and the bits at both ends."""
        weights: dict[str, dict[int, int]] = {"base": {}, "entered": {}, "first": {}, "last": {}}
        for word, factor in law.words.items():
            for part in self.words.parts(word):
                if part.whole:
                    (track, position), where = self._first(part), "entered" if word[0] else "base"
                    weight = Fraction(1, 2**position)
                elif (found := self._weight(part)) is not None:
                    where, track, weight = found
                else:
                    raise NotAffineError(f"{part.array} has no fixed weight at its position")
                weight *= factor * law.scale
                if weight.denominator > 1:
                    raise NotAffineError(f"the weight of {part.array} is not an integer")
                weights[where][track] = weights[where].get(track, 0) + int(weight)
        texts = [each(sorted(own.items()), "({0}, ({1})%Z)") for own in weights.values()]
        return f"(({law.constant * law.scale})%Z, Law {' '.join(texts)})"


def _key(sum_: Sum) -> Hashable:
    return frozenset(combine({}, sum_).items())


def _negated(truth: Truth, statement: str) -> Truth:
    return Truth(f"Not ({truth.formula})", statement, f"(negb {truth.test})")
