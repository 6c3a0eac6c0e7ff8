"""From `ensure` lines and the invariant that was found for them to a theorem: the instance of the verified checker.

Everything here is text that Rocq checks: the chain, its certificate and its laws by computation, the rules of the chain
against those of the program by tactics, and the statement against what the checker says by arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bitwright.api.export.rocq.fitting import FITTED, AffineIndex, FittedFamilies, NotAffineError, affine_in, link
from bitwright.api.export.rocq.listed import Bit, Listed, listed
from bitwright.api.export.rocq.local import LocalText
from bitwright.api.export.rocq.printed import IMPORTS, cases, listing
from bitwright.api.export.rocq.words import Part, Words, coq_name
from bitwright.program import Algorithm
from bitwright.program.algorithm import FIXED_POINT
from bitwright.program.ensures import COMPARISONS, Combined, Constant, EnsureLine, Expression, Named, Negation
from bitwright.program.pattern import Pattern

FUEL = 4000
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


@dataclass(frozen=True)
class Chained:
    """The chain of a certificate, and where its tracks stand."""

    certificate: Mapping[str, Any]
    tracks: tuple[tuple[str, int, int], ...]  # array, and g and o: bit k at position i is array[g * i + o]
    positions: AffineIndex  # n, a function of l

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> Chained:
        chain, clock = certificate["chain"], certificate["clock"]
        if len(clock["sweeps"]) != 1 or clock["delay"] or clock["fixed"] is not None:
            ways = " and ".join(way for way, _ in clock["sweeps"]) or f"for {clock['fixed']} steps"
            late = f", {clock['delay']} steps late" if clock["delay"] else ""
            raise NotAffineError(f"its clock goes {ways}{late}, and Rocq's checker takes one that goes up or down once")
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

    def place(self, bit: Bit) -> tuple[int, int] | None:
        """Track and position, from 0, of a bit; None for a global."""
        name, index = bit
        for number, (array, growth, offset) in enumerate(self.tracks):
            if array == name and index and (index[0] - offset) % growth == 0:
                return number, (index[0] - offset) // growth
        return None


@dataclass
class Linear:
    """A weighted sum of words, a constant, and a multiple of 2^positions."""

    words: dict[tuple[bool, str], int] = field(default_factory=dict)  # (whether it is the input, name): factor
    constant: int = 0
    power: int = 0

    def plus(self, other: Linear, times: int = 1) -> Linear:
        words = dict(self.words)
        for word, factor in other.words.items():
            words[word] = words.get(word, 0) + times * factor
        left = {word: factor for word, factor in words.items() if factor}
        return Linear(left, self.constant + times * other.constant, self.power + times * other.power)


class ClaimedLines:
    """The `ensure` lines as a formula for the checker, and as a statement for people, with its proof."""

    def __init__(
        self,
        chained: Chained,
        algorithm: Algorithm,
        words: Words,
        size: str,
    ) -> None:
        self.chained, self.words, self.size = chained, words, size
        self.inputs, self.outputs = words.inputs, words.outputs
        self.laws: list[tuple[int, Linear, int]] = []  # constant, words, scale
        self.quotients: dict[tuple[Any, int], str] = {}  # of the lines so far: the output that is a quotient
        self.formulas: list[str] = []
        self.statements: list[str] = []
        self.proofs: list[str] = []
        self.tests: list[str] = []  # the statements as something that can be computed
        for line in algorithm.ensures:
            if line.ranges:
                raise NotAffineError(f"'{line}' is about single bits, and the run takes longer for longer words")
            self._line(line)

    def _line(self, line: EnsureLine) -> None:
        truth = line.truth
        if not isinstance(truth, Combined) or truth.sign not in COMPARISONS:
            raise NotAffineError(f"'{line}' is not a comparison")
        for left, sign, right in (
            (truth.left, truth.sign, truth.right),
            (truth.right, _FLIPPED[truth.sign], truth.left),
        ):
            if sign == "==" and isinstance(left, Named) and self._bit(left) is not None and self._is_truth(right):
                bit = self._bit(left)
                assert isinstance(right, Combined)
                sign_is = self._sign(self._linear(right.left).plus(self._linear(right.right), -1), _SIGNS[right.sign])
                self._add(
                    f"Same ({bit}) ({sign_is})",
                    f"{coq_name(left.text)} l s = {self._truth(right)}",
                    f"Bool.eqb ({coq_name(left.text)} l s) {self._truth(right)}",
                    f"bit_is {coq_name(left.text)}",
                )
                return
            if sign == "==" and isinstance(left, Named) and isinstance(right, Combined) and right.sign in ("%", "//"):
                self._divided(left, right)
                return
        sign_is = self._sign(self._linear(truth.left).plus(self._linear(truth.right), -1), _SIGNS[truth.sign])
        sign = {"==": "=", "!=": "<>"}.get(truth.sign, truth.sign)
        one, other = self._text(truth.left), self._text(truth.right)
        test = f"({one} {_TESTS[truth.sign]} {other})" if truth.sign in _TESTS else f"negb ({one} =? {other})"
        self._add(sign_is, f"{one} {sign} {other}", test, "sums; lia")

    def _divided(self, left: Named, right: Combined) -> None:
        """W == E mod 2^l, W == E // k, and W == E % k where another line says what E // k is."""
        word, inner = self._linear(left), self._linear(right.left)
        statement = f"{self._text(left)} = {self._text(right)}"
        test = f"({self._text(left)} =? {self._text(right)})"
        key = tuple(sorted(inner.words.items())), inner.constant, inner.power
        if isinstance(right.right, Constant):
            k = right.right.value
            if right.sign == "//":
                low = self._sign(inner.plus(word, -k), (False, True, True))
                high = self._sign(inner.plus(word, -k).plus(Linear(constant=k - 1), -1), (True, True, False))
                self.quotients[key, k] = left.text
                self._add(
                    f"And ({low}) ({high})",
                    statement,
                    test,
                    f"sums; apply (Z.div_unique_pos {self._text(right.left)} {k} ({self._text(left)}) ({self._text(right.left)} - {k} * {self._text(left)})); lia",
                )
                return
            if (key, k) in self.quotients:
                quotient = Linear({(False, self.quotients[key, k]): 1})
                self._add(
                    self._sign(word.plus(inner, -1).plus(quotient, k), (False, True, False)),
                    statement,
                    test,
                    f"sums; apply (Z.mod_unique_pos {self._text(right.left)} {k} ({coq_name(self.quotients[key, k])} l s)); lia",
                )
                return
        elif right.sign == "%" and self._power(right.right) is not None and not inner.power:
            exponent = self._power(right.right)
            law = self._law(word.plus(inner, -1))
            scale = self.laws[law][2].bit_length() - 1
            n = self.chained.positions
            if exponent == AffineIndex(0, n.size, n.constant - scale):
                self._add(f"Multiple {law}", statement, test, f"residue_is; [{self._range(left)} | lia]")
                return
        raise NotAffineError(f"'{self._text(right)}' has no law")

    def _range(self, left: Named) -> str:
        """The proof that an output of one array lies in its range."""
        (part,) = self.outputs[left.text]
        assert part.length is not None
        return f"unfold {coq_name(left.text)}, Words.word; apply Words.val_range"

    def _add(self, formula: str, statement: str, test: str, proof: str) -> None:
        self.tests.append(test)
        self.formulas.append(formula)
        self.statements.append(statement)
        self.proofs.append(proof)

    def _sign(self, sum_: Linear, signs: Sequence[bool | int]) -> str:
        """The formula that a sum has one of these signs: negative, zero, positive."""
        law = self._law(sum_)
        return f"Sign {law} ({sum_.power * self.laws[law][2]})%Z {' '.join(('false', 'true')[sign] for sign in signs)}"

    def _law(self, sum_: Linear) -> int:
        shifted = [
            self._shift(part.array) for word in sum_.words for part in self._parts(word) if part.length is not None
        ]
        self.laws.append((sum_.constant, Linear(sum_.words), 2 ** max([0, *shifted])))
        return len(self.laws) - 1

    def _shift(self, array: str) -> int:
        """The position of the first bit of an array."""
        place = self.chained.place((array, (1,)))
        if place is None or self.chained.tracks[place[0]][1] != 1:
            raise NotAffineError(f"{array} is no track of single bits")
        return place[1]

    def _parts(self, word: tuple[bool, str]) -> tuple[Part, ...]:
        entered, name = word
        return (self.inputs[name],) if entered else self.outputs[name]

    def _linear(self, part: Expression) -> Linear:
        if isinstance(part, Constant):
            return Linear(constant=part.value)
        if isinstance(part, Named) and part.index is None:
            if not part.entered and part.text in self.outputs:
                return Linear({(False, part.text): 1})
            if part.text in self.inputs:
                return Linear({(True, part.text): 1})
        if (exponent := self._power(part)) is not None:
            if not exponent.size:
                return Linear(constant=2**exponent.constant)
            if exponent == self.chained.positions:
                return Linear(power=1)
            raise NotAffineError(
                f"2^({exponent.text()}) is not 2^({self.chained.positions.text()}), the length of the chain"
            )
        if isinstance(part, Combined) and part.sign in "+-":
            return self._linear(part.left).plus(self._linear(part.right), 1 if part.sign == "+" else -1)
        if isinstance(part, Combined) and part.sign == "*":
            left, right = self._linear(part.left), self._linear(part.right)
            for one, other in ((left, right), (right, left)):
                if not one.words and not one.power:
                    return Linear().plus(other, one.constant)
        raise NotAffineError("a term of an ensure line is not a weighted sum of words")

    def _power(self, part: Expression) -> AffineIndex | None:
        if isinstance(part, Combined) and part.sign == "^" and part.left == Constant(2):
            return self._exponent(part.right)
        return None

    def _exponent(self, part: Expression) -> AffineIndex | None:
        if isinstance(part, Constant):
            return AffineIndex(0, 0, part.value)
        if isinstance(part, Named) and part.text == self.size:
            return AffineIndex(0, 1, 0)
        if isinstance(part, Combined) and part.sign in "+-*":
            left, right = self._exponent(part.left), self._exponent(part.right)
            if left is not None and right is not None:
                if part.sign == "*":
                    return AffineIndex(
                        0, left.size * right.constant + left.constant * right.size, left.constant * right.constant
                    )
                sign = 1 if part.sign == "+" else -1
                return AffineIndex(0, left.size + sign * right.size, left.constant + sign * right.constant)
        return None

    def _is_truth(self, part: Expression) -> bool:
        return isinstance(part, Combined) and part.sign in _TESTS

    def _truth(self, part: Combined) -> str:
        return f"({self._text(part.left)} {_TESTS[part.sign]} {self._text(part.right)})"

    def _text(self, part: Expression) -> str:
        if isinstance(part, Constant):
            return str(part.value)
        if isinstance(part, Named):
            if not part.entered and part.text in self.outputs:
                return f"{coq_name(part.text)} l s"
            return coq_name(f"{part.text}_in" if part.text in self.outputs else part.text)
        if isinstance(part, Negation):
            raise NotAffineError("'not' inside of a term")
        if (power := self._power(part)) is not None:
            return f"2 ^ Z.of_nat ({power.text()})"
        sign = {"%": "mod", "//": "/"}.get(part.sign, part.sign)
        return f"({self._text(part.left)} {sign} {self._text(part.right)})"

    def _bit(self, name: Named) -> str | None:
        """The formula of an output of one bit."""
        parts = self.outputs.get(name.text) if not name.entered and name.index is None else None
        return None if parts is None or len(parts) != 1 or parts[0].length is not None else self.end(parts[0])[0]

    def end(self, part: Part) -> tuple[str, str, int]:
        """A bit near an end: its formula, which end it is, and its track or global."""
        if part.index is None:
            return f"Global {self.chained.flags.index(part.array)}", "global", self.chained.flags.index(part.array)
        places = {l: self.chained.place((part.array, (part.index.at(0, l),))) for l in FITTED}
        if all(place is not None and place[1] == 0 for place in places.values()):
            track = places[FITTED[0]][0]  # type: ignore[index]
            return f"First {track}", "first", track
        if all(place is not None and place[1] == self.chained.positions.at(0, l) - 1 for l, place in places.items()):
            track = places[FITTED[0]][0]  # type: ignore[index]
            return f"Last {track}", "last", track
        raise NotAffineError(f"{part.array}[{part.index.text()}] is not at an end")

    def law_text(self, law: tuple[int, Linear, int]) -> str:
        """Weights by track: of all positions, of the inputs, and of the bits at both ends."""
        constant, sum_, scale = law
        weights: dict[str, dict[int, int]] = {"base": {}, "entered": {}, "first": {}, "last": {}}
        n = self.chained.positions
        for word, factor in sum_.words.items():
            for part in self._parts(word):
                if part.length is not None:
                    place = self.chained.place((part.array, (1,)))
                    assert place is not None
                    own, weight = weights["entered" if word[0] else "base"], Fraction(factor * scale, 2 ** place[1])
                    track = place[0]
                else:
                    _, end, track = self.end(part)
                    distance = AffineIndex(
                        0,
                        part.exponent.size - (n.size if end == "last" else 0),
                        part.exponent.constant - (n.constant - 1 if end == "last" else 0),
                    )
                    if end == "global" or distance.size:
                        raise NotAffineError(f"{part.array} weighs nothing at its position")
                    own, weight = weights[end], factor * scale * Fraction(2) ** distance.constant
                if weight.denominator > 1:
                    raise NotAffineError(f"the weight of {part.array} is no integer")
                own[track] = own.get(track, 0) + int(weight)
        texts = [
            listing(f"({track}, ({weight})%Z)" for track, weight in sorted(own.items())) for own in weights.values()
        ]
        return f"(({constant * scale})%Z, Law {' '.join(texts)})"


