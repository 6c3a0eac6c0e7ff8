"""Validation tasks: an algorithm, an engine, inputs and an oracle; and the counts of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np

from bitwright.common.errors import InputError, option
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Word
from bitwright.runs.sliced import MOST_BITS, Numbers, Rows, counting, numbers
from bitwright.theory.decisions import Triple
from bitwright.theory.encoding import unpack
from bitwright.validation.oracles import Function, Oracle, definitions

MAX_BITS = 48  # 2^48 additions would take months; more can only be sampled
MAX_RANDOM = 10**12
BLOCK = 1024  # random inputs are drawn in blocks of this size, independent of the batches


@dataclass(frozen=True)
class Inputs:
    """The inputs to run; the index of an input is the number whose bits are those of its words, lowest bit first."""

    words: tuple[Word, ...]
    random: int | None = None  # how many to draw; by default all inputs
    seed: int = 0

    @cached_property
    def bits(self) -> int:
        return sum(len(word.bits) for word in self.words)

    @cached_property
    def count(self) -> int:
        return 2**self.bits if self.random is None else self.random

    def rows(self, first: int, count: int) -> Rows:  # (bits, words)
        """Returns the inputs first, ..., first + count - 1; `first` must be a multiple of BLOCK."""
        words = -(-count // 64)
        if self.random is None:
            return counting(first, words, self.bits)
        blocks = [
            np.random.default_rng((self.seed, block)).integers(0, 2**64, (self.bits, BLOCK // 64), dtype=np.uint64)
            for block in range(first // BLOCK, -(-(first + count) // BLOCK))
        ]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:, :words])

    def values(self, rows: Rows, count: int) -> dict[str, Numbers]:
        """Returns the input values by name, as arrays."""
        return values_of(self.words, rows, count)

    def indices(self, rows: Rows, count: int) -> Any:  # (count,)
        """Returns the index of each input."""
        if self.bits <= MOST_BITS:
            return numbers(rows, count)
        octets = np.packbits(unpack(rows, count), axis=1, bitorder="little")
        return np.array([int.from_bytes(row.tobytes(), "little") for row in octets], dtype=object)


def values_of(words: Sequence[Word], rows: Rows, count: int) -> dict[str, Numbers]:
    """Returns the values of words by name, from rows of bits, one word after the other."""
    found, at = {}, 0
    for word in words:
        found[word.name] = numbers(rows[at : at + len(word.bits)], count, word.signed)
        at += len(word.bits)
    return found


def choose_inputs(algorithm: Algorithm, random: int | None, seed: int) -> Inputs:
    """Returns all inputs of an algorithm, if there are not too many, or the requested number of random inputs."""
    inputs = Inputs(algorithm.inputs, random, seed)
    if random is None and inputs.bits > MAX_BITS:
        raise InputError(
            f"all inputs can be run for at most {MAX_BITS} input bits, but {algorithm.name} has {inputs.bits:,}; "
            f"sample the inputs with {option('random')}"
        )
    if random is not None and not 1 <= random <= MAX_RANDOM:
        raise InputError(f"the number of random inputs must be between 1 and 10^12, got {random}")
    return inputs


_BATCH, _WORK = 1 << 18, 1 << 36  # most inputs and most template-steps in a batch


@dataclass(frozen=True)
class Task:
    """An algorithm, an engine, inputs and an oracle; without an oracle the rules decide what is right."""

    algorithm: Algorithm
    engine: Engine
    inputs: Inputs
    oracle: Oracle | None
    limit: int
    plain: bool = False  # step the engine itself, even if the bit-sliced loops give the same steps
    token: str = field(default_factory=lambda: uuid4().hex, init=False)  # unique to this task; copies get their own

    @property
    def examples(self) -> int:
        """K: the number of templates, padding included."""
        return self.engine.examples or self.algorithm.program.templates

    @property
    def stated(self) -> bool:
        """Whether only the `ensure` lines judge the outputs: there is no oracle, and they define every output."""
        names = {one.output.text for one in definitions(self.algorithm)}
        return self.oracle is None and bool(names) and all(word.name in names for word in self.algorithm.outputs)

    @property
    def sliced(self) -> bool:
        """Whether the bit-sliced loops run this engine."""
        return self.engine.decisions is not None and not self.plain

    @property
    def batch(self) -> int:
        """The number of inputs run at a time; it depends only on the task, so that batches can be numbered."""
        if not self.sliced:
            return BLOCK
        work = self.algorithm.program.templates * min(max(1, self.limit), 1_000)
        return max(BLOCK, min(_BATCH, _WORK // work // BLOCK * BLOCK))

    @property
    def batches(self) -> int:
        return -(-self.inputs.count // self.batch)

    def size(self, number: int) -> int:
        """Returns the number of inputs in this batch; the last batch may be smaller."""
        return min(self.batch, self.inputs.count - number * self.batch)

    def describe(self) -> dict[str, Any]:
        """Everything that its counts depend on, as JSON; raises InputError if the oracle's text is not known."""
        if isinstance(self.oracle, Function) and self.oracle.text is None:
            raise InputError(
                f"{option('resume')} cannot tell later whether the oracle {self.oracle.name} is the same; put it in a "
                f"file in this folder and name it, {option('oracle')} MODULE:FUNCTION"
            )
        inputs = (self.inputs.count, self.inputs.random, self.inputs.seed)
        how = {"inputs": inputs, "oracle": repr(self.oracle), "batch": self.batch, "limit": self.limit}
        return {"rules": self.algorithm.text(), "engine": self.engine.describe(), "sliced": self.sliced} | how


