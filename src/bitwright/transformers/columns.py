"""Functions of words that a finite automaton computes column by column, such as the sum of two numbers by its carry."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, counted, listing
from bitwright.common.frozen import FrozenArrays, frozen

MAX_SETS = 10_000  # most sets of states reachable by prefixes
MAX_EDGES = 2_000_000  # most steps of a table, for memory and time
MAX_COUNT = 1 << 24  # most columns, and most symbols of a word
NONE = -1  # the answer of a column without one

Ints = NDArray[np.int64]
Step = Callable[[Any, tuple[int, ...]], tuple[Any, int | None]]


@dataclass(frozen=True)
class Columns(FrozenArrays):
    """A function of words of `length` columns: an automaton reads a symbol of each word and writes an answer symbol.

    The automaton may guess, for example a sign that only the last column decides, but each input must have exactly one
    run from a start state to an end state, which `check` verifies. A flag is an answer without a column: a function of
    the end state.

    Args:
        statement: the function, as text: `z == a + b`.
        words: the names of the input words.
        symbols: number of symbols of each word.
        answer: the name of the answer with a symbol in every column; empty if there is none.
        answers: number of symbols of that answer.
        length: number of columns.
        edges: (edges, 3 + words): state before, a symbol of each word, symbol of the answer or -1, state after.
        starts: (states,) states in which a run may start.
        ends: (states,) states in which a run may end.
        flags: for each name, (states,) the symbol of each end state.
    """

    statement: str
    words: tuple[str, ...]
    symbols: tuple[int, ...]
    answer: str
    answers: int
    length: int
    edges: Ints
    starts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    flags: Mapping[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["flags"] = {name: frozen(np.asarray(of, np.int64)) for name, of in self.flags.items()}
        names = [*self.words, *([self.answer] if self.answer else []), *self.flags]
        if len(set(names)) != len(names):
            raise InputError(f"words, answers and flags need different names, got {listing(names)}")
        if not 1 <= self.length <= MAX_COUNT:
            raise InputError(f"length must be at least 1 column, got {self.length}")
        counts = *self.symbols, self.answers + 1
        if len(self.symbols) != len(self.words) or not 1 <= min(counts) <= max(counts) <= MAX_COUNT:
            raise InputError(f"each word needs 1 to {MAX_COUNT:,} symbols, got {self.symbols}")
        if any(of.ndim != 1 for of in (self.starts, self.ends, *self.flags.values())):
            raise InputError("starts, ends and flags need one entry for each state")
        if self.edges.ndim != 2 or self.edges.shape[1] != 3 + len(self.words):
            raise InputError(f"edges must have {3 + len(self.words)} columns, got an array of shape {self.edges.shape}")

    @property
    def states(self) -> int:
        """The number of states of the automaton."""
        return len(self.starts)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all answers: the answer of the columns, then the flags."""
        return (*([self.answer] if self.answer else ()), *self.flags)

    def run(self, inputs: Ints) -> tuple[Ints, dict[str, Ints]]:
        """The right answers.

        Args:
            inputs: (n, words, length) symbols.

        Returns:
            (n, length) answers of the columns, and (n,) of each flag.
        """
        n, rows = len(inputs), np.arange(len(inputs))
        factors, (before, answer, after) = self._steps
        read = np.tensordot(inputs, factors, axes=(1, 0))  # (n, length) all symbols of a column as one number
        possible = np.full((self.length + 1, n, self.states), not self._guesses)  # whether an end can be reached
        possible[-1] = self.ends
        for column in range(self.length - 1, -1, -1) if self._guesses else ():
            for source, target in zip(before[read[:, column]].T, after[read[:, column]].T, strict=True):
                valid = source >= 0
                possible[column, rows[valid], source[valid]] |= possible[column + 1, rows[valid], target[valid]]
        state = (possible[0] & self.starts).argmax(1)
        answers = np.full((n, self.length), NONE, np.int64)
        for column in range(self.length):
            symbols = read[:, column]
            taken = before[symbols] == state[:, None]
            if self._guesses:
                taken &= possible[column + 1][rows[:, None], after[symbols]]
            edge = taken.argmax(1)
            answers[:, column], state = answer[symbols, edge], after[symbols, edge]
        return answers, {name: of[state] for name, of in self.flags.items()}

    @cached_property
    def _guesses(self) -> bool:
        """Whether there are two steps or starts to choose from, or a forbidden end."""
        steps = np.unique(self.edges[:, :-2], axis=0)
        return bool(len(steps) < len(self.edges) or self.starts.sum() != 1 or not self.ends.all())

    @cached_property
    def _steps(self) -> tuple[Ints, tuple[Ints, Ints, Ints]]:
        """Factors that turn a column's symbols into one number, and the edges by that number: before, answer, after."""
        factors = np.cumprod([1, *self.symbols[:-1]]).astype(np.int64)
        number = self.edges[:, 1:-2] @ factors
        order = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=int(np.prod(self.symbols)))
        at = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        tables = np.full((3, len(counts), max(1, int(counts.max()))), NONE, np.int64)
        tables[:, number[order], at] = self.edges[order][:, [0, -2, -1]].T
        return factors, (tables[0], tables[1], tables[2])


