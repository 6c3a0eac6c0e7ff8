"""The program and the engine that a request asks for, within the limits of this server; nothing here reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bitwright import Algorithm, Program, Recipe
from bitwright.api.engines import Engine, EngineChoice, choose_engine, recipes
from bitwright.api.making import Curve, FloatNetwork, watched
from bitwright.api.open import named_algorithm
from bitwright.api.pasted import pasted_rules, pasted_sbn
from bitwright.errors import InputError, shorten
from bitwright.web.limits import Limits
from bitwright.web.told import Progress

ENGINES = ("templates", "limit", "kernel", "sampled", "network")
ROUNDINGS = ("calibrated", "sign")


def read_source(source: Mapping[str, Any], limits: Limits) -> Algorithm:
    """The algorithm of a request; raises BitwrightError if it cannot run here."""
    algorithm = _read(source)
    check_size(algorithm.program, limits)
    return algorithm


def _read(source: Mapping[str, Any]) -> Algorithm:
    match source["kind"]:
        case "permutation":
            return named_algorithm("permutation", order=source["order"])
        case "addition":
            return named_algorithm("addition", source["bits"], counter=source["counter"])
        case "multiplication":
            return named_algorithm("multiplication", source["bits"])
        case "rules":
            return pasted_rules(source["text"], source["name"])
        case "sbn":
            return pasted_sbn(source["text"], source["name"], source["machine"], source["language"])
    raise InputError(f"there is no kind of program called '{shorten(str(source['kind']))}'")


def describe(algorithm: Algorithm, limits: Limits) -> dict[str, object]:
    """What a page needs to ask for inputs, and shows about a valid program."""
    computer = algorithm.computer
    return described(
        algorithm,
        limits,
        inputs=[{"name": w.name, "bits": len(w.bits), "signed": w.signed} for w in algorithm.inputs],
        outputs=[word.name for word in algorithm.outputs],
        machine=None if computer is None else f"machine {computer.machine.kind} with {computer.code.sizes}",
    )


def check_size(program: Program, limits: Limits, graph: bool = False) -> None:
    """Raises InputError for a program that is too large for this server, by itself or on its `graph`."""
    here, smaller = (" on this graph", "; take a smaller graph") if graph else ("", "")
    for size, most, what in ((program.bits, limits.bits, "bits"), (program.templates, limits.templates, "templates")):
        if size > most:
            raise InputError(f"this program has {size:,} {what}{here}; this server takes at most {most:,}{smaller}")


def offers(algorithm: Algorithm, limits: Limits) -> dict[str, dict[str, str | None]]:
    """By engine and rounding, why this server does not run the program; None if it does."""
    return {
        name: {rounding: problem_of(algorithm, EngineChoice(name, rounding), limits) for rounding in ROUNDINGS}
        for name in ENGINES
    }


def described(algorithm: Algorithm, limits: Limits, **more: object) -> dict[str, object]:
    """What a page shows about a valid program, and needs to ask for its inputs."""
    program = algorithm.program
    facts: dict[str, object] = {
        "description": algorithm.description,
        "bits": program.bits,
        "blocks": program.blocks,
        "templates": program.templates,
        "steps": algorithm.steps,
        "inputs": [],
        "outputs": [],
        "machine": None,
        "engines": offers(algorithm, limits),
        "program_id": program.id,
    }
    return facts | more


def problem_of(algorithm: Algorithm, choice: EngineChoice, limits: Limits) -> str | None:
    """Why this server does not run a program of that size with that engine, if so."""
    examples = choice.examples(algorithm)
    if choice.solves and examples > limits.kernel:
        return f"the kernel engine takes at most {limits.kernel:,} examples here, this program has {examples:,}"
    if choice.by_cells:
        examples = sum(kind.templates for kind in algorithm.program.kinds.kinds)
    if choice.trains and examples > limits.network:
        advice = "use another engine here, or on the command line: --engine network"
        return too_many_examples(examples, choice.by_cells, limits, advice)
    return None


def too_many_examples(examples: int, cells: bool, limits: Limits, advice: str) -> str:
    """Why this server trains no network on that many examples."""
    what = "the cells of this program have" if cells else "this program has"
    return f"this server trains networks on at most {limits.network:,} examples, {what} {examples:,}; {advice}"


def check_width(width: int | None, limits: Limits) -> None:
    """Raises InputError for a network that is too wide for this server."""
    if width is not None and width > limits.width:
        raise InputError(f"this server trains networks of at most {limits.width:,} hidden units, got {width:,}")


def engine_for(
    algorithm: Algorithm, request: Mapping[str, Any], limits: Limits, progress: Progress, compiled: bool = False
) -> Engine:
    """As on the command line: `network` is one network of the cells, unless something asks for the whole state.

    Compiled loops keep files, which this process may not; those that the worker has warmed up are there already.
    """
    name, members, width = request["engine"], request["networks"], request["width"]
    choice = EngineChoice(name, compiled=compiled)
    if name != "templates":  # which round nothing; there the rounding is that of the certificate
        choice = replace(choice, rounding=request["rounding"])
    if choice.has_networks:
        choice = replace(choice, networks=members, seed=request["seed"])
    if choice.trains:
        if members > limits.members:
            raise InputError(f"this server trains at most {limits.members} networks for a run, got {members:,}")
        choice = replace(choice, width=width)
        if not choice.by_cells:
            width = width or min(recipes(algorithm, replace(choice, networks=1))[0].width, limits.width)
            choice = replace(choice, width=width)
        check_width(width, limits)
    if (problem := problem_of(algorithm, choice, limits)) is not None:
        raise InputError(problem)
    what = "a network of cells" if choice.by_cells else f"network {{}} of {members}"

    def train_one(program: Program, recipe: Recipe) -> FloatNetwork:
        return trained(program, recipe, what.format(recipe.member + 1), progress)[0]

    return choose_engine(algorithm, choice, train=train_one)


def trained(program: Program, recipe: Recipe, what: str, progress: Progress) -> tuple[FloatNetwork, Curve]:
    """Trains a network, and reports the progress and all errors so far."""
    phase = f"training {what} at width {recipe.width:,}"

    def report(step: int, most: int, curve: Curve) -> None:
        progress(phase, step, most, curve=curve, tolerance=recipe.plan.tolerance)

    return watched(program, recipe, report)
