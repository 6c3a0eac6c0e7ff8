"""The work behind a request: check a text, or run a program and say everything about it. No web in here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Protocol

from bitwright.app.engines import EngineChoice, choose_engine
from bitwright.bits import any_digits
from bitwright.checking.certificate import certify
from bitwright.checking.width import suggested_width
from bitwright.encoding.training_set import TrainingSet
from bitwright.engines.make import ENGINES
from bitwright.engines.protocol import Engine
from bitwright.errors import BitwrightError, InputError, ProgramError
from bitwright.networks import Network, Plan, Recipe, train
from bitwright.program import Algorithm, Program
from bitwright.running.run import Run, is_exact, run_with
from bitwright.theory import sizes, training_size
from bitwright.theory.rounding import ROUNDINGS, Rounding, check_rounding
from bitwright.viewer import run_title, trace_page
from bitwright.web.limits import Limits
from bitwright.web.sources import describe, read_numbers, read_source

Files = dict[str, bytes]
MOST_PROBLEMS = 200  # that are listed; nobody reads more


class Progress(Protocol):
    """Told what is being done, and how far it is."""

    def __call__(self, phase: str, step: int = 0, limit: int = 0) -> None: ...


def check(source: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """The problems of a program by line and column, or what it is. A problem of the whole has line 0."""
    try:
        algorithm, computer = read_source(source, limits)
    except ProgramError as error:
        found = [{"line": p.line, "column": p.column, "message": p.message} for p in error.problems[:MOST_PROBLEMS]]
        return {"ok": False, "problems": found, "count": len(error.problems), "about": None}
    except BitwrightError as error:
        return {"ok": False, "problems": [{"line": 0, "column": 0, "message": str(error)}], "count": 1, "about": None}
    engines = {
        name: {rounding: _engine_problem(algorithm, EngineChoice(name, rounding), limits) for rounding in ROUNDINGS}
        for name in ENGINES
    }
    return {"ok": True, "problems": [], "count": 0, "about": {**describe(algorithm, computer), "engines": engines}}


def run(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Runs what is asked for; gives the facts for the page, and the files to download."""
    progress("reading the program")
    algorithm, computer = read_source(request["source"], limits)
    values = read_numbers(request["inputs"])
    algorithm.state(values)  # complains about inputs before anything long begins
    rounding = check_rounding(request["rounding"])
    examples = training_size(algorithm, rounding)
    most = _most_steps(algorithm, request["max_steps"], limits)
    engine = _engine(algorithm, request, rounding, limits, progress)
    done = run_with(
        algorithm,
        values,
        engine,
        limit=most,
        record=True,
        progress=lambda step, limit: progress("running", step, limit),
    )
    progress("comparing with the rules")
    exact = is_exact(done)
    progress("proving")
    certificate = _attempt(lambda: _certificate(algorithm, rounding, examples))
    size = _attempt(lambda: _size(algorithm, request["delta"]))
    progress("writing the trace")
    files = {"trace.html": trace_page(done, computer=computer).encode(), "program.bw": algorithm.text().encode()}
    for name, document in (("certificate.json", certificate), ("size.json", size)):
        if "problem" not in document:
            files[name] = _json(document)
    missing = {}  # downloads that a run can do without, and why they are not there
    try:
        files["training-set.npz"] = _training_set(algorithm, examples, limits)
    except BitwrightError as error:
        missing["training-set.npz"] = str(error)
    result = _facts(done, exact, examples)
    files["run.json"] = _json(result)
    note = _unfinished(done, request["max_steps"]) or _inexact(exact)
    more = {"title": run_title(done), "note": note, "missing": missing, "certificate": certificate, "size": size}
    return {**result, **more}, files


