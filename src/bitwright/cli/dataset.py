"""`bitwright dataset`: a program's training set, or executions of it, as a NumPy file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import algorithm_argument, json_option, padding_option, quiet_option
from bitwright.cli.progress import working
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
    algorithm: Algorithm,
    padding: int | None,
    output: Path,
    basis_seed: int | None,
    executions: int | None,
    at_random: bool,
    seed: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the training set: inputs X, labels Y, the names of rows and columns, and the program's id.

    With --executions, states and the states that follow them, for `infer` and other tools.
    """
    from bitwright.encoding.training_set import TrainingSet, check_dense, random_bases

    if output.suffix != ".npz":
        raise InputError(f"-o takes a .npz file, got {output}")
    program = algorithm.program
    if executions is not None:
        if padding is not None or basis_seed is not None:
            raise InputError("--padding and --basis-seed are for the training set; leave them out with --executions")
        _write_executions(algorithm, output, executions, at_random, seed or 0, as_json, quiet)
        return
    if at_random or seed is not None:
        raise InputError("--random and --seed go with --executions; the training set has nothing random")
    check_dense(program, padding or 0)
    bases = {} if basis_seed is None else random_bases(program, basis_seed)
    examples = TrainingSet(program, padding or 0, bases)
    with working("writing"):
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


def _write_executions(
    algorithm: Algorithm, output: Path, count: int, at_random: bool, seed: int, as_json: bool, quiet: bool
) -> None:
    from bitwright.files.executions import save_executions
    from bitwright.files.storage import check_writable
    from bitwright.running.executions import executions_of_runs, random_executions

    check_writable(output)
    program = algorithm.program
    with working("steps") as progress:
        made = (
            random_executions(program, count, seed)
            if at_random
            else executions_of_runs(algorithm, count, seed, progress=progress)
        )
        save_executions(output, made)
    if as_json:
        print_json(
            {
                "file": str(output),
                "name": algorithm.name,
                "program_id": program.id,
                "executions": len(made),
                "bits": program.bits,
                "of": "random states" if at_random else "runs",
                "seed": seed,
            }
        )
        return
    kind = "of random states" if at_random else "of runs"
    note(f"wrote {output}: {counted(len(made), 'step')} {kind}, {counted(program.bits, 'bit')}", quiet)