def function_text(
    name: str,
    algorithm: Algorithm,
    families: FittedFamilies,
    sized: Mapping[int, Algorithm],
    pattern: Pattern,
    size: str,
    certificate: Mapping[str, Any] | None,
) -> tuple[str, int]:
    """The file, and the size from which on its theorem holds; raises NotAffineError for what is outside of the form."""
    words = Words.of(algorithm, sized)
    steps = _few_steps(algorithm, sized, certificate)
    if steps is not None:
        rests = algorithm.halt is not None
        return LocalText(
            name, algorithm.name, families, algorithm.ensures, words, size, steps, rests
        ).file(), families.least
    if certificate is None:
        raise NotAffineError("its proof has no certificate")
    if algorithm.halt is not None:
        raise NotAffineError("the run ends when a bit is on, not after a number of steps")
    claim = ClaimedLines(Chained.of(certificate), algorithm, words, size)
    programs = {l: listed(a.program, pattern) for l, a in sized.items()}
    text = _Text(
        name, algorithm.name, claim, families, programs, affine_in({l: a.steps or 0 for l, a in sized.items()})
    )
    return text.file(), families.least


def _few_steps(
    algorithm: Algorithm, sized: Mapping[int, Algorithm], certificate: Mapping[str, Any] | None
) -> int | None:
    """The number of steps, if it is the same at every size."""
    if algorithm.halt == FIXED_POINT:
        fixed: int | None = certificate["clock"]["fixed"] if certificate else None
        return fixed
    counts = {one.steps for one in sized.values()}
    return counts.pop() if len(counts) == 1 and algorithm.halt is None else None


