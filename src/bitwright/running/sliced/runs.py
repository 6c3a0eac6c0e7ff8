"""Whole runs of many states in sliced form, with what occurred on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.program import Algorithm, Program
from bitwright.running.sliced.lanes import Rows, first_lanes
from bitwright.running.sliced.plan import plan
from bitwright.theory.decisions import Decisions, Triple
from bitwright.theory.encoding.packed import unpack

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
    """Runs one algorithm by a table of decisions, in rows of `words` words; `program`: whose steps, if not its own."""

    def __init__(
        self,
        algorithm: Algorithm,
        limit: int,
        decisions: Decisions,
        words: int | None = None,
        program: Program | None = None,
    ) -> None:
        from bitwright.running.sliced import kernel  # compiled loops: only where they are used

        self._kernel, self._plan, self._needed = kernel, plan(program or algorithm.program), decisions.needed
        program, p = program or algorithm.program, self._plan
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
    from bitwright.running.sliced.kernel import run_words

    return not any(Path(run_words.stats.cache_path or ".").glob("kernel.run_words*.nbi"))


def is_cut_off(algorithm: Algorithm, limit: int) -> bool:
    """Whether the limit comes before the end of every run: of an algorithm that takes a fixed number of steps."""
    return algorithm.halt is None and limit != algorithm.steps


def triples(occurred: NDArray[np.bool_], pairs: tuple[tuple[int, int], ...]) -> frozenset[Triple]:
    """A table of n and pairs (c, m) as a set."""
    return frozenset((n, *pairs[pair]) for n, pair in np.argwhere(occurred).tolist())
