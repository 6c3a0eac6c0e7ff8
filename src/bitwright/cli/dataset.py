"""`bitwright dataset`: a program's training set, or executions of it, as a NumPy file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import algorithm_argument, json_option, padding_option, quiet_option
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json

if TYPE_CHECKING:
    from bitwright import Algorithm


@click.command("dataset")
@algorithm_argument
@padding_option
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The .npz file to write.")
@click.option(
    "--basis-seed",
    type=click.IntRange(0),
    help="Encode each block in a random orthonormal basis instead of unit vectors.",
)
@click.option(
    "--executions",
    type=click.IntRange(1, 10**9),
    metavar="N",
    help="Write N steps instead, of runs of random inputs: states and what follows them.",
)
@click.option("--random", "at_random", is_flag=True, help="With --executions: of random states instead of runs.")
@click.option("--seed", type=click.IntRange(0, 2**63), help="With --executions: which inputs or states.")
@json_option
@quiet_option
def command(
    algorithm: Algorithm, output: Path, at_random: bool, as_json: bool, quiet: bool, **asked: int | None
) -> None:
    """Write the training set: inputs X, labels Y, the names of rows and columns, and the program's id.

    With --executions, states and the states that follow them, for `infer` and other tools.
    """
    from bitwright.api.dataset import dataset

    tell = TerminalTeller(quiet)
    written = dataset(algorithm, output, random=at_random, progress=tell, **asked)
    if as_json:
        print_json(written.to_dict())
    else:
        tell.note(written.sentence)
