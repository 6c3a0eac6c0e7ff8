"""`bitwright dataset`: a program's training set as a NumPy file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import algorithm_argument, json_option, padding_option, quiet_option
from bitwright.cli.reporting import note, print_json
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.program import Algorithm


@click.command("dataset")
@algorithm_argument
@padding_option
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The .npz file to write.")
@click.option(
    "--basis-seed",
    type=click.IntRange(0),
    help="Encode each block in a random orthonormal basis instead of unit vectors.",
)
@json_option
@quiet_option
def command(
    algorithm: Algorithm,
    padding: int | None,
    output: Path,
    basis_seed: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the training set: inputs X, labels Y, the names of rows and columns, and the program's id."""
    from bitwright.encoding.training_set import TrainingSet, check_dense, random_bases

    if output.suffix != ".npz":
        raise InputError(f"-o takes a .npz file, got {output}")
    program = algorithm.program
    check_dense(program, padding or 0)
    bases = {} if basis_seed is None else random_bases(program, basis_seed)
    examples = TrainingSet(program, padding or 0, bases)
    examples.save(output)
    if as_json:
        print_json(
            {
                "file": str(output),
                "name": algorithm.name,
                "program_id": program.id,
                "examples": examples.examples,
                "padding": padding or 0,
                "templates": program.templates,
                "bits": program.bits,
                "basis_seed": basis_seed,
            }
        )
        return
    note(f"wrote {output}: {counted(examples.examples, 'example')} of {counted(program.bits, 'bit')}", quiet)
