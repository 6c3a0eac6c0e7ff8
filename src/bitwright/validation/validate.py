"""Validation: every input, or many random ones, are run to the end and compared with an oracle."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bitwright.common.bits import any_digits
from bitwright.common.errors import InputError, Report, counted, option
from bitwright.common.files.journal import Journal, add_results
from bitwright.common.workers import Workers, in_threads
from bitwright.engines.cells.engine import cells_sentence
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm
from bitwright.rules.ensures import joined
from bitwright.runs.loop import step_limit
from bitwright.runs.observers import Progress
from bitwright.runs.run import program_id
from bitwright.theory.decisions import Triple
from bitwright.validation.judge import forget, run_batch_of
from bitwright.validation.oracles import Function, Oracle
from bitwright.validation.task import Failure, Tally, Task, choose_inputs

Verdict = Literal["exact", "not exact", "not decided"]
_SHOWN = 3  # failures in the report; JSON has all recorded ones


@dataclass(frozen=True, repr=False)
class Validation(Report):
    """The result of a validation: a verdict and its counts.

    >>> from bitwright import addition, validate
    >>> result = validate(addition(3), engine="limit")
    >>> result.verdict, result.tally.inputs, result.margin
    ('exact', 64, 0.5)
    """

    task: Task
    tally: Tally
    seconds: float
    margin: float | None  # the smallest margin of all steps; None for `templates`, which rounds nothing
    worst: Triple | None = None  # for `limit`: the (n, c, m) with this margin
    misjudged: tuple[Triple, ...] = ()  # for `limit`: triples that occurred and are misrounded

    @property
    def verdict(self) -> Verdict:
        """The verdict on all runs and steps.

        It is "exact" if every run ended as required by the oracle and all `ensure` lines and every step agreed with the
        rules; "not exact" if some step differed from the rules or some run ended with other outputs; "not decided" if
        nothing was wrong but some runs could not be judged. If the oracle expects a run never to end, a run that
        reaches the step limit is correct.
        """
        if self.tally.wrong or self.tally.wrong_steps:
            return "not exact"
        return "not decided" if self.tally.undecided or not self.tally.inputs else "exact"

    @property
    def exact(self) -> bool:
        """Whether the verdict is `exact`."""
        return self.verdict == "exact"

    def __bool__(self) -> bool:
        return self.exact

    @property
    def bound_broken(self) -> bool:
        """Whether any run had more matches than its algorithm declares, a bound that certificates may rely on."""
        return self.tally.beyond > 0

    @property
    def oracle(self) -> str:
        """The name of the source of the expected outputs."""
        if self.task.oracle is not None:
            return self.task.oracle.name
        return "its ensure lines" if self.task.stated else "the rules"

    @property
    def sentence(self) -> str:
        """The verdict and its subject, in one line."""
        engine, algorithm = self.task.engine, self.task.algorithm
        about = f" ({algorithm.description})" if algorithm.description else ""
        rounded = "" if engine.rounding is None else f", {engine.rounding} rounding, K = {self.task.examples:,}"
        return f"{self.verdict.upper()}: {algorithm.name}{about}, engine {engine.name}{rounded}"

    def rows(self) -> Iterator[str]:
        """Yields the counts, the undecided runs and the first failures.

        >>> from bitwright import addition, validate
        >>> next(validate(addition(3)).rows())
        '  inputs    64, exhaustive; 0 wrong by its ensure lines'
        """
        task, tally = self.task, self.tally
        scope = "exhaustive" if task.inputs.random is None else f"random, sample seed {task.inputs.seed}"
        if tally.outside:
            scope += f" with {joined(task.algorithm.conditions)}; {tally.outside:,} others were not run"
        also = " or the ensure lines" * (bool(task.algorithm.ensures) and not self.task.stated)
        yield f"  inputs    {tally.inputs:,}, {scope}; {tally.wrong:,} wrong by {self.oracle}{also}"
        evaluations = f"{tally.evaluations:,} evaluations, {tally.wrong_steps:,} differ from the rules"
        yield f"  steps     at most {tally.steps:,} in a run; {evaluations}"
        yield (
            f"  matches   n = {min(tally.matches, default=0):,} to {tally.n_max:,}; "
            f"{len(tally.triples):,} different (n, writers, matches)"
        )
        if digests := task.engine.digests:
            yield f"  networks  {len(digests):,}, as read at the start: sha256 {digests[0][:16]}..."
        yield from self._undecided()
        if self.margin is not None:
            yield f"  margin    {self.margin:.6g}" + (f" at {_situation(self.worst)}" if self.worst else "")
        if self.misjudged:
            yield f"  misjudged {len(self.misjudged):,} of these, the first at {_situation(self.misjudged[0])}"
        if self.bound_broken:
            yield f"  declared  {self.broken_bound}"
        with any_digits():
            yield from map(self._failed, tally.failures[:_SHOWN])
        if tally.wrong > _SHOWN:
            yield f"            and {tally.wrong - _SHOWN:,} more"
        if tally.failures and tally.wrong == tally.inputs and all(one.expected is None for one in tally.failures):
            yield "  oracle    returned None for every input, as if no run ended; is a return statement missing?"
        if task.engine.cell_facts is not None:
            yield f"  cells     {cells_sentence(task.engine.cell_facts, tally.evaluations, tally.margin)}"

    @property
    def broken_bound(self) -> str:
        """The runs with more matches than declared, and the consequence for certificates."""
        tally, n = self.tally, option("n")
        doubt = f" (wrong steps may be the cause; try {option('engine')} templates)" if tally.wrong_steps else ""
        beyond = f"n = {tally.n_max:,} occurred{doubt}; {counted(tally.beyond, 'run')} met more"
        first = f", the first {_values(tally.first_beyond.inputs)}" if tally.first_beyond else ""
        return (
            f"matches {self.task.algorithm.matches} is violated: {beyond}{first}; certificates made with {n} "
            f"declared are void; use {n} reachable or {n} blocks"
        )

    def _undecided(self) -> Iterator[str]:
        """Yields lines about runs that did not end, or that the oracle cannot judge."""
        task, tally = self.task, self.tally
        limit = counted(task.limit, "step")
        if cut := tally.unfinished - tally.endless:
            declared = task.limit == task.algorithm.steps
            advice = "its 'steps' line allows no more" if declared else f"raise {option('steps')}"
            runs = f"{counted(cut, 'run')} did not end within {limit}, so their outputs are unknown"
            yield f"  undecided {runs}; {advice}"
        if tally.unjudged:
            yield f"  undecided {counted(tally.unjudged, 'run')} ended with outputs that {self.oracle} cannot judge"
        if tally.endless:
            yield f"  endless   {counted(tally.endless, 'run')} did not end within {limit}, as the oracle expects"

    def _failed(self, failure: Failure) -> str:
        right = f"but ensure {failure.line}" if failure.line else "should not end"
        if failure.expected and failure.expected != failure.outputs:
            right = f"should give {_values(failure.expected)}"
        given = _values(failure.inputs) or self.task.algorithm.name
        return f"  wrong     {given} gives {_values(failure.outputs)}, {right}"

    def to_dict(self) -> dict[str, Any]:
        """Returns all numbers, as `bitwright validate --json` prints them.

        >>> from bitwright import addition, validate
        >>> validate(addition(3)).to_dict()["wrong"]
        0
        """
        task, tally, engine = self.task, self.tally, self.task.engine
        counts = ("inputs", "outside", "steps", "evaluations", "wrong", "wrong_steps", "unfinished", "endless")
        first = tally.first_beyond.inputs if tally.first_beyond else None
        declared = {"matches": task.algorithm.matches, "broken": self.bound_broken, "runs_beyond": tally.beyond}
        parts = ("inputs", "outputs", "expected", "line")
        return {
            "name": task.algorithm.name,
            "program_id": program_id(task.algorithm.program),
            "engine": engine.name,
            "rounding": engine.rounding,
            "examples": task.examples,
            "networks": engine.networks,
            "seed": engine.seed,
            "network_digests": list(engine.digests),
            **({} if engine.cell_facts is None else {"cells": dict(engine.cell_facts)}),
            "oracle": self.oracle,
            "verdict": self.verdict,
            "exact": self.exact,
            "random": task.inputs.random is not None,
            "sample_seed": None if task.inputs.random is None else task.inputs.seed,
            "step_limit": task.limit,
            **{name: getattr(tally, name) for name in (*counts, "unjudged", "undecided", "n_max")},
            "failures": [{part: getattr(one, part) for part in parts} for one in tally.failures],
            "declared": None if task.algorithm.matches is None else declared | {"first": first},
            "margin": self.margin,
            "margin_at": self.worst,
            "triples": sorted(tally.triples),
            "misjudged": list(self.misjudged),
            "seconds": round(self.seconds, 3),
        }


def _situation(triple: Triple) -> str:
    n, writers, matching = triple
    return f"n = {n:,} where {matching:,} of {counted(writers, 'writer')} match{'es' * (matching == 1)}"


def _values(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def make_task(
    algorithm: Algorithm,
    engine: Engine,
    oracle: Oracle | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
) -> Task:
    """Makes a task for all inputs or `random` ones; without an oracle, the rules decide which outputs are right."""
    inputs = choose_inputs(algorithm, random, sample_seed)
    return Task(algorithm, engine, inputs, oracle, step_limit(algorithm, limit), plain)


def validate(
    task: Task, workers: Workers | None = None, progress: Progress | None = None, file: Path | None = None
) -> Validation:
    """Runs a task; the result depends neither on the workers nor on interruptions.

    Args:
        progress: called at first and after every batch with the number of inputs done
        file: keeps finished batches, which are not run again
    """
    begin, workers = time.perf_counter(), workers or Workers()
    if isinstance(task.oracle, Function) and task.oracle.function is not None and workers.kind != "serial":
        raise InputError(
            f"{task.oracle.name} is a function of this process, which workers cannot share; put it in a file and give "
            "its name: oracle='MODULE:FUNCTION'"
        )

    def look(_: int, tally: Tally) -> None:
        if progress:
            progress(tally.inputs + tally.outside, task.inputs.count)

    try:
        journal = None if file is None else Journal(file, task.describe())
        tally = add_results(Tally(), task.batches, lambda jobs: _results(task, workers, jobs), look, journal)
    finally:
        forget()
    seconds, decisions = time.perf_counter() - begin, task.engine.decisions
    if decisions is None:
        return Validation(task, tally, seconds, tally.margin)
    misjudged = tuple(sorted(t for t in tally.triples if decisions.sets(t) != (t[2] > 0)))
    margin, worst = decisions.margin(tally.triples) or (None, None)
    return Validation(task, tally, seconds, margin, worst, misjudged)


def _results(task: Task, workers: Workers, numbers: Iterator[int]) -> Generator[Tally]:
    if workers.kind != "serial":
        return workers.map(run_batch_of, task, numbers, floats=task.engine.library)
    if task.sliced:
        return in_threads(lambda number: run_batch_of(task, number), numbers)
    return (run_batch_of(task, number) for number in numbers)
