"""The `ensure` lines of a chain program, each said three times: as a formula for the verified checker, as a statement
for people, and as a test that can be computed. Formula and test have the same connectives, for a short proof.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from bitwright.exports.rocq.forms import NotAffineError
from bitwright.exports.rocq.linear import POWER, Chained, LinearTerms, Sum
from bitwright.exports.rocq.words import Words
from bitwright.proofs.kinds.affine import ONE
from bitwright.proofs.unrolling.polynomials import combine
from bitwright.rules import Algorithm
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import COMPARISONS, CONNECTIVES, Combined, Constant, Expression, Named, Negation

_FLIPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS = {  # of left - right: may be negative, zero, positive
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


@dataclass(frozen=True)
class ClaimedTruth:
    """What is true or false: for the checker, for people, and computed."""

    formula: str
    statement: str
    test: str


@dataclass(frozen=True)
class ClaimedLine:
    """A line; `after`: the earlier statement that its proof needs."""

    truth: ClaimedTruth
    laws: range
    after: str = ""


class ClaimedLines:
    """All lines, and the laws that they compare."""

    def __init__(self, chained: Chained, algorithm: Algorithm, words: Words, size: str) -> None:
        self.terms = LinearTerms(chained, words, size)
        self.lines: list[ClaimedLine] = []
        self._quotients: dict[
            tuple[Hashable, int], tuple[str, str]
        ] = {}  # of the lines so far: an output, and its line
        self._after = ""
        for line in algorithm.ensures:
            if line.ranges:
                raise NotAffineError(f"'{line}' is about single bits, and the run takes longer for longer words")
            self.lines.append(self._line(line))
        self.halt = words.halt

    @property
    def formulas(self) -> list[str]:
        """What the checker is asked: that the run has halted, and the lines."""
        halted = [] if self.halt is None else [self.terms.end(self.halt)[0]]
        return [*halted, *(line.truth.formula for line in self.lines)]

    @property
    def halting(self) -> str:
        """The bit that ends a run, as a chain program has it."""
        if self.halt is None:
            return "None"
        _, end, number = self.terms.end(self.halt)
        return f"Some ({ {'global': 0, 'first': 1, 'last': 5}[end] }, {number})"

    def _line(self, line: EnsureLine) -> ClaimedLine:
        first, self._after = len(self.terms.laws), ""
        truth = self._truth(line.truth)
        part = line.truth
        if isinstance(part, Combined) and part.sign == "==":
            for word, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(word, Named) and isinstance(other, Combined) and other.sign == "//":
                    assert isinstance(other.right, Constant)
                    key = _key(self.terms.linear(other.left)), other.right.value
                    self._quotients[key] = word.text, f"{self.terms.text(word)} = {self.terms.text(other)}"
        return ClaimedLine(truth, range(first, len(self.terms.laws)), self._after)

    # Truths.

    def _truth(self, part: Expression) -> ClaimedTruth:
        if isinstance(part, Negation):
            body = self._truth(part.body)
            return _negated(body, f"~ ({body.statement})")
        if isinstance(part, Combined) and part.sign in CONNECTIVES:
            left, right = self._truth(part.left), self._truth(part.right)
            formula, sign, test = _CONNECTED[part.sign]
            return ClaimedTruth(
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
            return self.terms.place(part) is not None
        return isinstance(part, Negation) or (isinstance(part, Combined) and part.sign in (*COMPARISONS, *CONNECTIVES))

    def _same(self, part: Combined) -> ClaimedTruth:
        """Two truths, or a truth and 0 or 1, are the same, or not."""
        equal = part.sign == "=="
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(other, Constant):
                if other.value not in (0, 1):
                    raise NotAffineError("a bit is compared with a number other than 0 and 1")
                truth, on = self._truth(one), bool(other.value) == equal
                statement = f"{truth.test} = {'true' if on else 'false'}"
                return ClaimedTruth(truth.formula, statement, truth.test) if on else _negated(truth, statement)
            if not self._is_truth(other):
                return self._compared(part)  # a bit as a number
        left, right = self._truth(part.left), self._truth(part.right)
        shown = left.test[1:-1] if isinstance(part.left, Named) else left.test
        same = ClaimedTruth(
            f"Same ({left.formula}) ({right.formula})",
            f"{shown} = {right.test}",
            f"(Bool.eqb {left.test} {right.test})",
        )
        return same if equal else _negated(same, f"{left.test} <> {right.test}")

    def _bit(self, part: Expression) -> ClaimedTruth:
        place = self.terms.place(part) if isinstance(part, Named) else None
        if place is None:
            raise NotAffineError("a line uses a number as a truth")
        formula, text = place
        return ClaimedTruth(formula, f"{text} = true", f"({text})")

    # Comparisons of numbers.

    def _compared(self, part: Combined) -> ClaimedTruth:
        one, other = self.terms.text(part.left), self.terms.text(part.right)
        sign = {"==": "=", "!=": "<>"}.get(part.sign, part.sign)
        test = f"({one} {_TESTS[part.sign]} {other})" if part.sign in _TESTS else f"(negb ({one} =? {other}))"
        return ClaimedTruth(self._formula(part), f"{one} {sign} {other}", test)

    def _formula(self, part: Combined) -> str:
        for left, sign, right in (
            (part.left, part.sign, part.right),
            (part.right, _FLIPPED[part.sign], part.left),
        ):
            if isinstance(left, Combined) and left.sign in ("//", "%"):
                return self._divided(left, sign, right)
        return self.terms.sign(
            combine(self.terms.linear(part.left), self.terms.linear(part.right), -1), _SIGNS[part.sign]
        )

    def _divided(self, left: Combined, sign: str, right: Expression) -> str:
        """E // k compared with a number; E mod 2^l == W; and E % k == W where another line says what E // k is."""
        inner, other, k = self.terms.linear(left.left), self.terms.linear(right), left.right
        if isinstance(k, Constant) and left.sign == "//":
            whole = combine(inner, other, -k.value)  # E // k compares with R as E - k * R with 0, or with k - 1
            one_less: Sum = {ONE: 1 - k.value}
            above, below = combine(whole, one_less), (True, True, False)
            if sign in ("<", ">="):
                return self.terms.sign(whole, _SIGNS[sign])
            if sign in ("<=", ">"):
                return self.terms.sign(above, _SIGNS[sign])
            both = f"And ({self.terms.sign(whole, (False, True, True))}) ({self.terms.sign(above, below)})"
            return both if sign == "==" else f"Not ({both})"
        if sign == "==" and isinstance(k, Constant) and left.sign == "%" and (_key(inner), k.value) in self._quotients:
            quotient, self._after = self._quotients[_key(inner), k.value]
            times: Sum = {(False, quotient): k.value}
            return self.terms.sign(combine(combine(other, inner, -1), times), (False, True, False))
        exponent = self.terms.power(k)
        if sign in ("==", "!=") and left.sign == "%" and exponent is not None and POWER not in inner:
            law = self.terms.law(combine(other, inner, -1))
            scale = self.terms.laws[law].scale.bit_length() - 1
            n = self.terms.chained.positions
            if exponent == n - scale and self.terms.length(right) == exponent:
                return f"Multiple {law}" if sign == "==" else f"Not (Multiple {law})"
        raise NotAffineError(f"'{self.terms.text(left)}' has no law")


def _key(sum_: Sum) -> Hashable:
    return frozenset(combine({}, sum_).items())


def _negated(truth: ClaimedTruth, statement: str) -> ClaimedTruth:
    return ClaimedTruth(f"Not ({truth.formula})", statement, f"(negb {truth.test})")
