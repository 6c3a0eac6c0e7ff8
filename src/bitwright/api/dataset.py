"""A program's training set, or executions of it, as a NumPy file."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.api.open import subject
from bitwright.api.telling import Teller, teller
from bitwright.encoding.training_set import TrainingSet, check_dense, random_bases
from bitwright.errors import InputError, counted, option
from bitwright.files.executions import save_executions
from bitwright.files.storage import as_path, check_writable
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm
from bitwright.running.executions import executions_of_runs, random_executions
from bitwright.running.progress import Progress


@dataclass(frozen=True)
class Dataset:
    """A file that was written, and what is in it.

    >>> from bitwright import addition
    >>> print(dataset(addition(2), "set.npz"))
    wrote set.npz: 8 examples of 6 bits
    """

    file: Path
    about: dict[str, Any]
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """What is in the file, as `bitwright dataset --json` prints it."""
        return {"file": str(self.file), **self.about}


def dataset(
    what: Algorithm | Program | str | PathLike[str],
    path: str | PathLike[str],
    *,
    executions: int | None = None,
    random: bool = False,
    seed: int | None = None,
    padding: int | None = None,
    basis_seed: int | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Dataset:
    """Writes the training set of a program; or a number of `executions`, states and the states that follow them.

    `padding` adds examples that are never matched; `basis_seed` encodes blocks in random orthonormal bases. Executions
    are steps of runs with random inputs, or with `random` of random states; `seed` says which.
    """
    file, tell, algorithm = as_path(path, "the file to write"), teller(progress), as_algorithm(subject(what))  # type: ignore[arg-type]
    if file.suffix != ".npz":
        raise InputError(f"{option('path')} takes a .npz file, got {file}")
    program = algorithm.program
    about: dict[str, Any] = {"name": algorithm.name, "program_id": program.id}
    if executions is not None:
        if padding is not None or basis_seed is not None:
            raise InputError(
                f"{option('padding')} and {option('basis_seed')} are for the training set; leave them out with "
                f"{option('executions')}"
            )
        check_writable(file)
        with tell.working("steps") as told:
            made = (
                random_executions(program, executions, seed or 0)
                if random
                else executions_of_runs(algorithm, executions, seed or 0, progress=told)
            )
            save_executions(file, made)
        of = "random states" if random else "runs"
        about |= {"executions": len(made), "bits": program.bits, "of": of, "seed": seed or 0}
        return Dataset(
            file, about, f"wrote {file}: {counted(len(made), 'step')} of {of}, {counted(program.bits, 'bit')}"
        )
    if random or seed is not None:
        raise InputError(
            f"{option('random')} and {option('seed')} go with {option('executions')}; the training set has nothing "
            "random"
        )
    check_dense(program, padding or 0)
    examples = TrainingSet(program, padding or 0, {} if basis_seed is None else random_bases(program, basis_seed))
    with tell.working("writing"):
        examples.save(file)
    about |= {
        "examples": examples.examples,
        "padding": padding or 0,
        "templates": program.templates,
        "bits": program.bits,
        "basis_seed": basis_seed,
    }
    size = f"{counted(examples.examples, 'example')} of {counted(program.bits, 'bit')}"
    return Dataset(file, about, f"wrote {file}: {size}")
