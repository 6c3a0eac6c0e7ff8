"""Mixtures of inputs for training and search: uniform ones, and inputs on which column-wise functions are hard."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.columns import Ints
from bitwright.transformers.layout import ColumnTask

KINDS = 6  # of inputs, in equal shares


@dataclass(frozen=True)
class Mixture(FrozenArrays):
    """The input mixture of a task: several kinds, drawn equally often.

    The kinds are: uniform; full and partial chains, of symbols that pass on as much of the state as possible (nines
    in an addition); extreme symbols; one repeated symbol; and short words.

    Args:
        symbols: (letters, words) all possible columns.
        chain: the letters that pass on the most states.
    """

    task: ColumnTask
    symbols: Ints
    chain: Ints

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, words, length) symbols; 0 for words without a position."""
        columns = self.task.columns
        shape, sizes = (count, len(columns.words), columns.length), np.asarray(columns.symbols)[:, None]
        kind = rng.integers(0, KINDS, count)
        inputs = rng.integers(0, sizes, shape)
        often, share = rng.random((count, shape[1], 1)), rng.random(shape)  # one share for each word, or for all
        links = self._links((count, columns.length), rng)
        _put(inputs, links, kind == 1)
        _put(inputs, links, (kind == 2)[:, None, None] & (share[:, :1] < often[:, :1]))
        _put(inputs, rng.integers(0, 2, shape) * (sizes - 1), (kind == 3)[:, None, None] & (share < often))
        _put(inputs, rng.integers(0, sizes, (*shape[:2], 1)), (kind == 4)[:, None, None])
        short = np.arange(shape[2]) >= rng.integers(0, shape[2] + 1, (*shape[:2], 1))
        _put(inputs, 0, (kind == 5)[:, None, None] & short)
        return np.where(self.task.positions >= 0, inputs, 0)

    def opposed(self) -> tuple[bool, ...]:
        """Whether, along chains, the symbols of each word rise with the first word's, as in a difference."""
        links = self.symbols[self.chain] - self.symbols[self.chain].mean(0)
        return False, *((links[:, :1] * links[:, 1:]).sum(0) > 0).tolist()

    def _links(self, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
        """(count, words, length) letters of chains; one in eight chains has one symbol off by one."""
        links = self.symbols[self.chain[rng.integers(0, len(self.chain), shape)]]  # (count, length, words)
        off = rng.integers(-1, 2, shape) * (rng.random(shape) < 0.18)
        word = rng.integers(0, links.shape[2], shape)
        links += off[..., None] * (word[..., None] == np.arange(links.shape[2]))
        return np.clip(links, 0, np.asarray(self.task.columns.symbols) - 1).swapaxes(1, 2)


def mixture_of(task: ColumnTask) -> Mixture:
    """The mixture for a task."""
    columns = task.columns
    symbols = np.array(list(product(*(range(size) for size in columns.symbols))))
    places = np.cumprod([1, *columns.symbols[:0:-1]])[::-1]
    letter = columns.edges[:, 1:-2] @ places
    reached = np.zeros((len(symbols), columns.states), np.bool_)
    reached[letter, columns.edges[:, -1]] = True
    passed = reached.sum(1)
    return Mixture(task, symbols, np.nonzero(passed == passed.max())[0])


def _put(inputs: Ints, other: Ints | int, where: NDArray[np.bool_]) -> None:
    """Replaces symbols where the mask holds."""
    mask = where.reshape(len(where), *([1] * (inputs.ndim - 1))) if where.ndim == 1 else where
    inputs[:] = np.where(mask, other, inputs)
