"""Layouts, which place the columns of a task in the tokens that a transformer reads and writes, and input mixtures.

Mixtures, for training and search, combine uniform inputs with inputs on which column-wise functions are hard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, listing
from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.columns import NONE, Columns, Ints


@dataclass(frozen=True)
class Place:
    """The symbol of a word in a column, counted from 0 in the automaton's order; or a flag (column -1)."""

    word: str
    column: int = -1

    def __str__(self) -> str:
        return self.word if self.column < 0 else f"{self.word}[{self.column + 1}]"


@dataclass(frozen=True)
class PromptLayout:
    """The prompt, the answers in output order, and the stop tokens.

    Columns of an input word without a place in the prompt are 0: the word is shorter than the automaton's length.

    Args:
        prompt: fixed tokens, and places of input words.
        answer: places of the answer and flags.
        tokens: for each name, the token of each symbol; missing names have tokens 0, 1, 2, ...
        stop: the tokens allowed after the answer; empty for no claim about it.
    """

    prompt: tuple[int | Place, ...]
    answer: tuple[Place, ...]
    tokens: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    stop: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class ColumnTask:
    """The specification of a transformer: a column-wise function, and its layout in tokens."""

    columns: Columns
    layout: PromptLayout

    def __post_init__(self) -> None:
        columns, layout = self.columns, self.layout
        fixed = [slot for slot in layout.prompt if not isinstance(slot, Place)]
        for token in (*fixed, *layout.stop, *(token for of in layout.tokens.values() for token in of)):
            if not isinstance(token, int) or token < 0:
                raise InputError(f"tokens must be integers of at least 0, got {token!r}")
        if any((of < 0).any() for of in columns.flags.values()):
            raise InputError("the symbols of flags must be integers of at least 0")
        places = [place for place in layout.prompt if isinstance(place, Place)]
        for place, known in [(p, columns.words) for p in places] + [(p, columns.outputs) for p in layout.answer]:
            if place.word not in known or not -1 <= place.column < columns.length:
                raise InputError(f"the layout names {place}; the task has {listing(known)} of {columns.length} columns")
            if (place.column < 0) != (place.word in columns.flags):
                raise InputError(
                    f"the layout names {place}, which {'needs a' if place.column < 0 else 'has no'} column"
                )
        for some in (places, layout.answer):
            if len(set(some)) != len(some):
                raise InputError(f"the layout contains {max(some, key=list(some).count)} twice")
        if not layout.prompt or not layout.answer:
            raise InputError("a layout needs at least one prompt token and one answer")
        for name, count in self._symbols.items():
            if len(self.tokens(name)) < count or len(set(self.tokens(name))) < len(self.tokens(name)):
                raise InputError(f"{name} has {count} symbols, which need different tokens, got {self.tokens(name)}")

    @cached_property
    def _symbols(self) -> dict[str, int]:
        columns = self.columns
        flags = {name: int(of.max()) + 1 for name, of in columns.flags.items()}
        return dict(zip(columns.words, columns.symbols, strict=True)) | {columns.answer or "": columns.answers} | flags

    def tokens(self, name: str) -> tuple[int, ...]:
        """The token of each symbol of a word, the answer or a flag."""
        return tuple(self.layout.tokens.get(name, range(self._symbols[name])))

    @property
    def prompt_length(self) -> int:
        return len(self.layout.prompt)

    @cached_property
    def positions(self) -> Ints:
        """(words, length): the position of each input symbol; -1 for symbols without one, which are 0."""
        found = np.full((len(self.columns.words), self.columns.length), -1, np.int64)
        for position, slot in enumerate(self.layout.prompt):
            if isinstance(slot, Place):
                found[self.columns.words.index(slot.word), slot.column] = position
        return found

    @cached_property
    def answered(self) -> Ints:
        """(length,): which answer is the symbol of a column, -1 if none is; flags are not included."""
        found = np.full(self.columns.length, -1, np.int64)
        for index, place in enumerate(self.layout.answer):
            if place.column >= 0:
                found[place.column] = index
        return found

    @property
    def fixed(self) -> dict[int, int]:
        """The fixed tokens of the prompt, by position."""
        return {position: slot for position, slot in enumerate(self.layout.prompt) if isinstance(slot, int)}

    def __repr__(self) -> str:
        from bitwright.transformers.report import count_inputs

        return f"ColumnTask({self.columns.statement!r}, {count_inputs(self.inputs)} inputs)"

    @property
    def vocabulary(self) -> int:
        """One more than the largest token of the task."""
        named = [token for name in (*self.columns.words, *self.columns.outputs) for token in self.tokens(name)]
        return 1 + max([*named, *self.fixed.values(), *self.layout.stop])

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        free = self.positions >= 0  # (words, length)
        return int(
            np.prod([int(n) ** int(row.sum()) for n, row in zip(self.columns.symbols, free, strict=True)], dtype=object)
        )

    def answers(self, inputs: Ints) -> Ints:
        """(n, answers) the right tokens in output order; inputs are (n, words, length)."""
        symbols, flags = self.columns.run(inputs)
        rows = []
        for place in self.layout.answer:
            values = flags[place.word] if place.column < 0 else symbols[:, place.column]
            rows.append(np.asarray(self.tokens(place.word))[values])
        return np.stack(rows, axis=1)

    def prompts(self, inputs: Ints) -> Ints:
        """(n, prompt length) tokens of the prompts."""
        found = np.zeros((len(inputs), self.prompt_length), np.int64)
        for position, slot in enumerate(self.layout.prompt):
            if isinstance(slot, int):
                found[:, position] = slot
            else:
                word = self.columns.words.index(slot.word)
                found[:, position] = np.asarray(self.tokens(slot.word))[inputs[:, word, slot.column]]
        return found

    def rows(self, inputs: Ints) -> Ints:
        """(n, prompt length + answers) prompts followed by the right answers."""
        return np.concatenate([self.prompts(inputs), self.answers(inputs)], axis=1)

    def random_inputs(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, words, length) uniform random symbols; 0 for words without a position."""
        sizes = np.asarray(self.columns.symbols)[None, :, None]
        drawn = rng.integers(0, sizes, (count, len(self.columns.words), self.columns.length))
        return np.where(self.positions >= 0, drawn, 0)

    def every_input(self) -> Iterator[Ints]:
        """All inputs, in batches of at most 65,536."""
        free = np.argwhere(self.positions >= 0)  # (symbols of an input, 2)
        sizes = [self.columns.symbols[word] for word, _ in free]
        for begin in range(0, self.inputs, 65_536):
            number = np.arange(begin, min(begin + 65_536, self.inputs))
            batch = np.zeros((len(number), *self.positions.shape), np.int64)
            for (word, column), size in zip(free, sizes, strict=True):
                number, batch[:, word, column] = np.divmod(number, size)
            yield batch

    def is_number(self, name: str) -> bool:
        """Whether the symbols of a word are the digits of a number; otherwise they are separate values."""
        return re.search(rf"\b{re.escape(name)}\[", self.columns.statement) is None

    def describe(self, symbols: Ints) -> str:
        """An input (words, length) in readable form: `a=95, b=7`, or tokens for words that are not numbers."""
        return ", ".join(
            f"{name}={self.number(of, size) if self.is_number(name) else self.listed(name, of)}"
            for name, size, of in zip(self.columns.words, self.columns.symbols, symbols, strict=True)
        )

    def listed(self, name: str, symbols: Iterable[int]) -> str:
        """The tokens of symbols: `[3 1 2]`."""
        tokens = self.tokens(name)
        return f"[{' '.join(str(tokens[symbol]) for symbol in symbols)}]"

    @staticmethod
    def number(symbols: Ints, base: int) -> int:
        """The number of these digits, lowest first."""
        return sum(int(digit) * base**place for place, digit in enumerate(symbols))


KINDS = 7  # of inputs, in equal shares
TRIES = 8  # symbols tried per column to return to a state


@dataclass(frozen=True)
class Mixture(FrozenArrays):
    """The input mixture of a task: several kinds, drawn equally often.

    The kinds are: uniform; full and partial chains, of symbols that pass on as much of the state as possible (nines
    in an addition); extreme symbols; one repeated symbol; short words; and runs that keep returning to one state.

    Args:
        symbols: (letters, words) all possible columns.
        chain: the letters that pass on the most states.
        after: (states, letters) the next state, -1 if the automaton guesses or has no step.
    """

    task: ColumnTask
    symbols: Ints
    chain: Ints
    after: Ints

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
        _put(inputs, rng.integers(0, sizes, (*shape[:2], 1)), (kind == 4)[:, None, None] & (share < often))
        short = np.arange(shape[2]) >= rng.integers(0, shape[2] + 1, (*shape[:2], 1))
        _put(inputs, 0, (kind == 5)[:, None, None] & short)
        inputs[kind == 6] = self._returns(inputs[kind == 6], rng)
        return np.where(self.task.positions >= 0, inputs, 0)

    def vary(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, words, length) symbols with two further kinds: one repeated symbol, and splices of two inputs."""
        drawn = np.stack([self.draw(count, rng) for _ in range(3)])
        repeated = rng.integers(0, np.asarray(self.task.columns.symbols)[:, None], (*drawn.shape[1:3], 1))
        drawn[2] = np.where(self.task.positions >= 0, repeated, 0)
        kind, length, rows = rng.integers(0, 3, (2, count)), drawn.shape[3], np.arange(count)
        second = (np.arange(length) >= rng.integers(0, 2 * length, (count, 1)))[:, None]
        found: Ints = np.where(second, drawn[kind[1], rows], drawn[kind[0], rows])
        return found

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

    def _returns(self, inputs: Ints, rng: np.random.Generator) -> Ints:
        """Changes inputs from some column on, so that the automaton is often in one state."""
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
