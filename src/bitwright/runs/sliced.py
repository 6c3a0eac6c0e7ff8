"""The bit-sliced twin of the loop: 64 states in every word, whole runs in compiled loops, and all that occurred.

It makes the runs of engines that decide by (n, writers, matches) alone, from their table of decisions.

In sliced form row j holds bit j of all numbers, 64 numbers to a word. Importing this module takes numba.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, from_bits
from bitwright.common.compiling import compiled
from bitwright.rules import Algorithm, Program
from bitwright.rules.layout import IntArray
from bitwright.theory.decisions import Decisions, Triple
from bitwright.theory.encoding import literals_of, unpack

_FEW, _MANY = 64, 256  # words in a row: fewer do not pay for the loops around them, more gain nothing
_CACHE = 1 << 21  # bytes for all rows of a chunk; about half of them are 0 and never touched, the others fit the cache
_MEMORY = 1 << 27  # the same for programs that fit no cache
COMPILING = "compiling the loops of the bit-sliced engine, once; this may take half a minute or more"


@dataclass(frozen=True)
class Outcome:
    """The results of some runs: output bits, which of them did not end, and what occurred in all of them together."""

    outputs: Rows  # (output bits, words), the outputs of the algorithm one after the other
    unfinished: BoolArray  # (count,) runs that the step limit cut off
    beyond: BoolArray  # (count,) runs that met a state with more matches than their algorithm declares
    evaluations: int
    steps: int  # of the longest run
    wrong_steps: int  # after which the state was not what the rules give
    matches: frozenset[int]  # every n that occurred
    triples: frozenset[Triple]
    margin: float | None = None  # where an engine has measured one


class SlicedRuns:
    """Runs one algorithm by a table of decisions, in rows of `words` words."""

    def __init__(self, algorithm: Algorithm, limit: int, decisions: Decisions, words: int | None = None) -> None:
        from bitwright.runs import kernel  # compiled loops: only where they are used

        program, p = algorithm.program, plan(algorithm.program)
        self._kernel, self._plan, self._needed = kernel, p, decisions.needed
        halt = kernel.NEVER if algorithm.halt is None else kernel.FIXED_POINT
        self._ports = kernel.RunPorts(
            inputs=algorithm.input_bits,
            start=np.array(algorithm.start, dtype=np.int64),
            outputs=algorithm.output_bits,
            limit=limit,
            halt=algorithm.halt if isinstance(algorithm.halt, int) else halt,
            declared=p.n_max if algorithm.matches is None else algorithm.matches,
        )
        self._cut_off = is_cut_off(algorithm, limit)
        rows = 2 * program.bits + program.templates + p.n_max + len(p.pairs) + int(program.writers.max())
        fitting = min(max(_FEW, min(_MANY, _CACHE // (8 * rows))), _MEMORY // (8 * rows))
        self._words = words or max(1, fitting)  # to run at a time, so that they stay in a core's own cache

    def run(self, inputs: Rows, count: int) -> Outcome:
        """Runs the first `count` of the inputs, which hold the bits of all input words one after the other."""
        words, p = inputs.shape[1], self._plan
        found = self._kernel.Found(
            outputs=np.zeros((len(self._ports.outputs), words), dtype=np.uint64),
            unfinished=np.zeros(words, dtype=np.uint64),
            beyond=np.zeros(words, dtype=np.uint64),
            met=np.zeros(p.n_max + 1, dtype=bool),
            occurred=np.zeros((p.n_max + 1, len(p.pairs)), dtype=bool),
            totals=np.zeros(3, dtype=np.int64),
        )
        valid, room = first_lanes(count, words), self._kernel.room_for(p.tables, self._words)
        self._kernel.run_from_python(inputs, valid, room, self._ports, p.tables, self._needed, found)
        evaluations, steps, wrong_steps = found.totals.tolist()
        return Outcome(
            outputs=found.outputs,
            unfinished=unpack(found.unfinished[np.newaxis], count)[:, 0] | self._cut_off,
            beyond=unpack(found.beyond[np.newaxis], count)[:, 0],
            evaluations=evaluations,
            steps=steps,
            wrong_steps=wrong_steps,
            matches=frozenset(np.flatnonzero(found.met).tolist()),
            triples=triples(found.occurred, p.pairs),
        )


def to_be_compiled() -> bool:
    """Whether the loops will first be compiled, which takes some seconds; after that the result is kept."""
    from bitwright.runs.kernel import run_words

    return not any(Path(run_words.stats.cache_path or ".").glob("kernel.run_words*.nbi"))


def is_cut_off(algorithm: Algorithm, limit: int) -> bool:
    """Whether the limit comes before the end of every run: of an algorithm that takes a fixed number of steps."""
    return algorithm.halt is None and limit != algorithm.steps


def triples(occurred: NDArray[np.bool_], pairs: tuple[tuple[int, int], ...]) -> frozenset[Triple]:
    """A table of n and pairs (c, m) as a set."""
    return frozenset((n, *pairs[pair]) for n, pair in np.argwhere(occurred).tolist())


class SlicedTables(NamedTuple):
    """Templates as literals, blocks as ranges of templates, bits as lists of their writers.

    Bits come in classes: those with equally many writers c. A pair is c and a number of matches m of them; the pairs of
    one class lie next to each other.
    """

    literal_start: IntArray  # (K + 1,)
    literal_bit: IntArray
    literal_flip: NDArray[np.uint64]  # all ones where the bit must be off
    block_start: IntArray  # (blocks with templates + 1,) ranges of templates, of which at most one matches
    writer_start: IntArray  # (k + 1,)
    writer: IntArray  # templates
    class_of: IntArray  # (k,) the bit's class, -1 where nothing writes it
    pair_start: IntArray  # (classes + 1,)


@dataclass(frozen=True)
class SlicedPlan:
    """What the loops take, and what the numbers of pairs mean."""

    tables: SlicedTables
    pairs: tuple[tuple[int, int], ...]  # (c, m) of each pair

    @property
    def n_max(self) -> int:
        """No state matches more templates than there are blocks that have some."""
        return len(self.tables.block_start) - 1


def plan(program: Program) -> SlicedPlan:
    """The arrays of a program."""
    literals = literals_of(program)
    _, firsts = np.unique(program.template_block, return_index=True)
    templates = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    order = np.argsort(program.write_bits, kind="stable")
    writer_start = np.searchsorted(program.write_bits[order], np.arange(program.bits + 1))

    classes = np.unique(program.writers[program.writers > 0])
    class_of = np.where(program.writers > 0, np.searchsorted(classes, program.writers), -1)
    # Writers in one block exclude each other, so a bit has at most as many matches as blocks that write it.
    owned = np.unique(np.stack((program.write_bits, program.template_block[templates])), axis=1)
    possible = np.bincount(owned[0], minlength=program.bits)
    most = [int(possible[class_of == place].max()) for place in range(len(classes))]
    tables = SlicedTables(
        literal_start=literals.start,
        literal_bit=literals.bit,
        literal_flip=np.where(literals.on, np.uint64(0), ~np.uint64(0)),
        block_start=np.append(firsts, program.templates),
        writer_start=writer_start,
        writer=templates[order],
        class_of=class_of,
        pair_start=np.concatenate(([0], np.cumsum([m + 1 for m in most], dtype=np.int64))),
    )
    return SlicedPlan(
        tables, tuple((c, m) for c, top in zip(classes.tolist(), most, strict=True) for m in range(top + 1))
    )


Rows = NDArray[np.uint64]  # (bits, words)
Numbers = NDArray[Any]  # int64, or Python's integers where they are longer
MOST_BITS = 62  # that an int64 holds with room for a sum of two
_LOW = (0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000)
_PATTERNS = np.array([*_LOW, 0xFFFFFFFF00000000], dtype=np.uint64)  # bits 0..5 of the numbers 0..63


def counting(first: int, words: int, bits: int) -> Rows:
    """The numbers first, first + 1, ... in sliced form; `first` is a multiple of 64."""
    rows = np.empty((bits, words), dtype=np.uint64)
    rows[: len(_PATTERNS)] = _PATTERNS[:bits, np.newaxis]
    high = (first >> 6) + np.arange(words, dtype=np.int64)
    for place in range(len(_PATTERNS), bits):
        rows[place] = np.where(high >> (place - len(_PATTERNS)) & 1, ~np.uint64(0), np.uint64(0))
    return rows


def first_lanes(count: int, words: int) -> NDArray[np.uint64]:  # (words,)
    """Words whose first `count` lanes are on."""
    octets = np.packbits(np.arange(64 * words) < count, bitorder="little")
    return octets.view(np.uint64)


def numbers(rows: Rows, count: int, signed: bool = False) -> Numbers:  # (bits, words) -> (count,)
    """The first `count` numbers that the rows hold; signed ones in two's complement."""
    bits = len(rows)
    if bits > MOST_BITS:
        return np.array([from_bits(lane, signed) for lane in unpack(rows, count)], dtype=object)
    values = np.zeros(64 * rows.shape[1], dtype=np.int64)
    transpose(np.ascontiguousarray(rows), values.view(np.uint64))
    values = values[:count]
    return values - (values >> (bits - 1) << bits) if signed else values


@compiled
def transpose(rows: Any, values: Any) -> None:
    """Up to 64 rows of words into one number for each lane: bit j of values[64 w + lane] is that lane of rows[j, w]."""
    for w in range(rows.shape[1]):
        square = values[64 * w : 64 * w + 64]
        for j in range(64):
            square[j] = rows[j, w] if j < rows.shape[0] else np.uint64(0)
        half, mask = 32, np.uint64(0x00000000FFFFFFFF)
        while half:  # swap ever smaller squares off the diagonal
            shift = np.uint64(half)
            for first in range(0, 64, 2 * half):
                for j in range(first, first + half):
                    swap = ((square[j] >> shift) ^ square[j + half]) & mask
                    square[j] ^= swap << shift
                    square[j + half] ^= swap
            half >>= 1
            mask ^= mask << np.uint64(half)
