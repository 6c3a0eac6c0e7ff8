"""Tasks for transformers: a function of columns, its layout in tokens, and a mixture of inputs for training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.transformers.columns import Columns, Ints


@dataclass(frozen=True)
class Place:
    """The symbol of a word in a column, counted from 0 in the automaton's order, or a flag (column -1)."""

    word: str
    column: int = -1

    def __str__(self) -> str:
        return self.word if self.column < 0 else f"{self.word}[{self.column + 1}]"


@dataclass(frozen=True)
class PromptLayout:
    """The prompt, the answers in output order, and the stop tokens.

    A column of an input word without a place in the prompt is 0, because the word is shorter than the automaton's runs.

    Args:
        prompt: fixed tokens, and places of input words.
        answer: places of the answer and of flags.
        tokens: for each name, the token of each symbol; by default 0, 1, 2, ...
        stop: the tokens allowed after the answer; empty to allow any token.
    """

    prompt: tuple[int | Place, ...]
    answer: tuple[Place, ...]
    tokens: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    stop: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class ColumnTask:
    """The specification of a transformer: a column-wise function and its layout in tokens."""

    columns: Columns
    layout: PromptLayout

    def __post_init__(self) -> None:
        for row in (self.layout.prompt, self.layout.answer):
            places = [slot for slot in row if isinstance(slot, Place)]
            if len(set(places)) != len(places):
                raise InputError(f"the layout contains {max(places, key=places.count)} twice")
        for name, count in self._symbols.items():
            if len(self.tokens(name)) < count or len(set(self.tokens(name))) < len(self.tokens(name)):
                raise InputError(f"{name} needs {count} different tokens for its symbols, got {self.tokens(name)}")

    @cached_property
    def _symbols(self) -> dict[str, int]:
        columns = self.columns
        flags = {name: int(of.max()) + 1 for name, of in columns.flags.items()}
        return dict(zip(columns.words, columns.symbols, strict=True)) | {columns.answer or "": columns.answers} | flags

    def tokens(self, name: str) -> tuple[int, ...]:
        """Returns the token of each symbol of a word, the answer or a flag."""
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

    @property
    def fixed(self) -> dict[int, int]:
        """The fixed tokens of the prompt, by position."""
        return {position: slot for position, slot in enumerate(self.layout.prompt) if isinstance(slot, int)}

    def __repr__(self) -> str:
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
        """Returns (n, answers) the right tokens in output order; inputs are (n, words, length)."""
        symbols, flags = self.columns.run(inputs)
        rows = []
        for place in self.layout.answer:
            values = flags[place.word] if place.column < 0 else symbols[:, place.column]
            rows.append(np.asarray(self.tokens(place.word))[values])
        return np.stack(rows, axis=1)

    def prompts(self, inputs: Ints) -> Ints:
        """Returns (n, prompt length) the tokens of the prompts."""
        rows = np.zeros((len(inputs), self.prompt_length), np.int64)
        for position, slot in enumerate(self.layout.prompt):
            if isinstance(slot, int):
                rows[:, position] = slot
            else:
                word = self.columns.words.index(slot.word)
                rows[:, position] = np.asarray(self.tokens(slot.word))[inputs[:, word, slot.column]]
        return rows

    def rows(self, inputs: Ints) -> Ints:
        """Returns (n, prompt length + answers) the prompts followed by the right answers."""
        return np.concatenate([self.prompts(inputs), self.answers(inputs)], axis=1)

    def random_inputs(self, count: int, rng: np.random.Generator) -> Ints:
        """Returns (count, words, length) uniform random symbols, 0 for symbols without a position."""
        sizes = np.asarray(self.columns.symbols)[None, :, None]
        drawn = rng.integers(0, sizes, (count, len(self.columns.words), self.columns.length))
        return np.where(self.positions >= 0, drawn, 0)

    def every_input(self) -> Iterator[Ints]:
        """Yields all inputs in batches of at most 65,536."""
        free = np.argwhere(self.positions >= 0)  # (symbols of an input, 2)
        sizes = [self.columns.symbols[word] for word, _ in free]
        for begin in range(0, self.inputs, 65_536):
            number = np.arange(begin, min(begin + 65_536, self.inputs))
            batch = np.zeros((len(number), *self.positions.shape), np.int64)
            for (word, column), size in zip(free, sizes, strict=True):
                number, batch[:, word, column] = np.divmod(number, size)
            yield batch

    def is_number(self, name: str) -> bool:
        """Returns whether the symbols of a word are the digits of a number; otherwise they are separate values."""
        return re.search(rf"\b{re.escape(name)}\[", self.columns.statement) is None

    def describe(self, symbols: Ints) -> str:
        """Formats an input (words, length): `a=95, b=7`, with tokens for words that are not numbers."""
        return ", ".join(
            f"{name}={self.number(of, size) if self.is_number(name) else self.listed(name, of)}"
            for name, size, of in zip(self.columns.words, self.columns.symbols, symbols, strict=True)
        )

    def describe_answer(self, tokens: tuple[int, ...]) -> str:
        """Formats an answer as numbers and flags, or as tokens if it is invalid."""
        columns, symbols = self.columns, dict[str, dict[int, int]]()
        for place, token in zip(self.layout.answer, tokens, strict=False):
            if token not in self.tokens(place.word):
                return f"tokens {' '.join(map(str, tokens))}"
            symbols.setdefault(place.word, {})[place.column] = self.tokens(place.word).index(token)
        parts = []
        for word, of in symbols.items():
            row = np.array([of.get(column, 0) for column in range(1 + max(of))])
            number = of[-1] if -1 in of else self.number(row, columns.answers)
            parts.append(f"{word}={number if -1 in of or self.is_number(word) else self.listed(word, row)}")
        return ", ".join(parts)

    def listed(self, name: str, symbols: Iterable[int]) -> str:
        """Formats the tokens of symbols: `[3 1 2]`."""
        tokens = self.tokens(name)
        return f"[{' '.join(str(tokens[symbol]) for symbol in symbols)}]"

    @staticmethod
    def number(symbols: Ints, base: int) -> int:
        """Returns the number with these digits, lowest first."""
        return sum(int(digit) * base**place for place, digit in enumerate(symbols))


