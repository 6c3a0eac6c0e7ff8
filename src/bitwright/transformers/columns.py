"""Functions of words that a finite automaton computes column by column; for a sum, its state is the carry."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, counted
from bitwright.common.frozen import FrozenArrays, frozen

MAX_EDGES = 2_000_000  # limits memory and time
NONE = -1  # the answer symbol of a column that has none

Ints = NDArray[np.int64]
Step = Callable[[Any, tuple[int, ...]], tuple[Any, int | None]]


@dataclass(frozen=True)
class Columns(FrozenArrays):
    """A function of words with `length` columns.

    In each column, an automaton reads a symbol of each word and writes a symbol of the answer. A run starts in state 0.
    A flag is an answer without columns: a function of the last state.

    Args:
        statement: the function as text, such as `z == a + b`.
        words: the names of the input words.
        symbols: the number of symbols of each word.
        answer: the name of the answer with a symbol in every column; empty if there is none.
        answers: the number of symbols of that answer.
        length: the number of columns.
        edges: (edges, 3 + words): the state before, a symbol of each word, the answer symbol or -1, the state after.
        states: the number of states.
        flags: for each name, (states,) the symbol for each last state.
    """

    statement: str
    words: tuple[str, ...]
    symbols: tuple[int, ...]
    answer: str
    answers: int
    length: int
    edges: Ints
    states: int
    flags: Mapping[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["flags"] = {name: frozen(np.asarray(of, np.int64)) for name, of in self.flags.items()}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all answers: the answer with columns, then the flags."""
        return (*([self.answer] if self.answer else ()), *self.flags)

    def run(self, inputs: Ints) -> tuple[Ints, dict[str, Ints]]:
        """Computes the right answers.

        Args:
            inputs: (n, words, length) symbols.

        Returns:
            The answer symbols (n, length), and (n,) for each flag.
        """
        factors, written, after = self._table
        read = np.tensordot(inputs, factors, axes=(1, 0))  # (n, length) all symbols of a column as one number
        state, answers = np.zeros(len(inputs), np.int64), np.full((len(inputs), self.length), NONE, np.int64)
        for column in range(self.length):
            answers[:, column] = written[state, read[:, column]]
            state = after[state, read[:, column]]
        return answers, {name: of[state] for name, of in self.flags.items()}

    @cached_property
    def _table(self) -> tuple[Ints, Ints, Ints]:
        """Factors that encode a column's symbols as one number, and by state and number the answers and next states."""
        factors = np.cumprod([1, *self.symbols[:-1]]).astype(np.int64)
        table = np.full((2, 1 + self.edges[:, 0].max(), prod(self.symbols)), NONE, np.int64)
        table[:, self.edges[:, 0], self.edges[:, 1:-2] @ factors] = self.edges[:, -2:].T
        return factors, table[0], table[1]


def from_step(
    statement: str,
    words: Mapping[str, int],
    step: Step,
    *,
    length: int,
    start: Hashable = 0,
    answer: str = "z",
    flags: Mapping[str, Callable[[Any], int]] | None = None,
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
        words: the number of symbols of each input word.
        step: maps a state and the symbols of a column to the next state and the answer symbol or None.
        length: the number of columns.
        answer: the name of the answer of `step`; empty if it is always None.
        flags: functions from the last state to a symbol.
    """
    states: dict[Hashable, int] = {start: 0}
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
            edges.append((states[state], *read, NONE if written is None else written, states[after]))
        waiting = reached
    table = np.array(edges, np.int64)
    found = {name: np.array([of(state) for state in states], np.int64) for name, of in (flags or {}).items()}
    answers = int(table[:, -2].max()) + 1 if answer else 0
    return Columns(statement, tuple(words), symbols, answer, answers, length, table, len(states), found)
