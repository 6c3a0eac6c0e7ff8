"""The algebra of a loop: what a path makes of words, and what follows from invariants.

The names of a polynomial are words of a cut state, halves of words that move down, single bits, inputs (`in.x`) and
POWER, 2^size: integers of 0 or more. Inequalities follow by linear arithmetic with every monomial as a variable. A
polynomial is divisible by a word if all its monomials are.
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
    """A polynomial is 0 (`==`), is 0 or more (`>=`), or is divisible by a word (`%`)."""

    sign: str
    value: Polynomial
    modulus: str = ""

    def put(self, values: Values) -> Fact:
        """The same of other names; its modulus is lost unless it is one of them."""
        modulus = values.get(self.modulus, {(self.modulus,): 1})
        ((names, factor),) = modulus.items() if len(modulus) == 1 else [((), 0)]
        return Fact(self.sign, substitute(self.value, values), names[0] if len(names) == factor == 1 else "")


def atoms_of(truth: Expression, power: Callable[[Expression], Polynomial | None]) -> Iterator[Fact]:
    """A line as atoms from which it follows; raises NoPolynomialError for a line that has none.

    They follow from the line too, but for quotients and remainders by 0. `power` gives 2^E for exponents with the size.
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
    for value, own in ((left, moduli[0]), (right, moduli[1])):
        if not own:  # the value is the remainder itself
            yield Fact(">=", value)
            yield Fact(">=", combine({(modulus,): 1, (): -1}, value, -1))


def _modulus(side: Expression) -> str:
    """The word m of a side `x % m`; nothing for another side."""
    if not isinstance(side, Combined) or side.sign != "%":
        return ""
    ((names, factor),) = polynomial(side.right).items() or [((), 0)]
    if len(names) != 1 or factor != 1:
        raise NoPolynomialError
    return names[0]


# Linear arithmetic.


def contradictory(facts: Iterable[Fact]) -> bool:
    """Whether no natural numbers make all `==` and `>=` facts true. A no may be wrong."""
    signs: dict[str, list[Affine]] = {"==": [], ">=": []}
    values = [(fact.sign, fact.value) for fact in facts if fact.sign in signs]
    monomials = {names for _, value in values for names in value if names}
    single = {(name,) for names in monomials for name in names}
    nonlinear = any(len(names) > 1 for names in monomials)
    for value in [value for sign, value in values if sign == ">="] if nonlinear else ():
        for factor in sorted(single):  # times a number of 0 or more
            product = multiply(value, {factor: 1})
            if all(len(names) < 2 or names in monomials for names in product):
                values.append((">=", product))
    values += [(">=", {names: 1}) for names in sorted(monomials | single)]
    for sign, value in values:
        signs[sign].append(Affine.total(("*".join(names), Fraction(factor)) for names, factor in value.items()))
    fixed, left = solve(signs["=="], {name for form in signs["=="] for name in form.names})
    return any(left) or not feasible(form.put(fixed) for form in signs[">="])


def implied(facts: Sequence[Fact], value: Polynomial) -> bool:
    """Whether a polynomial is 0 or more wherever the facts are true. A no may be wrong."""
    return contradictory([*facts, Fact(">=", combine({(): -1}, value, -1))])


def room(value: Polynomial, length: Growth) -> Polynomial:
    """A polynomial that is 0 or more exactly where a value is below 2^length."""
    constant, rate = int(length[0]), int(length[1])
    top: Polynomial = {(POWER,) * rate: 1 << max(constant, 0)}
    return combine(top, combine(value, {(): 1}), -(1 << max(-constant, 0)))


# Paths.


@dataclass
class Followed:
    """A path in numbers: what words are where it begins and ends, and what is known then.

    A word is only known modulo 2^e for the exponents e in `loose`.
    """

    begin: dict[str, Polynomial]
    facts: list[Fact]
    ends: dict[str, Polynomial] = field(default_factory=dict)
    loose: dict[str, list[Growth]] = field(default_factory=dict)

    def kept(self, atom: Fact) -> list[Growth] | None:
        """Whether an invariant is true again: None if that was not shown, else the powers modulo which it is."""
        loose = [one for word in {name for names in atom.value for name in names} for one in self.loose.get(word, ())]
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
    """The monomials of which a word is no factor."""
    return {names: factor for names, factor in value.items() if modulus not in names}


def follow(
    way: Path,
    lengths: Mapping[str, Growth],
    words: Sequence[str],
    same: Values,
    known: Iterable[Fact],
    unary: Container[str] = (),
) -> Followed:
    """The values that a path computes for words.

    Args:
        way: the path.
        lengths: of all arrays.
        words: those of a cut state.
        same: the words that are always inputs.
        known: what is true in cut states.
        unary: the words that are ones up to some place, and 0 above.
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
        what, name = shape
        if shape in (OFF, FIRST):
            return (ZERO if shape == OFF else {(): 1}), []
        if what == "down" and name in halves:
            return halves[name], []
        if what not in ("word", "up", "up1") or name not in values:
            raise NoShapeError(f"a round makes of {array} what is no sum of words")
        value, loose = values[name]
        doubled: Polynomial = combine({(): 1} if what == "up1" else ZERO, value, 2)
        return (value, loose) if what == "word" else fitted(doubled, loose, array, None)

    def fitted(total: Polynomial, loose: list[Growth], array: str, top: int | None) -> tuple[Polynomial, list[Growth]]:
        """A sum modulo 2^(length of the array), whose highest bit may be known."""
        if loose:
            return total, [*loose, lengths[array]]
        length, half, known = lengths[array], lengths[array] - 1, found.facts
        negative: Polynomial = combine({(): -1}, total, -1)
        if top is not None and implied(known, total) and implied(known, room(total, length)):
            below, least = room(total, half), 1 << max(-int(half[0]), 0)
            known.append(Fact(">=", combine({(): -least}, below, -1) if top else below))
        elif top is not None and all(implied(known, room(one, half)) for one in (total, negative)):
            known.append(Fact(">=", negative if top else total))  # in two's complement
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
