"""Compares the outcome of runs with what is right."""

from __future__ import annotations

from threading import Lock

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.engine import CellEngine
from bitwright.program import Algorithm
from bitwright.program.ensure_runs import Runs
from bitwright.running.run import run_batch
from bitwright.running.sliced.lanes import Numbers, Rows
from bitwright.running.sliced.runs import Outcome, SlicedRuns
from bitwright.theory.encoding.packed import pack_words, unpack
from bitwright.validation.oracles import Expected, expected
from bitwright.validation.report import MOST_FAILURES, BrokenBound, Failure, Tally
from bitwright.validation.task import Inputs, Task, values_of
from bitwright.validation.walk import Walker


def judged(task: Task, rows: Rows, count: int, outcome: Outcome) -> Tally:
    """Compares runs with the oracle of a task, or with the rules where it has none, and tries every `ensure` line.

    A run that was cut off is neither right nor wrong; it agrees with an oracle that says that it never ends.
    """
    inputs, outputs = task.inputs.values(rows, count), values_of(task.algorithm.outputs, outcome.outputs, count)
    if task.oracle is None:
        right = _by_rules(task.algorithm, task.limit, unpack(rows, count))
    else:
        right = expected(task.oracle, task.algorithm, inputs, count)
    found, names = list(outputs.values()), list(outputs)
    differs = np.zeros(count, dtype=bool)
    for given, wanted in zip(found, right.outputs, strict=True):
        differs |= np.asarray(given != wanted, dtype=bool)
    cut = outcome.unfinished
    runs = Runs(count, inputs, outputs)
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
        unjudged=int(np.count_nonzero(~cut & ~wrong & right.unknown)),
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
    """Index and values of the chosen inputs with the smallest index, each once, and the places where they are."""
    if not chosen.any():
        return []
    places = np.flatnonzero(chosen)
    indices, values = inputs.indices(rows, count), inputs.values(rows, count)
    _, at = np.unique(indices[places], return_index=True)
    return [
        ((int(indices[place]), {name: int(column[place]) for name, column in values.items()}), place)
        for place in places[at[:most]].tolist()
    ]


def _by_rules(algorithm: Algorithm, limit: int, inputs: BoolArray) -> Expected:
    """What the plain `templates` engine gives; of runs that do not end in time it does not know more than we."""
    count = len(inputs)
    done = run_batch(algorithm, algorithm.states(inputs), limit=limit, workers=1)
    outputs = values_of(algorithm.outputs, pack_words(done.states[:, algorithm.output_bits]), count)
    return Expected(list(outputs.values()), np.zeros(count, dtype=bool), ~done.halted)


Runner = SlicedRuns | Walker
_lock = Lock()
_kept: tuple[str, Runner] | None = None  # in each process: what runs the batches of one validation, by its token


def run_batch_of(task: Task, number: int) -> Tally:
    """The tally of one batch."""
    count = task.size(number)
    rows = task.inputs.rows(number * task.batch, count)
    return judged(task, rows, count, _runner(task).run(rows, count))


def forget() -> None:
    """Drops what this process has kept."""
    global _kept
    with _lock:
        _kept = None


def _runner(task: Task) -> Runner:
    """Made once in each process for one validation, and used for no other."""
    global _kept
    with _lock:
        if _kept is None or _kept[0] != task.token:
            decisions = task.engine.decisions if task.sliced else None
            answered = task.engine.sliced if isinstance(task.engine, CellEngine) else None
            runner = (
                Walker(task.algorithm, task.engine, task.limit)
                if decisions is None
                else SlicedRuns(task.algorithm, task.limit, decisions, program=answered)
            )
            _kept = (task.token, runner)
        return _kept[1]
