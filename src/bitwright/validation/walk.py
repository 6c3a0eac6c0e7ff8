"""Whole runs through any engine, step by step and compared with the rules at every step: the plain way.

It counts by adding up, and matches by the definition, so that it is also the check of the bit-sliced runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Engine
from bitwright.program import Algorithm, Program
from bitwright.program.layout import IntArray
from bitwright.running.endings import ending_of
from bitwright.running.loop import Ends, drive
from bitwright.running.observers import Margins, StepComparison
from bitwright.running.sliced.lanes import Rows
from bitwright.running.sliced.plan import SlicedPlan, plan
from bitwright.running.sliced.runs import Outcome, is_cut_off, triples
from bitwright.theory.encoding.packed import pack_words, unpack


class Definition:
    """Eq. (5) taken at its word: the bits of a block are a number, and the template with that configuration matches."""

    def __init__(self, program: Program) -> None:
        self._program = program
        sizes = np.diff(program.block_start)
        self._weight = 1 << (np.arange(len(program.block_bits)) - np.repeat(program.block_start[:-1], sizes))

    def matched(self, states: BoolArray) -> BoolArray:  # (batch, k) -> (batch, K)
        program = self._program
        held = np.add.reduceat(states[:, program.block_bits] * self._weight, program.block_start[:-1], axis=1)
        return np.asarray(held[:, program.template_block] == program.template_config)


_ENTRIES = 1 << 24  # of the arrays that count matches; larger batches are walked in parts


class Walker:
    """Runs one algorithm through an engine."""

    def __init__(self, algorithm: Algorithm, engine: Engine, limit: int) -> None:
        self._algorithm, self._engine, self._limit = algorithm, engine, limit
        self._rules, self._plan = Definition(algorithm.program), plan(algorithm.program)

    def run(self, inputs: Rows, count: int) -> Outcome:
        """The same question as SlicedRuns.run."""
        algorithm, limit = self._algorithm, self._limit
        states = algorithm.states(unpack(inputs, count))
        part = max(1, min(self._engine.chunk, _ENTRIES // len(algorithm.program.write_bits)))
        watching = Comparison(algorithm, self._rules, self._plan, count)
        ends: list[Ends] = []
        smallest = [np.inf]
        for at in range(0, count, part):
            some, margins = states[at : at + part], Margins(beyond=True)
            watching.first = at
            ends.append(drive(self._engine, some, ending_of(algorithm), limit, [watching, margins]))
            if margins.smallest is not None:
                smallest.append(float(margins.smallest.min(initial=np.inf)))
        final, halted = (np.concatenate([getattr(end, name) for end in ends]) for name in ("states", "halted"))
        return Outcome(
            outputs=pack_words(final[:, algorithm.output_bits]),
            unfinished=~halted | is_cut_off(algorithm, limit),
            beyond=watching.beyond,
            evaluations=watching.evaluations,
            steps=max(int(end.steps.max(initial=0)) for end in ends),
            wrong_steps=watching.wrong_steps,
            matches=frozenset(np.flatnonzero(watching.met).tolist()),
            triples=triples(watching.occurred, self._plan.pairs),
            margin=min(smallest) if np.isfinite(min(smallest)) else None,
        )


class Comparison(StepComparison):
    """Compares every step with the rules, and notes every n and (n, writers, matches) that occurs."""

    def __init__(self, algorithm: Algorithm, rules: Definition, plan: SlicedPlan, runs: int) -> None:
        super().__init__(self._note)
        self._algorithm, self._rules, self._plan = algorithm, rules, plan
        self.first = 0  # the number of the first run of the batch
        self.met: NDArray[np.bool_] = np.zeros(plan.n_max + 1, dtype=bool)
        self.occurred: NDArray[np.bool_] = np.zeros((plan.n_max + 1, len(plan.pairs)), dtype=bool)
        self.beyond: BoolArray = np.zeros(runs, dtype=bool)  # runs that met more matches than are declared

    def _note(self, states: BoolArray, runs: IntArray) -> BoolArray:
        """Enters n and (n, c, m) of the states that these runs are in; gives what the rules make of them."""
        tables, program = self._plan.tables, self._algorithm.program
        matched = self._rules.matched(states)  # (batch, K)
        n = np.count_nonzero(matched, axis=1)
        written = np.flatnonzero(program.writers)
        m = np.add.reduceat(matched[:, tables.writer], tables.writer_start[written], axis=1, dtype=np.int64)
        self.met[n] = True
        if self._algorithm.matches is not None:
            self.beyond[self.first + runs[n > self._algorithm.matches]] = True
        self.occurred[n[:, np.newaxis], tables.pair_start[tables.class_of[written]] + m] = True
        truth = np.zeros_like(states)
        truth[:, written] = m > 0
        return truth