MOST_FAILURES = 10  # kept in a tally, smallest index first; all are counted
_COUNTS = ("inputs", "outside", "wrong", "unfinished", "endless", "unjudged", "evaluations", "wrong_steps", "beyond")


@dataclass(frozen=True)
class Failure:
    """An input whose run ended with outputs that contradict the oracle or an `ensure` line."""

    index: int
    inputs: dict[str, int]
    outputs: dict[str, int]
    expected: dict[str, int] | None  # None: it should not have ended; empty if the oracle does not know
    line: str | None = None  # the first `ensure` line that is false


@dataclass(frozen=True)
class BrokenBound:
    """An input whose run reached a state with more matches than declared."""

    index: int
    inputs: dict[str, int]


@dataclass(frozen=True)
class Tally:
    """Counts of inputs, runs and visited states; the tallies of several batches can be added up."""

    inputs: int = 0  # inputs that were run
    outside: int = 0  # inputs skipped because a `where` line is false
    wrong: int = 0  # runs whose outputs contradict the oracle or an `ensure` line
    unfinished: int = 0  # runs cut off by the step limit; their outputs are unknown
    endless: int = 0  # those that the oracle expects never to end
    unjudged: int = 0  # runs that ended, but whose outputs the oracle cannot judge
    failures: tuple[Failure, ...] = ()  # by index
    evaluations: int = 0  # steps taken, from every state of every run
    steps: int = 0  # of the longest run
    wrong_steps: int = 0  # evaluations whose result differs from the rules
    matches: frozenset[int] = frozenset()  # every n that occurred
    beyond: int = 0  # runs that met more matches than declared
    first_beyond: BrokenBound | None = None  # the run among them with the smallest index
    triples: frozenset[Triple] = frozenset()
    margin: float | None = None  # the smallest measured by an engine

    def __add__(self, other: Tally) -> Tally:
        failures = {failure.index: failure for failure in (*self.failures, *other.failures)}
        bounds = [bound for bound in (self.first_beyond, other.first_beyond) if bound is not None]
        margins = [margin for margin in (self.margin, other.margin) if margin is not None]
        return Tally(
            **{name: getattr(self, name) + getattr(other, name) for name in _COUNTS},
            failures=tuple(failures[index] for index in sorted(failures)[:MOST_FAILURES]),
            steps=max(self.steps, other.steps),
            matches=self.matches | other.matches,
            first_beyond=min(bounds, key=lambda bound: bound.index, default=None),
            triples=self.triples | other.triples,
            margin=min(margins, default=None),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"matches": sorted(self.matches), "triples": sorted(self.triples)}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Tally:
        """Returns what `to_json` gave."""
        failures = tuple(Failure(**failure) for failure in document["failures"])
        first = document["first_beyond"] and BrokenBound(**document["first_beyond"])
        triples = frozenset((n, writers, matching) for n, writers, matching in document["triples"])
        sets = {"matches": frozenset(document["matches"]), "triples": triples}
        return cls(**document | sets | {"failures": failures, "first_beyond": first})

    @property
    def undecided(self) -> int:
        """The number of runs that are not known to be right or wrong."""
        return self.unfinished - self.endless + self.unjudged

    @property
    def n_max(self) -> int:
        """The largest n that occurred."""
        return max(self.matches, default=0)
