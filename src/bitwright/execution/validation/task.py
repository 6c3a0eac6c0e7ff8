"""What is to be validated, and how one batch of it is done. A task travels to other processes as it is."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import BitwrightError
from bitwright.execution import sliced
from bitwright.execution.engines import Settings, make_engine
from bitwright.execution.run import run_batch
from bitwright.execution.sliced.engine import Outcome, SlicedEngine
from bitwright.execution.sliced.lanes import Numbers, Rows, numbers, unpack_lanes
from bitwright.execution.validation.inputs import BLOCK, Inputs
from bitwright.execution.validation.oracles import Oracle, expected
from bitwright.execution.validation.tally import MOST_FAILURES, Failure, Tally
from bitwright.execution.validation.walk import Walker
from bitwright.program import Algorithm
from bitwright.theory.decisions import Decisions, decide

SLICED = ("templates", "limit")  # engines whose steps the bit-sliced loops make
_BATCH, _WORK = 1 << 18, 1 << 36  # inputs in a batch, and the most template-steps, so that a batch takes a moment


@dataclass(frozen=True)
class Task:
    """One algorithm, one engine, some inputs and an oracle; without one, the rules themselves say what is right."""

    algorithm: Algorithm
    engine: str
    settings: Settings
    inputs: Inputs
    oracle: Oracle | None
    limit: int
    plain: bool = False  # walk through the engine itself, even where the bit-sliced loops make the same steps

    @property
    def examples(self) -> int:
        """K: the templates, and padding if there is some."""
        return self.settings.examples or self.algorithm.program.templates

    @property
    def sliced(self) -> bool:
        return sliced.AVAILABLE and self.engine in SLICED and not self.plain

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

    def decisions(self) -> Decisions | None:
        """The table that `limit` decides by."""
        if self.engine != "limit":
            return None
        return decide(self.algorithm.program, self.examples, self.settings.rounding)


def run_task(task: Task, number: int) -> Tally:
    """The tally of one batch."""
    return _checker(task)(number)


_lock = Lock()
_last: tuple[Task, _Checker] | None = None


def _checker(task: Task) -> _Checker:
    """Made once in each process, and kept while the task stays the same."""
    global _last
    with _lock:
        if _last is None or _last[0] != task:
            _last = (task, _Checker(task))
        return _last[1]


class _Checker:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._runner: SlicedEngine | Walker
        if task.sliced:
            self._runner = SlicedEngine(task.algorithm, task.limit, task.decisions())
        else:
            engine = make_engine(task.engine, task.algorithm.program, task.settings)
            self._runner = Walker(task.algorithm, engine, task.limit)

    def __call__(self, number: int) -> Tally:
        task = self._task
        first = number * task.batch
        count = min(task.batch, task.inputs.count - first)
        rows = task.inputs.rows(first, count)
        outcome = self._runner.run(rows, count)
        judge = _against_rules if task.oracle is None else _against_oracle
        wrong, truth = judge(task, rows, count, outcome)
        return Tally(
            inputs=count,
            wrong=int(np.count_nonzero(wrong)),
            unfinished=int(np.count_nonzero(outcome.unfinished)),
            failures=_failures(task, rows, count, outcome, wrong, truth) if wrong.any() else (),
            evaluations=outcome.evaluations,
            steps=outcome.steps,
            wrong_steps=outcome.wrong_steps,
            matches=outcome.matches,
            triples=outcome.triples,
            margin=outcome.margin,
        )


def _against_oracle(task: Task, rows: Rows, count: int, outcome: Outcome) -> tuple[BoolArray, list[Numbers]]:
    """Which inputs have other outputs than the oracle says, and what it says."""
    assert task.oracle is not None
    truth = expected(task.oracle, task.algorithm, task.inputs.values(rows, count), count)
    wrong = np.zeros(count, dtype=bool)
    for found, right in zip(_outputs(task.algorithm, outcome, count), truth, strict=True):
        wrong |= np.asarray(found != right, dtype=bool)
    endless = np.array([answer is None for answer in truth[0]]) if truth[0].dtype == object else np.zeros(count, bool)
    return np.where(outcome.unfinished | endless, outcome.unfinished != endless, wrong), truth


def _against_rules(task: Task, rows: Rows, count: int, outcome: Outcome) -> tuple[BoolArray, list[Numbers]]:
    """The same, where the plain `templates` engine is the oracle."""
    algorithm = task.algorithm
    states = np.zeros((count, algorithm.program.bits), dtype=bool)
    states[:, list(algorithm.start)] = True
    states[:, [bit for word in algorithm.inputs for bit in word.bits]] = unpack_lanes(rows, count)
    done = run_batch(algorithm, states, limit=task.limit, workers=1)
    places = [bit for word in algorithm.outputs for bit in word.bits]
    differs = (done.states[:, places] != unpack_lanes(outcome.outputs, count)).any(axis=1)
    wrong = (differs & done.halted) | (done.halted == outcome.unfinished)
    truth: list[Numbers] = [np.full(count, None, dtype=object) for _ in algorithm.outputs]
    for at in np.flatnonzero(wrong & done.halted):
        for column, value in zip(truth, algorithm.read(done.states[at]).values(), strict=True):
            column[at] = value
    return wrong, truth


def _outputs(algorithm: Algorithm, outcome: Outcome, count: int) -> list[Numbers]:
    found, at = [], 0
    for word in algorithm.outputs:
        found.append(numbers(outcome.outputs[at : at + len(word.bits)], count, word.signed))
        at += len(word.bits)
    return found


def _failures(
    task: Task, rows: Rows, count: int, outcome: Outcome, wrong: BoolArray, truth: list[Numbers]
) -> tuple[Failure, ...]:
    """Those with the smallest index, each once."""
    indices = task.inputs.indices(rows, count)
    places = np.flatnonzero(wrong)
    places = places[np.argsort(indices[places], kind="stable")]
    chosen = {int(indices[place]): int(place) for place in places[: 4 * MOST_FAILURES].tolist()}
    values, outputs = task.inputs.values(rows, count), _outputs(task.algorithm, outcome, count)
    names = [word.name for word in task.algorithm.outputs]

    def row(columns: list[Numbers], place: int) -> dict[str, int]:
        return {name: _whole(column[place]) for name, column in zip(names, columns, strict=True)}

    return tuple(
        Failure(
            index,
            {name: int(column[place]) for name, column in values.items()},
            None if outcome.unfinished[place] else row(outputs, place),
            None if truth[0][place] is None else row(truth, place),
        )
        for index, place in list(chosen.items())[:MOST_FAILURES]
    )


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise BitwrightError(f"an oracle gives whole numbers, got {value!r}") from None
