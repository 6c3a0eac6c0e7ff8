"""The bit-sliced counterpart of the loop: whole runs in compiled loops with 64 states in every word.

It runs engines whose decisions depend only on (n, writers, matches), and records the situations that occurred.

In sliced form, row j holds bit j of all numbers, 64 numbers to a word. Importing this module requires numba.
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

_FEW, _MANY = 64, 256  # words in a row: fewer cost loop overhead, more gain nothing
_CACHE = 1 << 21  # bytes for all rows of a chunk; about half are 0 and never touched, and the rest fit the cache
_MEMORY = 1 << 27  # bytes for programs that do not fit the cache
COMPILING = "compiling the loops of the bit-sliced engine (only once; this may take half a minute or more)"


@dataclass(frozen=True)
class Outcome:
    """The results of several runs: output bits, unfinished runs, and the situations that occurred in any run."""

    outputs: Rows  # (output bits, words), the algorithm's outputs in order
    unfinished: BoolArray  # (count,) runs stopped by the step limit
    beyond: BoolArray  # (count,) runs that reached a state with more matches than declared
    evaluations: int
    steps: int  # of the longest run
    wrong_steps: int  # whose result differs from the rules
    matches: frozenset[int]  # every n that occurred
    triples: frozenset[Triple]
    margin: float | None = None  # if the engine measured one


class SlicedRuns:
    """Runs one algorithm with a table of decisions, in rows of `words` words."""

    def __init__(self, algorithm: Algorithm, limit: int, decisions: Decisions, words: int | None = None) -> None:
        from bitwright.runs import kernel  # compiled loops, imported only when used

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
        self._words = words or max(1, fitting)  # run at a time, to stay in a core's cache

    def run(self, inputs: Rows, count: int) -> Outcome:
        """Runs the first `count` inputs, given as the bits of all input words in order."""
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
    """Whether the loops have to be compiled first, which takes some seconds; the result is cached."""
    from bitwright.runs.kernel import run_words

    return not any(Path(run_words.stats.cache_path or ".").glob("kernel.run_words*.nbi"))


def is_cut_off(algorithm: Algorithm, limit: int) -> bool:
    """Whether the limit stops every run, for an algorithm with a fixed number of steps."""
    return algorithm.halt is None and limit != algorithm.steps


def triples(occurred: NDArray[np.bool_], pairs: tuple[tuple[int, int], ...]) -> frozenset[Triple]:
    """Converts a table over n and pairs (c, m) to a set of triples."""
    return frozenset((n, *pairs[pair]) for n, pair in np.argwhere(occurred).tolist())


class SlicedTables(NamedTuple):
    """Templates as literals, blocks as ranges of templates, bits as lists of writers.

    Bits with the same number of writers c form a class. A pair is c and a number of matches m; the pairs of a class
    are adjacent.
    """

    literal_start: IntArray  # (K + 1,)
    literal_bit: IntArray
    literal_flip: NDArray[np.uint64]  # all ones if the bit must be off
    block_start: IntArray  # (blocks with templates + 1,) ranges of templates; at most one in each matches
    writer_start: IntArray  # (k + 1,)
    writer: IntArray  # templates
    class_of: IntArray  # (k,) the bit's class, -1 if nothing writes it
    pair_start: IntArray  # (classes + 1,)


@dataclass(frozen=True)
class SlicedPlan:
    """The input of the loops, and the meaning of pair numbers."""

    tables: SlicedTables
    pairs: tuple[tuple[int, int], ...]  # (c, m) of each pair

    @property
    def n_max(self) -> int:
        """The number of blocks with templates, which bounds the matches of a state."""
        return len(self.tables.block_start) - 1


def plan(program: Program) -> SlicedPlan:
    """Returns the arrays of a program."""
    literals = literals_of(program)
    _, firsts = np.unique(program.template_block, return_index=True)
    templates = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    order = np.argsort(program.write_bits, kind="stable")
    writer_start = np.searchsorted(program.write_bits[order], np.arange(program.bits + 1))

    classes = np.unique(program.writers[program.writers > 0])
    class_of = np.where(program.writers > 0, np.searchsorted(classes, program.writers), -1)
    # Writers in one block exclude each other, so a bit has at most one match for each block that writes it.
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
Numbers = NDArray[Any]  # int64, or Python integers if they are longer
MOST_BITS = 62  # bits of an int64 that leave space for a sum of two
_LOW = (0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000)
_PATTERNS = np.array([*_LOW, 0xFFFFFFFF00000000], dtype=np.uint64)  # bits 0..5 of the numbers 0..63


def counting(first: int, words: int, bits: int) -> Rows:
    """Returns the numbers first, first + 1, ... in sliced form; `first` must be a multiple of 64."""
    rows = np.empty((bits, words), dtype=np.uint64)
    rows[: len(_PATTERNS)] = _PATTERNS[:bits, np.newaxis]
    high = (first >> 6) + np.arange(words, dtype=np.int64)
    for place in range(len(_PATTERNS), bits):
        rows[place] = np.where(high >> (place - len(_PATTERNS)) & 1, ~np.uint64(0), np.uint64(0))
    return rows


def first_lanes(count: int, words: int) -> NDArray[np.uint64]:  # (words,)
    """Returns words whose first `count` lanes are on."""
    octets = np.packbits(np.arange(64 * words) < count, bitorder="little")
    return octets.view(np.uint64)


def numbers(rows: Rows, count: int, signed: bool = False) -> Numbers:  # (bits, words) -> (count,)
    """Returns the first `count` numbers in the rows; signed numbers use two's complement."""
    bits = len(rows)
    if bits > MOST_BITS:
        return np.array([from_bits(lane, signed) for lane in unpack(rows, count)], dtype=object)
    values = np.zeros(64 * rows.shape[1], dtype=np.int64)
    transpose(np.ascontiguousarray(rows), values.view(np.uint64))
    values = values[:count]
    return values - (values >> (bits - 1) << bits) if signed else values


@compiled
def transpose(rows: Any, values: Any) -> None:
    """Transposes up to 64 rows: bit j of values[64 w + lane] becomes that lane of rows[j, w]."""
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
