"""Local states: what a cell of some kind can match, as a number whose digits are the choices in its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules.cells import Kind
from bitwright.rules.layout import IntArray

_KEY = np.uint32  # a choice in a key
_INT64 = 1 << 63  # up to this many local states their numbers fit an int64; beyond it they are Python's integers


@dataclass(frozen=True)
class LocalStates:
    """The local states of one kind. A digit 0 is no match if that is possible; the first block's changes fastest."""

    kind: Kind

    @property
    def count(self) -> int:
        return self.kind.local_states

    @cached_property
    def radix(self) -> IntArray:  # (blocks,)
        return np.array(self.kind.choices, dtype=np.int64)

    @cached_property
    def value(self) -> IntArray:  # (blocks,)
        """What one is worth in the digit of each block; exact, in Python's integers if int64 cannot hold the count."""
        values = list(accumulate(self.kind.choices[:-1], mul, initial=1))
        return np.array(values, dtype=np.int64 if self.count <= _INT64 else object)

    @cached_property
    def block_of(self) -> IntArray:  # (templates,)
        return np.repeat(np.arange(len(self.kind.blocks)), [len(configs) for _, configs in self.kind.blocks])

    @cached_property
    def digit(self) -> IntArray:  # (templates,)
        """The digit that chooses each template."""
        spare = [int(len(configs) < 1 << bits) for bits, configs in self.kind.blocks]
        parts = [np.arange(len(configs)) + more for (_, configs), more in zip(self.kind.blocks, spare, strict=True)]
        return np.concatenate(parts)

    @cached_property
    def writes(self) -> BoolArray:  # (templates, ports)
        writes = np.zeros((self.kind.templates, len(self.kind.ports)), dtype=bool)
        for port, templates in enumerate(self.kind.ports):
            writes[list(templates), port] = True
        return writes

    def of_digits(self, digits: IntArray) -> NDArray[Any]:  # (..., blocks) -> (...)
        """The local states with these choices: their numbers or, where int64 cannot hold these, the choices as keys."""
        if self.count <= _INT64:
            return np.asarray(digits @ self.value)
        keys = np.ascontiguousarray(digits, dtype=_KEY)
        return keys.view(np.dtype((np.void, keys.shape[-1] * keys.itemsize)))[..., 0]

    def matched(self, numbers: NDArray[Any]) -> BoolArray:  # (states,) -> (states, templates)
        """Which templates each local state matches; they are given by their numbers, or by keys."""
        if numbers.dtype.kind == "V":
            return self.matching(np.ascontiguousarray(numbers).view(_KEY).reshape(len(numbers), -1).astype(np.int64))
        value = self.value
        if value.dtype == object and numbers.dtype != object:  # numbers that fit an int64 have no higher digits
            value = np.array([min(one, _INT64 - 1) for one in value.tolist()], dtype=np.int64)
        return self.matching(numbers[:, None] // value % self.radix)

    def matching(self, digits: IntArray) -> BoolArray:  # (states, blocks) -> (states, templates)
        """The same for the choices in each block."""
        return np.asarray(digits[:, self.block_of] == self.digit, dtype=bool)

    def truth(self, matched: BoolArray) -> BoolArray:  # (states, templates) -> (states, ports)
        """Which ports the rules set."""
        return matched.astype(np.float32) @ self.writes.astype(np.float32) > 0


def draw_numbers(rng: np.random.Generator, count: int, many: int) -> IntArray:  # (many,)
    """Random numbers from 0 to before `count`, which may be more than an int64 holds."""
    if count <= _INT64:
        return rng.integers(0, count, many)
    octets = count.bit_length() // 8 + 8  # more than needed, so that the remainder of a division is practically uniform
    return np.array([int.from_bytes(rng.bytes(octets), "little") % count for _ in range(many)], dtype=object)
