"""The algebra of a loop: the values that a path computes for words, and the consequences of invariants.

The variables of a polynomial are words of a cut state, halves of words that move down, single bits, inputs (`in.x`) and
POWER, which is 2^size. All are nonnegative integers. Inequalities are derived by linear arithmetic in which every
monomial is a variable. A polynomial counts as divisible by a word if all its monomials are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from bitwright.proofs.function.affine import Growth
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.shapes import FIRST, OFF, NoShapeError, Shape, top_of
from bitwright.proofs.kinds.affine import Affine, feasible, solve
from bitwright.proofs.unrolling.polynomials import (
    NoPolynomialError,
    Polynomial,
    combine,
    multiply,
    polynomial,
    substitute,
)
from bitwright.rules.expressions import Combined, Expression

POWER = "2^size"
Values = Mapping[str, Polynomial]
ZERO: Polynomial = {}


@dataclass(frozen=True)
class Fact:
    """States that a polynomial is zero (`==`), nonnegative (`>=`), or divisible by a word (`%`)."""

    sign: str
    value: Polynomial
    modulus: str = ""

    def put(self, values: Values) -> Fact:
        """Returns the fact with polynomials substituted for names; drops the modulus unless it becomes a name."""
        modulus = values.get(self.modulus, {(self.modulus,): 1})
        ((names, factor),) = modulus.items() if len(modulus) == 1 else [((), 0)]
        return Fact(self.sign, substitute(self.value, values), names[0] if len(names) == factor == 1 else "")


def atoms_of(truth: Expression, power: Callable[[Expression], Polynomial | None]) -> Iterator[Fact]:
    """Yields facts that imply a line; raises NoPolynomialError if the line has another form.

    The line implies the facts too, except for quotients and remainders by 0. `power` returns 2^E for an exponent E that
    depends on the size.
    """
    if not isinstance(truth, Combined):
        raise NoPolynomialError
    if truth.sign == "and":
        yield from (*atoms_of(truth.left, power), *atoms_of(truth.right, power))
        return
    sides = [truth.left, truth.right] if truth.sign in ("==", "<", "<=") else [truth.right, truth.left]
    if truth.sign in ("<", "<=", ">", ">="):
        left, right = (polynomial(side, power) for side in sides)
        yield Fact(">=", combine(combine(right, left, -1), {(): 1}, -1 if truth.sign in "<>" else 0))
        return
    if truth.sign != "==":
        raise NoPolynomialError
    for quotient, other in (sides, sides[::-1]):
        if isinstance(quotient, Combined) and quotient.sign == "//":
            value, dividend, by = (polynomial(part, power) for part in (other, quotient.left, quotient.right))
            rest = combine(dividend, multiply(value, by), -1)
            yield from (Fact(">=", rest), Fact(">=", combine(combine(by, {(): 1}, -1), rest, -1)))
            return
    moduli = [_modulus(side) for side in sides]
    dividends = [side.left if isinstance(side, Combined) and side.sign == "%" else side for side in sides]
    left, right = (polynomial(side, power) for side in dividends)
    named = {modulus for modulus in moduli if modulus}
    if not named:
        yield Fact("==", combine(left, right, -1))
        return
    (modulus,) = named if len(named) == 1 else [""]
    if not modulus:
        raise NoPolynomialError
    yield Fact("%", combine(left, right, -1), modulus)
    for value, divisor in ((left, moduli[0]), (right, moduli[1])):
        if not divisor:  # the value is the remainder itself
            yield Fact(">=", value)
            yield Fact(">=", combine({(modulus,): 1, (): -1}, value, -1))


def _modulus(side: Expression) -> str:
    """Returns the word m of a side `x % m`; an empty string for any other side."""
    if not isinstance(side, Combined) or side.sign != "%":
        return ""
    ((names, factor),) = polynomial(side.right).items() or [((), 0)]
    if len(names) != 1 or factor != 1:
        raise NoPolynomialError
    return names[0]


# Linear arithmetic.


def contradictory(facts: Iterable[Fact]) -> bool:
    """Whether linear arithmetic shows that no natural numbers satisfy all `==` and `>=` facts."""
    signs: dict[str, list[Affine]] = {"==": [], ">=": []}
    values = [(fact.sign, fact.value) for fact in facts if fact.sign in signs]
    monomials = {names for _, value in values for names in value if names}
    single = {(name,) for names in monomials for name in names}
    nonlinear = any(len(names) > 1 for names in monomials)
    for value in [value for sign, value in values if sign == ">="] if nonlinear else ():
        for factor in sorted(single):  # multiplying by a nonnegative number keeps the sign
            product = multiply(value, {factor: 1})
            if all(len(names) < 2 or names in monomials for names in product):
                values.append((">=", product))
    values += [(">=", {names: 1}) for names in sorted(monomials | single)]
    for sign, value in values:
        signs[sign].append(Affine.total(("*".join(names), Fraction(factor)) for names, factor in value.items()))
    fixed, left = solve(signs["=="], {name for form in signs["=="] for name in form.names})
    return any(left) or not feasible(form.put(fixed) for form in signs[">="])


def implied(facts: Sequence[Fact], value: Polynomial) -> bool:
    """Whether linear arithmetic shows that a polynomial is nonnegative if the facts are true."""
    return contradictory([*facts, Fact(">=", combine({(): -1}, value, -1))])


def room(value: Polynomial, length: Growth) -> Polynomial:
    """Returns a polynomial that is nonnegative exactly if a value is below 2^length."""
    constant, rate = int(length[0]), int(length[1])
    top: Polynomial = {(POWER,) * rate: 1 << max(constant, 0)}
    return combine(top, combine(value, {(): 1}), -(1 << max(-constant, 0)))


# Paths.


@dataclass
class Followed:
    """The values of words at the beginning and end of a path, and the facts known there.

    The final value of a word is known only modulo 2^e for each exponent e in `loose`.
    """

    begin: dict[str, Polynomial]
    facts: list[Fact]
    ends: dict[str, Polynomial] = field(default_factory=dict)
    loose: dict[str, list[Growth]] = field(default_factory=dict)

    def kept(self, atom: Fact) -> list[Growth] | None:
        """Returns the powers modulo which an invariant is true again, or None if that could not be shown."""
        words = {name for names in atom.value for name in names}
        loose = [exponent for word in words for exponent in self.loose.get(word, ())]
        new, old = atom.put(self.ends), atom.put(self.begin)
        if atom.sign == ">=":
            return [] if not loose and implied(self.facts, new.value) else None
        change = combine(new.value, old.value, -1)
        if atom.sign == "%":
            same = bool(old.modulus) and new.modulus == old.modulus
            return [] if not loose and same and not undivided(change, old.modulus) else None
        same = not change or (not loose and all(implied(self.facts, combine(ZERO, new.value, s)) for s in (1, -1)))
        return loose if same else None


def undivided(value: Polynomial, modulus: str) -> Polynomial:
    """Returns the monomials without this word as a factor."""
    return {names: factor for names, factor in value.items() if modulus not in names}


def follow(
    way: Path,
    lengths: Mapping[str, Growth],
    words: Sequence[str],
    same: Values,
    known: Iterable[Fact],
    unary: Container[str] = (),
) -> Followed:
    """Returns the values that a path computes for words.

    Args:
        way: the path.
        lengths: the lengths of all arrays.
        words: the words of a cut state.
        same: the words that always equal an input, with that input.
        known: the facts that are true in cut states.
        unary: the words whose bits are on up to some position and off above it.
    """
    first, last, halves = way.states[0], way.states[-1], dict[str, Polynomial]()
    begin: dict[str, Polynomial] = {}
    bits: list[Fact] = []
    for word in words:
        if first[word] == OFF or (word in unary and way.fixed.get(word) == 0):
            begin[word] = halves[word] = ZERO
        elif word in same:
            begin[word] = same[word]
        elif word in way.fixed or ("down", word) in [last[other] for other in words]:
            halves[word] = {(f"half of {word}",): 1}
            lowest: Polynomial = {(): way.fixed[word]} if word in way.fixed else {(f"{word}[1]",): 1}
            begin[word] = combine(lowest, halves[word], 2)
            bits.append(Fact(">=", combine({(): 1}, lowest, -1)))
        else:
            begin[word] = {(word,): 1}
    found = Followed(begin, [*(atom.put(begin) for atom in known), *bits])
    values: dict[str, tuple[Polynomial, list[Growth]]] = {word: (value, []) for word, value in begin.items()}

    def number(shape: Shape, array: str) -> tuple[Polynomial, list[Growth]]:
        form, name = shape
        if shape in (OFF, FIRST):
            return (ZERO if shape == OFF else {(): 1}), []
        if form == "down" and name in halves:
            return halves[name], []
        if form not in ("word", "up", "up1") or name not in values:
            raise NoShapeError(f"the value of {array} after a round is not a sum of words")
        value, loose = values[name]
        doubled: Polynomial = combine({(): 1} if form == "up1" else ZERO, value, 2)
        return (value, loose) if form == "word" else fitted(doubled, loose, array, None)

    def fitted(total: Polynomial, loose: list[Growth], array: str, top: int | None) -> tuple[Polynomial, list[Growth]]:
        """Reduces a sum modulo 2^(length of the array); its highest bit may be known."""
        if loose:
            return total, [*loose, lengths[array]]
        length, half, known = lengths[array], lengths[array] - 1, found.facts
        negative: Polynomial = combine({(): -1}, total, -1)
        if top is not None and implied(known, total) and implied(known, room(total, length)):
            below, least = room(total, half), 1 << max(-int(half[0]), 0)
            known.append(Fact(">=", combine({(): -least}, below, -1) if top else below))
        elif top is not None and all(implied(known, room(side, half)) for side in (total, negative)):
            known.append(Fact(">=", negative if top else total))  # two's complement
        power = combine(room(ZERO, length), {(): 1})
        for value in (total, *([combine(total, power, wraps) for wraps in (-1, 1)] if int(length[0]) >= 0 else [])):
            if implied(known, value) and implied(known, room(value, length)):
                return value, []
        return total, [length]

    for word in words:
        if (top := way.fixed.get(top_of(word))) is not None:
            fitted(begin[word], [], word, top)
    for at, wait in sorted(way.waits.items()):
        starts = {array: number(way.states[at][array], array) for array in wait.inputs}
        for array, factors in wait.sums.items():
            if factors:
                new, total, loose = wait.after[array][1], ZERO, list[Growth]()
                for name, factor in factors.items():
                    total, loose = combine(total, starts[name][0], factor), [*loose, *starts[name][1]]
                values[new] = fitted(total, loose, array, way.fixed.get(top_of(new)))
    for word in words:
        found.ends[word], found.loose[word] = number(last[word], word)
    return found