def describe_task(task: ColumnTask) -> list[tuple[str, str]]:
    """Returns an example of a task: an input and its answer in readable form, and the tokens of both."""
    inputs = task.random_inputs(1, np.random.default_rng(0))
    answers = task.answers(inputs)[0].tolist()
    stop = f", then {' or '.join(map(str, task.layout.stop))}" if task.layout.stop else ""
    return [
        ("example", f"{task.describe(inputs[0])}: {task.describe_answer(tuple(answers))}"),
        ("prompt", " ".join(map(str, task.prompts(inputs)[0].tolist()))),
        ("answer", " ".join(map(str, answers)) + stop),
    ]


def count_inputs(number: int) -> str:
    """Formats a number of inputs exactly, as a power if it is a large power of 10 or 2.

    >>> count_inputs(10**20), count_inputs(2**128), count_inputs(12_769)
    ('10^20', '2^128', '12,769')
    """
    if number >= 10**7:
        for base in (10, 2):
            power = round(len(str(number)) - 1) if base == 10 else number.bit_length() - 1
            if base**power == number:
                return f"{base}^{power}"
    return f"{number:,}"


KINDS = 6  # kinds of inputs, in equal shares


class Mixture:
    """The input mixture of a task, in which six kinds of inputs are equally frequent.

    They are uniform inputs, full and partial chains of letters that preserve as many states as possible (pairs that add
    up to 9 in an addition), extreme symbols, one repeated symbol, and short words. A letter is the symbols of a column.
    """

    def __init__(self, task: ColumnTask) -> None:
        columns, self.task = task.columns, task
        self.symbols: Ints = np.array(list(product(*(range(size) for size in columns.symbols))))  # (letters, words)
        letter = columns.edges[:, 1:-2] @ np.cumprod([1, *columns.symbols[:0:-1]])[::-1]
        reached = np.zeros((len(self.symbols), columns.states), np.bool_)
        reached[letter, columns.edges[:, -1]] = True
        preserved = reached.sum(1)
        self.chain: Ints = np.nonzero(preserved == preserved.max())[0]  # the letters of chains

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """Returns (count, words, length) symbols, 0 for symbols without a position."""
        columns = self.task.columns
        shape, sizes = (count, len(columns.words), columns.length), np.asarray(columns.symbols)[:, None]
        kind = rng.integers(0, KINDS, count)
        inputs = rng.integers(0, sizes, shape)
        often, share = rng.random((count, shape[1], 1)), rng.random(shape)  # a share for each word, or for all words
        links = self._links((count, columns.length), rng)
        _put(inputs, links, kind == 1)
        _put(inputs, links, (kind == 2)[:, None, None] & (share[:, :1] < often[:, :1]))
        _put(inputs, rng.integers(0, 2, shape) * (sizes - 1), (kind == 3)[:, None, None] & (share < often))
        _put(inputs, rng.integers(0, sizes, (*shape[:2], 1)), (kind == 4)[:, None, None])
        short = np.arange(shape[2]) >= rng.integers(0, shape[2] + 1, (*shape[:2], 1))
        _put(inputs, 0, (kind == 5)[:, None, None] & short)
        return np.where(self.task.positions >= 0, inputs, 0)

    def opposed(self) -> tuple[bool, ...]:
        """Returns for each word whether its symbols in chains rise with the first word's, as in a difference."""
        links = self.symbols[self.chain] - self.symbols[self.chain].mean(0)
        return False, *((links[:, :1] * links[:, 1:]).sum(0) > 0).tolist()

    def _links(self, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
        """Returns (count, words, length) the letters of chains; some symbols are off by one."""
        links = self.symbols[self.chain[rng.integers(0, len(self.chain), shape)]]  # (count, length, words)
        off = rng.integers(-1, 2, shape) * (rng.random(shape) < 0.18)
        word = rng.integers(0, links.shape[2], shape)
        links += off[..., None] * (word[..., None] == np.arange(links.shape[2]))
        return np.clip(links, 0, np.asarray(self.task.columns.symbols) - 1).swapaxes(1, 2)


def _put(inputs: Ints, other: Ints | int, where: NDArray[np.bool_]) -> None:
    """Replaces symbols where the mask is true."""
    mask = where.reshape(len(where), *([1] * (inputs.ndim - 1))) if where.ndim == 1 else where
    inputs[:] = np.where(mask, other, inputs)