def _most_steps(algorithm: Algorithm, asked: int | None, limits: Limits) -> int:
    allowed = min(limits.steps, limits.cells // algorithm.program.bits)
    if asked is None and algorithm.halt is None and (algorithm.steps or 0) > allowed:
        raise InputError(
            f"this program takes {algorithm.steps:,} steps; for its {algorithm.program.bits:,} bits this server makes "
            f"at most {allowed:,}; make it smaller, or give a step limit to see the beginning"
        )
    return allowed if asked is None else min(asked, allowed)


def _engine_problem(algorithm: Algorithm, choice: EngineChoice, limits: Limits) -> str | None:
    """Why this server does not run a program of that size with that engine, if so."""
    examples = training_size(algorithm, choice.rounding)
    if choice.solves and examples > limits.kernel:
        return f"the kernel engine takes at most {limits.kernel:,} examples here, this program has {examples:,}"
    what = "this program has"
    if choice.by_cells:
        examples, what = sum(kind.templates for kind in algorithm.program.kinds.kinds), "the cells of this program have"
    if choice.trains and examples > limits.network:
        return (
            f"this server trains networks on at most {limits.network:,} examples, {what} {examples:,}; "
            "use another engine here, or on the command line: --engine network"
        )
    return None


def _engine(
    algorithm: Algorithm, request: Mapping[str, Any], rounding: Rounding, limits: Limits, progress: Progress
) -> Engine:
    """As on the command line: `network` is one network of the cells, unless something asks for the whole state."""
    name, members, width = request["engine"], request["networks"], request["width"]
    # Compiled loops keep files, which this process may not, and runs are too short here to gain by them.
    choice = EngineChoice(name, rounding, compiled=False)
    if choice.has_networks:
        choice = replace(choice, networks=members, seed=request["seed"])
    if choice.trains:
        if members > limits.members:
            raise InputError(f"this server trains at most {limits.members} networks for a run, got {members:,}")
        choice = replace(choice, width=width)
        if not choice.by_cells:
            padding = training_size(algorithm, rounding) - algorithm.program.templates
            width = width or min(suggested_width(algorithm, padding), limits.width)
            choice = replace(choice, width=width)
        if width is not None and width > limits.width:
            raise InputError(f"this server trains networks of at most {limits.width:,} hidden units, got {width:,}")
    if (problem := _engine_problem(algorithm, choice, limits)) is not None:
        raise InputError(problem)

    def train_one(program: Program, recipe: Recipe) -> Network:
        what = "a network of cells" if choice.by_cells else f"network {recipe.member + 1} of {members}"
        phase = f"training {what} at width {recipe.width:,}"
        most = program.templates + recipe.padding
        return train(program, recipe, _report_training(progress, phase, recipe.plan, most))[0]

    return choose_engine(algorithm, choice, train=train_one)


def _report_training(progress: Progress, phase: str, plan: Plan, examples: int) -> Callable[[int, float], None]:
    """Training tells its steps and its error; people are report how far it is."""
    most = plan.expected_steps(examples)
    return lambda step, _: progress(phase, min(step, most), most)


def _certificate(algorithm: Algorithm, rounding: Rounding, examples: int) -> dict[str, object]:
    """As `bitwright certify` makes it."""
    return asdict(certify(algorithm.program, rounding, examples=examples))


def _size(algorithm: Algorithm, delta: float) -> dict[str, object]:
    """As `bitwright size --json` says it."""
    return {"name": algorithm.name} | sizes(algorithm, delta)


def _training_set(algorithm: Algorithm, examples: int, limits: Limits) -> bytes:
    program = algorithm.program
    if program.templates * max(program.templates, program.bits) > limits.cells:
        raise InputError(f"a training set of {examples:,} examples is too large for this server")
    return TrainingSet(program, examples - program.templates).npz()


def _attempt(make: Callable[[], dict[str, object]]) -> dict[str, object]:
    """What is made, or why it cannot be."""
    try:
        return make()
    except BitwrightError as error:
        return {"problem": str(error)}


def _facts(done: Run, exact: bool | None, examples: int) -> dict[str, object]:
    program = done.algorithm.program
    with any_digits():
        return {
            "algorithm": done.algorithm.name,
            "inputs": {name: str(value) for name, value in done.inputs.items()},
            "outputs": {name: str(value) for name, value in done.outputs.items()},
            "steps": done.steps,
            "halted": done.halted,
            "engine": done.engine,
            "rounding": done.rounding,
            "margin": done.margin,
            "exact": exact,
            "bits": program.bits,
            "blocks": program.blocks,
            "templates": program.templates,
            "examples": done.examples or examples,
            **({} if done.cells is None else {"cells": dict(done.cells)}),
            "program_id": program.id,
        }


def _unfinished(done: Run, asked: int | None) -> str:
    if done.halted:
        return ""
    why = "your step limit"
    if done.steps == done.algorithm.steps:
        why = "its 'steps' allows no more"
    elif asked is None or asked > done.limit:
        why = f"the most this server makes for {done.algorithm.program.bits:,} bits"
    return f"It did not halt within {done.steps:,} steps ({why}); what follows is the run so far."


def _inexact(exact: bool | None) -> str:
    return "This is not what the rules give; use more networks or a wider one." if exact is False else ""


def _json(document: Mapping[str, object]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
