"""The report of a validation for people, and all of it as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bitwright.errors import counted, option
from bitwright.running.run import program_id
from bitwright.validation.oracles import Ensured

if TYPE_CHECKING:
    from bitwright.theory.decisions import Triple
    from bitwright.validation.tally import Failure
    from bitwright.validation.validate import Validation

_SHOWN = 3  # failures that the report has; JSON has all that are kept


def document(done: Validation) -> dict[str, Any]:
    """Everything, ready for JSON."""
    task, tally = done.task, done.tally
    engine = task.engine
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
        "oracle": oracle_name(done),
        "verdict": done.verdict,
        "exact": done.exact,
        "inputs": tally.inputs,
        "random": task.inputs.random is not None,
        "sample_seed": None if task.inputs.random is None else task.inputs.seed,
        "step_limit": task.limit,
        "steps": tally.steps,
        "evaluations": tally.evaluations,
        "evaluations_per_second": round(done.rate),
        "wrong": tally.wrong,
        "wrong_steps": tally.wrong_steps,
        "unfinished": tally.unfinished,
        "endless": tally.endless,
        "unjudged": tally.unjudged,
        "undecided": tally.undecided,
        "failures": [
            {"inputs": failure.inputs, "outputs": failure.outputs, "expected": failure.expected, "line": failure.line}
            for failure in tally.failures
        ],
        "n_max": tally.n_max,
        "declared": _declared(done),
        "margin": done.margin,
        "margin_at": done.worst,
        "triples": sorted(tally.triples),
        "misjudged": list(done.misjudged),
        "seconds": round(done.seconds, 3),
    }


def report(done: Validation, again: Callable[[Failure], str] | None = None) -> str:
    """For people; `again` gives the command that shows a failure once more."""
    task, tally = done.task, done.tally
    name = task.algorithm.name
    about = f"{name} ({task.algorithm.description})" if task.algorithm.description else name
    engine = task.engine
    rounded = "" if engine.rounding is None else f", {engine.rounding} rounding, K = {task.examples:,}"
    scope = "all there are" if task.inputs.random is None else f"random, sample seed {task.inputs.seed}"
    lines = [
        f"{done.verdict.upper()}: {about}, engine {engine.name}{rounded}",
        f"  inputs    {tally.inputs:,}, {scope}; {tally.wrong:,} wrong by {_judges(done)}",
        f"  steps     at most {tally.steps:,} in a run; {tally.evaluations:,} evaluations, "
        f"{tally.wrong_steps:,} unlike the rules",
        f"  matches   n = {min(tally.matches, default=0):,} to {tally.n_max:,}; "
        f"{len(tally.triples):,} different (n, writers, matches)",
        *_networks(done),
        *_undecided(done),
    ]
    if done.margin is not None:
        where = "" if done.worst is None else f" at {_situation(done.worst)}"
        lines.append(f"  margin    {done.margin:.6g}{where}")
    if done.misjudged:
        lines.append(f"  misjudged {len(done.misjudged):,} of these, the first at {_situation(done.misjudged[0])}")
    if done.bound_broken:
        what, therefore = broken_bound(done)
        lines += [f"  declared  {what}", f"            {therefore}"]
    shown = tally.failures[:_SHOWN]
    for failure in shown:
        right = f"but ensure {failure.line}" if failure.line else "should not end"
        if failure.expected and failure.expected != failure.outputs:
            right = f"should give {_values(failure.expected)}"
        lines.append(f"  wrong     {_values(failure.inputs) or name} gives {_values(failure.outputs)}, {right}")
        lines += [] if again is None else [f"            {again(failure)}"]
    if tally.wrong > len(shown) > 0:
        more = len(tally.failures) > len(shown) and again is not None
        listed = f"; {option('json')} lists {len(tally.failures)}" if more else ""
        lines.append(f"            and {tally.wrong - len(shown):,} more{listed}")
    return "\n".join(lines)


def oracle_name(done: Validation) -> str:
    """Who says what is right."""
    return "the rules" if done.task.oracle is None else done.task.oracle.name


def _judges(done: Validation) -> str:
    """The oracle, and the `ensure` lines, which are tried beside any oracle."""
    name = oracle_name(done)
    return f"{name} or the ensure lines" if done.task.algorithm.ensures and name != Ensured.name else name


def broken_bound(done: Validation) -> tuple[str, str]:
    """That runs match more than is declared, and what this means for certificates."""
    tally, declared, n = done.tally, done.task.algorithm.matches, option("n")
    beyond = tally.first_beyond
    first = f", the first {_values(beyond.inputs)}" if beyond and beyond.inputs else ""
    doubt = f" (wrong steps may have led there; see {option('engine')} templates)" if tally.wrong_steps else ""
    return (
        f"matches {declared} is broken: n = {tally.n_max:,} occurred{doubt}; {_runs(tally.beyond)} met more{first}",
        f"a certificate made with {n} declared does not hold; use {n} reachable or {n} blocks",
    )


def _declared(done: Validation) -> dict[str, Any] | None:
    """What is declared of n, and whether it holds."""
    tally, declared = done.tally, done.task.algorithm.matches
    if declared is None:
        return None
    first = tally.first_beyond.inputs if tally.first_beyond else None
    return {"matches": declared, "broken": done.bound_broken, "runs_beyond": tally.beyond, "first": first}


def _networks(done: Validation) -> list[str]:
    digests = done.task.engine.digests
    if not digests:
        return []
    more = f" and {len(digests) - 1:,} more, see {option('json')}" if len(digests) > 1 else ""
    return [f"  networks  {len(digests):,}, as read at the start: sha256 {digests[0][:16]}...{more}"]


def _undecided(done: Validation) -> list[str]:
    """Runs that were not compared with the oracle, or only with its word that they never end."""
    task, tally, lines = done.task, done.tally, []
    cut = tally.unfinished - tally.endless
    limit = counted(task.limit, "step")
    if cut:
        declared = task.limit == task.algorithm.steps
        advice = "its 'steps' allows no more" if declared else f"raise {option('steps')}"
        lines.append(f"  undecided {_runs(cut)} did not end within {limit}, and their outputs are not known; {advice}")
    if tally.unjudged:
        lines.append(f"  undecided {_runs(tally.unjudged)} ended in outputs that {oracle_name(done)} cannot judge")
    if tally.endless:
        lines.append(f"  endless   {_runs(tally.endless)} did not end within {limit}, and never do, as the oracle says")
    return lines


def _runs(count: int) -> str:
    return counted(count, "run")


def _situation(triple: Triple) -> str:
    n, writers, matching = triple
    return f"n = {n:,} where {matching:,} of {counted(writers, 'writer')} match{'es' * (matching == 1)}"


def _values(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
