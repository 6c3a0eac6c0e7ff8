"""Compares the outcomes of runs with the expected outcomes.

`Walker` runs any engine step by step and compares every step with the rules. It counts by addition and matches by the
definition, which makes it an independent check of the bit-sliced runs.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program
from bitwright.rules.ensures import Runs
from bitwright.rules.layout import IntArray
from bitwright.runs.loop import Ends, drive, ending_of
from bitwright.runs.observers import Margins, StepComparison
from bitwright.runs.run import run_batch
from bitwright.runs.sliced import Numbers, Outcome, Rows, SlicedPlan, SlicedRuns, is_cut_off, plan, triples
from bitwright.theory.encoding import pack_words, unpack
from bitwright.validation.oracles import Expected, expected, undetermined
from bitwright.validation.task import MOST_FAILURES, BrokenBound, Failure, Inputs, Tally, Task, values_of


class LiteralRules:
    """Eq. (5) taken literally: the bits of a block are a number, and the template with that configuration matches."""

    def __init__(self, program: Program) -> None:
        self._program = program
        sizes = np.diff(program.block_start)
        self._weight = 1 << (np.arange(len(program.block_bits)) - np.repeat(program.block_start[:-1], sizes))

    def matched(self, states: BoolArray) -> BoolArray:  # (batch, k) -> (batch, K)
        program = self._program
        configs = np.add.reduceat(states[:, program.block_bits] * self._weight, program.block_start[:-1], axis=1)
        return np.asarray(configs[:, program.template_block] == program.template_config)


_ENTRIES = 1 << 24  # in the arrays that count matches; larger batches are split


class Walker:
    """Runs one algorithm through an engine."""

    def __init__(self, algorithm: Algorithm, engine: Engine, limit: int) -> None:
        self._algorithm, self._engine, self._limit = algorithm, engine, limit
        self._rules, self._plan = LiteralRules(algorithm.program), plan(algorithm.program)

    def run(self, inputs: Rows, count: int) -> Outcome:
        """Runs the inputs, with the contract of SlicedRuns.run."""
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
    """Compares every step with the rules, and records every n and (n, writers, matches) that occurs."""

    def __init__(self, algorithm: Algorithm, rules: LiteralRules, plan: SlicedPlan, runs: int) -> None:
        super().__init__(self._note)
        self._algorithm, self._rules, self._plan = algorithm, rules, plan
        self.first = 0  # the number of the first run of the batch
        self.met: NDArray[np.bool_] = np.zeros(plan.n_max + 1, dtype=bool)
        self.occurred: NDArray[np.bool_] = np.zeros((plan.n_max + 1, len(plan.pairs)), dtype=bool)
        self.beyond: BoolArray = np.zeros(runs, dtype=bool)  # runs that met more matches than declared

    def _note(self, states: BoolArray, runs: IntArray) -> BoolArray:
        """Records n and (n, c, m) of the states of these runs; returns the states that the rules give next."""
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


def judged(task: Task, rows: Rows, count: int, outcome: Outcome) -> Tally:
    """Compares runs with the oracle of a task, and evaluates every `ensure` line.

    Without an oracle, the outputs are compared with those of the rules unless `ensure` lines define every output. A
    run that was cut off is neither right nor wrong; it agrees with an oracle that expects it never to end.
    """
    inputs, outputs = task.inputs.values(rows, count), values_of(task.algorithm.outputs, outcome.outputs, count)
    stated, runs = task.stated, Runs(count, inputs, outputs)
    if task.oracle is None:
        right = _unknown(count) if stated else _by_rules(task.algorithm, task.limit, unpack(rows, count))
    else:
        right = expected(task.oracle, task.algorithm, inputs, count)
    found, names = list(outputs.values()), list(outputs)
    differs = np.zeros(count, dtype=bool)
    for given, wanted in zip(found, right.outputs, strict=False):  # there are none if the ensure lines judge
        differs |= np.asarray(given != wanted, dtype=bool)
    cut = outcome.unfinished
    unjudged = undetermined(task.algorithm, runs, count) if stated else right.unknown
    false = np.array([runs.broken(line) for line in task.algorithm.ensures]).reshape(-1, count)
    wrong = ~cut & (right.endless | (differs & ~right.unknown) | false.any(axis=0))

    def row(columns: list[Numbers], place: int) -> dict[str, int]:
        return {name: int(column[place]) for name, column in zip(names, columns, strict=True)}

    def failure(case: tuple[int, dict[str, int]], place: int) -> Failure:
        wanted = {} if right.unknown[place] else row(right.outputs, place)
        line = next(
            (str(one) for one, broken in zip(task.algorithm.ensures, false, strict=True) if broken[place]), None
        )
        return Failure(*case, row(found, place), None if right.endless[place] else wanted, line)

    failures = tuple(failure(*one) for one in _first(task.inputs, rows, count, wrong, MOST_FAILURES))
    beyond = _first(task.inputs, rows, count, outcome.beyond, 1)
    return Tally(
        inputs=count,
        wrong=int(np.count_nonzero(wrong)),
        unfinished=int(np.count_nonzero(cut)),
        endless=int(np.count_nonzero(cut & right.endless)),
        unjudged=int(np.count_nonzero(~cut & ~wrong & unjudged)),
        failures=failures,
        evaluations=outcome.evaluations,
        steps=outcome.steps,
        wrong_steps=outcome.wrong_steps,
        matches=outcome.matches,
        beyond=int(np.count_nonzero(outcome.beyond)),
        first_beyond=next((BrokenBound(*case) for case, _ in beyond), None),
        triples=outcome.triples,
        margin=outcome.margin,
    )


def _first(
    inputs: Inputs, rows: Rows, count: int, chosen: BoolArray, most: int
) -> list[tuple[tuple[int, dict[str, int]], int]]:
    """Returns the index and values of the chosen inputs with the smallest indices, and their positions in the batch."""
    if not chosen.any():
        return []
    places = np.flatnonzero(chosen)
    indices, values = inputs.indices(rows, count), inputs.values(rows, count)
    _, at = np.unique(indices[places], return_index=True)
    return [
        ((int(indices[place]), {name: int(column[place]) for name, column in values.items()}), place)
        for place in places[at[:most]].tolist()
    ]


def _unknown(count: int) -> Expected:
    return Expected([], np.zeros(count, dtype=bool), np.ones(count, dtype=bool))


def _by_rules(algorithm: Algorithm, limit: int, inputs: BoolArray) -> Expected:
    """Returns the outputs of the plain `templates` engine; runs that do not end within the limit are unknown."""
    count = len(inputs)
    done = run_batch(algorithm, algorithm.states(inputs), limit=limit, workers=1)
    outputs = values_of(algorithm.outputs, pack_words(done.states[:, algorithm.output_bits]), count)
    return Expected(list(outputs.values()), np.zeros(count, dtype=bool), ~done.halted)


Runner = SlicedRuns | Walker
_lock = Lock()
_kept: tuple[str, Runner] | None = None  # per process: the runner of one validation, with its token


def run_batch_of(task: Task, number: int) -> Tally:
    """Returns the tally of one batch."""
    count, conditions = task.size(number), task.algorithm.conditions
    rows = task.inputs.rows(number * task.batch, count)
    if conditions:
        allowed = Runs(count, task.inputs.values(rows, count), {}).all_hold(conditions)
        rows, outside = pack_words(unpack(rows, count)[allowed]), int(np.count_nonzero(~allowed))
        count -= outside
        ran = judged(task, rows, count, _runner(task).run(rows, count)) if count else Tally()
        return replace(ran, outside=outside)
    return judged(task, rows, count, _runner(task).run(rows, count))


def forget() -> None:
    """Drops the runner that this process keeps."""
    global _kept
    with _lock:
        _kept = None


def _runner(task: Task) -> Runner:
    """The runner of a task, created once in each process and used for no other validation."""
    global _kept
    with _lock:
        if _kept is None or _kept[0] != task.token:
            decisions = task.engine.decisions if task.sliced else None
            runner = (
                Walker(task.algorithm, task.engine, task.limit)
                if decisions is None
                else SlicedRuns(task.algorithm, task.limit, decisions)
            )
            _kept = (task.token, runner)
        return _kept[1]
