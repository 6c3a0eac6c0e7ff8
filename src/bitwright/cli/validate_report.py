"""What `validate` says: the report, the JSON, and the command that shows a failure again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bitwright.api.open import NAMES
from bitwright.cli.reporting import program_id
from bitwright.cli.targets import let_words
from bitwright.errors import counted

if TYPE_CHECKING:
    from bitwright.checking.validation import Failure, Validation
    from bitwright.theory.decisions import Triple

_SHOWN = 3  # failures that the report has; JSON has all that are kept


def rerun(failure: Failure, target: str, done: Validation, options: Mapping[str, Any]) -> str:
    """The command that shows one failure; what `run` would choose otherwise than `validate` is written out."""
    task = done.task
    name = f"./{target}" if target.startswith("-") else target
    words = ["bitwright", "run", name, *(f"{name}={value}" for name, value in failure.inputs.items())]
    if target in NAMES and options["order"] is None:
        words += ["--bits", str(len(task.algorithm.inputs[0].bits))]
    words += let_words()
    if options["order"] is not None:
        words += ["--order", options["order"]]
    if options["machine"] is not None:
        words += ["--machine", str(options["machine"])]
    words += ["--engine", task.engine.name]
    if task.engine.rounding is not None:
        words += ["--rounding", task.engine.rounding]
    for path in options["files"]:
        words += ["--network", str(path)]
    words += [f"--{option}" for option in ("whole", "cells", "evaluate") if options[option]]
    for option in ("padding", "width", "tile", "max_steps"):
        if options[option] is not None:
            words += [f"--{option.replace('_', '-')}", str(options[option])]
    for option, usual in (("networks", 1), ("seed", 0)):
        if options[option] not in (None, usual):
            words += [f"--{option}", str(options[option])]
    return shlex.join(words)


def document(done: Validation, target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Everything, as JSON."""
    task, tally = done.task, done.tally
    engine = task.engine
    return {
        "name": task.algorithm.name,
        "algorithm": task.algorithm.name,
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
        "evaluations_per_second": round(tally.evaluations / done.seconds),
        "wrong": tally.wrong,
        "wrong_steps": tally.wrong_steps,
        "unfinished": tally.unfinished,
        "endless": tally.endless,
        "unjudged": tally.unjudged,
        "undecided": tally.undecided,
        "failures": [
            {
                "inputs": failure.inputs,
                "outputs": failure.outputs,
                "expected": failure.expected,
                "command": rerun(failure, target, done, options),
            }
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


def report(done: Validation, target: str, options: Mapping[str, Any]) -> str:
    """For people."""
    task, tally = done.task, done.tally
    name = task.algorithm.name
    about = f"{name} ({task.algorithm.description})" if task.algorithm.description else name
    engine = task.engine
    rounded = "" if engine.rounding is None else f", {engine.rounding} rounding, K = {task.examples:,}"
    scope = "all there are" if task.inputs.random is None else f"random, sample seed {task.inputs.seed}"
    lines = [
        f"{done.verdict.upper()}: {about}, engine {engine.name}{rounded}",
        f"  inputs    {tally.inputs:,}, {scope}; {tally.wrong:,} wrong by {oracle_name(done)}",
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
        right = "should not end" if failure.expected is None else f"should give {values_text(failure.expected)}"
        lines.append(f"  wrong     {values_text(failure.inputs) or name} gives {values_text(failure.outputs)}, {right}")
        lines.append(f"            {rerun(failure, target, done, options)}")
    if tally.wrong > len(shown) > 0:
        listed = f"; --json lists {len(tally.failures)}" if len(tally.failures) > len(shown) else ""
        lines.append(f"            and {tally.wrong - len(shown):,} more{listed}")
    return "\n".join(lines)


def oracle_name(done: Validation) -> str:
    return "the rules" if done.task.oracle is None else done.task.oracle.name


def broken_bound(done: Validation) -> tuple[str, str]:
    """That runs match more than is declared, and what this means for certificates."""
    tally, declared = done.tally, done.task.algorithm.matches
    first = (
        f", the first {values_text(tally.first_beyond.inputs)}"
        if tally.first_beyond and tally.first_beyond.inputs
        else ""
    )
    doubt = " (wrong steps may have led there; see --engine templates)" if tally.wrong_steps else ""
    return (
        f"matches {declared} is broken: n = {tally.n_max:,} occurred{doubt}; {_runs(tally.beyond)} met more{first}",
        "a certificate made with --n declared does not hold; use --n reachable or --n blocks",
    )


def _declared(done: Validation) -> dict[str, Any] | None:
    """What is declared of n, and whether it holds."""
    tally, declared = done.tally, done.task.algorithm.matches
    if declared is None:
        return None
    first = tally.first_beyond.inputs if tally.first_beyond else None
    return {"matches": declared, "broken": done.bound_broken, "runs_beyond": tally.beyond, "first": first}


def _networks(done: Validation) -> list[str]:
    if not done.task.engine.digests:
        return []
    count = len(done.task.engine.digests)
    more = f" and {count - 1:,} more, see --json" if count > 1 else ""
    return [f"  networks  {count:,}, as read at the start: sha256 {done.task.engine.digests[0][:16]}...{more}"]


def _undecided(done: Validation) -> list[str]:
    """Runs that were not compared with the oracle, or only with its word that they never end."""
    task, tally, lines = done.task, done.tally, []
    cut = tally.unfinished - tally.endless
    limit = counted(task.limit, "step")
    if cut:
        declared = task.limit == task.algorithm.steps
        advice = "its 'steps' allows no more" if declared else "raise --max-steps"
        lines.append(f"  undecided {_runs(cut)} did not end within {limit}, and their outputs are not known; {advice}")
    if tally.unjudged:
        lines.append(f"  undecided {_runs(tally.unjudged)} ended, and {oracle_name(done)} does not know what is right")
    if tally.endless:
        lines.append(f"  endless   {_runs(tally.endless)} did not end within {limit}, and never do, as the oracle says")
    return lines


def _runs(count: int) -> str:
    return counted(count, "run")


def _situation(triple: Triple) -> str:
    n, writers, matching = triple
    return f"n = {n:,} where {matching:,} of {counted(writers, 'writer')} match{'es' * (matching == 1)}"


def values_text(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
