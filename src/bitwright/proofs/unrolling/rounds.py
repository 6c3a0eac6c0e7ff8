"""Proofs by cut points: `invariant at BIT: ...` holds whenever the bit is on, and leads to what is ensured.

A cut state is one in which the bit is on and certain other bits, found here, are off; the rest may be anything.
There are four obligations:

1. entry: a run comes to a cut state, and the invariant holds there;
2. rounds: from every cut state, on every path, a cut state follows after a known number of steps, and the invariant
   still holds. Relations between the numbers of both states are guessed from samples and proved; the rest is algebra;
3. bound: in every round a word moves its bits to one end, so it is 0 after as many rounds as it has bits, and that is
   before the run is over;
4. end: from a cut state in which that word is 0, every step keeps the outputs; with the invariant, they are what is
   ensured.

The invariant is used modulo a power of two, so what is proved of it may be less than what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bitwright.errors import counted
from bitwright.program import Algorithm
from bitwright.program.ensures import EnsureLine, names_in
from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.laws import LawFinder, law_document
from bitwright.proofs.unrolling.polynomials import (
    Equation,
    Polynomial,
    combine,
    inputs_by_name,
    stronger_equation,
    substitute,
    vanishes,
    weaker_equation,
)
from bitwright.proofs.unrolling.relations import Bits, Moment, by_law, by_solver, by_structure, relation
from bitwright.proofs.unrolling.runs import RunTooLargeError, Stepper, start_state
from bitwright.proofs.unrolling.solver import Prover

MOST_PATHS = 64


@dataclass(frozen=True)
class RoundPath:
    """One way round: the states from a cut state to the next, with some bits of the first one fixed."""

    graph: AndGraph
    fixed: Mapping[int, int]
    states: Sequence[Sequence[Literal]]

    @property
    def steps(self) -> int:
        return len(self.states) - 1


def entry(algorithm: Algorithm, cut: int) -> RoundPath:
    """From the start of a run to the first state in which the cut bit is on for certain. Raises RunTooLargeError."""
    graph = AndGraph()
    stepper, states = Stepper(algorithm.program, graph), [start_state(algorithm, graph)]
    while states[-1][cut] != TRUE:
        if states[-1][cut] != FALSE or len(states) > (algorithm.steps or 0):
            raise RunTooLargeError("whether a run comes to its cut bit depends on its inputs")
        states.append(stepper.step(states[-1]))
    return RoundPath(graph, {}, states)


def paths(algorithm: Algorithm, cut: int, fixed: Mapping[int, int]) -> list[RoundPath]:
    """All ways from a cut state to the next: bits that decide which one are fixed to either value.

    Bits in `fixed` have these values, all others may be either. Raises RunTooLargeError.
    """
    found: list[RoundPath] = []
    ahead = [dict(fixed)]
    while ahead:
        given = ahead.pop()
        path = _path(algorithm, cut, given)
        if isinstance(path, int):
            ahead += ({**given, path: 1}, {**given, path: 0})
        else:
            found.append(path)
        if len(found) + len(ahead) > MOST_PATHS:
            raise RunTooLargeError(f"a round has more than {MOST_PATHS} paths")
    return found


def _path(algorithm: Algorithm, cut: int, given: Mapping[int, int]) -> RoundPath | int:
    """The path with these bits fixed, or a bit on which it depends when the cut comes."""
    graph = AndGraph()
    stepper = Stepper(algorithm.program, graph)
    bits = range(algorithm.program.bits)
    state = [given[bit] if bit in given else graph.input() for bit in bits]
    bit_of = {state[bit] >> 1: bit for bit in bits if bit not in given}
    states = [state]
    for _ in range(algorithm.steps or 0):
        states.append(stepper.step(states[-1]))
        reached = states[-1][cut]
        if reached == TRUE:
            return RoundPath(graph, given, states)
        if reached != FALSE:
            return bit_of[next(node for node in graph.cone([reached]) if node in bit_of)]
    raise RunTooLargeError("a round takes more steps than the whole run may take")


class UndecidedError(Exception):
    """A proof was not found; the message says what could not be proved."""


@dataclass
class Rounds:
    """The proof of one algorithm by its invariants at one bit."""

    algorithm: Algorithm
    invariants: Sequence[EnsureLine]
    prover: Prover
    off: set[int] = field(default_factory=set)  # bits that are off in every cut state
    found: dict[str, Any] = field(default_factory=dict)  # the certificate: what was guessed, and then proved

    def __post_init__(self) -> None:
        algorithm, at = self.algorithm, self.invariants[0].at
        assert at is not None
        index = "" if at.index is None else f"[{self.invariants[0].value(at.index, {}, {})}]"
        self.cut_name = f"{at.text}{index}"
        self.cut = algorithm.program.layout.bit(self.cut_name)
        self.laws = LawFinder(algorithm.program)
        layout = algorithm.program.layout
        named = {name.text for line in self.invariants for name in names_in(line.truth) if not name.entered}
        self.fields = {item.name: item.bits().tolist() for item in layout.fields if item.name in named}
        self.found = {"cut": self.cut_name, "exponents": [], "relations": {}, "laws": {}}
        self._relations: dict[str, dict[str, int]] = {}
        self._laws: dict[str, dict[str, Any]] = {}

    def prove(self) -> str:
        """Proves every `ensure` line of the algorithm, and says how. Raises UndecidedError or TooLargeError."""
        if self.algorithm.halt is not None or self.algorithm.steps is None:
            raise UndecidedError("cut points need runs of a known number of steps")
        first = entry(self.algorithm, self.cut)
        ways = self._ways(first)
        equations = [self._inductive(line, first, ways) for line in self.invariants]
        measure, rounds = self._bound(first, ways)
        self._rest(measure)
        for line in self.algorithm.ensures:
            self._conclude(line, equations, measure)
        longest = max(way.steps for way in ways)
        self.found["off"] = [self.algorithm.program.layout.name_of(bit) for bit in sorted(self.off)]
        return (
            f"cut at {self.cut_name}, {counted(len(ways), 'path')} of at most {longest} steps, "
            f"at most {counted(rounds, 'round')}"
        )

    # Which bits are off in cut states.

    def _ways(self, first: RoundPath) -> list[RoundPath]:
        """All paths from cut states; a bit counts as off in these if it is so at the entry and after every path."""
        named = {bit for bits in self.fields.values() for bit in bits}
        self.off = {bit for bit, literal in enumerate(first.states[-1]) if literal == FALSE and bit not in named}
        while True:
            ways = paths(self.algorithm, self.cut, self._cut_state())
            on = {bit for way in ways for bit in self.off if way.states[-1][bit] != FALSE}
            if not on:
                return ways
            self.off -= on

    def _key(self, way: RoundPath) -> str:
        """A path by the bits that decide on it, such as `multiplier[1]=0`."""
        name_of, common = self.algorithm.program.layout.name_of, self._cut_state()
        chosen = [f"{name_of(bit)}={value}" for bit, value in sorted(way.fixed.items()) if bit not in common]
        return ",".join(chosen) or "always"

    def _cut_state(self) -> dict[int, int]:
        return {**dict.fromkeys(self.off, 0), self.cut: 1}

    # The invariant holds at the entry, and every round keeps it.

    def _inductive(self, line: EnsureLine, first: RoundPath, ways: Sequence[RoundPath]) -> Equation:
        """The invariant as a congruence that the entry establishes and every round keeps."""
        stated = weaker_equation(line)
        if stated is None:
            raise UndecidedError(f"the invariant '{line}' is no equation of polynomials")
        difference = substitute(stated.difference, inputs_by_name(self.algorithm, self.fields))
        exponents = [stated.exponent] if stated.exponent is not None else sorted({len(b) for b in self.fields.values()})
        for exponent in reversed(exponents):
            self._relations, self._laws = {}, {}
            if self._holds_at(first, difference, exponent) and all(self._kept(w, difference, exponent) for w in ways):
                self.found["exponents"].append(exponent)
                self.found["relations"] |= self._relations
                self.found["laws"] |= self._laws
                return Equation(difference, exponent)
        raise UndecidedError(f"no round was shown to keep the invariant '{line}'")

    def _holds_at(self, first: RoundPath, difference: Polynomial, exponent: int) -> bool:
        """Whether the invariant holds at the entry: its words are linear in the inputs there."""
        if any(word.signed for word in self.algorithm.inputs):
            return False
        start, last = first.states[0], first.states[-1]
        inputs = {f"in.{word.name}": [start[bit] for bit in word.bits] for word in self.algorithm.inputs}
        moment = Moment(first.graph, first.states, self.laws, inputs)
        given: dict[str, Polynomial] = {}
        for name, bits in self.fields.items():
            found = self._relation(f"entry {name}", [last[bit] for bit in bits], moment, exponent, bits)
            if found is None:
                return False
            given[name] = found
        return vanishes(substitute(difference, given), exponent)

    def _kept(self, way: RoundPath, difference: Polynomial, exponent: int) -> bool:
        """Whether a path keeps the invariant: by relations of new words to old, or of old words to new."""
        before = {name: [way.states[0][bit] for bit in bits] for name, bits in self.fields.items()}
        after = {f"{name}'": [way.states[-1][bit] for bit in bits] for name, bits in self.fields.items()}
        forward, backward = (Moment(way.graph, way.states, self.laws, before), Moment(way.graph, (), self.laws, after))
        given: dict[str, Polynomial] = {}
        for name, bits in self.fields.items():
            label = f"{self._key(way)} {name}"
            if (value := numbers.known(numbers.unsigned(before[name]))) is not None:
                given[name] = {(): value}
            found = self._relation(label, after[f"{name}'"], forward, exponent, bits)
            if found is not None:
                given[f"{name}'"] = found
                continue
            found = self._relation(f"{label} before", before[name], backward, exponent, None)
            if found is not None and name not in given:
                given[name] = found
        new = substitute(difference, {name: {(f"{name}'",): 1} for name in self.fields})
        change = combine(new, difference, -1)
        for _ in range(3):  # a relation may bring in names that have relations of their own
            change = substitute(change, given)
        return vanishes(change, exponent)

    def _relation(
        self, label: str, target: Bits, moment: Moment, exponent: int, bits: Sequence[int] | None
    ) -> Polynomial | None:
        """The target as a linear polynomial of the moment's numbers, proved."""

        def proves(guess: Polynomial) -> bool:
            if by_structure(target, guess, moment.numbers, exponent):
                return True
            if bits is not None and (law := by_law(moment, bits, guess, exponent)) is not None:
                self._laws[label] = law_document(self.algorithm.program, law)
                return True
            return by_solver(self.prover, label, moment.graph, target, guess, moment.numbers, exponent)

        found = relation(target, moment.numbers, moment.graph, exponent, proves)
        if found is not None:
            self._relations[label] = {" ".join(names): value for names, value in found.items()}
        return found

    # The number of rounds is bounded, and then nothing changes any more.

    def _bound(self, first: RoundPath, ways: Sequence[RoundPath]) -> tuple[str, int]:
        """A word that is 0 after as many rounds as it has bits, within the steps of the run."""
        assert self.algorithm.steps is not None
        longest = max(way.steps for way in ways)
        for name, bits in self.fields.items():
            if first.steps + len(bits) * longest > self.algorithm.steps:
                continue
            for order in (bits, bits[::-1]):
                if all(self._moves_down(way, order) for way in ways):
                    self.found["measure"] = {"word": name, "down": order is bits}
                    return name, len(bits)
        raise UndecidedError("no word was shown to run empty before the run is over")

    def _moves_down(self, way: RoundPath, order: Sequence[int]) -> bool:
        """Whether a bit of the word is on after a round only if a later one was on before."""
        later = {FALSE}
        for bit in reversed(order):
            if way.states[-1][bit] not in later and TRUE not in later:
                return False
            later.add(way.states[0][bit])
        return True

    def _rest(self, measure: str) -> None:
        """From cut states in which the word is 0, every step keeps all outputs."""
        empty = dict.fromkeys(self.fields[measure], 0)
        for way in paths(self.algorithm, self.cut, {**self._cut_state(), **empty}):
            first, outputs = way.states[0], self.algorithm.output_bits.tolist()
            goals = [way.graph.differ(state[bit], first[bit]) ^ 1 for state in way.states for bit in outputs]
            if any(goal != TRUE for goal in goals):
                raise UndecidedError(f"the outputs may change after {measure} is 0")

    # What is ensured follows.

    def _conclude(self, line: EnsureLine, equations: Sequence[Equation], measure: str) -> None:
        """An `ensure` line follows from an invariant with the empty word, if both are the same equation."""
        words = {word.name: word for word in (*self.algorithm.inputs, *self.algorithm.outputs)}
        if any(word.signed for word in words.values()):
            raise UndecidedError("cut points take unsigned words only")
        of = {name: (0, (1 << len(word.bits)) - 1) for name, word in words.items()}
        of |= {f"in.{word.name}": (0, (1 << len(word.bits)) - 1) for word in self.algorithm.inputs}
        wanted = stronger_equation(line, of)
        if wanted is None or wanted.exponent is None:
            raise UndecidedError(f"'{line}' is no equation of polynomials")
        difference = substitute(
            wanted.difference,
            self._outputs(wanted.exponent)
            | inputs_by_name(self.algorithm, (word.name for word in self.algorithm.outputs)),
        )
        for equation in equations:
            assert equation.exponent is not None
            left = substitute(equation.difference, {measure: {}})
            if equation.exponent >= wanted.exponent and any(
                vanishes(combine(difference, left, sign), wanted.exponent) for sign in (1, -1)
            ):
                return
        raise UndecidedError(f"'{line}' was not shown to follow from the invariants where {measure} is 0")

    def _outputs(self, exponent: int) -> dict[str, Polynomial]:
        """The outputs as linear polynomials of the words in a cut state; `out.NAME` where there is none."""
        graph = AndGraph()
        state = [graph.input() for _ in range(self.algorithm.program.bits)]
        fields = {name: [state[bit] for bit in bits] for name, bits in self.fields.items()}
        found: dict[str, Polynomial] = {}
        for word in self.algorithm.outputs:
            target = [state[bit] for bit in word.bits]
            related = relation(
                target, fields, graph, exponent, partial(by_structure, target, words=fields, exponent=exponent)
            )
            found[word.name] = {(f"out.{word.name}",): 1} if related is None else related
        return found
