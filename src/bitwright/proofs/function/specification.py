"""Automata for `ensure` lines, which read the letters of a word from the lowest position up and evaluate the line.

To compare linear terms, an automaton keeps a carry and whether any digit was nonzero. `mod 2^l` adds a second carry,
whose digits are used. `% 3` and numbers of a few bits near the ends are guessed at the start and compared with the
letters. `// 3` becomes two comparisons. `for i in 1..l` examines neighbouring letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from bitwright.proofs.function.affine import IndexForm, NoChainError, SizeReader, outside
from bitwright.proofs.function.chain import BEFORE, CLASSES, FIRST, LAST, SECOND, ChainProgram, PlaceWeights
from bitwright.proofs.function.machine import Memo
from bitwright.proofs.unrolling.polynomials import combine
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import (
    COMPARISONS,
    CONNECTIVES,
    Combined,
    Constant,
    Expression,
    Named,
    Negation,
    evaluate,
    names_in,
    shown,
)

Guess = tuple[int, ...]
Truth = Callable[[Mapping[int, int]], bool]  # of the signs of the sums
MAX_RESIDUE = 64


@dataclass(frozen=True)
class LinearTerm:
    """A linear term: weights of tracks and inputs by class, a constant, powers 2^(l+e), guesses and remainders."""

    tracks: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    inputs: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    constant: int = 0
    powers: Mapping[int, int] = field(default_factory=dict)
    guesses: Mapping[int, int] = field(default_factory=dict)
    low: tuple[tuple[int, LinearTerm, int], ...] = ()  # (factor, term, e): factor * (term mod 2^(l+e))
    parts: tuple[tuple[int, LinearTerm, int], ...] = ()  # (factor, term, k): factor * (term // k)

    def plus(self, other: LinearTerm, times: int = 1) -> LinearTerm:
        """Returns this term plus a multiple of another."""
        return LinearTerm(
            combine(self.tracks, other.tracks, times),
            combine(self.inputs, other.inputs, times),
            self.constant + times * other.constant,
            combine(self.powers, other.powers, times),
            combine(self.guesses, other.guesses, times),
            self.low + tuple((times * factor, form, e) for factor, form, e in other.low if times),
            self.parts + tuple((times * factor, form, k) for factor, form, k in other.parts if times),
        )

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return self == LinearTerm(constant=self.constant)


@dataclass(frozen=True)
class SeenTerms:
    """A number to guess: the value of a few bits, or a remainder."""

    few: Mapping[tuple[int, int], int] | None = None  # (class or 0, track or global): weight
    entered: bool = False
    residue: LinearTerm | None = None
    modulus: int = 0

    def values(self) -> list[int]:
        """Returns the possible values."""
        if self.few is None:
            return list(range(self.modulus))
        return sorted({sum(chosen) for chosen in product(*((0, weight) for weight in self.few.values()))})

    def bits(self, value: int) -> dict[tuple[int, int], int]:
        """Returns which of the few bits are on if the number has this value."""
        assert self.few is not None
        for chosen in product((0, 1), repeat=len(self.few)):
            if sum(on * weight for on, weight in zip(chosen, self.few.values(), strict=True)) == value:
                return dict(zip(self.few, chosen, strict=True))
        raise AssertionError


class Specification:
    """One `ensure` line about a chain."""

    def __init__(self, chain: ChainProgram, line: EnsureLine) -> None:
        self.chain, self.line = chain, line
        self.reader = SizeReader(chain.rules, chain.size, chain.numbers)
        self.seen: list[SeenTerms] = []
        self.sums: list[LinearTerm] = []
        self.local: _Local | None = None
        self.truth: Truth
        if line.ranges:
            self.local = _Local(self, line)
            self.truth = lambda _: True
        else:
            self.truth = self._truth(line.truth)
        weights = [weight for form in self._forms() for weight in (*form.tracks.values(), *form.inputs.values())]
        self.base = max([0, *(weight.denominator.bit_length() - 1 for weight in weights)])
        self.machines = [_Sum(self, form) for form in self.sums]
        self.residues = [(n, _Residue(self, term)) for n, term in enumerate(self.seen) if term.residue is not None]
        self._steps = Memo(lambda key: self._read(*key))

    def _forms(self) -> Iterator[LinearTerm]:
        todo = [*self.sums, *(term.residue for term in self.seen if term.residue is not None)]
        while todo:
            form = todo.pop()
            yield form
            todo += [inner for _, inner, _ in form.low]

    # Reading the line.

    def form(self, part: Expression) -> LinearTerm:
        """Returns an expression as a linear term; raises NoChainError for any other expression."""
        if isinstance(part, Constant):
            return LinearTerm(constant=part.value)
        if isinstance(part, Named):
            return self._name(part)
        if isinstance(part, Negation) or part.sign in (*COMPARISONS, *CONNECTIVES):
            outside(part.token, "a comparison is used as a number")
        if part.sign == "^":
            return self._power(part)
        left = self.form(part.left)
        right = self.form(part.right)
        if part.sign in "+-":
            return left.plus(right, 1 if part.sign == "+" else -1)
        if part.sign == "*":
            if not left.fixed and not right.fixed:
                outside(part.token, "a chain cannot compute a product of two words; one factor must be a constant")
            term, factor = (right, left.constant) if left.fixed else (left, right.constant)
            return LinearTerm().plus(term, factor)
        if left.parts:
            outside(part.token, f"'{part.sign}' cannot be applied to a quotient")
        if right.fixed:
            if part.sign == "//":
                return LinearTerm(parts=((1, left, right.constant),))
            if right.constant > MAX_RESIDUE:
                outside(part.token, f"the divisor of a remainder must be at most {MAX_RESIDUE}, got {right.constant}")
            return LinearTerm(guesses={self._guess(SeenTerms(residue=left, modulus=right.constant)): 1})
        powers = [e for e, factor in right.powers.items() if factor == 1]
        if part.sign == "%" and right == LinearTerm(powers={powers[0]: 1} if powers else {}):
            return LinearTerm(low=((1, left, powers[0]),))
        return outside(
            part.token, f"the divisor of '{part.sign}' must be a constant or, for mod, a power 2^{self.chain.size}"
        )

    def _guess(self, seen: SeenTerms) -> int:
        if seen not in self.seen:
            self.seen.append(seen)
        return self.seen.index(seen)

    def weights_of(self, name: Named) -> tuple[PlaceWeights | None, bool]:
        """Returns the weights of the word with this name, and whether it is an input."""
        chain = self.chain
        if not name.entered and name.text in chain.outputs:
            return chain.outputs[name.text], False
        return chain.inputs.get(name.text), True

    def _name(self, name: Named) -> LinearTerm:
        word, entered = self.weights_of(name)
        if word is None:
            form = self.affine(name)
            if form.size:
                outside(name.token, f"{self.chain.size} may only be used in exponents and indices")
            return LinearTerm(constant=form.constant)
        if name.index is not None:
            return LinearTerm(guesses={self._guess(SeenTerms({self._place(word, name): 1}, entered)): 1})
        if word.few:
            return LinearTerm(guesses={self._guess(SeenTerms(word.few, entered)): 1})
        weights = {(kind, track): w for kind, tracks in word.tracks.items() for track, w in tracks.items()}
        return LinearTerm(inputs=weights) if entered else LinearTerm(tracks=weights)

    def _place(self, word: PlaceWeights, name: Named) -> tuple[int, int]:
        """Returns the class and track of a single bit."""
        assert name.index is not None
        index = self.affine(name.index)
        chain = self.chain
        if word.few and not index.size:
            for place, weight in word.few.items():
                if abs(weight) == 1 << (index.constant - 1):
                    return place
        if word.first is not None and word.track is not None:
            at = word.first + index.constant - 1
            if not index.size and at < 2:
                return (FIRST, SECOND)[at], word.track
            above = chain.extra - 1 - at
            if index.size == chain.unit and above in (0, 1):
                return (LAST, BEFORE)[above], word.track
        return outside(name.token, f"{shown(name)} is not one of the two lowest or two highest bits")

    def _power(self, part: Combined) -> LinearTerm:
        base, exponent = self.affine(part.left), self.affine(part.right)
        if base.size or base.index:
            outside(part.token, "the base of '^' must be a constant")
        if not exponent.size:
            return LinearTerm(constant=base.constant**exponent.constant)
        if base.constant != 2 or exponent.size != self.chain.unit:
            outside(part.token, f"the only powers with {self.chain.size} are 2^{self.chain.size} and its multiples")
        return LinearTerm(powers={exponent.constant: 1})

    def affine(self, part: Expression, index: str | None = None) -> IndexForm:
        """Returns an expression of the size, constants and this index as an affine form."""
        form = self.reader.form(part)
        if unknown := form.index.keys() - {index}:
            outside(part.token, f"'{min(unknown)}' is neither a constant nor a word")
        return form

    def _truth(self, part: Expression) -> Truth:
        if isinstance(part, Negation):
            body = self._truth(part.body)
            return lambda signs: not body(signs)
        if isinstance(part, Combined) and part.sign in CONNECTIVES:
            one, two = self._truth(part.left), self._truth(part.right)
            if part.sign == "and":
                return lambda signs: one(signs) and two(signs)
            if part.sign == "or":
                return lambda signs: one(signs) or two(signs)
            return lambda signs: not one(signs) or two(signs)
        if isinstance(part, Combined) and part.sign in COMPARISONS:
            if part.sign in ("==", "!=") and (_is_truth(part.left) or _is_truth(part.right)):
                one, two = self._truth(part.left), self._truth(part.right)
                return lambda signs: (one(signs) == two(signs)) == (part.sign == "==")
            return self._compared(part.sign, self.form(part.left).plus(self.form(part.right), -1), part)
        return self._compared("!=", self.form(part), part)  # a number of one bit

    def _compared(self, sign: str, form: LinearTerm, part: Expression) -> Truth:
        """Returns the test whether a term compares with 0 in this way."""
        if not form.parts:
            number, compare = self._sum(form), COMPARISONS[sign]
            return lambda signs: bool(compare(signs[number], 0))
        if len(form.parts) > 1 or abs(form.parts[0][0]) != 1:
            outside(part.token, "a quotient must be one side of a comparison, without other terms")
        ((factor, term, k),) = form.parts
        rest = replace(form, parts=())
        sign = sign if factor == 1 else {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
        scaled = term.plus(rest, factor * k)  # term // k compares with r as term - k * r does with 0
        low, high = self._sum(scaled), self._sum(scaled.plus(LinearTerm(constant=k), -1))
        rules: dict[str, Truth] = {
            "==": lambda signs: signs[low] >= 0 and signs[high] < 0,
            "!=": lambda signs: signs[low] < 0 or signs[high] >= 0,
            "<": lambda signs: signs[low] < 0,
            "<=": lambda signs: signs[high] < 0,
            ">": lambda signs: signs[high] >= 0,
            ">=": lambda signs: signs[low] >= 0,
        }
        return rules[sign]

    def _sum(self, form: LinearTerm) -> int:
        if form not in self.sums:
            self.sums.append(form)
        return self.sums.index(form)

    # Reading a word.

    def begin(self, state: int) -> list[tuple[Any, ...]]:
        """Returns the initial states for these globals, one for each guess that they allow."""
        states = []
        for guess in product(*(term.values() for term in self.seen)):
            agrees = [
                (state >> track & 1) == on
                for term, value in zip(self.seen, guess, strict=True)
                if term.few is not None
                for (kind, track), on in term.bits(value).items()
                if kind == 0
            ]
            if all(agrees):
                sums = tuple(machine.begin(guess) for machine in self.machines)
                residues = tuple(machine.begin(guess) for _, machine in self.residues)
                states.append((guess, sums, residues, self.local.begin() if self.local else None))
        return states

    def read(self, node: tuple[Any, ...], kind: int, bits: int, chosen: int) -> tuple[Any, ...] | None:
        """Returns the state after one more letter, or None if it contradicts a guess."""
        return self._steps[node, kind, bits, chosen]  # type: ignore[no-any-return]

    def _read(self, node: tuple[Any, ...], kind: int, bits: int, chosen: int) -> tuple[Any, ...] | None:
        guess, sums, residues, local = node
        for term, value in zip(self.seen, guess, strict=True):
            if term.few is not None:
                letter = chosen if term.entered else bits
                for (at, track), on in term.bits(value).items():
                    if at == kind and (letter >> track & 1) != on:
                        return None
        sums = tuple(m.read(s, kind, bits, chosen) for m, s in zip(self.machines, sums, strict=True))
        residues = tuple(m.read(s, kind, bits, chosen) for (_, m), s in zip(self.residues, residues, strict=True))
        return guess, sums, residues, self.local.read(local, kind, bits, chosen) if self.local else None

    def holds(self, node: tuple[Any, ...]) -> bool:
        """Whether the line is true for the word that led to this state; also true if a guess was wrong."""
        guess, sums, residues, local = node
        for (number, machine), state in zip(self.residues, residues, strict=True):
            if not machine.right(state, guess[number]):
                return True
        if self.local is not None:
            return not local[1]
        return self.truth({n: m.sign(s) for n, (m, s) in enumerate(zip(self.machines, sums, strict=True))})

    def above(self, e: int) -> int:
        """Returns x such that 2^(l+e), scaled by 2^base, is 2^(positions + x)."""
        return e + self.base - self.chain.extra


def _is_truth(part: Expression) -> bool:
    """Whether an expression is a comparison, or a connective or negation of comparisons."""
    if isinstance(part, Combined):
        return part.sign in (*COMPARISONS, *CONNECTIVES)
    return isinstance(part, Negation)


class _Sum:
    """Computes the sign of a linear term from a carry, whether any digit was nonzero, and its remainders' carries."""

    def __init__(self, spec: Specification, form: LinearTerm) -> None:
        scale = 1 << spec.base
        self.spec, self.form, self.scale = spec, form, scale
        self.weights = {
            kind: (
                [(t, int(w * scale)) for (at, t), w in form.tracks.items() if at == kind],
                [(t, int(w * scale)) for (at, t), w in form.inputs.items() if at == kind],
            )
            for kind in CLASSES
        }
        self.bonus = dict.fromkeys(CLASSES, 0)
        self.tail = 0
        for e, factor in form.powers.items():
            above = spec.above(e)
            if above >= 0:
                self.tail += factor << above
            elif above >= -2:
                self.bonus[(LAST, BEFORE)[-1 - above]] += factor
            else:
                raise NoChainError(
                    f"2^({spec.chain.size}{e:+}) is too far below the highest position; the lowest supported power is "
                    f"2^({spec.chain.size}{e - above - 2:+})"
                )
        self.low = [(factor, _Sum(spec, inner), spec.above(e)) for factor, inner, e in form.low]
        if any(inner.low for _, inner, _ in self.low):
            raise NoChainError("a remainder of a remainder is not supported")
        if any(above < -2 for _, _, above in self.low):
            raise NoChainError(f"a remainder needs a divisor of at least 2^({spec.chain.size}-2)")

    def begin(self, guess: Guess) -> tuple[Any, ...]:
        value = self.form.constant + sum(factor * guess[number] for number, factor in self.form.guesses.items())
        return (value * self.scale, False, *(inner.begin(guess) for _, inner, _ in self.low))

    def weight(self, kind: int, bits: int, chosen: int) -> int:
        tracks, inputs = self.weights[kind]
        total = self.bonus[kind] + sum(w for t, w in tracks if bits >> t & 1)
        return total + sum(w for t, w in inputs if chosen >> t & 1)

    def read(self, state: tuple[Any, ...], kind: int, bits: int, chosen: int) -> tuple[Any, ...]:
        carry, seen, *inner = state
        total = carry + self.weight(kind, bits, chosen)
        after = []
        for (factor, term, above), one in zip(self.low, inner, strict=True):
            read = term.read(one, kind, bits, chosen)
            digit = term.total(one, kind, bits, chosen) & 1
            inside = not (kind == LAST and above < 0) and not (kind == BEFORE and above < -1)
            total += factor * digit if inside else 0
            after.append(read)
        return (total >> 1, seen or bool(total & 1), *after)

    def total(self, state: tuple[Any, ...], kind: int, bits: int, chosen: int) -> int:
        """Returns the sum at one position, before it is split into a digit and a carry."""
        return int(state[0]) + self.weight(kind, bits, chosen)

    def sign(self, state: tuple[Any, ...]) -> int:
        carry, seen, *inner = state
        carry += self.tail
        for (factor, term, above), one in zip(self.low, inner, strict=True):
            if above > 0:
                carry += factor * ((one[0] + term.tail) & ((1 << above) - 1))
        return -1 if carry < 0 else int(carry > 0 or seen)


