"""The inputs of a validation, generated batch by batch and never listed: all of them in order, or random ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.errors import InputError
from bitwright.program import Algorithm, Word
from bitwright.running.sliced.lanes import MOST_BITS, Numbers, Rows, counting, numbers, unpack_lanes

MAX_BITS = 48  # 2^48 additions would take months; more can only be sampled
MAX_RANDOM = 10**12
BLOCK = 1024  # random inputs are drawn in blocks of this size, so that they do not depend on the batches


@dataclass(frozen=True)
class Inputs:
    """The index of an input is the number whose bits are those of all its words, the first word's lowest bit first."""

    words: tuple[Word, ...]
    random: int | None = None  # how many to draw; by default all inputs there are
    seed: int = 0

    @cached_property
    def bits(self) -> int:
        return sum(len(word.bits) for word in self.words)

    @cached_property
    def count(self) -> int:
        return 2**self.bits if self.random is None else self.random

    def rows(self, first: int, count: int) -> Rows:  # (bits, words)
        """The inputs first, ..., first + count - 1; `first` is a multiple of BLOCK."""
        words = -(-count // 64)
        if self.random is None:
            return counting(first, words, self.bits)
        blocks = [
            np.random.default_rng((self.seed, block)).integers(0, 2**64, (self.bits, BLOCK // 64), dtype=np.uint64)
            for block in range(first // BLOCK, -(-(first + count) // BLOCK))
        ]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:, :words])

    def values(self, rows: Rows, count: int) -> dict[str, Numbers]:
        """The input values by name, as arrays."""
        found, at = {}, 0
        for word in self.words:
            found[word.name] = numbers(rows[at : at + len(word.bits)], count, word.signed)
            at += len(word.bits)
        return found

    def indices(self, rows: Rows, count: int) -> Any:  # (count,)
        """The index of each input."""
        if self.bits <= MOST_BITS:
            return numbers(rows, count)
        octets = np.packbits(unpack_lanes(rows, count), axis=1, bitorder="little")
        return np.array([int.from_bytes(row.tobytes(), "little") for row in octets], dtype=object)


def choose_inputs(algorithm: Algorithm, random: int | None, seed: int) -> Inputs:
    """All inputs of an algorithm if there are not too many, or as many random ones as asked for."""
    inputs = Inputs(algorithm.inputs, random, seed)
    if random is None and inputs.bits > MAX_BITS:
        raise InputError(
            f"{algorithm.name} has {inputs.bits:,} input bits; every input can be run up to {MAX_BITS}, "
            "choose some of them at random (--random N)"
        )
    if random is not None and not 1 <= random <= MAX_RANDOM:
        raise InputError(f"random inputs are a number from 1 to 10^12, got {random}")
    return inputs
