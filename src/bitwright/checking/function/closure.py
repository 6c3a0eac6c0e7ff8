"""Closure: windows and verdicts that hold at the start of every run and after every step, at every length.

An invariant is, for each value of the globals, a set of pairs of neighbouring letters (windows) and a set of verdicts of the
laws. A word is in it if all its pairs are, and its verdicts. One round is a search over what can be known after reading
part of a word from its lowest position: the letter, what is written so far of its successor, and the states of the laws in
word and successor. Lengths never appear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bitwright.checking.function.chain import CLASSES, FOLLOWS, LAST
from bitwright.checking.function.laws import Law, Verdict, read_digit, verdict
from bitwright.checking.function.machine import Letter, Machine

START: Letter = (0, 0, 0, 0)  # what stands before the first letter
States = tuple[int, ...]  # of all laws
Windows = dict[int, dict[Letter, set[Letter]]]  # by globals: the letters that may follow a letter
Look = Callable[[str, float], None]


class TooLargeError(Exception):
    """The search met more than it may."""


@dataclass
class Invariant:
    """Windows and verdicts."""

    windows: Windows = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    verdicts: dict[int, set[tuple[Verdict, ...]]] = field(default_factory=lambda: defaultdict(set))

    def add(self, state: int, word: Sequence[Letter], found: tuple[Verdict, ...]) -> None:
        """Adds the windows and the verdict of one word."""
        windows, before = self.windows[state], START
        for letter in word:
            windows[before].add(letter)
            before = letter
        self.verdicts[state].add(found)

    def holds(self, state: int, word: Sequence[Letter], found: tuple[Verdict, ...]) -> bool:
        windows = self.windows.get(state, {})
        pairs = zip((START, *word), word, strict=False)
        return found in self.verdicts.get(state, ()) and all(
            letter in windows.get(before, ()) for before, letter in pairs
        )

    @property
    def size(self) -> int:
        return sum(len(after) for windows in self.windows.values() for after in windows.values())


class Search:
    """The automata of an invariant: a machine, its laws, and what every letter weighs."""

    def __init__(self, machine: Machine, laws: Sequence[Law], most: int) -> None:
        self.machine, self.laws, self.most = machine, tuple(laws), most
        self.zero: States = (0,) * len(self.laws)
        self._weights: dict[Letter, States] = {}
        self._inputs: dict[Letter, list[States]] = {}
        self._read: dict[tuple[States, States], States] = {}

    def weight(self, letter: Letter) -> States:
        """What the bits of a letter weigh in each law."""
        found = self._weights.get(letter)
        if found is None:
            found = self._weights[letter] = tuple(law.weigh(letter[3]) for law in self.laws)
        return found

    def inputs(self, letter: Letter) -> list[States]:
        """What the inputs of its position may weigh."""
        found = self._inputs.get(letter)
        if found is None:
            machine = self.machine
            chosen = [letter[2]] if machine.ghosts else machine.choices(letter[0])
            weighed = {tuple(law.weigh_input(one) for law in self.laws) for one in chosen}
            found = self._inputs[letter] = sorted(weighed)
        return found

    def read(self, states: States, weight: States) -> States:
        key = states, weight
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = tuple(map(read_digit, states, weight))
        return found

    def verdicts(self, states: States) -> tuple[Verdict, ...]:
        return tuple(map(verdict, states))

    def judged(self, word: Sequence[Letter], chosen: Sequence[int]) -> tuple[Verdict, ...]:
        """The verdicts of a word with these inputs."""
        states = self.zero
        for letter, one in zip(word, chosen, strict=True):
            inputs = tuple(law.weigh_input(one) for law in self.laws)
            states = self.read(states, _sum(self.weight(letter), inputs))
        return self.verdicts(states)

    def begin(self, found: Invariant) -> None:
        """Adds the start words of every length."""
        machine = self.machine
        state = machine.start_globals
        letters = {kind: sorted({machine.begin(kind, one) for one in machine.choices(kind)}) for kind in CLASSES}
        windows = found.windows[state]
        pairs: dict[int, set[States]] = {
            kind: {
                _sum(self.weight(machine.begin(kind, one)), tuple(law.weigh_input(one) for law in self.laws))
                for one in machine.choices(kind)
            }
            for kind in CLASSES
        }
        for kind, follows in FOLLOWS.items():
            for before in letters.get(kind, [START]):
                for after in follows:
                    windows[before].update(letters[after])
        seen = {(0, self.zero)}
        todo = [(0, self.zero)]
        while todo:
            kind, states = todo.pop()
            if kind == LAST:
                found.verdicts[state].add(self.verdicts(states))
            for after in FOLLOWS[kind]:
                for weight in pairs[after]:
                    node = after, self.read(states, weight)
                    if node not in seen:
                        seen.add(node)
                        todo.append(node)

    def successors(self, invariant: Invariant, state: int, found: Invariant) -> int:
        """Adds to `found` all windows and verdicts of successors of words with these globals; says how many states
        the search had."""
        machine = self.machine
        if machine.globals_stop(state):
            return 0
        windows = invariant.windows[state]
        allowed = invariant.verdicts[state]
        base = machine.globals_after(state)
        sent, made, stops, read = machine.sent, machine.made, machine.stops, self.read
        numbers: dict[tuple[Any, ...], int] = {}
        nodes: list[tuple[Any, ...]] = []
        edges: list[list[tuple[int, Letter]]] = []
        final: list[tuple[Letter, int] | None] = []

        def node(key: tuple[Any, ...]) -> int:
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(nodes)
                if number > self.most:
                    raise TooLargeError
                nodes.append(key)
            return number

        firsts = []
        for letter in windows[START]:
            if stops(letter):
                continue
            _, _, here, beyond = sent(letter)
            for inputs in self.inputs(letter):
                old = read(self.zero, _sum(self.weight(letter), inputs))
                firsts.append(node((letter, here, False, old, _plus(self.zero, inputs), base | beyond)))
        place = 0
        steps: dict[Letter, list[tuple[Any, ...]]] = {}
        while place < len(nodes):
            letter, bits, started, old, new, beyond = nodes[place]
            place += 1
            out: list[tuple[int, Letter]] = []
            edges.append(out)
            if letter[0] == LAST:
                final.append(None)
                if self.verdicts(old) in allowed:
                    after = made(letter, bits, started)
                    found.verdicts[beyond].add(self.verdicts(read(new, self.weight(after))))
                    final[-1] = after, beyond
                continue
            final.append(None)
            moves = steps.get(letter)
            if moves is None:
                above, goes_on = sent(letter)[1]
                moves = steps[letter] = [
                    (
                        other,
                        sent(other)[0],
                        above | sent(other)[2],
                        goes_on,
                        sent(other)[3],
                        [(inputs, _sum(self.weight(other), inputs)) for inputs in self.inputs(other)],
                    )
                    for other in windows.get(letter, ())
                    if not stops(other)
                ]
            for other, (written, back), here, goes_on, adds, weights in moves:
                after = made(letter, bits | written, started or back)
                ahead = read(new, self.weight(after))
                for inputs, weight in weights:
                    key = other, here, goes_on, read(old, weight), _plus(ahead, inputs), beyond | adds
                    out.append((node(key), after))
        self._collect(edges, final, firsts, found)
        return len(nodes)

    def _collect(
        self,
        edges: list[list[tuple[int, Letter]]],
        final: list[tuple[Letter, int] | None],
        firsts: list[int],
        found: Invariant,
    ) -> None:
        """The windows of all successors: pairs along paths that end in a word of the invariant, by their globals."""
        before: list[list[int]] = [[] for _ in edges]
        for number, out in enumerate(edges):
            for target, _ in out:
                before[target].append(number)
        ends: dict[int, list[int]] = defaultdict(list)
        for number, end in enumerate(final):
            if end is not None:
                ends[end[1]].append(number)
        initial = set(firsts)
        for state, last in ends.items():
            live = set(last)
            todo = list(last)
            while todo:
                for number in before[todo.pop()]:
                    if number not in live:
                        live.add(number)
                        todo.append(number)
            arriving: dict[int, set[Letter]] = defaultdict(set)
            for number in live:
                if number in initial:
                    arriving[number].add(START)
                for target, letter in edges[number]:
                    if target in live:
                        arriving[target].add(letter)
            windows = found.windows[state]
            for number in live:
                leaving = {letter for target, letter in edges[number] if target in live}
                end = final[number]
                if end is not None and end[1] == state:
                    leaving.add(end[0])
                for letter in arriving[number]:
                    windows[letter] |= leaving

    def close(self, invariant: Invariant, look: Look | None = None) -> tuple[int, int]:
        """Adds successors until nothing is new; says how many rounds that took, and the states of the last."""
        self.begin(invariant)
        todo = set(invariant.windows)
        rounds = 0
        counts: dict[int, int] = {}
        while todo:
            rounds += 1
            fresh = Invariant()
            for state in sorted(todo):
                counts[state] = self.successors(invariant, state, fresh)
                if look:
                    look(f"round {rounds}, {invariant.size} windows", 0.0)
            todo = _added(invariant, fresh)
            if invariant.size > self.most:
                raise TooLargeError
        return rounds, sum(counts.values())


def _added(invariant: Invariant, fresh: Invariant) -> set[int]:
    """Adds what is new; gives the globals that have something new."""
    changed = set()
    for state, windows in fresh.windows.items():
        for letter, after in windows.items():
            known = invariant.windows[state][letter]
            if not after <= known:
                known |= after
                changed.add(state)
    for state, verdicts in fresh.verdicts.items():
        if not verdicts <= invariant.verdicts[state]:
            invariant.verdicts[state] |= verdicts
            changed.add(state)
    return changed


def _sum(one: States, other: Iterable[int]) -> States:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _plus(states: States, inputs: States) -> States:
    """Law states with inputs added to their carries: those of a letter whose bits are not read yet."""
    return tuple(state + 2 * value for state, value in zip(states, inputs, strict=True))