class _Residue:
    """Computes the remainder of a linear term modulo a small number."""

    def __init__(self, spec: Specification, seen: SeenTerms) -> None:
        assert seen.residue is not None
        if seen.residue.low or seen.residue.guesses:
            raise NoChainError("a remainder of a remainder is not supported")
        self.sum = _Sum(spec, seen.residue)
        self.modulus = seen.modulus << spec.base

    def begin(self, guess: Guess) -> tuple[int, int]:
        return self.sum.begin(guess)[0] % self.modulus, 1 % self.modulus

    def read(self, state: tuple[int, int], kind: int, bits: int, chosen: int) -> tuple[int, int]:
        value, power = state
        return (value + power * self.sum.weight(kind, bits, chosen)) % self.modulus, 2 * power % self.modulus

    def right(self, state: tuple[int, int], guess: int) -> bool:
        value, power = state
        return (value + power * self.sum.tail - guess * self.sum.scale) % self.modulus == 0


class _Local:
    """A line `for i in a..b` about bits at fixed distances from i, which must be true for all neighbouring letters."""

    def __init__(self, spec: Specification, line: EnsureLine) -> None:
        chain = spec.chain
        if len(line.ranges) != 1:
            raise NoChainError(f"column {line.ranges[1].token.column}: an ensure line may have only one 'for' index")
        (item,) = line.ranges
        low, high = spec.affine(item.first), spec.affine(item.last)
        if low.size or high.size != chain.unit:
            outside(item.first.token, f"'{item.name}' must range from one end of the positions to the other")
        self.line, self.index = line, item.name
        self.constants: dict[Named, int] = {}
        self.names: list[tuple[Named, int, int, bool]] = []  # name, distance from i, track, whether it is an input
        for name in names_in(line.truth, inside=False):
            if name.index is None:
                form = spec.affine(name, item.name)
                if not form.fixed:
                    outside(name.token, f"'{name.text}' may only be used in indices")
                self.constants[name] = form.constant
                continue
            word, entered = spec.weights_of(name)
            at = spec.affine(name.index, item.name)
            if word is None or word.first is None or word.track is None or at.index != {item.name: 1} or at.size:
                outside(name.token, f"{shown(name)} is not at a fixed distance from position {item.name}")
            self.names.append((name, at.constant + word.first - 1, word.track, entered))
        self.top = max(distance for _, distance, _, _ in self.names)
        self.span = self.top - min(distance for _, distance, _, _ in self.names)
        skipped = low.constant + self.top
        left_out = chain.extra - high.constant - self.top - 1
        if skipped > 2 or not 0 <= left_out <= 2 or self.span > 2:
            outside(item.first.token, "the range must begin and end at most two positions from the ends")
        self.kinds = set(CLASSES) - set((FIRST, SECOND)[:skipped]) - set((LAST, BEFORE)[:left_out])
        self.masks = [0, 0]
        for _, _, track, entered in self.names:
            self.masks[entered] |= 1 << track

    def begin(self) -> tuple[Any, ...]:
        return (), False

    def read(self, state: tuple[Any, ...], kind: int, bits: int, chosen: int) -> tuple[Any, ...]:
        before, failed = state
        letters = (*before, (bits & self.masks[0], chosen & self.masks[1]))
        if kind in self.kinds and len(letters) > self.span and not failed:
            failed = not self._true(letters)
        return letters[-self.span :] if self.span else (), failed

    def _true(self, letters: tuple[tuple[int, int], ...]) -> bool:
        values = {
            name: letters[len(letters) - 1 - (self.top - distance)][entered] >> track & 1
            for name, distance, track, entered in self.names
        }
        return bool(evaluate(self.line.truth, (self.constants | values).__getitem__))
