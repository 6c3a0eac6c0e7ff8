"""`bitwright ensemble`: train many networks and see how well their average does, in the paper's terms or ours."""

from __future__ import annotations

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
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import note, print_json

if TYPE_CHECKING:
    from bitwright import Algorithm


@click.command("ensemble")
@algorithm_argument
@click.option("--networks", "-n", type=click.IntRange(1, 10**7), help="Train this many (or, with --accuracy, at most).")
@click.option("--accuracy", type=float, help="Stop once this fraction of the states comes out right.")
@click.option("--delta", type=float, help="Train the proven number for one input, wrong with at most this probability.")
@click.option("--states", type=int, default=1_000, show_default=True, help="Random states of runs to look at.")
@click.option("--ones", type=int, help="Look at inputs with exactly this many bits on, at the start of their runs.")
@click.option(
    "--rounding", default="calibrated", show_default=True, help="How the average becomes bits: calibrated or sign."
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File of results that grows, and resumes.")
@click.option("--cells", is_flag=True, help="Networks of the program's cells, in local states of single cells.")
@click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take this many neighbouring cells as one.")
@recipe_options(start="random")
@padding_option
@workers_option
@json_option
@quiet_option
def command(
    algorithm: Algorithm,
    networks: int | None,
    output: Path | None,
    tile: int | None,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> int:
    """Train an ensemble and look at its average: accuracy, and mean and variance against the limit."""
    from bitwright.api.ensemble import ensemble

    found = ensemble(
        algorithm,
        networks,
        tile=tile or 1,
        file=output,
        progress=None if quiet else TerminalTeller(),
        **how,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(found.sentence)
        note(found.limit.sentence(), quiet)
    if not found.reached:
        click.echo(
            f"bitwright: {found.networks:,} networks do not reach {found.wanted:.1%}; allow more with -n", err=True
        )
        return 1
    return 0
