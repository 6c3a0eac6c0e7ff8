"""What is to be validated. Everything that comes from files is read once, at the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np

from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.program import Algorithm, Word
from bitwright.running.sliced.lanes import MOST_BITS, Numbers, Rows, counting, numbers
from bitwright.theory.encoding.packed import unpack
from bitwright.validation.oracles import Oracle

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
        return values_of(self.words, rows, count)

    def indices(self, rows: Rows, count: int) -> Any:  # (count,)
        """The index of each input."""
        if self.bits <= MOST_BITS:
            return numbers(rows, count)
        octets = np.packbits(unpack(rows, count), axis=1, bitorder="little")
        return np.array([int.from_bytes(row.tobytes(), "little") for row in octets], dtype=object)


def values_of(words: Sequence[Word], rows: Rows, count: int) -> dict[str, Numbers]:
    """The values of words by name, whose bits are these rows, one word after the other."""
    found, at = {}, 0
    for word in words:
        found[word.name] = numbers(rows[at : at + len(word.bits)], count, word.signed)
        at += len(word.bits)
    return found


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


_BATCH, _WORK = 1 << 18, 1 << 36  # inputs in a batch, and the most template-steps, so that a batch takes a moment


@dataclass(frozen=True)
class Task:
    """One algorithm, one engine, some inputs and an oracle; without one, the rules themselves say what is right."""

    algorithm: Algorithm
    engine: Engine
    inputs: Inputs
    oracle: Oracle | None
    limit: int
    plain: bool = False  # walk through the engine itself, even where the bit-sliced loops make the same steps
    token: str = field(default_factory=lambda: uuid4().hex, init=False)  # no other task has it, nor a changed copy

    @property
    def examples(self) -> int:
        """K: the templates, and padding if there is some."""
        return self.engine.examples or self.algorithm.program.templates

    @property
    def sliced(self) -> bool:
        """Whether the bit-sliced loops make the engine's runs."""
        return self.engine.decisions is not None and not self.plain

    @property
    def batch(self) -> int:
        """How many inputs are run at a time; it depends on the task alone, so that batches can be counted."""
        if not self.sliced:
            return BLOCK
        work = self.algorithm.program.templates * min(max(1, self.limit), 1_000)
        return max(BLOCK, min(_BATCH, _WORK // work // BLOCK * BLOCK))

    @property
    def batches(self) -> int:
        return -(-self.inputs.count // self.batch)

    def size(self, number: int) -> int:
        """How many inputs this batch has; the last one may have fewer than others."""
        return min(self.batch, self.inputs.count - number * self.batch)
