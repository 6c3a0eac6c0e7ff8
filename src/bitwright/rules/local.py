"""Local states: the possible matches of a cell of some kind, numbered with one digit per block."""

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

_KEY = np.uint32  # type of a choice in a key
_INT64 = 1 << 63  # beyond this many local states, their numbers are Python integers


@dataclass(frozen=True)
class LocalStates:
    """The local states of one kind. Digit 0 means no match, if possible; the first block's digit varies fastest."""

    kind: Kind

    @property
    def count(self) -> int:
        return self.kind.local_states

    @cached_property
    def radix(self) -> IntArray:  # (blocks,)
        return np.array(self.kind.choices, dtype=np.int64)

    @cached_property
    def value(self) -> IntArray:  # (blocks,)
        """The weight of each block's digit; exact, as Python integers if int64 cannot hold the count."""
        values = list(accumulate(self.kind.choices[:-1], mul, initial=1))
        return np.array(values, dtype=np.int64 if self.count <= _INT64 else object)

    @cached_property
    def block_of(self) -> IntArray:  # (templates,)
        return np.repeat(np.arange(len(self.kind.blocks)), [len(configs) for _, configs in self.kind.blocks])

    @cached_property
    def digit(self) -> IntArray:  # (templates,)
        """The digit of each template."""
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
        """The local states with these choices: their numbers or, if int64 cannot hold these, the choices as keys."""
        if self.count <= _INT64:
            return np.asarray(digits @ self.value)
        keys = np.ascontiguousarray(digits, dtype=_KEY)
        return keys.view(np.dtype((np.void, keys.shape[-1] * keys.itemsize)))[..., 0]

    def matched(self, numbers: NDArray[Any]) -> BoolArray:  # (states,) -> (states, templates)
        """The templates that each local state matches; states are given as numbers or as keys."""
        if numbers.dtype.kind == "V":
            return self.matching(np.ascontiguousarray(numbers).view(_KEY).reshape(len(numbers), -1).astype(np.int64))
        value = self.value
        if value.dtype == object and numbers.dtype != object:  # int64 numbers have no higher digits
            value = np.array([min(one, _INT64 - 1) for one in value.tolist()], dtype=np.int64)
        return self.matching(numbers[:, None] // value % self.radix)

    def matching(self, digits: IntArray) -> BoolArray:  # (states, blocks) -> (states, templates)
        """The templates matched for given choices in each block."""
        return np.asarray(digits[:, self.block_of] == self.digit, dtype=bool)

    def truth(self, matched: BoolArray) -> BoolArray:  # (states, templates) -> (states, ports)
        """The ports that the rules set."""
        return matched.astype(np.float32) @ self.writes.astype(np.float32) > 0


def draw_numbers(rng: np.random.Generator, count: int, many: int) -> IntArray:  # (many,)
    """Random numbers from 0 to `count` - 1, which may exceed int64."""
    if count <= _INT64:
        return rng.integers(0, count, many)
    octets = count.bit_length() // 8 + 8  # extra bytes make the remainder practically uniform
    return np.array([int.from_bytes(rng.bytes(octets), "little") % count for _ in range(many)], dtype=object)
