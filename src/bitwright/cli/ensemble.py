"""`bitwright ensemble`: train many networks and see how well their average does, in the paper's terms or ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import (
    algorithm_argument,
    json_option,
    padding_option,
    quiet_option,
    recipe_options,
    workers_option,
)
from bitwright.cli.reporting import StepProgress, note, print_json
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.networks.ensemble import Study
    from bitwright.program import Algorithm
    from bitwright.theory import Range


@click.command("ensemble")
@algorithm_argument
@click.option("--networks", "-n", type=click.IntRange(1, 10**7), help="Train so many (or, with --accuracy, at most).")
@click.option("--accuracy", type=float, help="Stop once this fraction of the states comes out right.")
@click.option("--delta", type=float, help="Train the proven number for one input, wrong with at most this probability.")
@click.option("--states", type=int, default=1_000, show_default=True, help="Random states of runs to look at.")
@click.option("--ones", type=int, help="Look at inputs with just so many bits on, at the start of their runs.")
@click.option(
    "--rounding", default="calibrated", show_default=True, help="How the average becomes bits: calibrated or sign."
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File of results that grows, and resumes.")
@click.option("--cells", is_flag=True, help="Networks of the program's cells, in local states of single cells.")
@click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take so many neighbouring cells as one.")
@recipe_options(start="random")
@padding_option
@workers_option
@json_option
@quiet_option
def command(
    algorithm: Algorithm,
    networks: int | None,
    accuracy: float | None,
    delta: float | None,
    states: int,
    ones: int | None,
    rounding: str,
    output: Path | None,
    cells: bool,
    tile: int | None,
    padding: int | None,
    workers: str,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> int:
    """Train an ensemble and look at its average: accuracy, and mean and variance against the limit."""
    from bitwright.api.cells import as_algorithm, cell_states, pattern_of
    from bitwright.api.engines import EngineChoice
    from bitwright.cli.train import make_recipe
    from bitwright.networks.ensemble import DEVICE_BLOCK, EnsembleJudge, Statistics, Study, grow
    from bitwright.networks.limit_check import compare_with_limit
    from bitwright.running.sampling import random_starts, random_states
    from bitwright.theory import blocks_range, check_rounding
    from bitwright.theory.ranges import cells_range
    from bitwright.workers import Workers

    if accuracy is not None and not 0 < accuracy <= 1:
        raise InputError(f"--accuracy is a fraction above 0 and at most 1, got {accuracy:g}")
    if networks is not None and delta is not None:
        raise InputError("--delta says how many networks to train; leave out --networks")
    chosen = check_rounding(rounding)
    if not cells and tile is not None:
        raise InputError("--tile goes with --cells")
    if cells and ones is not None:
        raise InputError("--ones chooses inputs, and cells have none; leave out one of them")
    pattern = pattern_of([algorithm.program], tile or 1) if cells else None
    within = blocks_range(algorithm.program) if pattern is None else cells_range(pattern)
    algorithm = algorithm if pattern is None else as_algorithm(pattern, f"cells of {algorithm.name}")
    added = EngineChoice(rounding=chosen, padding=padding).examples(algorithm) - algorithm.program.templates
    recipe = make_recipe(algorithm, padding=added, **how)
    on_device = recipe.device.startswith("cuda")
    if pattern is not None:
        looked = cell_states(pattern, states, recipe.seed)
    elif ones is None:
        looked = random_states(algorithm, states, recipe.seed)
    else:
        looked = random_starts(algorithm, states, recipe.seed, ones)
    study = Study(algorithm.program, recipe, looked, block=DEVICE_BLOCK if on_device else 1, keep=not on_device)
    most = networks if networks is not None else 100 if delta is None else _proven(study, chosen, delta, within)
    judge = EnsembleJudge.of(study, chosen)
    if not judge.matches.any():
        raise InputError("none of these states matches a template, so networks say nothing about them")

    def enough(found: Statistics) -> bool:
        return accuracy is not None and judge.accuracy(found.mean) >= accuracy

    begin = time.perf_counter()
    who = Workers.parse(workers, recipe.device)
    try:
        with StepProgress(not quiet, "networks") as progress:
            found = grow(study, most, enough=enough, file=output, workers=who, progress=progress)
    except KeyboardInterrupt:
        note(f"what is trained so far is in {output}; the same command goes on from there", quiet or output is None)
        raise
    seconds = time.perf_counter() - begin
    reached = judge.accuracy(found.mean)
    limit = compare_with_limit(study, found, judge.matches)
    if as_json:
        print_json(
            {
                "name": algorithm.name,
                "algorithm": algorithm.name,
                "program_id": algorithm.program.id,
                "networks": found.count,
                "accuracy": reached,
                "rounding": chosen,
                "states": len(looked),
                "examples": algorithm.program.templates + recipe.padding,
                "padding": recipe.padding,
                "width": recipe.width,
                "seed": recipe.seed,
                "start": recipe.start,
                "parametrization": recipe.plan.parametrization,
                "limit": study.kind,
                "mean_error": limit.mean_error,
                "expected_error": limit.expected_error,
                "variance_ratio": limit.variance_ratio,
                "digest": found.digest,
                "seconds": round(seconds, 3),
            }
        )
    else:
        click.echo(
            f"{found.count:,} networks: {reached:.1%} of {len(looked):,} states right in every bit ({chosen} rounding)"
        )
        note(limit.sentence(), quiet)
    if accuracy is not None and reached < accuracy:
        click.echo(f"bitwright: {found.count:,} networks do not reach {accuracy:.1%}; allow more with -n", err=True)
        return 1
    return 0


def _proven(study: Study, rounding: str, delta: float, within: Range) -> int:
    """How many networks suffice for one input with probability 1 - delta, in the limit."""
    from bitwright.theory import calibrated_size, sign_size

    program, examples = study.program, study.program.templates + study.recipe.padding
    size = (
        sign_size(program, delta, "input", examples=examples, within=within)
        if rounding == "sign"
        else calibrated_size(program, delta, "input", examples=examples, within=within)
    )
    if size.networks is None or size.networks > 10**7:
        raise InputError(f"no number of networks below 10^7 is proven to suffice: {size.reason}")
    return max(1, size.networks)
