"""`prove_function`: an `ensure` line proved for numbers of every length, refuted by an input, or not decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from bitwright.errors import BitwrightError, InputError
from bitwright.program.algorithm import Algorithm
from bitwright.program.ensures import joined
from bitwright.program.text import parse
from bitwright.program.text.lets import plain_lets
from bitwright.proofs.claims import Claim
from bitwright.proofs.function.affine import NoChainError
from bitwright.proofs.function.certificate import certificate
from bitwright.proofs.function.chain import FIRST, LAST, SHORTEST, ChainProgram, read_chain
from bitwright.proofs.function.closure import Invariant, Search, TooLargeError
from bitwright.proofs.function.ending import violation
from bitwright.proofs.function.laws import Law, conserved
from bitwright.proofs.function.machine import ChainMachine, Clock, Letter
from bitwright.proofs.function.naive import LATE, all_inputs, range_of, wrong_input
from bitwright.proofs.function.ring import ring_violation
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import NoShapeError
from bitwright.proofs.function.specification import Specification

Progress = Callable[[str], None]
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
    """What came of it. `tried` says what was not enough, where it is not decided."""

    name: str
    verdict: Verdict
    lines: tuple[str, ...]  # the `ensure` lines
    sizes: str
    method: str
    laws: tuple[str, ...] = ()
    windows: int = 0
    states: int = 0  # of the last search
    counterexample: dict[str, Any] | None = None
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    tried: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        return self.verdict == "proved"

    def sentence(self) -> str:
        what = joined(self.lines)
        if self.verdict == "proved":
            return f"proved at every size ({self.method})"
        if self.verdict == "refuted":
            assert self.counterexample is not None
            given = " ".join(f"{name}={value}" for name, value in self.counterexample["inputs"].items())
            size = " ".join(f"{name}={value}" for name, value in self.counterexample["lets"].items())
            return f"refuted: {self.counterexample['why']} for {given}{f' at {size}' if size else ''}"
        if self.verdict == "not stated":
            return "not stated: the program has no ensure line"
        return f"not decided: {what} ({'; '.join(self.tried)})"

    def claim(self) -> Claim:
        """The link of a chain of claims."""
        return Claim("function", self.verdict, self.sizes, self.method, self.sentence(), self.counterexample)


def prove_function(
    program: Algorithm | str,
    *,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
    progress: Progress | None = None,
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
    text, algorithm, lets = _given(program, name, lets)
    lines = tuple(str(line) for line in algorithm.ensures)
    if not lines:
        return FunctionProof(algorithm.name, "not stated", (), "", "no ensure line")
    tell = progress or (lambda _: None)
    if text is None:
        return _prove(None, algorithm, lets, lines, tell)
    key = (text, algorithm.name, tuple(sorted(lets.items())))
    if key not in _PROVED:
        while len(_PROVED) >= _REMEMBERED:
            del _PROVED[next(iter(_PROVED))]
        _PROVED[key] = _prove(text, algorithm, lets, lines, tell)
    return replace(_PROVED[key], certificate=deepcopy(_PROVED[key].certificate))


def _prove(
    text: str | None, algorithm: Algorithm, lets: Mapping[str, int], lines: tuple[str, ...], tell: Progress
) -> FunctionProof:
    tell("running inputs")
    at = _Sizes(text, algorithm, lets)
    try:
        wrong = at.wrong_random()
    except NoChainError as error:
        return FunctionProof(algorithm.name, "not decided", lines, "", "", tried=(str(error),))
    if wrong is not None:
        return _refuted(algorithm, lines, wrong)
    if text is None:
        return FunctionProof(algorithm.name, "not decided", lines, "", "", tried=("the program has no rule text",))
    try:
        chain = read_chain(text, algorithm.name, lets)
        specs = [Specification(chain, line) for line in algorithm.ensures]
        at.size = chain.size
        short, wrong = at.short(chain)
    except NoChainError as error:
        if any(line.at is not None for line in algorithm.invariants):
            return _by_rounds(text, algorithm, lets, lines, f"no chain: {error}", tell)
        return _on_a_ring(text, algorithm, lets, lines, f"no chain: {error}")
    if wrong is not None:
        return _refuted(algorithm, lines, wrong)
    tried: list[str] = []
    work = 0
    for setting in _settings(chain, specs):
        if work > MOST_WORK:
            tried.append(f"given up after {work:,} states")
            break
        tell(setting.shown(chain))
        done = setting.prove(chain, specs, tell)
        work += done.search.spent
        if done.why:
            tried.append(f"{setting.shown(chain)}: {done.why}")
            wrong = at.wrong_among(chain, done.chosen)
            if wrong is not None:
                return _refuted(algorithm, lines, wrong)
            continue
        laws = tuple(law.shown(chain) for law in done.search.laws)
        method = f"{'laws, ' if laws else ''}{done.invariant.size:,} windows"
        made = certificate(chain, algorithm, done.search, done.invariant, short, lets)
        return FunctionProof(
            algorithm.name, "proved", lines, "every", method, laws, done.invariant.size, done.states, None, made
        )
    return FunctionProof(algorithm.name, "not decided", lines, "", "closure", tried=tuple(tried))


def _given(
    program: Algorithm | str, name: str, lets: Mapping[str, int] | None
) -> tuple[str | None, Algorithm, Mapping[str, int]]:
    """Rule text, the algorithm at its own size, and the numbers of that size."""
    if isinstance(program, str):
        return program, parse(program, name, lets), dict(lets or {})
    if not isinstance(program, Algorithm):
        raise InputError(f"give rule text or an Algorithm, got a {type(program).__name__}")
    sizing = program.sizing
    if sizing is None or sizing.text is None:
        return None, program, {}
    own = dict(
        zip(plain_lets(sizing.text), sizing.numbers.values(), strict=False)
    )  # of a shipped algorithm: its one number
    given = dict(sizing.numbers) if set(sizing.numbers) & set(own) else own
    written = parse(sizing.text, program.name, given)
    if not written.same_as(program) or [*map(str, written.ensures)] != [*map(str, program.ensures)]:
        return None, program, {}  # the rules at this size, or what they should do, are not those of the text
    return sizing.text, written, given


def _by_rounds(
    text: str, algorithm: Algorithm, lets: Mapping[str, int], lines: tuple[str, ...], why: str, tell: Progress
) -> FunctionProof:
    """A loop with an invariant at a bit; what its phases compute is proved by closure."""

    def proves(part: str, numbers: Mapping[str, int]) -> FunctionProof:
        return prove_function(part, name=f"a part of {algorithm.name}", lets=numbers, progress=tell)

    tell("rounds")
    try:
        proof = RoundsProof(text, algorithm, lets, proves)
        method = proof.prove()
    except (NoChainError, NoShapeError) as error:
        return FunctionProof(algorithm.name, "not decided", lines, "", "", tried=(why, f"no rounds: {error}"))
    return FunctionProof(algorithm.name, "proved", lines, "every", method, certificate=proof.certificate())


def _on_a_ring(
    text: str, algorithm: Algorithm, lets: Mapping[str, int], lines: tuple[str, ...], why: str
) -> FunctionProof:
    """A program of few steps that looks the same at every position of a ring."""
    try:
        tried, wrong = ring_violation(text, algorithm, lets)
    except NoChainError as error:
        return FunctionProof(algorithm.name, "not decided", lines, "", "", tried=(why, f"no ring: {error}"))
    if wrong:  # it was not met in runs, and is no proof of an error on some ring
        return FunctionProof(algorithm.name, "not decided", lines, "", "", tried=(why, f"ring: {wrong}"))
    method = f"a finite lemma, {tried:,} neighbourhoods"
    return FunctionProof(algorithm.name, "proved", lines, "every", method)


def _refuted(algorithm: Algorithm, lines: tuple[str, ...], wrong: dict[str, Any]) -> FunctionProof:
    return FunctionProof(algorithm.name, "refuted", lines, "", "an input", counterexample=wrong)


class _Sizes:
    """The program at other sizes, run."""

    def __init__(self, text: str | None, algorithm: Algorithm, lets: Mapping[str, int]) -> None:
        self.text, self.algorithm, self.lets = text, algorithm, dict(lets)
        self.size = next(iter(plain_lets(text)), "") if text else ""

    def algorithms(self, sizes: Sequence[int]) -> Iterator[tuple[dict[str, int], Algorithm]]:
        yield {}, self.algorithm
        if self.text is None or not self.size:
            return
        for size in sizes:
            try:
                yield {self.size: size}, parse(self.text, self.algorithm.name, {**self.lets, self.size: size})
            except BitwrightError:
                continue

    def wrong_random(self) -> dict[str, Any] | None:
        """A wrong run among random inputs and those of few digits."""
        random = Random(1)
        for lets, algorithm in self.algorithms((1, 2, 3, *RANDOM_SIZES)):
            steps = algorithm.steps if algorithm.steps is not None else 0
            if steps * algorithm.program.templates > 200_000:
                continue
            if sum(len(word.bits) for word in algorithm.inputs) <= 8:
                values = list(all_inputs(algorithm))
            else:
                rows = max(sum(1 for _ in line.rows()) for line in algorithm.ensures)  # of `for i in 1..l`
                lanes = max(4, min(LANES, 2 * LANES // max(1, rows)))
                values = [{word.name: _some(range_of(word), random) for word in algorithm.inputs} for _ in range(lanes)]
            found = self._wrong(algorithm, lets, values)
            if found:
                return found
        return None

    def short(self, chain: ChainProgram) -> tuple[list[int], dict[str, Any] | None]:
        """All inputs of all sizes too short for the classes: those sizes, and a wrong run among them."""
        sizes: list[int] = []
        size = 1
        while chain.length(size) < SHORTEST:
            try:
                algorithm = parse(self.text or "", self.algorithm.name, {**self.lets, self.size: size})
            except BitwrightError:
                size += 1
                continue  # the text is no program at this size
            if sum(len(word.bits) for word in algorithm.inputs) > MOST_INPUTS.bit_length() - 1:
                raise NoChainError(f"more than {MOST_INPUTS:,} inputs at {self.size} = {size}")
            found = self._wrong(algorithm, {self.size: size}, list(all_inputs(algorithm)))
            if found:
                return sizes, found
            sizes.append(size)
            size += 1
        return sizes, None

    def wrong_among(self, chain: ChainProgram, chosen: Sequence[int]) -> dict[str, Any] | None:
        """Whether the inputs of a suspicious word are a wrong run."""
        size, rest = divmod(len(chosen) - chain.extra, chain.unit)
        if rest or not chosen:
            return None
        for lets, algorithm in self.algorithms([size]):
            if lets:
                values: dict[str, int] = {}
                for word in algorithm.inputs:
                    weights = chain.inputs[word.name]
                    if weights.first is None or weights.track is None:
                        return None
                    bits = [chosen[weights.first + k] >> weights.track & 1 for k in range(len(word.bits))]
                    values[word.name] = sum(bit << k for k, bit in enumerate(bits)) - (
                        word.signed * bits[-1] << len(bits)
                    )
                return self._wrong(algorithm, lets, [values])
        return None

    def _wrong(self, algorithm: Algorithm, lets: dict[str, int], values: list[dict[str, int]]) -> dict[str, Any] | None:
        most = algorithm.steps if algorithm.steps is not None else 4 * algorithm.program.bits + 16
        found = wrong_input(algorithm, values, most)
        if found is None:
            return None
        if found[1] == LATE and algorithm.steps is None:  # it may end later
            raise NoChainError(f"a run takes more than {most:,} steps")
        numbers = {**(dict(algorithm.sizing.numbers) if algorithm.sizing else {}), **lets}
        return {"inputs": found[0], "lets": numbers, "why": found[1]}


def _some(values: range, random: Random) -> int:
    """A random value, and now and then one at an end of the range."""
    low, high = values.start, values.stop - 1  # len() takes no large ranges
    if random.random() < 0.2:
        return random.choice([low, high, (low + high + 1) // 2, min(low + 1, high)])
    return low + random.getrandbits((high - low).bit_length())


@dataclass
class _Done:
    search: Search
    invariant: Invariant
    states: int
    why: str = ""
    chosen: Sequence[int] = ()


@dataclass(frozen=True)
class _Setting:
    """One way to try: a clock, whether inputs belong to the windows, and which terms become laws."""

    clock: Clock
    ghosts: bool
    terms: tuple[Law, ...]
    partly: bool = False  # whether laws may hold for a part of a run

    def shown(self, chain: ChainProgram) -> str:
        ways = ", ".join(f"{'up' if up else 'down'} {rate}" for up, rate in self.clock.sweeps)
        clock = f"clock {ways}" if ways else f"{self.clock.fixed} steps"
        terms = "".join(f", law {law.shown(chain)}" for law in self.terms)
        return f"{clock}, inputs {'in' if self.ghosts else 'out of'} windows{terms}"

    def prove(self, chain: ChainProgram, specs: Sequence[Specification], tell: Progress) -> _Done:
        machine = ChainMachine(chain, self.clock, self.ghosts)
        runs = list(_runs(machine))
        seen = {(letter[0], letter[3]) for _, states in runs for _, word in states[:-1] for letter in word}
        laws = [*conserved(chain, seen, self.partly), *self.terms]
        search = Search(machine, laws, MOST_STATES)
        invariant = Invariant()
        for chosen, states in runs:
            for state, word in states:
                invariant.add(state, word, search.judged(word, chosen))
        if any(violation(search, invariant, spec) for spec in (None, *specs)):  # of states that runs do have: hopeless
            return _Done(search, invariant, 0, "too coarse")
        try:
            _, count = search.close(invariant, tell)
        except TooLargeError:
            return _Done(search, invariant, 0, f"more than {MOST_STATES:,} states")
        tell(f"the end, {invariant.size} windows")
        for spec in (None, *specs):
            found = violation(search, invariant, spec)
            if found is not None:
                return _Done(search, invariant, count, found.why, found.chosen)
        return _Done(search, invariant, count)


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
            if machine.globals_stop(state) or any(map(machine.stops, word)):
                break
            state, word = machine.step(state, word)
        yield chosen, states


def _settings(chain: ChainProgram, specs: Sequence[Specification]) -> Iterator[_Setting]:
    """What to try, the likeliest first."""
    terms = _terms(chain, specs)
    for laws, partly in [(terms, False), (terms, True), *([((), False)] if terms else [])]:
        for clock in _clocks(chain):
            for ghosts in (False, True):
                yield _Setting(clock, ghosts, laws, partly)


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
    """All ways to divide the steps at a position among sweeps, few sweeps first."""
    ways: list[tuple[int, ...]] = [()]
    done: list[tuple[int, ...]] = []
    while ways:
        ways = [(*way, part) for way in ways for part in range(1, rate - sum(way) + 1)]
        done += [way for way in ways if sum(way) == rate]
        ways = [way for way in ways if sum(way) < rate and len(way) < 3]
    yield from sorted(done, key=lambda way: (len(way), [-part for part in way]))


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
