"""`prove_function`: an `ensure` line proved for numbers of every length, refuted by an input, or not decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Any, Literal, NamedTuple

from bitwright.common.errors import InputError
from bitwright.proofs.claims import Claim
from bitwright.proofs.function.affine import NoChainError
from bitwright.proofs.function.certificate import certificate
from bitwright.proofs.function.chain import FIRST, LAST, SHORTEST, ChainProgram, read_chain
from bitwright.proofs.function.closure import Invariant, Search, TooLargeError
from bitwright.proofs.function.ending import violation
from bitwright.proofs.function.laws import Law, conserved
from bitwright.proofs.function.machine import ChainMachine, Clock, Letter
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import NoShapeError
from bitwright.proofs.function.specification import Specification
from bitwright.proofs.sizes import CoveredSizes
from bitwright.proofs.trials import LATE, NONE_ALLOWED, Inputs, all_inputs, random_inputs, wrong_input
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.ensures import joined
from bitwright.rules.text import RuleText, parse

Verdict = Literal["proved", "refuted", "not decided", "not stated"]
MOST_INPUTS = 1 << 14  # that are run at one size
MOST_STATES = 60_000  # of a search, and windows
MOST_WORK = 1_000_000  # states of all searches together
RUNS, LENGTHS = 150, (5, 6, 7, 8, 9)  # random runs, from which laws and first windows are taken
LANES = 256
RANDOM_SIZES = (5, 6, 7, 8, 11, 16)
_REMEMBERED = 32  # proofs that one process keeps; the text and its size decide all of a proof
_PROVED: dict[tuple[object, ...], FunctionProof] = {}


@dataclass(frozen=True)
class FunctionProof:
    """The verdict on the `ensure` lines of a program. `tried` says what was not enough, where it is not decided."""

    verdict: Verdict
    lines: tuple[str, ...]  # the `ensure` lines
    sizes: CoveredSizes | None = None  # for which it is proved
    method: str = ""
    counterexample: dict[str, Any] | None = None
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    tried: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        return self.verdict == "proved"

    def __bool__(self) -> bool:
        return self.proved

    def sentence(self) -> str:
        if self.verdict == "proved":
            return f"proved at {self.sizes.words if self.sizes else 'no size'} ({self.method})"
        if self.counterexample is not None:
            given = " ".join(f"{name}={value}" for name, value in self.counterexample["inputs"].items())
            size = " ".join(f"{name}={value}" for name, value in self.counterexample["lets"].items())
            return f"refuted: {self.counterexample['why']} for {given}{f' at {size}' if size else ''}"
        if self.verdict == "not stated":
            return "not stated: the program has no ensure line"
        return f"not decided: {joined(self.lines)} ({'; '.join(self.tried)})"

    def claim(self) -> Claim:
        """The proof as a link of a chain of claims."""
        sizes = "" if self.sizes is None else str(self.sizes)
        return Claim("function", self.verdict, sizes, self.method, self.sentence(), self.counterexample)


def prove_function(
    program: Algorithm | str,
    *,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
) -> FunctionProof:
    """Proves what the `ensure` lines of a program say, for numbers of every length.

    Give rule text, or an algorithm that was read from some.

    >>> text = '''
    ... let l = 4
    ... bits x[l] y[l]
    ... block x[i] for i in 1..l
    ... block y[i] for i in 1..l
    ... when x[i]=1 write y[i] for i in 1..l
    ... input x
    ... output y
    ... steps 1
    ... ensure y == x
    ... '''
    >>> prove_function(text).verdict
    'proved'
    >>> prove_function(text.replace("y == x", "y == x + 1")).counterexample["inputs"]
    {'x': 0}
    """
    rules, algorithm, lets = _given(program, name, lets)
    if not algorithm.ensures:
        return FunctionProof("not stated", (), method="no ensure line")
    if rules is None:
        return _prove(None, algorithm, lets)
    key = (rules.text, algorithm.name, tuple(sorted(lets.items())))
    if key not in _PROVED:
        while len(_PROVED) >= _REMEMBERED:
            del _PROVED[next(iter(_PROVED))]
        _PROVED[key] = _prove(rules, algorithm, lets)
    return replace(_PROVED[key], certificate=deepcopy(_PROVED[key].certificate))


def _prove(rules: RuleText | None, algorithm: Algorithm, lets: Mapping[str, int]) -> FunctionProof:
    lines = tuple(map(str, algorithm.claims))

    def undecided(*tried: str) -> FunctionProof:
        return FunctionProof("not decided", lines, tried=tried)

    def refuted(wrong: dict[str, Any]) -> FunctionProof:
        return FunctionProof("refuted", lines, method="an input", counterexample=wrong)

    at = _Sizes(rules, algorithm, lets)
    try:
        if (wrong := at.wrong_random()) is not None:
            return refuted(wrong)
    except NoChainError as error:
        return undecided(str(error))
    if not at.allowed:
        return undecided(NONE_ALLOWED)
    if rules is None:
        sized = algorithm.sizing is not None and algorithm.sizing.text is not None
        return undecided("the program is not what its rule text says" if sized else "the program has no size to choose")
    try:
        chain = read_chain(rules, lets)
        specs = [Specification(chain, line) for line in algorithm.claims]
        short, wrong = at.short(chain)
        sizes = CoveredSizes({chain.size: min([*short, *chain.sizes])}, chain.fixed)
    except NoChainError as error:
        return _without_a_chain(rules, algorithm, lets, lines, f"no chain: {error}")
    if wrong is not None:
        return refuted(wrong)
    tried: list[str] = []
    work = 0
    for setting in _settings(chain, specs):
        if work > MOST_WORK:
            tried.append(f"given up after {work:,} states")
            break
        done = setting.prove(chain, specs)
        work += done.search.spent
        if done.why:
            tried.append(done.why)
            if (wrong := at.wrong_among(chain, done.chosen)) is not None:
                return refuted(wrong)
            continue
        method = f"{'laws, ' * bool(done.search.laws)}{done.invariant.size:,} windows"
        made = certificate(chain, algorithm, done.search, done.invariant, short, sizes, lets)
        return FunctionProof("proved", lines, sizes, method, certificate=made)
    return replace(undecided(*dict.fromkeys(tried)), method="closure")


def _given(
    program: Algorithm | str, name: str, lets: Mapping[str, int] | None
) -> tuple[RuleText | None, Algorithm, Mapping[str, int]]:
    """Rule text, the algorithm at its own size, and the numbers of that size."""
    if isinstance(program, str):
        return RuleText.of(program), parse(program, name, lets), dict(lets or {})
    if not isinstance(program, Algorithm):
        raise InputError(f"give rule text or an Algorithm, got a {type(program).__name__}")
    sizing = program.sizing
    if sizing is None or sizing.text is None:
        return None, program, {}
    rules = RuleText.of(sizing.text)
    own = dict(zip(rules.numbers, sizing.numbers.values(), strict=False))  # a shipped algorithm has one
    given = dict(sizing.numbers) if set(sizing.numbers) & set(own) else own
    written = rules.at(given, program.name)
    theirs, ours = ([(str(line), line.line()) for line in one.ensures] for one in (written, program))  # with numbers
    if not written.same_as(program) or theirs != ours:
        return None, program, {}  # the rules at this size, or what they should do, are not those of the text
    return rules, written, given


def _without_a_chain(
    rules: RuleText, algorithm: Algorithm, lets: Mapping[str, int], lines: tuple[str, ...], why: str
) -> FunctionProof:
    """Proves a loop with invariants at a bit, by closure in each of its phases."""
    if not any(line.at is not None for line in algorithm.invariants):
        return FunctionProof("not decided", lines, tried=(why,))

    def proves(part: str, numbers: Mapping[str, int]) -> FunctionProof:
        return prove_function(part, name=f"a part of {algorithm.name}", lets=numbers)

    try:
        proof = RoundsProof(rules, algorithm, lets, proves)
        method = proof.prove()
        return FunctionProof("proved", lines, proof.about, method, certificate=proof.certificate())
    except (NoChainError, NoShapeError) as error:
        return FunctionProof("not decided", lines, tried=(why, f"no rounds: {error}"))


class _Sizes:
    """Runs of the program at its own size and at others."""

    def __init__(self, rules: RuleText | None, algorithm: Algorithm, lets: Mapping[str, int]) -> None:
        self.rules, self.own, self.lets = rules, algorithm, dict(lets)
        self.size = next(iter(rules.numbers), "") if rules else ""
        self.allowed = False  # whether an input satisfied the `where` lines so far

    def at(self, size: int) -> Algorithm | None:
        return self.rules.at_or_none({**self.lets, self.size: size}) if self.rules and self.size else None

    def wrong_random(self) -> dict[str, Any] | None:
        """A wrong run among random inputs and those of few digits."""
        random = Random(1)
        for size in (None, 1, 2, 3, *RANDOM_SIZES):
            algorithm = self.own if size is None else self.at(size)
            if algorithm is None or (algorithm.steps or 0) * algorithm.program.templates > 200_000:
                continue
            if len(algorithm.input_bits) <= 8:
                inputs = list(all_inputs(algorithm))
            else:
                rows = max(sum(1 for _ in line.rows()) for line in algorithm.ensures)  # of `for i in 1..l`
                inputs = random_inputs(algorithm, max(4, min(LANES, 2 * LANES // max(1, rows))), random)
            self.allowed = self.allowed or any(map(algorithm.allows, inputs))
            if (found := self._wrong(algorithm, size, inputs)) is not None:
                return found
        return None

    def short(self, chain: ChainProgram) -> tuple[list[int], dict[str, Any] | None]:
        """All inputs of all sizes too short for the classes: those sizes, and a wrong run among them."""
        self.size, sizes, size = chain.size, list[int](), chain.first
        while chain.length(size) < SHORTEST:
            if (algorithm := self.at(size)) is not None:
                if len(algorithm.input_bits) > MOST_INPUTS.bit_length() - 1:
                    raise NoChainError(f"more than {MOST_INPUTS:,} inputs at {self.size} = {size}")
                if (found := self._wrong(algorithm, size, list(all_inputs(algorithm)))) is not None:
                    return sizes, found
                sizes.append(size)
            size += 1
        return sizes, None

    def wrong_among(self, chain: ChainProgram, chosen: Sequence[int]) -> dict[str, Any] | None:
        """Whether the inputs of a suspicious word are a wrong run."""
        size, rest = divmod(len(chosen) - chain.extra, chain.unit)
        algorithm = None if rest or not chosen else self.at(size)
        if algorithm is None:
            return None
        values: Inputs = {}
        for word in algorithm.inputs:
            weights = chain.inputs[word.name]
            if weights.first is None or weights.track is None:
                return None
            bits = [chosen[weights.first + k] >> weights.track & 1 for k in range(len(word.bits))]
            values[word.name] = sum(bit << k for k, bit in enumerate(bits)) - (word.signed * bits[-1] << len(bits))
        return self._wrong(algorithm, size, [values])

    def _wrong(self, algorithm: Algorithm, size: int | None, inputs: list[Inputs]) -> dict[str, Any] | None:
        most = 4 * algorithm.program.bits + 16 if algorithm.steps is None else algorithm.steps
        found = wrong_input(algorithm, inputs, most)
        if found is None:
            return None
        if found[1] == LATE and algorithm.steps is None:  # it may end later
            raise NoChainError(f"a run takes more than {most:,} steps")
        numbers = {
            **(self.own.sizing.numbers if self.own.sizing else {}),
            **({} if size is None else {self.size: size}),
        }
        return {"inputs": found[0], "lets": numbers, "why": found[1]}


class _Done(NamedTuple):
    search: Search
    invariant: Invariant
    why: str = ""
    chosen: Sequence[int] = ()


@dataclass(frozen=True)
class _Setting:
    """One way to try: a clock, whether inputs belong to the windows, and which terms become laws."""

    clock: Clock
    ghosts: bool
    terms: tuple[Law, ...]
    modular: bool = False  # whether laws may hold modulo 2^positions alone

    def prove(self, chain: ChainProgram, specs: Sequence[Specification]) -> _Done:
        machine = ChainMachine(chain, self.clock, self.ghosts)
        runs = list(_runs(machine))
        seen = {(letter[0], letter[3]) for _, states in runs for _, word in states[:-1] for letter in word}
        laws = [*conserved(chain, seen, self.modular), *self.terms]
        search = Search(machine, laws, MOST_STATES)
        invariant = Invariant()
        for chosen, states in runs:
            for state, word in states:
                invariant.add(state, word, search.judged(word, chosen))
        if any(violation(search, invariant, spec) for spec in (None, *specs)):  # of states that runs do have: hopeless
            return _Done(search, invariant, "too coarse")
        try:
            search.close(invariant)
        except TooLargeError:
            return _Done(search, invariant, f"more than {MOST_STATES:,} states")
        for spec in (None, *specs):
            found = violation(search, invariant, spec)
            if found is not None:
                return _Done(search, invariant, found.why, found.chosen)
        return _Done(search, invariant)


def _runs(machine: ChainMachine) -> Iterator[tuple[list[int], list[tuple[int, list[Letter]]]]]:
    """Random runs of short words: the inputs at each position, and all states."""
    random = Random(2)
    chain = machine.chain
    for run in range(RUNS):
        length = LENGTHS[run % len(LENGTHS)]
        kinds = [1, 2, *[3] * (length - 4), 4, 5]
        chosen = [random.getrandbits(len(chain.tracks)) & chain.classes[kind].free for kind in kinds]
        word = [machine.begin(kind, one) for kind, one in zip(kinds, chosen, strict=True)]
        state, states = machine.start_globals, []
        while True:
            states.append((state, word))
            if machine.globals_stop(state) or any(machine.stops[letter] for letter in word):
                break
            state, word = machine.step(state, word)
        yield chosen, states


def _settings(chain: ChainProgram, specs: Sequence[Specification]) -> Iterator[_Setting]:
    """What to try, the likeliest first."""
    terms = _terms(chain, specs)
    for laws, modular in [(terms, False), *([((), False)] if terms else []), (terms, True)]:
        for clock in _clocks(chain):
            for ghosts in (False, True):
                yield _Setting(clock, ghosts, laws, modular)


def _clocks(chain: ChainProgram) -> Iterator[Clock]:
    """Clocks that fit the number of steps: fixed, one sweep up or down, several sweeps."""
    if chain.steps is not None:
        found = list(_with_steps(*chain.steps))
        below = chain.classes[LAST].start and not chain.classes[FIRST].start  # the run starts at the top
        yield from sorted(found, key=lambda clock: bool(clock.sweeps) and clock.sweeps[0][0] == bool(below))
        return
    for steps in range(1, 9):
        yield Clock(fixed=steps)
    for rate in (1, 2, 3):
        for extra in (0, 1, 2):
            yield from _with_steps(rate, extra)


def _with_steps(rate: int, extra: int) -> Iterator[Clock]:
    if rate == 0:
        yield Clock(fixed=extra)
        return
    for split in _splits(rate):
        for up in (True, False):
            sweeps = tuple((up == (number % 2 == 0), part) for number, part in enumerate(split))
            if -extra <= split[-1]:
                yield Clock(sweeps, max(0, extra), max(0, -extra))


def _splits(rate: int) -> Iterator[tuple[int, ...]]:
    """All ways to divide the steps at a position among up to three sweeps, few sweeps first."""
    for sweeps in (1, 2, 3):
        for way in product(range(rate, 0, -1), repeat=sweeps - 1):
            if sum(way) < rate:
                yield (*way, rate - sum(way))


def _terms(chain: ChainProgram, specs: Sequence[Specification]) -> tuple[Law, ...]:
    """Terms of inputs alone that an `ensure` compares, as laws: a - b of a < b."""
    found: dict[Law, None] = {}
    width = len(chain.tracks)
    for spec in specs:
        for form in spec.sums:
            weights: dict[int, Any] = {}
            for (_, track), weight in form.inputs.items():
                weights.setdefault(track, weight)
            uniform = all(weights[track] == weight for (_, track), weight in form.inputs.items())
            plain = not form.tracks and not form.guesses and not form.low
            if weights and uniform and plain and all(spec.above(e) >= 0 for e in form.powers):
                power = sum(factor << spec.above(e) for e, factor in form.powers.items())
                inputs = tuple(int(weights.get(track, 0) * 2**spec.base) for track in range(width))
                found[Law((0,) * width, inputs, form.constant << spec.base, power)] = None
    return tuple(found)
