"""Proves a loop with `invariant at BIT: ...` lines at every size.

Every round starts in a cut state, in which only this bit and a few words are on. The proof has five parts, each for all
sizes at once:

1. Entry: a run starts in a cut state, in which the invariants hold.
2. Rounds: from any words, every path leads to a cut state again. It consists of steps between shapes of arrays
   (`shapes.py`) and phases as long as an array (`phases.py`), in which closure proves what parts of the text compute.
3. Invariants: a round changes the words linearly; algebra (`algebra.py`) shows that it preserves the invariants, and
   that some paths are never taken.
4. Bound: a word loses a bit in every round, which makes it 0 after as many rounds as it has bits. The run is long
   enough for them.
5. Rest: from then on, no step changes an output, and the invariants imply the `ensure` lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bitwright.common.errors import BitwrightError, counted
from bitwright.proofs.function.affine import (
    Growth,
    IndexForm,
    NoChainError,
    SizeReader,
    affine_growth,
    growth_of,
    never_negative,
    reach,
)
from bitwright.proofs.function.algebra import (
    POWER,
    ZERO,
    Fact,
    Values,
    atoms_of,
    contradictory,
    follow,
    implied,
    room,
    undivided,
)
from bitwright.proofs.function.chain import MAX_MARGIN, size_of
from bitwright.proofs.function.phases import Path, check_ranges, found_wait, holds
from bitwright.proofs.function.shapes import FIRST, OFF, ON, AtSize, NoShapeError, SplitError, State
from bitwright.proofs.sizes import CoveredSizes
from bitwright.proofs.unrolling.polynomials import (
    NoPolynomialError,
    Polynomial,
    combine,
    inputs_by_name,
    substitute,
)
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Expression, names_in
from bitwright.rules.text import RuleText, syntax

FORMAT = "bitwright function by rounds 2"
SEEN = 6  # the size at which paths are found, before they are checked at every size
MOST_STEPS, MOST_PATHS = 24, 16
Proves = Callable[[str, Mapping[str, int]], Any]  # returns the FunctionProof for a text with these numbers


class RoundsProof:
    """A proof at every size using the invariants at one bit; raises NoChainError or NoShapeError if it fails."""

    def __init__(self, rules: RuleText, algorithm: Algorithm, lets: Mapping[str, int], proves: Proves) -> None:
        self.algorithm, self.proves, self.rules = algorithm, proves, rules
        self.inside: dict[str, Any] = {}  # proofs of the texts of busy arrays
        cuts = [line for line in algorithm.invariants if line.at is not None]
        self.lines = [line for line in cuts if line.at == cuts[0].at]
        at = self.lines[0].at if self.lines else None
        if at is None or at.index is not None:
            raise NoShapeError("the bit of 'invariant at' must not have an index")
        self.cut = at.text
        if algorithm.halt is not None or algorithm.steps is None:
            raise NoShapeError("the program needs a steps line and must not have a halt line")
        numbers = {**rules.numbers, **lets}
        self.size = size_of(rules, numbers)
        self.numbers = {name: value for name, value in numbers.items() if name != self.size}
        self.reader = SizeReader(rules, self.size, self.numbers)
        ports = (syntax.PortLine, syntax.Cell, syntax.Ensure)
        lines = [item for item in rules.tree.statements if not isinstance(item, ports)]
        for item in lines:
            check_ranges(item)
        margin = reach(self.reader, lines).margin
        if margin > MAX_MARGIN:
            raise NoShapeError(f"indices must be at most {MAX_MARGIN} bits from an end or a position, got {margin}")
        top = 4 * margin + 8
        self.lengths = {
            array: affine_growth(self.reader.form(extents[0], {})) if extents else Growth([1])
            for array, extents in rules.extents.items()
        }
        (count,) = (item.value for item in rules.each(syntax.Count) if item.token.text == "steps")
        sizes = range(self.reader.first(), top + 1)
        programs = {size: rules.at_or_none({**lets, self.size: size}) for size in sizes}
        self.sizes = {size: program for size, program in programs.items() if program is not None}
        if top not in self.sizes or SEEN not in self.sizes:
            raise NoShapeError(f"the text must be a program at {self.size} = {SEEN} and at {self.size} = {top}")
        self.least = min(self.sizes)
        self.about = CoveredSizes({self.size: self.least}, rules.fixed(self.numbers))
        self.total = growth_of(self.reader, count)  # the steps of a run
        named = {name.text for line in self.lines for name in names_in(line.truth) if not name.entered}
        self.words = [array for array in self.lengths if array in named]
        self.cut_state: State = {
            array: ("word", array) if array in self.words else ON if array == self.cut else OFF
            for array in self.lengths
        }
        self.unary: set[str] = set()  # words whose bits are on up to some position and off above it

    def prove(self) -> str:
        """Proves all `ensure` lines and returns the method."""
        self.ports = self._ports()
        entered = self._entry()
        outputs = {word.name: self.ports[word.name][0] for word in self.algorithm.outputs}
        arrays: Values = {name: {(array,): 1} for name, array in outputs.items()}
        for name, array in outputs.items():
            if self.ports[name][1] != self.lengths[array]:
                raise NoShapeError(f"the output {name} must be an entire array")
        plain = [line for line in self.algorithm.conditions if not {"%", "//"} & {*str(line).split()}]
        conditions = [atom for line in plain for atom in self._atoms(line, {}, needed=False)]
        invariants = [(line, atom) for line in self.lines for atom in self._atoms(line, self.words)]
        ensured = [(line, atom.put(arrays)) for line in self.algorithm.ensures for atom in self._atoms(line, outputs)]
        assumed = [*self._sizes(), *conditions]
        for line, atom in invariants:
            if not self._true(atom.put(entered), assumed):
                raise NoShapeError(f"could not prove the invariant '{line}' at the start of a run")
        self.possible = paths = self._paths(self.cut_state)
        for way in paths:
            self._check(way)
            self.unary = {word for word in self.unary if way.states[-1][word] in (("down", word), ("word", word), OFF)}
        exact = [atom for _, atom in invariants]
        while True:
            known = [*assumed, *exact]
            self.same = _inputs_among(exact)
            ways, kept = self._kept(paths, invariants, known)
            if not ways:
                raise NoShapeError("the invariants contradict every path of a round")
            if all(not loose for atom, loose in kept if atom in exact):
                break
            exact = [atom for atom, loose in kept if not loose]  # the others hold only modulo powers of two
        equations = [(atom.value, self._least(loose)) for atom, loose in kept if atom.sign == "=="]
        self.measure = measure = self._bound(ways)
        self._rest(measure, known)
        ends = {**self.same, measure: ZERO}
        last = [atom.put(ends) for atom in known]
        for line, atom in ensured:
            if not self._concluded(atom.put(ends), last) and not (
                atom.sign == "==" and any(self._follows(atom.value, *one) for one in equations)
            ):
                raise NoShapeError(f"could not derive '{line}' from the invariants and {measure} = 0; add an invariant")
            last.append(atom.put(ends))
        methods = sorted({proof.method for proof in self.inside.values()})
        return "; ".join([*methods, f"cut at {self.cut}, {counted(len(ways), 'path')}"])

    # Lines as polynomials.

    def _atoms(self, line: EnsureLine, taken: Mapping[str, str] | list[str], needed: bool = True) -> list[Fact]:
        """Returns a line as facts, with inputs as `in.NAME`.

        If it has no such form, returns an empty list, or raises NoShapeError if it is `needed`.
        """
        names = inputs_by_name(self.algorithm, taken)
        known = {*taken, *(f"in.{word.name}" for word in self.algorithm.inputs), POWER}
        try:
            atoms = [atom.put(names) for atom in atoms_of(line.truth, self._power)]
        except NoPolynomialError:
            atoms = []
        others = {name for atom in atoms for monomial in atom.value for name in monomial} - known
        if needed and (line.ranges or not atoms or others):
            raise NoShapeError(f"'{line}' must be an equation, inequality or congruence between words and inputs")
        return [] if line.ranges or others else atoms

    def _power(self, exponent: Expression) -> Polynomial | None:
        """Returns 2^(a*l + b) if a and b are not negative, otherwise None."""
        try:
            form = self.reader.form(exponent, {})
        except NoChainError:
            return None
        plain = not form.index and form.size >= 0 <= form.constant
        return {(POWER,) * form.size: 1 << form.constant} if plain else None

    def _sizes(self) -> Iterator[Fact]:
        """Yields the bounds on words and inputs that follow from their lengths."""
        yield Fact(">=", {(POWER,): 1 << max(0, -self.least), (): -(1 << max(0, self.least))})
        for name in (*self.words, *(f"in.{word.name}" for word in self.algorithm.inputs)):
            length = self._length_of(name)
            if length is not None:
                yield Fact(">=", room({(name,): 1}, length))

    def _true(self, atom: Fact, facts: list[Fact]) -> bool:
        """Whether an atom can be derived from facts."""
        if atom.sign == "%":
            return bool(atom.modulus) and not undivided(atom.value, atom.modulus)
        signs = (1, -1) if atom.sign == "==" else (1,)
        return not atom.value or all(implied(facts, combine(ZERO, atom.value, sign)) for sign in signs)

    def _concluded(self, atom: Fact, facts: list[Fact]) -> bool:
        """Whether an atom can be derived from facts, possibly after adding or subtracting one of them."""
        if self._true(atom, facts):
            return True
        likely = [fact.value for fact in facts if atom.sign != ">=" and fact.sign == "=="]
        likely += [fact.value for fact in facts if fact.sign == atom.sign == "%" and fact.modulus == atom.modulus]
        return any(
            self._true(replace(atom, value=combine(atom.value, value, sign)), facts)
            for value in likely
            for sign in (1, -1)
        )

    # The start of a run.

    def _entry(self) -> dict[str, Polynomial]:
        """Returns the initial values of the words in terms of the inputs."""
        values: dict[str, Polynomial] = {word: {} for word in self.words}
        for name in (word.name for word in self.algorithm.inputs):
            array, _ = self.ports[name]
            if array not in self.words or values[array]:
                raise NoShapeError(f"the input {name} must be the lowest bits of a word that an invariant mentions")
            values[array] = {(f"in.{name}",): 1}
        if any(word.signed for word in (*self.algorithm.inputs, *self.algorithm.outputs)):
            raise NoShapeError("signed inputs and outputs are not supported for loops")
        fields = {item.name: item.bits().tolist() for item in self.sizes[SEEN].program.layout.fields}
        started = set(self.sizes[SEEN].start)
        ones = {word for word in self.words if not values[word] and set(fields[word]) <= started}
        values |= {word: room(ZERO, self.lengths[word]) for word in ones}
        first = {word for word in self.words if fields[word][0] in started} - ones
        values |= {word: {(): 1} for word in first if not values[word]}
        self.unary = set(ones)
        for size, algorithm in self.sizes.items():  # besides these words, only the cut bit may be on
            layout = algorithm.program.layout
            starting = {layout.bit(self.cut), *(layout[word].bits().tolist()[0] for word in first)}
            if set(algorithm.start) != starting.union(*(layout[word].bits().tolist() for word in ones)):
                raise NoShapeError(f"bits other than {self.cut} are on at the start of a run, at {self.size} = {size}")
        return values

    def _ports(self) -> dict[str, tuple[str, Growth]]:
        """Returns for each input and output the array whose lowest bits it consists of, and their number."""
        ports: dict[str, tuple[str, Growth]] = {}
        for item in self.rules.each(syntax.PortLine):
            for member in item.members:
                name, array, parts = (item.name or member.token).text, member.token.text, member.parts
                if not parts:
                    ports.setdefault(name, (array, self.lengths[array]))
                elif len(parts) == 1 and parts[0].first is not None and parts[0].last is not None:
                    first, last = (self.reader.form(end, {}) for end in (parts[0].first, parts[0].last))
                    if first == IndexForm(0, 1, {}) and not last.index:
                        ports.setdefault(name, (array, affine_growth(last)))
        for size, algorithm in self.sizes.items():
            arrays = {item.name: item.bits().tolist() for item in algorithm.program.layout.fields}
            for word in (*algorithm.inputs, *algorithm.outputs):
                array, length = ports.get(word.name, ("", Growth([0])))
                if not array or list(word.bits) != arrays[array][: int(length(size))]:
                    raise NoShapeError(f"'{word.name}' is not the lowest bits of an array at {self.size} = {size}")
        return ports

    # The paths of a round, found at one size and checked at every size.

    def _paths(self, start: State) -> list[Path]:
        paths, ahead = [], [Path({})]
        while ahead:
            way = ahead.pop()
            try:
                paths.append(self._walked(replace(way, states=[start], waits={})))
            except SplitError as split:
                if split.bit in way.fixed:
                    raise NoShapeError("a path depends on bits other than the lowest and highest of a word") from None
                ahead += [Path({**way.fixed, split.bit: bit}) for bit in (1, 0)]
            if len(paths) + len(ahead) > MOST_PATHS:
                raise NoShapeError(f"a round has more than {MOST_PATHS} paths")
        return paths

    def _at(self, size: int, way: Path) -> AtSize:
        at = AtSize(self.sizes[size], way.fixed)
        for word in self.words:
            at.word(word, word)
        return at

    def _walked(self, way: Path) -> Path:
        at = self._at(SEEN, way)
        while True:
            state = way.states[-1]
            starting = (array for array, bits in at.arrays.items() if state[array] == FIRST and len(bits) > 1)
            timer = next((array for array in starting if self.lengths[array][1] > 0), None)
            if timer is not None:
                wait = found_wait(at, state, timer, self.rules.tree, 1 + len(way.waits))
                for array in wait.busy:
                    if wait.after[array] != OFF:
                        at.word(wait.after[array][1], array)
                way.waits[len(way.states) - 1] = wait
                way.states.append(wait.after)
            else:
                way.states.append(at.recognised(at.step(state), at.arrays))
            if way.states[-1][self.cut] == ON:
                return way
            if len(way.states) > MOST_STEPS:
                raise NoShapeError(f"a round has more than {MOST_STEPS} steps and phases")

    def _check(self, way: Path) -> None:
        """Checks a path at every size, and proves what its phases compute."""
        last = way.states[-1]
        for array, shape in last.items():
            if array not in self.words and shape != self.cut_state[array]:
                raise NoShapeError(f"at the end of a round {array} must be {self.cut_state[array][0]}, got {shape[0]}")
        for wait in way.waits.values():
            for busy, text in wait.parts:
                if text not in self.inside:
                    try:
                        self.inside[text] = self.proves(text, self.numbers_of(text))
                    except BitwrightError as error:  # such as an array that nothing writes
                        raise NoShapeError(
                            f"the rules restricted to {', '.join(busy)} are not a program: {error}"
                        ) from None
                sizes = self.inside[text].sizes
                if sizes is None or {**self.numbers_of(text), self.size: self.least} not in sizes:
                    raise NoShapeError(f"could not prove the values of {', '.join(busy)} while {wait.timer} runs")
        for size in self.sizes:
            at = self._at(size, way)
            for number, (before, after) in enumerate(zip(way.states, way.states[1:], strict=False)):
                phase = way.waits.get(number)
                if phase is None:
                    arrays = at.step(before)
                    right = all(arrays[array] == at.bits(array, after[array]) for array in at.arrays)
                else:
                    texts = [text for _, text in phase.parts]
                    parts = [RuleText.of(text).at({**self.numbers_of(text), self.size: size}) for text in texts]
                    right = holds(at, before, phase, parts)
                    for array in phase.busy:
                        if phase.after[array] != OFF:
                            at.word(phase.after[array][1], array)
                if not right:
                    raise NoShapeError(f"a round at {self.size} = {size} differs from that at {self.size} = {SEEN}")

    def numbers_of(self, text: str) -> dict[str, int]:
        """Returns the numbers other than the size that occur in the text of a part."""
        return {name: value for name, value in self.numbers.items() if name in RuleText.of(text).numbers}

    def _steps(self, way: Path) -> Growth:
        waits = (self.lengths[wait.timer] for wait in way.waits.values())
        return sum(waits, Growth([len(way.states) - 1 - len(way.waits)]))

    # The effect of rounds on words.

    def _kept(
        self, paths: list[Path], invariants: list[tuple[EnsureLine, Fact]], known: list[Fact]
    ) -> tuple[list[Path], list[tuple[Fact, list[Growth]]]]:
        """Returns the possible paths, given facts about cut states, and the powers modulo which they keep each atom."""
        ways, loose = [], [list[Growth]() for _ in invariants]
        for way in paths:
            followed = follow(way, self.lengths, self.words, self.same, known, self.unary)
            if contradictory(followed.facts):
                continue
            ways.append(way)
            for (line, atom), exponents in zip(invariants, loose, strict=True):
                if (more := followed.kept(atom)) is None:
                    raise NoShapeError(f"could not prove that a round keeps the invariant '{line}'; add an invariant")
                exponents += more
        return ways, [(atom, exponents) for (_, atom), exponents in zip(invariants, loose, strict=True)]

    def _least(self, exponents: list[Growth]) -> Growth:
        """Returns the exponent that is smallest at every size; 0 means that there is no modulus."""
        if not exponents:
            return Growth([0])
        for exponent in exponents:
            if all(never_negative(other - exponent, self.least) for other in exponents):
                return exponent
        raise NoShapeError("which word is the shortest must not depend on the size")

    # The number of rounds, and the states after them.

    def _bound(self, ways: list[Path]) -> str:
        """Returns a word that is 0 after as many rounds as it has bits, within the steps of a run."""
        for word in self.words:
            moves = {way.states[-1][word] for way in ways}
            if not any(moves <= {(form, word), OFF} for form in ("down", "up")):
                continue
            if all(never_negative(self.total - self.lengths[word] * self._steps(way), self.least) for way in ways):
                return word
        raise NoShapeError("no word loses a bit in every round and is 0 before the run ends; check the steps line")

    def _rest(self, measure: str, known: list[Fact]) -> None:
        """Checks that in every run from a cut state in which the word is 0, the word and all outputs stay the same."""
        arrays = [self.ports[word.name][0] for word in self.algorithm.outputs]
        self.resting = self._paths({**self.cut_state, measure: OFF})
        for way in self.resting:
            self._check(way)
            if way.states[-1][measure] != OFF:
                raise NoShapeError(f"{measure} may change after it is 0")
            if contradictory(follow(way, self.lengths, self.words, self.same, known, self.unary).facts):
                continue
            busy = {array for wait in way.waits.values() for array in wait.busy}
            if busy & {*arrays} or any(state[array] != ("word", array) for state in way.states for array in arrays):
                raise NoShapeError(f"the outputs may change after {measure} is 0")

    def _follows(self, stated: Polynomial, difference: Polynomial, exponent: Growth) -> bool:
        """Whether a line is an equation modulo 2^exponent, with the measure 0, whose sides differ by less than that."""
        remaining = substitute(difference, {self.measure: ZERO})
        same = any(not combine(stated, remaining, sign) for sign in (1, -1))
        return same and (not exponent or self._small(stated, exponent))

    def _length_of(self, name: str) -> Growth | None:
        """Returns the length of an array or of the input `in.NAME`, or None."""
        return self.ports[name[3:]][1] if name.startswith("in.") else self.lengths.get(name)

    def _small(self, difference: Polynomial, exponent: Growth) -> bool:
        """Whether a difference is between -2^exponent and 2^exponent, and therefore 0 if it is 0 modulo 2^exponent."""
        lengths = {name: self._length_of(name) for names in difference for name in names}
        if any(length is None or int(length[0]) < 0 for length in (exponent, *lengths.values())):
            return False
        tops = {name: room(ZERO, length) for name, length in lengths.items() if length is not None}
        sizes = [next(self._sizes())]
        sides = ({names: abs(f) for names, f in difference.items() if f * sign > 0} for sign in (1, -1))
        return all(implied(sizes, room(substitute(side, tops), exponent)) for side in sides)

    def certificate(self) -> dict[str, Any]:
        """Returns the shapes on all paths and the certificates for their phases, for `sceptic/check_loop.py`."""
        proofs = list(self.inside)
        return {
            "format": FORMAT,
            "sizes": str(self.about),
            "cut": self.cut,
            "words": self.words,
            "measure": self.measure,
            "paths": [way.document(proofs) for way in self.possible],
            "rest": [way.document(proofs) for way in self.resting],
            "phases": [proof.certificate for proof in self.inside.values()],
        }


def _inputs_among(atoms: list[Fact]) -> Values:
    """Returns the words that equal inputs by these equations."""
    inputs: dict[str, Polynomial] = {}
    for atom in atoms:
        names = [monomial[0] for monomial in atom.value if len(monomial) == 1]
        if atom.sign == "==" and len(names) == len(atom.value) == 2 and sum(atom.value.values()) == 0:
            word, entered = sorted(names, key=lambda name: name.startswith("in."))
            if entered.startswith("in.") and not word.startswith("in.") and abs(atom.value[entered,]) == 1:
                inputs.setdefault(word, {(entered,): 1})
    return inputs
