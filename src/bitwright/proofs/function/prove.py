"""Proves the `ensure` lines of a program for numbers of every length, or refutes them with an input."""

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
from bitwright.proofs.function.specification import Specification
from bitwright.proofs.sizes import CoveredSizes
from bitwright.proofs.trials import LATE, NONE_ALLOWED, Inputs, all_inputs, random_inputs, wrong_input
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.ensures import joined
from bitwright.rules.text import RuleText, parse

Verdict = Literal["proved", "refuted", "not decided", "not stated"]
MOST_INPUTS = 1 << 14  # inputs to run at one size
MOST_STATES = 60_000  # in one search; also the most windows
MOST_WORK = 1_000_000  # states in all searches together
RUNS, LENGTHS = 150, (5, 6, 7, 8, 9)  # random runs that suggest laws and initial windows
LANES = 256
RANDOM_SIZES = (5, 6, 7, 8, 11, 16)
_REMEMBERED = 32  # proofs that a process keeps; the text and its size determine a proof completely
_PROVED: dict[tuple[object, ...], FunctionProof] = {}


@dataclass(frozen=True)
class FunctionProof:
    """The verdict on the `ensure` lines of a program; if it is `not decided`, `tried` lists the reasons."""

    verdict: Verdict
    lines: tuple[str, ...]  # the `ensure` lines
    sizes: CoveredSizes | None = None  # the sizes covered by the proof
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
        """Returns the verdict, with the method, the counterexample or the reasons."""
        if self.verdict == "proved":
            return f"proved at {self.sizes.words if self.sizes else 'no size'} ({self.method})"
        if self.counterexample is not None:
            inputs = " ".join(f"{name}={value}" for name, value in self.counterexample["inputs"].items())
            size = " ".join(f"{name}={value}" for name, value in self.counterexample["lets"].items())
            return f"refuted: {self.counterexample['why']} for {inputs}{f' at {size}' if size else ''}"
        if self.verdict == "not stated":
            return "not stated: the program has no ensure line"
        return f"not decided: {joined(self.lines)} ({'; '.join(self.tried)})"

    def claim(self) -> Claim:
        """Returns the verdict as a claim."""
        sizes = "" if self.sizes is None else str(self.sizes)
        return Claim("function", self.verdict, sizes, self.method, self.sentence(), self.counterexample)


