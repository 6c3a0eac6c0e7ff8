"""Running with the options that users give, and saying what came of it: results to stdout, notes to stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.open import SIZED
from bitwright.cli.progress import StepProgress as StepProgress
from bitwright.cli.progress import working
from bitwright.cli.targets import keep_program, spell_option
from bitwright.cli.training import cached_shown
from bitwright.errors import counted

if TYPE_CHECKING:
    from bitwright.api.engines import EngineChoice
    from bitwright.program import Algorithm, Program
    from bitwright.running.observers import Watch
    from bitwright.running.run import Run


PREPARING = "preparing the engine"


def note(text: str, quiet: bool = False) -> None:
    """Something worth knowing that is not the result: to stderr."""
    if not quiet:
        click.secho(text, err=True, dim=True)


def print_json(document: Mapping[str, object]) -> None:
    from bitwright.bits import any_digits

    with any_digits():
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def execute(
    algorithm: Algorithm,
    values: Mapping[str, int],
    *,
    max_steps: int | None,
    quiet: bool,
    record: bool = False,
    watch: Watch | None = None,
    **options: Any,
) -> Run:
    """A run with the options that users give, under a progress bar."""
    from bitwright.api.engines import choose_engine
    from bitwright.running.run import run_with

    if algorithm.name in SIZED:  # add, multiply and permute name none
        keep_program(algorithm.name, algorithm)
    choice = engine_choice(options, quiet)
    with working(PREPARING):
        engine = choose_engine(algorithm, choice, train=cached_shown)
    with StepProgress(not quiet, at_most=algorithm.halt is not None) as progress:
        return run_with(algorithm, values, engine, limit=max_steps, record=record, progress=progress, watch=watch)


def engine_choice(options: Mapping[str, Any], quiet: bool) -> EngineChoice:
    """The engine that options describe; a note says so where networks must be trained for it."""
    from bitwright.api.engines import choice_of

    choice = choice_of(options).checked(spell_option)
    if choice.trains:
        one = choice.networks == 1
        what, them = ("a network", "one") if one else (f"{choice.networks:,} networks", "them")
        whole = choice.width is not None and not (choice.cells or choice.whole)
        of = ", for the whole state as --width asks (--cells --width for its cells)" if whole else ""
        note(f"training {what} on the spot{of}, unless an earlier run has left {them} in the cache", quiet)
    return choice


def program_id(program: Program) -> str | None:
    """The id of a program; None where it would take longer than a moment to compute."""
    return program.id if program.templates <= 200_000 else None


def run_json(run: Run, bits: int | None, **more: object) -> dict[str, object]:
    """The stable keys of a run; docs/reference/json.md says what they mean."""
    single = {"value": run.value} if len(run.outputs) == 1 else {}
    return {
        "name": run.algorithm.name,
        "algorithm": run.algorithm.name,
        "program_id": program_id(run.algorithm.program),
        "inputs": run.inputs,
        "seed": run.seed,
        **single,
        "outputs": run.outputs,
        "bit_length": bits,
        "bits": bits,
        "steps": run.steps,
        "halted": run.halted,
        "engine": run.engine,
        "rounding": run.rounding,
        "examples": run.examples,
        "margin": run.margin,
        **({} if run.cells is None else {"cells": dict(run.cells)}),
        **more,
    }


def report(
    run: Run, bits: int | None, line: str, bare: str, as_json: bool, quiet: bool, about: str = "", **more: object
) -> int:
    """Prints a run and gives the exit code: 1 if the step limit came before the end, or the answer is not exact.

    Ensembles and trained networks can be wrong, so what they say is compared with what the rules give.
    """
    from bitwright.running.run import is_exact
    from bitwright.running.sentences import cells_sentence

    exact = is_exact(run)
    if as_json:
        print_json(run_json(run, bits, **({} if exact is None else {"exact": exact}), **more))
    elif run.halted:
        click.echo(bare if quiet else line)
        note(f"{about}{run.sentence}", quiet)
        if run.cells is not None:
            note(cells_sentence(run.cells), quiet)
    return exit_code(run, exact)


def exit_code(run: Run, exact: bool | None) -> int:
    """0, or 1 with a line that says why if the step limit came before the end or the answer is not exact."""
    if not run.halted:
        click.echo(
            f"bitwright: {run.algorithm.name} did not halt within {counted(run.steps, 'step')}; "
            + ("its 'steps' allows no more" if run.steps == run.algorithm.steps else "raise --max-steps")
            + ", or check its rules",
            err=True,
        )
    if exact is False:
        random = run.networks is not None  # else the limit itself is wrong there
        advice = "use more networks or a wider one" if random else "use calibrated rounding, or --padding"
        click.echo(f"bitwright: this is not what the rules give; {advice}", err=True)
    return 0 if run.halted and exact is not False else 1