def from_step(
    statement: str,
    words: Mapping[str, int],
    step: Step,
    *,
    length: int,
    start: Hashable = 0,
    answer: str = "z",
    flags: Mapping[str, Callable[[Any], int]] | None = None,
    guesses: Sequence[Hashable] = (),
    accepts: Callable[[Any], bool] = lambda _: True,
) -> Columns:
    """Builds an automaton by trying every symbol in every state that `step` can reach within `length` columns.

    >>> def add(carry, digits):
    ...     total = sum(digits) + carry
    ...     return total // 10, total % 10
    >>> columns = from_step("z == a + b", {"a": 10, "b": 10}, add, length=3)
    >>> columns.states, len(columns.edges)
    (2, 200)
    >>> columns.run(np.array([[[5, 9, 0], [7, 0, 0]]]))[0]  # 95 + 7, lowest digit first
    array([[2, 0, 1]])

    Args:
        words: number of symbols of each input word.
        step: maps a state and the symbols of a column to the next state and the answer symbol or None.
        length: number of columns.
        answer: the name of the answer of `step`; empty if it is always None.
        flags: functions of the last state.
        guesses: states to start in instead of `start`: the automaton guesses by starting in each of them.
        accepts: whether a run may end in a state, that is, whether its guess was right.
    """
    starts = tuple(guesses) or (start,)
    states: dict[Hashable, int] = {state: number for number, state in enumerate(starts)}
    waiting, symbols = list(states), tuple(words.values())
    edges: list[tuple[int, ...]] = []
    for _ in range(length):
        if len(edges) + len(waiting) * prod(symbols) > MAX_EDGES:
            raise InputError(f"the automaton has more than {counted(MAX_EDGES, 'step')}; use fewer states or symbols")
        reached = []
        for state, read in product(waiting, product(*(range(count) for count in symbols))):
            after, written = step(state, read)
            if after not in states:
                states[after] = len(states)
                reached.append(after)
            if (written is None) == bool(answer) or (written is not None and written < 0):
                what = "None" if written is None else str(written)
                raise InputError(f"step returned answer {what} for {read} in state {state!r}, with answer={answer!r}")
            edges.append((states[state], *read, NONE if written is None else written, states[after]))
        waiting = reached
    table = np.array(edges, np.int64)
    return Columns(
        statement,
        tuple(words),
        symbols,
        answer,
        int(table[:, -2].max()) + 1 if answer else 0,
        length,
        table,
        np.arange(len(states)) < len(starts),
        np.array([accepts(state) for state in states], np.bool_),
        {name: np.array([of(state) for state in states], np.int64) for name, of in (flags or {}).items()},
    )


def check(columns: Columns) -> None:
    """Raises InputError unless every input has exactly one run: counts the runs (0, 1, more) of all prefixes."""
    check_edges(columns)
    _, (before, _, after) = columns._steps
    prefixes = {tuple(int(on) for on in columns.starts)}  # number of runs that end in each state
    for column in range(columns.length):
        longer: set[tuple[int, ...]] = set()
        for runs in prefixes:
            for sources, targets in zip(before.tolist(), after.tolist(), strict=True):
                reached = [0] * columns.states
                for source, target in zip(sources, targets, strict=True):
                    if source >= 0:
                        reached[target] = min(2, reached[target] + runs[source])
                longer.add(tuple(reached))
        if len(longer) > MAX_SETS:
            raise InputError(
                f"the automaton of '{columns.statement}' guesses too much to check, at column {column + 1}"
            )
        if longer == prefixes:
            break
        prefixes = longer
    for runs in prefixes:
        complete = sum(number for number, ends in zip(runs, columns.ends, strict=True) if ends)
        if complete != 1:
            what = "several runs" if complete else "no run"
            raise InputError(f"the automaton of '{columns.statement}' must have one run for each input, but has {what}")


def check_edges(columns: Columns) -> None:
    """Raises InputError unless every edge names existing states and symbols."""
    least = [0, *[0] * len(columns.words), 0 if columns.answers else NONE, 0]
    bounds = [columns.states, *columns.symbols, columns.answers, columns.states]
    if (columns.edges < least).any() or (columns.edges >= bounds).any():
        raise InputError(f"an edge of the automaton of '{columns.statement}' has an unknown state or symbol")
    if any(len(of) != columns.states for of in (columns.ends, *columns.flags.values())):
        raise InputError(f"the ends and flags of '{columns.statement}' need one entry for each state")


def digits(numbers: Sequence[int], base: int, length: int) -> Ints:
    """(n, length) digits of numbers, lowest first.

    >>> digits([95, 7], 10, 3)
    array([[5, 9, 0],
           [7, 0, 0]])
    """
    found = np.zeros((len(numbers), length), np.int64)
    for row, number in enumerate(numbers):
        for column in range(length):
            number, found[row, column] = divmod(number, base)
    return found
