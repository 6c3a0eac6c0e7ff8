"""Validation: every input, or many random ones, run to the end and compared with an oracle."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bitwright.common.bits import any_digits
from bitwright.common.errors import InputError, short_repr
from bitwright.common.workers import Workers, in_threads
from bitwright.engines.cells.engine import cells_sentence
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm
from bitwright.runs.loop import step_limit
from bitwright.runs.observers import Progress
from bitwright.theory.decisions import Triple
from bitwright.validation.functions import Function
from bitwright.validation.judge import forget, run_batch_of
from bitwright.validation.oracles import Oracle
from bitwright.validation.report import Failure, Tally, document, report
from bitwright.validation.task import ProgressFile, Task, choose_inputs

Verdict = Literal["exact", "not exact", "not decided"]
_SAVE_EVERY = 2.0  # seconds


@dataclass(frozen=True)
class Validation:
    """The result of a validation: a verdict and its counts.

    >>> from bitwright import addition, validate
    >>> result = validate(addition(3), engine="limit", compiled=False)
    >>> result.verdict, result.tally.inputs, result.margin
    ('exact', 64, 0.5)
    >>> print(result.sentence)
    exact: addition, engine limit, calibrated rounding
    """

    task: Task
    tally: Tally
    seconds: float  # of this process, without the resumed part
    rate: float  # evaluations a second
    margin: float | None  # the smallest margin of all steps; None for `templates`, which rounds nothing
    worst: Triple | None = None  # for `limit`: the (n, c, m) with this margin
    misjudged: tuple[Triple, ...] = ()  # for `limit`: triples that occurred and are misrounded

    @property
    def verdict(self) -> Verdict:
        """Exact: every run ended as the oracle and all `ensure` lines require, and every step agreed with the rules.

        Not exact: some step differed from the rules, or some run ended with other outputs. Not decided: nothing wrong
        was seen, but some runs could not be judged. An oracle may also expect a run never to end; a run that reaches
        the step limit is then right.
        """
        if self.tally.wrong or self.tally.wrong_steps:
            return "not exact"
        return "not decided" if self.tally.undecided or not self.tally.inputs else "exact"

    @property
    def sentence(self) -> str:
        """The verdict and its subject, in one line."""
        engine = self.task.engine
        rounded = "" if engine.rounding is None else f", {engine.rounding} rounding"
        return f"{self.verdict}: {self.task.algorithm.name}, engine {engine.name}{rounded}"

    __repr__ = short_repr

    def __str__(self) -> str:
        """The report, and the tiling of an engine that works on cells."""
        facts = self.task.engine.cell_facts
        behind = [] if facts is None else [cells_sentence(facts, self.tally.evaluations, self.tally.margin)]
        return "\n".join([self.report(), *behind])

    def report(self, again: Callable[[Failure], str] | None = None) -> str:
        """The verdict and the counts; `again` returns a command that reproduces a failure.

        >>> from bitwright import addition, validate
        >>> validate(addition(3)).report().splitlines()[1]
        "  inputs    64, exhaustive; 0 wrong by Python's integers or the ensure lines"
        """
        with any_digits():
            return report(self, again)

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as `bitwright validate --json` prints them; the command adds how to reproduce each failure.

        >>> from bitwright import addition, validate
        >>> validate(addition(3)).to_dict()["wrong"]
        0
        """
        with any_digits():
            return document(self)

    @property
    def doubt(self) -> str | None:
        """A likely mistake in the oracle, or None."""
        failures = self.tally.failures
        if failures and self.tally.wrong == self.tally.inputs and all(one.expected is None for one in failures):
            return "the oracle returned None for every input, which means that no run ends; is a return missing?"
        return None

    @property
    def exact(self) -> bool:
        """Whether the verdict is `exact`."""
        return self.verdict == "exact"

    def __bool__(self) -> bool:
        return self.exact

    @property
    def bound_broken(self) -> bool:
        """Whether a run met more matches than its algorithm declares; certificates with that n rely on the bound."""
        return self.tally.beyond > 0


def make_task(
    algorithm: Algorithm,
    engine: Engine,
    oracle: Oracle | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
) -> Task:
    """Builds a task: all inputs, or `random` ones; without an oracle the rules decide what is right."""
    inputs = choose_inputs(algorithm, random, sample_seed)
    return Task(algorithm, engine, inputs, oracle, step_limit(algorithm, limit), plain)


def validate(
    task: Task, workers: Workers | None = None, progress: Progress | None = None, resume: Path | None = None
) -> Validation:
    """Runs a task; the result does not depend on the workers.

    Args:
        progress: called after every batch with the number of inputs done
        resume: a progress file to continue from and update
    """
    begin = time.perf_counter()
    workers = workers or Workers()
    if isinstance(task.oracle, Function) and task.oracle.function is not None and (workers.kind != "serial" or resume):
        what = "a resume file cannot verify that it is unchanged" if resume else "workers cannot share it"
        raise InputError(
            f"{task.oracle.name} is a function of this process, so {what}; put it in a file and name it, "
            "oracle='MODULE:FUNCTION'"
        )
    file = ProgressFile(resume, task) if resume else None
    done, tally = file.load() if file else (0, Tally())
    known = tally.evaluations
    decisions = task.engine.decisions
    saved = begin - _SAVE_EVERY  # the first batch is saved at once

    def save() -> None:
        if file:
            file.save(done, tally)

    results = _results(task, workers, iter(range(done, task.batches)))
    try:
        for part in results:
            done, tally = done + 1, tally + part
            if progress:
                progress(tally.inputs + tally.outside, task.inputs.count)
            if time.perf_counter() - saved > _SAVE_EVERY:
                save()
                saved = time.perf_counter()
    finally:
        results.close()
        forget()
        save()
    seconds = time.perf_counter() - begin
    rate = (tally.evaluations - known) / max(seconds, 1e-9)  # a clock may stand still
    if decisions is None:
        return Validation(task, tally, seconds, rate, tally.margin)
    misjudged = tuple(sorted(t for t in tally.triples if decisions.sets(t) != (t[2] > 0)))
    margin, worst = decisions.margin(tally.triples) or (None, None)
    return Validation(task, tally, seconds, rate, margin, worst, misjudged)


def _results(task: Task, workers: Workers, numbers: Iterator[int]) -> Generator[Tally]:
    if workers.kind != "serial":
        return workers.map(run_batch_of, task, numbers, floats=task.engine.library)
    if task.sliced:
        return in_threads(lambda number: run_batch_of(task, number), numbers)
    return (run_batch_of(task, number) for number in numbers)