def prove_function(
    program: Algorithm | str,
    *,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
) -> FunctionProof:
    """Proves or refutes the `ensure` lines of a program for numbers of every length.

    Args:
        program: rule text, or an algorithm that was parsed from rule text.
        name: the program's name, if `program` is rule text.
        lets: values that replace those of `let` lines, if `program` is rule text.

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
    rules, algorithm, lets = _text_of(program, name, lets)
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

    runs = _Sizes(rules, algorithm, lets)
    try:
        if (wrong := runs.wrong_random()) is not None:
            return refuted(wrong)
    except NoChainError as error:
        return undecided(str(error))
    if not runs.allowed:
        return undecided(NONE_ALLOWED)
    if rules is None:
        if algorithm.sizing is not None and algorithm.sizing.text is not None:
            return undecided("the program differs from its rule text; open the text again")
        return undecided("the program has no size; write it as rule text with a line such as 'let l = 8'")
    try:
        chain = read_chain(rules, lets)
        specs = [Specification(chain, line) for line in algorithm.claims]
        short, wrong = runs.short(chain)
        sizes = CoveredSizes({chain.size: min([*short, *chain.sizes])}, chain.fixed)
    except NoChainError as error:
        return _without_a_chain(rules, algorithm, lets, lines, f"no chain: {error}")
    if wrong is not None:
        return refuted(wrong)
    tried: list[str] = []
    work = 0
    for setting in _settings(chain, specs):
        if work > MOST_WORK:
            tried.append(f"the search stopped after {work:,} states")
            break
        done = setting.prove(chain, specs)
        work += done.search.spent
        if done.why:
            tried.append(done.why)
            if (wrong := runs.wrong_among(chain, done.chosen)) is not None:
                return refuted(wrong)
            continue
        method = f"{'laws, ' * bool(done.search.laws)}{done.invariant.size:,} windows"
        document = certificate(chain, algorithm, done.search, done.invariant, short, sizes, lets)
        return FunctionProof("proved", lines, sizes, method, certificate=document)
    return replace(undecided(*dict.fromkeys(tried)), method="closure")


def _text_of(
    program: Algorithm | str, name: str, lets: Mapping[str, int] | None
) -> tuple[RuleText | None, Algorithm, Mapping[str, int]]:
    """Returns the rule text of a program, the algorithm at its current size, and the values of its `let` lines.

    The text is None if the program has none, or if its rules or `ensure` lines differ from the text's.
    """
    if isinstance(program, str):
        return RuleText.of(program), parse(program, name, lets), dict(lets or {})
    if not isinstance(program, Algorithm):
        raise InputError(f"the program must be rule text or an Algorithm, got {type(program).__name__}")
    sizing = program.sizing
    if sizing is None or sizing.text is None:
        return None, program, {}
    rules = RuleText.of(sizing.text)
    by_position = dict(zip(rules.numbers, sizing.numbers.values(), strict=False))  # a shipped algorithm has one number
    numbers = dict(sizing.numbers) if set(sizing.numbers) & set(by_position) else by_position
    parsed = rules.at(numbers, program.name)
    lines = [[(str(line), line.line()) for line in algorithm.ensures] for algorithm in (parsed, program)]
    return (rules, parsed, numbers) if parsed.same_as(program) and lines[0] == lines[1] else (None, program, {})


def _without_a_chain(
    rules: RuleText, algorithm: Algorithm, lets: Mapping[str, int], lines: tuple[str, ...], why: str
) -> FunctionProof:
    """Proves a loop that has `invariant at BIT` lines, using closure in each of its phases."""
    if not any(line.at is not None for line in algorithm.invariants):
        return FunctionProof("not decided", lines, tried=(why,))

    from bitwright.proofs.function.rounds import RoundsProof
    from bitwright.proofs.function.shapes import NoShapeError

    def proves(part: str, numbers: Mapping[str, int]) -> FunctionProof:
        return prove_function(part, name=f"a part of {algorithm.name}", lets=numbers)

    try:
        proof = RoundsProof(rules, algorithm, lets, proves)
        method = proof.prove()
        return FunctionProof("proved", lines, proof.about, method, certificate=proof.certificate())
    except (NoChainError, NoShapeError) as error:
        return FunctionProof("not decided", lines, tried=(why, f"no proof by rounds: {error}"))


class _Sizes:
    """Runs the program at its current size and at others."""

    def __init__(self, rules: RuleText | None, algorithm: Algorithm, lets: Mapping[str, int]) -> None:
        self.rules, self.current, self.lets = rules, algorithm, dict(lets)
        self.size = next(iter(rules.numbers), "") if rules else ""
        self.allowed = False  # whether any input so far satisfied the `where` lines

    def at(self, size: int) -> Algorithm | None:
        """Returns the program at a size, or None if there is none."""
        return self.rules.at_or_none({**self.lets, self.size: size}) if self.rules and self.size else None

    def wrong_random(self) -> dict[str, Any] | None:
        """Returns a wrong run at the current size or a small one, or None; tries all inputs if there are few."""
        random = Random(1)
        for size in (None, 1, 2, 3, *RANDOM_SIZES):
            algorithm = self.current if size is None else self.at(size)
            if algorithm is None or (algorithm.steps or 0) * algorithm.program.templates > 200_000:
                continue
            if len(algorithm.input_bits) <= 8:
                inputs = list(all_inputs(algorithm))
            else:
                rows = max(sum(1 for _ in line.rows()) for line in algorithm.ensures)  # such as l for `for i in 1..l`
                inputs = random_inputs(algorithm, max(4, min(LANES, 2 * LANES // max(1, rows))), random)
            self.allowed = self.allowed or any(map(algorithm.allows, inputs))
            if (wrong := self._wrong(algorithm, size, inputs)) is not None:
                return wrong
        return None

    def short(self, chain: ChainProgram) -> tuple[list[int], dict[str, Any] | None]:
        """Runs all inputs at every size with too few positions for the five classes.

        Returns these sizes, and a wrong run or None.
        """
        self.size, sizes, size = chain.size, list[int](), chain.first
        while chain.length(size) < SHORTEST:
            if (algorithm := self.at(size)) is not None:
                if len(algorithm.input_bits) > MOST_INPUTS.bit_length() - 1:
                    raise NoChainError(f"at {self.size} = {size} there are more than {MOST_INPUTS:,} inputs to run")
                if (wrong := self._wrong(algorithm, size, list(all_inputs(algorithm)))) is not None:
                    return sizes, wrong
                sizes.append(size)
            size += 1
        return sizes, None

    def wrong_among(self, chain: ChainProgram, chosen: Sequence[int]) -> dict[str, Any] | None:
        """Returns the run with these inputs at each position if it is wrong, otherwise None."""
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
        wrong = wrong_input(algorithm, inputs, most)
        if wrong is None:
            return None
        if wrong[1] == LATE and algorithm.steps is None:  # it may end later
            raise NoChainError(f"a run takes more than {most:,} steps; add a steps line if all runs end")
        numbers = {
            **(self.current.sizing.numbers if self.current.sizing else {}),
            **({} if size is None else {self.size: size}),
        }
        return {"inputs": wrong[0], "lets": numbers, "why": wrong[1]}


class _Done(NamedTuple):
    search: Search
    invariant: Invariant
    why: str = ""
    chosen: Sequence[int] = ()


@dataclass(frozen=True)
class _Setting:
    """One attempt at a proof: a clock, whether windows include inputs, and which terms become laws."""

    clock: Clock
    ghosts: bool
    terms: tuple[Law, ...]
    modular: bool = False  # whether laws may hold only modulo 2^positions

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
        if any(violation(search, invariant, spec) for spec in (None, *specs)):  # fails for states of actual runs
            return _Done(search, invariant, "windows and laws are too coarse to imply the line")
        try:
            search.close(invariant)
        except TooLargeError:
            return _Done(search, invariant, f"the search needs more than {MOST_STATES:,} states")
        for spec in (None, *specs):
            found = violation(search, invariant, spec)
            if found is not None:
                return _Done(search, invariant, found.why, found.chosen)
        return _Done(search, invariant)


def _runs(machine: ChainMachine) -> Iterator[tuple[list[int], list[tuple[int, list[Letter]]]]]:
    """Yields random runs of short words, each as the inputs at all positions and its states."""
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
    """Yields the settings to try, the most promising first."""
    terms = _terms(chain, specs)
    for laws, modular in [(terms, False), *([((), False)] if terms else []), (terms, True)]:
        for clock in _clocks(chain):
            for ghosts in (False, True):
                yield _Setting(clock, ghosts, laws, modular)


def _clocks(chain: ChainProgram) -> Iterator[Clock]:
    """Yields the clocks that fit the number of steps: a fixed clock, one sweep up or down, or several sweeps."""
    if chain.steps is not None:
        downwards = bool(chain.classes[LAST].start and not chain.classes[FIRST].start)  # the run starts at the top
        clocks = _with_steps(*chain.steps)
        yield from sorted(clocks, key=lambda clock: bool(clock.sweeps) and clock.sweeps[0][0] == downwards)
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
    """Yields all ways to divide the steps at a position among up to three sweeps, fewest sweeps first."""
    for sweeps in (1, 2, 3):
        for way in product(range(rate, 0, -1), repeat=sweeps - 1):
            if sum(way) < rate:
                yield (*way, rate - sum(way))


def _terms(chain: ChainProgram, specs: Sequence[Specification]) -> tuple[Law, ...]:
    """Returns the terms that `ensure` lines compare and that contain only inputs, as laws: a - b for a < b."""
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
