"""Validation tasks, and the file from which an interrupted validation resumes.

All files are read once, at the start.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.common.files.documents import check_fields, one_of, parse, read_file, whole
from bitwright.common.files.storage import write_atomically
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program, Word
from bitwright.runs.sliced import MOST_BITS, Numbers, Rows, counting, numbers
from bitwright.theory.decisions import blocks_range
from bitwright.theory.encoding import unpack
from bitwright.validation.oracles import Oracle, ValueOracle
from bitwright.validation.report import ANY_TABLE, Tally

MAX_BITS = 48  # 2^48 additions would take months; more can only be sampled
MAX_RANDOM = 10**12
BLOCK = 1024  # random inputs are drawn in blocks of this size, independent of the batches


@dataclass(frozen=True)
class Inputs:
    """The inputs to run; the index of an input is its words as one number, the first word's lowest bit first."""

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
    """Values of words by name, from rows of bits: one word after the other."""
    found, at = {}, 0
    for word in words:
        found[word.name] = numbers(rows[at : at + len(word.bits)], count, word.signed)
        at += len(word.bits)
    return found


def choose_inputs(algorithm: Algorithm, random: int | None, seed: int) -> Inputs:
    """All inputs of an algorithm if there are not too many, or the requested number of random ones."""
    inputs = Inputs(algorithm.inputs, random, seed)
    if random is None and inputs.bits > MAX_BITS:
        raise InputError(
            f"{algorithm.name} has {inputs.bits:,} input bits; all inputs can be run up to {MAX_BITS} bits; "
            "sample them with --random N"
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
    def sliced(self) -> bool:
        """Whether the bit-sliced loops run this engine."""
        return self.engine.decisions is not None and not self.plain

    @property
    def batch(self) -> int:
        """Number of inputs run at a time; it depends on the task alone, so that batches can be numbered."""
        if not self.sliced:
            return BLOCK
        work = self.algorithm.program.templates * min(max(1, self.limit), 1_000)
        return max(BLOCK, min(_BATCH, _WORK // work // BLOCK * BLOCK))

    @property
    def batches(self) -> int:
        return -(-self.inputs.count // self.batch)

    def size(self, number: int) -> int:
        """Number of inputs in this batch; the last batch may be smaller."""
        return min(self.batch, self.inputs.count - number * self.batch)


def describe(task: Task) -> dict[str, Any]:
    """Everything that the results depend on, as JSON; a validation resumes only if all of it is unchanged."""
    oracle = task.oracle
    if oracle is not None and not isinstance(oracle, ValueOracle):
        raise InputError(
            f"a resume file cannot verify that the oracle {oracle.name} is unchanged; leave out the file, or "
            "write ensure lines"
        )
    rules = replace(task.algorithm, invariants=())  # invariants are not tested
    return {
        "algorithm": sha256(rules.text().encode()).hexdigest(),
        **task.engine.describe(),
        "inputs": task.inputs.count,
        "random": task.inputs.random,
        "sample seed": task.inputs.seed,
        "oracle": "the rules" if oracle is None else oracle.name,
        "oracle's content": None if oracle is None else oracle.digest,
        "step limit": task.limit,
        "batch": task.batch,
        "plain": not task.sliced,
    }


FORMAT = "bitwright validation 4"
_MAX_BYTES = 1 << 28
_WHAT = "a validation file"


class ProgressFile:
    """The progress file of one validation."""

    def __init__(self, path: Path, task: Task) -> None:
        self._path, self._task, self._of = path, task, describe(task)

    def save(self, batches: int, tally: Tally) -> None:
        """Records that the first `batches` batches are done."""
        document = {
            "format": FORMAT,
            "of": self._of,
            "batches": batches,
            "tally": tally.to_json(),
        }
        write_atomically(self._path, (json.dumps(document) + "\n").encode())

    def load(self) -> tuple[int, Tally]:
        """Batches done and their tally; zero if there is no such file yet."""
        path, task = self._path, self._task
        if not path.exists():
            return 0, Tally()
        document = parse(read_file(path, _MAX_BYTES), path, _WHAT)
        if document.get("format") != FORMAT:
            raise InputError(f"{path} was not written by a validation of this version; choose another file")
        fields = {
            "format": one_of(FORMAT),
            "of": ANY_TABLE,
            "batches": whole(0, task.batches),
            "tally": ANY_TABLE,
        }
        check_fields(document, path, _WHAT, fields)
        self._compare(document["of"])
        batches, tally = document["batches"], Tally.from_json(document["tally"], path)
        if not _adds_up(tally) or tally.inputs + tally.outside != min(batches * task.batch, task.inputs.count):
            raise InputError(f"{path} is not {_WHAT}: its counts do not add up")
        if not _can_occur(tally, task.algorithm.program):
            raise InputError(f"{path} is not {_WHAT}: it has matches that no state of {task.algorithm.name} can have")
        return batches, tally

    def _compare(self, then: dict[str, Any]) -> None:
        check_fields(then, self._path, _WHAT, dict.fromkeys(self._of, lambda _: None))
        for name, value in self._of.items():
            if then[name] != value:
                before, is_now = (shorten(str(v)) for v in (then[name], value))
                raise InputError(
                    f"{self._path} belongs to another validation: its {name} was {before}, now it is {is_now}"
                )


def _adds_up(tally: Tally) -> bool:
    return (
        tally.wrong + tally.unfinished + tally.unjudged <= tally.inputs
        and tally.endless <= tally.unfinished
        and len(tally.failures) <= tally.wrong
        and bool(tally.failures) == bool(tally.wrong)
        and tally.wrong_steps <= tally.evaluations
        and tally.beyond <= tally.inputs
        and bool(tally.beyond) == (tally.first_beyond is not None)
    )


def _can_occur(tally: Tally, program: Program) -> bool:
    """Whether states of this program can have these n, and bits these numbers of writers and matches."""
    n_max, writers = blocks_range(program).n_max, set(program.writers[program.writers > 0].tolist())
    return max(tally.matches, default=0) <= n_max and all(
        n <= n_max and c in writers and m <= min(n, c) for n, c, m in tally.triples
    )