class _Text:
    """The file, part by part."""

    def __init__(
        self,
        name: str,
        about: str,
        claim: ClaimedLines,
        families: FittedFamilies,
        programs: Mapping[int, Listed],
        steps: AffineIndex,
    ) -> None:
        self.name, self.about, self.claim, self.families, self.programs = name, about, claim, families, programs
        self.chained, self.words, self.inputs, self.outputs = claim.chained, claim.words, claim.inputs, claim.outputs
        self.steps, chained = steps, claim.chained
        self.n = f"({chained.positions.text()})"
        self.least = max(families.least, next(l for l in range(1, 99) if chained.positions.at(0, l) >= 5))
        self.variables = claim.words.variables

    def file(self) -> str:
        return (
            f"(** What {self.about} computes, by a certificate that bitwright found. Nothing is proved by hand. *)\n{IMPORTS}"
            "From Coq Require Import NArith.\nFrom Bitwright Require Rules Words Table.\n"
            "From Bitwright Require Import Cover Reach Chain ChainProgram Clock ChainRules Specification.\n"
            f"From {self.name} Require Net Families.\nImport ListNotations.\nLocal Open Scope string_scope. Local Open Scope list_scope.\n\n"
            + self._chain()
            + self._same()
            + self._start()
            + self._values()
            + self._theorems()
        )

    def _chain(self) -> str:
        chained, certificate = self.chained, self.chained.certificate
        chain, clock = certificate["chain"], certificate["clock"]
        (direction, rate), *_ = clock["sweeps"]

        def by_class(values: Mapping[str, str], other: str) -> str:
            return (
                "fun c => match c with "
                + " | ".join(f"{c} => {value}" for c, value in values.items())
                + f" | _ => {other} end"
            )

        def mask(bits: int) -> str:
            return listing(str(k) for k in range(bits.bit_length()) if bits >> k & 1)

        rules = {
            c: listing("Rule " + " ".join(map(str, rule)) for rule in own["rules"])
            for c, own in self.chained.classes.items()
        }
        globals_ = listing(f"Rule {m} {v} 0 {h} 0 0" for m, v, h in chain["global_rules"])
        letters = [None, *(f"({c}, ({t}, ({i}, {b})))" for c, t, i, b in certificate["letters"])]
        windows = ";\n    ".join(
            f"(({state}, {'None' if not before else f'Some {letters[before]}'}), {listing(str(letters[one]) for one in after)})"
            for state, own in certificate["windows"]
            for before, after in own
        )
        width = len(chain["tracks"])
        laws = listing(
            f"((({constant})%Z, ({power})%Z), Law {_weights(tracks, width)} {_weights(inputs, width)} [] [])"
            for tracks, inputs, constant, power in certificate["laws"]
        )
        verdicts = listing(
            f"({state}, {listing(f'({sign})%Z' for sign in signs)})"
            for state, own in certificate["verdicts"]
            for signs in own
        )
        states = listing(str(state) for state, _ in certificate["windows"])
        tracks = listing(f'("{x}", ({g}, {o}))' for x, g, o in chained.tracks)
        absent = [f"Not (First {k})" for k, (_, _, o) in enumerate(chained.tracks) if o == 0]
        formulas = [*self.claim.formulas, *absent]
        formula = formulas[-1]
        for one in reversed(formulas[:-1]):
            formula = f"And ({one}) ({formula})"
        return (
            "(** The program as a chain of letters, one a position. *)\nLocal Open Scope N_scope.\n"
            f"Definition chain : program := {{|\n  rules := {by_class(rules, '[]')};\n  global_rules := {globals_};\n"
            f"  free := {by_class({c: mask(own['free']) for c, own in self.chained.classes.items()}, '[]')};\n"
            f"  start_bits := {by_class({c: str(own['start']) for c, own in self.chained.classes.items()}, '0')};\n"
            f"  start_globals := {chain['start_globals']}; rate := {rate}%nat; down := {'true' if direction == 'down' else 'false'}; early := {clock['early']}%nat |}}.\n"
            f"(** The invariant: which letters may follow each other, and the signs of the laws. *)\n"
            f"Definition found : certificate := {{|\n  global_values := {states};\n  left_out := {'false' if certificate['inputs_in_windows'] else 'true'};\n"
            f"  windows := [\n    {windows}];\n  laws := {laws};\n  verdicts := {verdicts} |}}.\nLocal Close Scope N_scope.\n\n"
            f"Definition tracks : list track := {tracks}.\nDefinition flags : list name := {listing(_flag(x) for x in chained.flags)}.\n"
            f"(** What is claimed, for the checker: laws, and a formula of their signs and of single bits. *)\n"
            f"Definition laws : list (Z * law) := {listing(map(self.claim.law_text, self.claim.laws))}%N.\n"
            f"Definition claim : formula := ({formula})%N.\n\n"
            "Lemma chain_well_formed : well_formed chain tracks flags = true.\nProof. vm_compute. reflexivity. Qed.\n"
            "Lemma claim_proper : proper tracks flags laws claim = true.\nProof. vm_compute. reflexivity. Qed.\n"
            "Theorem checked : check_program chain found laws (fun g x y => judge claim g (option_map bits x) (option_map bits y)) "
            f"{FUEL} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n"
        )

    def _same(self) -> str:
        """The rules of the chain are those of the program, at every length."""
        chained = self.chained
        numbers: dict[tuple[str, int, int], int] = {}  # class, mask, value: number of the rule
        for c, own in self.chained.classes.items():
            numbers |= {(c, rule[0], rule[1]): at for at, rule in enumerate(own["rules"])}
        globals_ = {(m, v): at for at, (m, v, _) in enumerate(chained.certificate["chain"]["global_rules"])}
        to_chain: list[dict[int, list[tuple[int, int, int, int]]]] = [{} for _ in self.families.rules]
        to_rule: dict[tuple[int, int], dict[int, list[tuple[int, int, int, int]]]] = {}
        for l, program in self.programs.items():
            n = chained.positions.at(0, l)
            for rule, (segment, i) in zip(program.rules, self.families.places[l], strict=True):
                part, number, position = self._place(rule.conditions, n, numbers, globals_)
                to_chain[segment].setdefault(l, []).append((i, part, number, position))
                to_rule.setdefault((part, number), {}).setdefault(l, []).append((position, segment, 0, i))
        before = [link(own) for own in to_chain]
        after = [link(to_rule[key]) for key in sorted(to_rule)]
        return (
            "(** The rules of the chain are those of the program, at every size. *)\n"
            f"Theorem same l : {self.least} <= l -> Rules.same_rules (chain_rules chain tracks flags {self.n}) (Families.rules l).\n"
            "Proof.\n  intros large. split; apply within_intro; intros t T.\n"
            "  - apply chain_rules_parts in T; [|lia]. written_out T. unfold Families.rules. each_chain_rule.\n"
            + "".join(
                _indented(cases(one, lambda piece, k: f"nth_rule {piece.target} {_arg(piece.row, k)}")) for one in after
            )
            + "  - unfold Families.rules in T. each_rule; apply Exists_chain; try lia;\n"
            "    written_out_goal.\n"
            + "".join(
                _indented(
                    cases(one, lambda piece, k: f"nth_chain {piece.target} {piece.template} {_arg(piece.row, k)}")
                )
                for one in before
            )
            + "Qed.\n\n"
        )

    def _place(
        self, conditions: Sequence[tuple[Bit, bool]], n: int, numbers: Mapping[Any, int], globals_: Mapping[Any, int]
    ) -> tuple[int, int, int]:
        """Part of the chain's rules (classes 1 to 5, globals), number there, and position."""
        places = [self.chained.place(bit) for bit, _ in conditions]
        if places[0] is None:
            own = [self.chained.flags.index(_name(bit)) for bit, _ in conditions]
            if own != sorted(own):
                raise NotAffineError("a block has its bits in another order than the chain")
            key = sum(1 << k for k in own), sum(value << k for k, (_, value) in zip(own, conditions, strict=True))
            return 5, globals_[key], 0
        tracks = [place[0] for place in places if place is not None]
        position = places[0][1]
        if tracks != sorted(tracks):
            raise NotAffineError("a block has its bits in another order than the chain")
        c = 1 if position == 0 else 2 if position == 1 else 5 if position == n - 1 else 4 if position == n - 2 else 3
        mask, value = sum(1 << k for k in tracks), sum(v << k for k, (_, v) in zip(tracks, conditions, strict=True))
        return c - 1, numbers[str(c), mask, value], position if c == 3 else 0

    def _start(self) -> str:
        given = " ".join(f"({variable} : Z)" for variable in self.variables.values())
        tracks = []
        for word, variable in self.variables.items():
            track, first = self.chained.place((self.inputs[word].array, (1,)))  # type: ignore[misc]
            tracks.append(f"{track} => Words.bit_of {variable} {'(i + 1)' if first == 0 else 'i'}")
        return (
            "(** The first state, and the input at every position. *)\n"
            f"Definition start (l : nat) {given} : Rules.state name := Words.all_of {listing(self.words.start())}.\n"
            f"Definition entries {given} (k : N) (i : nat) : bool := match k with {' | '.join(tracks)} | _ => false end%N.\n"
            f"Lemma start_shown l {self._names} : {self.least} <= l -> shows tracks flags {self.n} (start l {self._names}) (start_globals chain)\n"
            f"  (fun i => N.lor (start_bits chain (class_at {self.n} i)) (entry chain {self.n} (entries {self._names}) i)).\n"
            f"Proof. intros large. split; [intros i k I K; each_track k K; shown i I | intros k K; each_track k K; reflexivity]. Qed.\n\n"
        )

    @property
    def _names(self) -> str:
        return " ".join(self.variables.values())

    def _bounds(self) -> str:
        return " ".join(
            f"0 <= {variable} < 2 ^ Z.of_nat ({self.words.length(word)}) ->"
            for word, variable in self.variables.items()
        )

    def _values(self) -> str:
        """Outputs, and the value of every law in terms of inputs and outputs."""
        text = "(** The outputs. *)\nLocal Open Scope Z_scope.\n"
        for word, parts in self.outputs.items():
            one_bit = len(parts) == 1 and parts[0].length is None
            body = parts[0].bit("s") if one_bit else " + ".join(part.text("s") for part in parts)
            text += f"Definition {coq_name(word)} (l : nat) (s : Rules.state name) : {'bool' if one_bit else 'Z'} := {body}.\n"
        text += "\n"
        for number, (constant, sum_, scale) in enumerate(self.claim.laws):
            terms = [f"({factor}) * {self._value(word)}" for word, factor in sum_.words.items()]
            value = f"{scale} * ({constant}{''.join(f' + {term}' for term in terms)})"
            facts, ends = self._facts(sum_)
            text += (
                f"Lemma law_{number} l {self._names} (s : Rules.state name) : ({self.least} <= l)%nat -> {self._bounds()}\n"
                + "".join(
                    f"  s (bit_at tracks {k} 0) = false ->\n"
                    for k, (_, _, o) in enumerate(self.chained.tracks)
                    if o == 0
                )
                + f"  law_at chain tracks laws {self.n} (entries {self._names}) s {number} = {value}.\n"
                "Proof.\n  intros. unfold laws. law_value.\n"
                + "".join(f"  {fact}\n" for fact in facts)
                + f"  {' '.join(f'unfold {coq_name(word)}.' for word in self.outputs if (False, word) in sum_.words)} {ends}lia.\nQed.\n"
            )
        return text

    def _value(self, word: tuple[bool, str]) -> str:
        entered, name = word
        if entered:
            return self.variables[name]
        parts = self.outputs[name]
        name = coq_name(name)
        return f"Z.b2z ({name} l s)" if len(parts) == 1 and parts[0].length is None else f"{name} l s"

    def _facts(self, sum_: Linear) -> tuple[list[str], str]:
        facts, ends = [], ""
        for word in sum_.words:
            for part in self.claim._parts(word):
                if part.length is None:
                    _, end, track = self.claim.end(part)
                    facts.append(f"end_bit s {track}%N ({part.bit('')}).")
                    if end == "last":
                        ends += f"top_bit ({part.exponent.text()})%nat {self.n}%nat. destruct ({part.bit('s')}); cbn [Z.b2z]; "
                    continue
                track, first = self.chained.place((part.array, (1,)))  # type: ignore[misc]
                if word[0]:
                    facts.append(
                        f"entered_word chain {track}%N {self.variables[word[1]]} ({part.length.text()})%nat {first}%nat."
                    )
                else:
                    facts.append(f'track_word s {track}%N "{part.array}" ({part.length.text()})%nat {first}%nat.')
        return facts, ends

    def _theorems(self) -> str:
        conclusion = " /\\\n  ".join(f"({statement})" for statement in self.claim.statements)
        bounds = " ".join(f"B{number}" for number in range(len(self.variables)))
        laws = "".join(f"  use_law (law_{number} l {self._names} s L).\n" for number in range(len(self.claim.laws)))
        *before, proof = self.claim.proofs
        for one in reversed(before):
            proof = f"split; [{one} | {proof}]"
        steps, n = f"({self.steps.text()})%nat", f"{self.n}%nat"
        given = f"(l : nat) ({self._names} : Z)"
        rules = f"let s := Rules.run (Families.rules l) {steps} (start l {self._names}) in\n  {conclusion}.\n"
        return (
            f"\n(** The rules compute it at every size from {self.least} on, by the certificate. *)\n"
            f"Theorem rules_compute_long {given} : ({self.least} <= l)%nat -> {self._bounds()}\n  {rules}"
            f"Proof.\n  intros L {bounds}. cbv zeta.\n"
            f"  pose proof (chain_computes chain tracks flags found laws claim {FUEL} chain_well_formed claim_proper checked {n}\n"
            f"    (entries {self._names}) (start l {self._names}) (Families.rules l) ltac:(lia) (same l L) (start_shown l {self._names} L)) as H. cbv zeta in H.\n"
            f"  replace (steps chain {n}) with {steps} in H by (unfold steps; cbn [rate early chain]; lia).\n"
            f"  set (s := Rules.run (Families.rules l) {steps} (start l {self._names})) in *. clearbody s.\n"
            f"  unfold claim in H. claims H.\n{laws}  {proof}.\nQed.\n\n"
            + self._short(given, rules, steps, bounds)
            + "(** This network, in the cells of the program, computes it. *)\n"
            f"Theorem network_computes {given} : ({self.families.least} <= l)%nat -> {self._bounds()}\n"
            f"  let s := Rules.run_by_cells Net.net Net.kinds (Families.cells l) {steps} (start l {self._names}) in\n  {conclusion}.\n"
            f"Proof.\n  intros L {bounds} s. pose proof (Families.network_runs l ltac:(lia) {steps} (start l {self._names})) as E. fold s in E.\n"
            f"  pose proof (rules_compute l {self._names} L {bounds}) as R. cbv zeta in R. clearbody s. {self._same_outputs('s')} exact R.\nQed.\n"
            "Print Assumptions network_computes.\n"
        )

    def _same_outputs(self, s: str) -> str:
        """Outputs of states that have the same bits, by E."""
        unfold = " ".join(f"unfold {coq_name(word)} in *." for word in self.outputs)
        return f"{unfold} repeat rewrite (Words.word_ext {s} _ _ _ E). rewrite ?E."

    def _short(self, given: str, rules: str, steps: str, bounds: str) -> str:
        """Smaller sizes, by running all inputs; and all sizes together."""
        sizes = range(self.families.least, self.least)
        if not sizes:
            return (
                f"Theorem rules_compute {given} : ({self.families.least} <= l)%nat -> {self._bounds()}\n  {rules}"
                f"Proof. exact (rules_compute_long l {self._names}). Qed.\n\n"
            )
        run = f"Table.lookup (Table.run_table (Families.rules l) u {steps} (start l {self._names}))"
        tried = f"test l {self._names} ({run})"
        inside = "T"
        for word, variable in reversed(self.variables.items()):
            tried = f"forallb (fun {variable} => {tried}) (Table.numbers ({self.words.length(word)}))"
        for number, variable in enumerate(self.variables.values()):
            inside = f"Table.in_all _ _ {variable} ({inside}) (Table.In_numbers _ _ B{number})"
        all_sizes = listing(f"{size}%nat" for size in sizes)
        return (
            "(** Smaller sizes, by running all inputs. *)\n"
            f"Definition test {given} (s : Rules.state name) : bool := {' && '.join(self.claim.tests)}.\n"
            f"Definition tried (l : nat) : bool := let u := Table.used (Families.rules l) in {tried}.\n"
            f"Lemma all_tried : forallb tried {all_sizes} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n"
            f"(** The rules compute it at every size from {sizes[0]} on. *)\n"
            f"Theorem rules_compute {given} : ({sizes[0]} <= l)%nat -> {self._bounds()}\n  {rules}"
            f"Proof.\n  intros L {bounds} s. destruct (le_lt_dec {self.least} l) as [N|N]; [exact (rules_compute_long l {self._names} N {bounds})|].\n"
            f"  assert (T : tried l = true) by (apply (Table.in_all _ _ l all_tried); cbn [In]; lia).\n"
            f"  unfold tried in T. cbv zeta in T. pose proof ({inside}) as H. cbv beta in H. clear T.\n"
            f"  assert (E : forall some_bit, s some_bit = Table.lookup (Table.run_table (Families.rules l) (Table.used (Families.rules l)) {steps} (start l {self._names})) some_bit)\n"
            "    by (intros; symmetry; apply Table.run_table_ok; lia).\n"
            f"  clearbody s. unfold test in H. repeat rewrite andb_true_iff in H. repeat rewrite ?Z.eqb_eq, ?Z.ltb_lt, ?Z.leb_le, ?eqb_true_iff in H.\n"
            f"  {self._same_outputs('s')} intuition congruence.\nQed.\n\n"
        )


def _weights(values: Sequence[int], width: int) -> str:
    return listing(f"({k}, ({values[k]})%Z)" for k in range(width) if values[k])


def _flag(name: str) -> str:
    head, _, rest = name.removesuffix("]").partition("[")
    return f'at_ "{head}" {rest}' if rest else f'flag "{head}"'


def _name(bit: Bit) -> str:
    return bit[0] + (f"[{bit[1][0]}]" if bit[1] else "")


def _arg(index: AffineIndex, i: str) -> str:
    text = index.text(i)
    return text if " " not in text else f"({text})"


def _indented(text: str) -> str:
    return "  " + text.replace("- ", "+ ", 1)
