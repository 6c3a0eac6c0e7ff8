"""One batch of a validation, in whatever process."""

from __future__ import annotations

from threading import Lock

from bitwright.engines.cells.engine import CellEngine
from bitwright.running.sliced.runs import Look, SlicedRuns
from bitwright.validation.judge import OutputJudge
from bitwright.validation.prepare import Prepared
from bitwright.validation.tally import Tally
from bitwright.validation.walk import Walker

Runner = SlicedRuns | Walker
_lock = Lock()
_kept: tuple[str, Runner] | None = None  # in each process: what runs the batches of one validation, by its token


def run_batch_of(ready: Prepared, number: int, look: Look | None = None) -> Tally:
    """The tally of one batch; `look` is told how much of it is done."""
    task = ready.task
    count = task.size(number)
    rows = task.inputs.rows(number * task.batch, count)
    # Where every input is judged by itself that takes long beside the compiled loops, and little beside other engines.
    running = 1.0 if task.oracle is not None and task.oracle.arrays else 0.1 if task.sliced else 0.9
    outcome = _runner(ready).run(rows, count, look and (lambda share: look(running * share)))
    return OutputJudge(task)(rows, count, outcome, look and (lambda share: look(running + (1 - running) * share)))


def forget() -> None:
    """Drops what this process has kept."""
    global _kept
    with _lock:
        _kept = None


def _runner(ready: Prepared) -> Runner:
    """Made once in each process for one validation, and used for no other."""
    global _kept
    with _lock:
        if _kept is None or _kept[0] != ready.token:
            _kept = (ready.token, _make(ready))
        return _kept[1]


def _make(ready: Prepared) -> Runner:
    task = ready.task
    decisions = task.engine.decisions if task.sliced else None
    if decisions is not None:
        answered = task.engine.sliced if isinstance(task.engine, CellEngine) else None
        return SlicedRuns(task.algorithm, task.limit, decisions, program=answered)
    return Walker(task.algorithm, task.engine, task.limit)
