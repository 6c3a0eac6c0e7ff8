"""Finds windows and signs of laws that hold at the start of every run and after every step, at every length.

An invariant consists, for each value of the globals, of a set of pairs of neighbouring letters (windows) and a set of
verdicts, the signs of all laws. A word satisfies it if all its pairs and its verdict are in these sets. One round is a
search over the states after reading part of a word from its lowest position: the letter, the part of its successor that
is known so far, and the states of the laws in word and successor. The search does not depend on the length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bitwright.proofs.function.chain import CLASSES, FOLLOWS, LAST
from bitwright.proofs.function.laws import Law, Verdict, read_digit
from bitwright.proofs.function.machine import ChainMachine, Letter, Memo

START: Letter = (0, 0, 0, 0)  # stands for the start of the word
Windows = dict[int, dict[Letter, set[Letter]]]  # by globals: the letters that may follow a letter


class TooLargeError(Exception):
    """Raised if the search exceeds its limit."""


@dataclass
class Invariant:
    """Windows and verdicts by globals."""

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
        """Whether a word with this verdict satisfies the invariant."""
        windows = self.windows.get(state, {})
        pairs = zip((START, *word), word, strict=False)
        return found in self.verdicts.get(state, ()) and all(
            letter in windows.get(before, ()) for before, letter in pairs
        )

    @property
    def size(self) -> int:
        """The number of windows."""
        return sum(len(after) for windows in self.windows.values() for after in windows.values())


class _Numbers(dict[Any, int]):
    """Numbers values in the order of their first use; `of` lists the values."""

    def __init__(self) -> None:
        self.of: list[Any] = []

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self.of)
        self.of.append(value)
        return number


class _Graph:
    """The search for words with the same globals; a context is a letter, the bits written to it, and its clock."""

    def __init__(self) -> None:
        self.nodes, self.contexts = _Numbers(), _Numbers()
        self.edges: list[list[tuple[int, Letter]]] = []
        self.moves: dict[Letter, dict[Letter, tuple[Any, ...]]] = defaultdict(dict)


class Search:
    """The automata of an invariant: a machine, its laws, and the weights of every letter.

    The states of all laws form a vector, as do the weights of a letter in all laws; vectors are represented by numbers.

    - `about[letter]` contains the weight of the letter's bits, and for each possible input its weight without and with
      the bits.
    - `weighed[letter, input]` is the total weight.
    - `read[states, weight]` are the states after one more position.
    - `plus[states, inputs]` are the states with the inputs of a letter added to the carries, before its bits are read.
    - `verdicts[states]` are the signs.
    """

    def __init__(self, machine: ChainMachine, laws: Sequence[Law], most: int) -> None:
        self.machine, self.laws, self.most = machine, tuple(laws), most
        self.spent = 0  # states of all searches so far
        self.graphs: dict[int, _Graph] = defaultdict(_Graph)  # by globals
        self.vectors = _Numbers()
        of = self.vectors.of
        self.zero = self.vectors[tuple(law.begin for law in self.laws)]
        self.about = Memo(self._about)
        self.weighed = Memo(
            lambda key: self.vectors[_sum(of[self.about[key[0]][0]], (law.weigh_input(key[1]) for law in self.laws))]
        )
        self.read = Memo(lambda key: self.vectors[tuple(map(read_digit, of[key[0]], of[key[1]]))])
        self.plus = Memo(lambda key: self.vectors[_sum(of[key[0]], (2 * value for value in of[key[1]]))])
        self.verdicts = Memo(
            lambda states: tuple(law.verdict(state) for law, state in zip(self.laws, of[states], strict=True))
        )

    def _about(self, letter: Letter) -> tuple[int, list[tuple[int, int]]]:
        bits = tuple(law.weigh(letter[3]) for law in self.laws)
        choices = self.machine.inputs_of(letter)
        inputs = sorted({tuple(law.weigh_input(one) for law in self.laws) for one in choices})
        return self.vectors[bits], [(self.vectors[one], self.vectors[_sum(bits, one)]) for one in inputs]

    def judged(self, word: Sequence[Letter], chosen: Sequence[int]) -> tuple[Verdict, ...]:
        """Returns the signs of all laws for a word with these inputs."""
        states = self.zero
        for pair in zip(word, chosen, strict=True):
            states = self.read[states, self.weighed[pair]]
        verdict: tuple[Verdict, ...] = self.verdicts[states]
        return verdict

    def begin(self, found: Invariant) -> None:
        """Adds the start words of every length."""
        machine = self.machine
        state = machine.start_globals
        pairs = {kind: [(machine.begin(kind, one), one) for one in machine.choices[kind]] for kind in CLASSES}
        windows = found.windows[state]
        for kind, follows in FOLLOWS.items():
            for before, _ in pairs.get(kind, [(START, 0)]):
                for after in follows:
                    windows[before].update(letter for letter, _ in pairs[after])
        weights = {kind: {self.weighed[pair] for pair in pairs[kind]} for kind in CLASSES}
        seen = {(0, self.zero)}
        todo = [(0, self.zero)]
        while todo:
            kind, states = todo.pop()
            if kind == LAST:
                found.verdicts[state].add(self.verdicts[states])
            for after in FOLLOWS[kind]:
                for weight in weights[after]:
                    node = after, self.read[states, weight]
                    if node not in seen:
                        seen.add(node)
                        todo.append(node)

    def move(self, letter: Letter, other: Letter) -> tuple[Any, ...]:
        """Returns the interaction of two neighbours.

        It consists of the second letter, the bits written to the first and whether its clock starts, the bits written
        to the second and whether its clock starts, the bits that the second adds to the globals, and its weights.
        """
        machine = self.machine
        below, _, here, beyond = machine.sent[other]
        above = machine.sent[letter][1] if letter != START else (0, False)
        return (other, *below, above[0] | here, above[1], beyond, self.about[other][1])

    def successors(self, invariant: Invariant, state: int, found: Invariant) -> None:
        """Adds all windows and verdicts of successors of words with these globals to `found`.

        A later call with a larger invariant continues the search of the earlier call.
        """
        machine = self.machine
        if machine.globals_stop(state):
            return
        allowed = invariant.verdicts[state]
        read, plus, about = self.read, self.plus, self.about
        graph = self.graphs[state]
        nodes, edges, known = graph.nodes, graph.edges, len(graph.edges)
        fresh: dict[Letter, list[tuple[Any, ...]]] = {}
        for letter, after in invariant.windows[state].items():
            moves = graph.moves[letter]
            fresh[letter] = [self.move(letter, other) for other in after - moves.keys() if not machine.stops[other]]
            moves.update((move[0], move) for move in fresh[letter])
        later = Memo(lambda context: self._onward(graph, context, fresh.get(graph.contexts.of[context][0], ())))
        onward = Memo(lambda context: self._onward(graph, context, graph.moves[graph.contexts.of[context][0]].values()))
        base, zero = machine.globals_after(state), self.zero
        firsts = [
            nodes[graph.contexts[other, here, False], read[zero, both], plus[zero, inputs], base | adds]
            for other, _, _, here, _, adds, weights in graph.moves[START].values()
            for inputs, both in weights
        ]
        final: dict[int, tuple[Letter, int]] = {}
        place = 0
        while place < len(nodes.of):
            context, old, new, beyond = nodes.of[place]
            if place >= known:
                edges.append([])
            letter, bits, started = graph.contexts.of[context]
            if letter[0] == LAST:
                if self.verdicts[old] in allowed:
                    after = machine.made[letter, bits, started]
                    found.verdicts[beyond].add(self.verdicts[read[new, about[after][0]]])
                    final[place] = after, beyond
            else:
                out = edges[place]
                for after, weight, other, adds, weights in (later if place < known else onward)[context]:
                    ahead, total = read[new, weight], beyond | adds
                    for inputs, both in weights:
                        out.append((nodes[other, read[old, both], plus[ahead, inputs], total], after))
            place += 1
            if place > self.most:
                self.spent += place
                raise TooLargeError
        self.spent += place
        self._collect(edges, final, firsts, found)

    def _onward(self, graph: _Graph, context: int, moves: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """For each move from a context: the letter that it makes, its weights, the next context, and the rest."""
        letter, bits, started = graph.contexts.of[context]
        found = []
        for other, written, back, here, goes_on, adds, weights in moves:
            after = self.machine.made[letter, bits | written, started or back]
            found.append((after, self.about[after][0], graph.contexts[other, here, goes_on], adds, weights))
        return found

    def _collect(
        self,
        edges: list[list[tuple[int, Letter]]],
        final: dict[int, tuple[Letter, int]],
        firsts: list[int],
        found: Invariant,
    ) -> None:
        """Adds the windows of all successors: pairs along paths that end in a word of the invariant, by globals."""
        before: list[list[int]] = [[] for _ in edges]
        for number, out in enumerate(edges):
            for target, _ in out:
                before[target].append(number)
        ends: dict[int, list[int]] = defaultdict(list)
        for number, (_, state) in final.items():
            ends[state].append(number)
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
                if number in final:
                    leaving.add(final[number][0])
                for letter in arriving[number]:
                    windows[letter] |= leaving

    def close(self, invariant: Invariant) -> None:
        """Adds successors until there are no new ones."""
        self.begin(invariant)
        todo = set(invariant.windows)
        while todo:
            fresh = Invariant()
            for state in sorted(todo):
                self.successors(invariant, state, fresh)
            todo = _added(invariant, fresh)
            if invariant.size > self.most:
                raise TooLargeError


def _added(invariant: Invariant, fresh: Invariant) -> set[int]:
    """Adds new windows and verdicts; returns the globals for which there are any."""
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


def _sum(one: Iterable[int], other: Iterable[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
