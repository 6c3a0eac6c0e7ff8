"""`bitwright validate`: every input of a program through an engine, against an oracle."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.networks import files_of
from bitwright.cli.options import bits_option, json_option, machine_option, order_option, padding_option, quiet_option
from bitwright.cli.reporting import StepProgress, note, print_json
from bitwright.cli.targets import NAMES, find_algorithm, find_machine, is_image, parse_order, training_size
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.execution.validation import Failure, Oracle, Validation
    from bitwright.program import Algorithm
    from bitwright.theory.decisions import Triple

ENGINES = ("templates", "limit", "kernel", "sampled", "network")


@click.command("validate")
@click.argument("target", metavar="FILE|NAME")
@bits_option
@order_option
@machine_option
@click.option("--engine", type=click.Choice(ENGINES), default="limit", show_default=True)
@click.option("--rounding", default="calibrated", show_default=True, help="How real outputs become bits.")
@padding_option
@click.option(
    "--network",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Trained network file(s); they say the bit length.",
)
@click.option("--width", type=int, help="For network without a file: the width to train on the spot.")
@click.option("--networks", type=click.IntRange(1, 10**9), default=1, help="For sampled, network: how many to average.")
@click.option("--oracle", "function", metavar="MODULE:FUNCTION", help="A Python function that gives the right outputs.")
@click.option("--random", type=int, metavar="N", help="Run N random inputs instead of all.")
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Which random inputs.")
@click.option("--max-steps", type=int, help="Stop a run after this many steps even if the program is not done.")
@click.option("--workers", default="1", show_default=True, help="1 (a process, all cores), 4, all, ray or ray:ADDRESS.")
@click.option("--resume", type=click.Path(path_type=Path), help="Keep what is done in this file, and go on from it.")
@click.option("--plain", is_flag=True, help="Walk through the engine itself, not through its bit-sliced form.")
@json_option
@quiet_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: str | None,
    function: str | None,
    random: int | None,
    seed: int,
    max_steps: int | None,
    workers: str,
    resume: Path | None,
    plain: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> int:
    """Run every input of a program through an engine, step by step, and compare every output with an oracle.

    The oracle is Python's integers for addition, multiplication and permutation, the plain interpreter for .sbn
    programs, and for rule files the rules themselves unless a function is given. Exit 1 if anything was wrong.
    """
    from bitwright.algorithms.known import order_of
    from bitwright.bits import any_digits
    from bitwright.execution.sliced import AVAILABLE, to_be_compiled
    from bitwright.execution.validation import Function, make_task, validate
    from bitwright.workers import Workers

    if seed and random is None:
        raise InputError("--seed says which inputs --random takes; without --random all are run")
    if is_image(target):
        raise InputError("an image has no inputs to go through; run it, and compare what it prints")
    crew = Workers.parse(workers)
    algorithm = find_algorithm(target, bits, order, machine=machine, files=files_of(chosen))
    if files_of(chosen) and target == "permutation" and order is None:
        order = ",".join(map(str, order_of(algorithm)))  # as the network file says
    settings = _settings(algorithm, **chosen)
    oracle: Oracle | None = _own_oracle(target, algorithm, order, machine, max_steps)
    if function is not None:
        oracle = Function(function, os.getcwd(), tuple(word.name for word in algorithm.outputs))
        oracle.load()
    task = make_task(algorithm, chosen["engine"], settings, oracle, random, seed, max_steps, plain)
    if oracle is None and task.engine == "templates":
        note("without --oracle the rules are their own judge: this tests the engine, not the program", quiet)
    if not AVAILABLE and task.engine in ("templates", "limit"):
        note("this is a hundred times as fast with numba; install it with: pip install 'bitwright[fast]'", quiet)
    if task.sliced and to_be_compiled():
        note("compiling the loops of the bit-sliced engine; this is done once and takes some seconds", quiet)
    try:
        with StepProgress(not quiet, "inputs") as progress:
            done = validate(task, crew, progress, resume)
    except KeyboardInterrupt:
        note(f"what is done so far is in {resume}; the same command goes on from there", quiet or resume is None)
        raise
    again = {"bits": bits, "order": order, "machine": machine, **chosen, "max_steps": max_steps}
    if as_json:
        print_json(_document(done, target, again))
    else:
        verdict = "exact" if _exact(done) else f"{done.tally.wrong:,} wrong"
        with any_digits():
            click.echo(verdict if quiet else _report(done, target, again))
        note(f"{done.seconds:.2f} s, {done.tally.evaluations / done.seconds:,.0f} evaluations a second", quiet)
    return 0 if _exact(done) else 1


def _settings(
    algorithm: Algorithm,
    engine: str,
    rounding: str,
    padding: int | None,
    files: tuple[Path, ...],
    width: int | None,
    networks: int,
) -> Any:
    from bitwright.execution import Settings
    from bitwright.theory import check_rounding

    if (files or width is not None) and engine != "network":
        raise InputError("--network and --width go with --engine network")
    if networks != 1 and engine not in ("sampled", "network"):
        raise InputError("--networks goes with --engine sampled or network")
    if files and (width is not None or networks != 1 or padding is not None):
        raise InputError("a network file says how it was trained; leave out --width, --networks and --padding")
    kind = check_rounding(rounding)
    return Settings(kind, training_size(algorithm, kind, padding), networks, 0, files, width)


def _own_oracle(
    target: str, algorithm: Algorithm, order: str | None, machine: str | None, max_steps: int | None
) -> Oracle | None:
    """The independent oracle of what we ship; a rule file has none of its own."""
    from bitwright.execution.run import step_limit
    from bitwright.execution.validation import Arithmetic, Interpreter

    if target in NAMES:
        length = len(algorithm.inputs[0].bits)
        places = tuple(range(length, 0, -1) if order is None else parse_order(order))
        return Arithmetic(target, places if target == "permutation" else ())
    if Path(target).suffix.lower() == ".sbn":
        return Interpreter(find_machine(target, machine)[1], step_limit(algorithm, max_steps))
    return None


def _exact(done: Validation) -> bool:
    """Nothing wrong; and where only the rules can say whether a run should end, every run has ended."""
    open_ended = done.task.oracle is None and done.tally.unfinished
    return not (done.tally.wrong or done.tally.wrong_steps or open_ended)


def _rerun(failure: Failure, target: str, again: Mapping[str, Any]) -> str:
    """The command that shows one failure."""
    words = ["bitwright", "run", target, *(f"{name}={value}" for name, value in failure.inputs.items())]
    rounded = again["engine"] != "templates"
    for name, value in again.items():
        if name == "files":
            words += [word for path in value for word in ("--network", str(path))]
        elif value is None or (name == "networks" and value == 1) or (name == "rounding" and not rounded):
            continue
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _document(done: Validation, target: str, again: Mapping[str, Any]) -> dict[str, Any]:
    task, tally = done.task, done.tally
    return {
        "algorithm": task.algorithm.name,
        "engine": task.engine,
        "rounding": None if task.engine == "templates" else task.settings.rounding,
        "examples": task.examples,
        "oracle": _oracle_name(done),
        "exact": _exact(done),
        "inputs": tally.inputs,
        "random": task.inputs.random is not None,
        "seed": task.inputs.seed,
        "steps": tally.steps,
        "evaluations": tally.evaluations,
        "evaluations_per_second": round(tally.evaluations / done.seconds),
        "wrong": tally.wrong,
        "wrong_steps": tally.wrong_steps,
        "unfinished": tally.unfinished,
        "failures": [
            {"inputs": f.inputs, "outputs": f.outputs, "expected": f.expected, "command": _rerun(f, target, again)}
            for f in tally.failures
        ],
        "n_max": tally.n_max,
        "margin": done.margin,
        "margin_at": done.worst,
        "triples": sorted(tally.triples),
        "misjudged": list(done.misjudged),
        "program_id": task.algorithm.program.id,
        "seconds": round(done.seconds, 3),
    }


def _oracle_name(done: Validation) -> str:
    return "the rules" if done.task.oracle is None else done.task.oracle.name


def _report(done: Validation, target: str, again: Mapping[str, Any]) -> str:
    task, tally = done.task, done.tally
    name = task.algorithm.name
    about = f"{name} ({task.algorithm.description})" if task.algorithm.description else name
    rounded = "" if task.engine == "templates" else f", {task.settings.rounding} rounding, K = {task.examples:,}"
    scope = "all there are" if task.inputs.random is None else f"random, seed {task.inputs.seed}"
    lines = [
        f"{'EXACT' if _exact(done) else 'NOT EXACT'}: {about}, engine {task.engine}{rounded}",
        f"  inputs    {tally.inputs:,}, {scope}; {tally.wrong:,} wrong by {_oracle_name(done)}",
        f"  steps     at most {tally.steps:,} in a run; {tally.evaluations:,} evaluations, "
        f"{tally.wrong_steps:,} unlike the rules",
        f"  matches   n = {min(tally.matches, default=0):,} to {tally.n_max:,}; "
        f"{len(tally.triples):,} different (n, writers, matches)",
    ]
    if tally.unfinished:
        lines.append(
            f"  endless   {tally.unfinished:,} runs did not end within {task.limit:,} steps; raise --max-steps"
        )
    if done.margin is not None:
        where = "" if done.worst is None else f" at {_situation(done.worst)}"
        lines.append(f"  margin    {done.margin:.6g}{where}")
    if done.misjudged:
        lines.append(f"  misjudged {len(done.misjudged):,} of these, the first at {_situation(done.misjudged[0])}")
    for failure in tally.failures:
        said = "does not end" if failure.outputs is None else f"gives {_values(failure.outputs)}"
        right = "should not end" if failure.expected is None else f"should give {_values(failure.expected)}"
        lines.append(f"  wrong     {_values(failure.inputs) or name} {said}, {right}")
        lines.append(f"            {_rerun(failure, target, again)}")
    if tally.wrong > len(tally.failures) > 0:
        lines.append(f"            and {tally.wrong - len(tally.failures):,} more")
    return "\n".join(lines)


def _situation(triple: Triple) -> str:
    n, writers, matching = triple
    return f"n = {n:,} where {matching:,} of {writers:,} writer{'s' * (writers != 1)} match{'es' * (matching == 1)}"


def _values(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
