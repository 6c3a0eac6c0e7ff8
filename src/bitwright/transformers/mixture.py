"""Inputs to train on and to search: uniform ones, and those on which functions by columns are hard."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitwright.frozen import FrozenArrays
from bitwright.transformers.columns import NONE, Ints
from bitwright.transformers.layout import ColumnTask

KINDS = 7  # of inputs, in equal shares
TRIES = 8  # symbols tried per column to come back to a state


@dataclass(frozen=True)
class Mixture(FrozenArrays):
    """The inputs of a task, in kinds that are drawn equally often.

    They are uniform; full and partial chains, of symbols that pass on as much of the state as possible (nines in an
    addition); extreme symbols; one repeated symbol; short words; and runs that come back to one state.

    Args:
        symbols: (letters, words) all the symbols that a column can have.
        chain: the letters that pass on the most states.
        after: (states, letters) the state that follows, -1 where the automaton guesses or has no step.
    """

    task: ColumnTask
    symbols: Ints
    chain: Ints
    after: Ints

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, words, length) symbols; 0 where a word has no position."""
        columns = self.task.columns
        shape, sizes = (count, len(columns.words), columns.length), np.asarray(columns.symbols)[:, None]
        kind = rng.integers(0, KINDS, count)
        inputs = rng.integers(0, sizes, shape)
        often, share = rng.random((count, shape[1], 1)), rng.random(shape)  # one share for each word, or for all
        links = self._links((count, columns.length), rng)
        _put(inputs, links, kind == 1)
        _put(inputs, links, (kind == 2)[:, None, None] & (share[:, :1] < often[:, :1]))
        _put(inputs, rng.integers(0, 2, shape) * (sizes - 1), (kind == 3)[:, None, None] & (share < often))
        _put(inputs, rng.integers(0, sizes, (*shape[:2], 1)), (kind == 4)[:, None, None] & (share < often))
        short = np.arange(shape[2]) >= rng.integers(0, shape[2] + 1, (*shape[:2], 1))
        _put(inputs, 0, (kind == 5)[:, None, None] & short)
        inputs[kind == 6] = self._returns(inputs[kind == 6], rng)
        return np.where(self.task.positions >= 0, inputs, 0)

    def vary(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, words, length) more kinds: one symbol repeated throughout too, and half of all joined from two."""
        drawn = np.stack([self.draw(count, rng) for _ in range(3)])
        repeated = rng.integers(0, np.asarray(self.task.columns.symbols)[:, None], (*drawn.shape[1:3], 1))
        drawn[2] = np.where(self.task.positions >= 0, repeated, 0)
        kind, length, rows = rng.integers(0, 3, (2, count)), drawn.shape[3], np.arange(count)
        second = (np.arange(length) >= rng.integers(0, 2 * length, (count, 1)))[:, None]
        found: Ints = np.where(second, drawn[kind[1], rows], drawn[kind[0], rows])
        return found

    def opposed(self) -> tuple[bool, ...]:
        """For each word, whether its symbols rise with those of the first word in chains, as in a difference."""
        links = self.symbols[self.chain] - self.symbols[self.chain].mean(0)
        return False, *((links[:, :1] * links[:, 1:]).sum(0) > 0).tolist()

    def _links(self, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
        """(count, words, length) letters of chains; in one of eight, one symbol is off by one."""
        links = self.symbols[self.chain[rng.integers(0, len(self.chain), shape)]]  # (count, length, words)
        off = rng.integers(-1, 2, shape) * (rng.random(shape) < 0.18)
        word = rng.integers(0, links.shape[2], shape)
        links += off[..., None] * (word[..., None] == np.arange(links.shape[2]))
        return np.clip(links, 0, np.asarray(self.task.columns.symbols) - 1).swapaxes(1, 2)

    def _returns(self, inputs: Ints, rng: np.random.Generator) -> Ints:
        """Inputs changed from a column on, so that the automaton is often in one state."""
        inputs, rows = inputs.copy(), np.arange(len(inputs))
        state = np.full(len(inputs), self.task.columns.starts.argmax())
        begin, often = rng.integers(0, inputs.shape[2], len(inputs)), rng.random(len(inputs))
        goal = state
        for column in range(inputs.shape[2]):
            goal = np.where(begin >= column, state, goal)
            letters = rng.integers(0, len(self.symbols), (len(inputs), TRIES))
            hit = (self.after[state[:, None], letters] == goal[:, None]) & (rng.random(len(inputs)) < often)[:, None]
            letter = letters[rows, hit.argmax(1)]
            inputs[:, :, column], state = self.symbols[letter], self.after[state, letter]
        return inputs


def mixture_of(task: ColumnTask) -> Mixture:
    """The mixture for a task."""
    columns = task.columns
    symbols = np.array(list(product(*(range(size) for size in columns.symbols))))
    places = np.cumprod([1, *columns.symbols[:0:-1]])[::-1]
    letter = columns.edges[:, 1:-2] @ places
    reached = np.zeros((len(symbols), columns.states), np.bool_)
    reached[letter, columns.edges[:, -1]] = True
    passed = reached.sum(1)
    after = np.full((columns.states, len(symbols)), NONE, np.int64)
    after[columns.edges[:, 0], letter] = columns.edges[:, -1]
    return Mixture(task, symbols, np.nonzero(passed == passed.max())[0], after)


def _put(inputs: Ints, other: Ints | int, where: NDArray[np.bool_]) -> None:
    """Replaces symbols where the mask holds."""
    mask = where.reshape(len(where), *([1] * (inputs.ndim - 1))) if where.ndim == 1 else where
    inputs[:] = np.where(mask, other, inputs)
