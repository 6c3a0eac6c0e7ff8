"""A program's training set, or executions of it, as a NumPy file."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.api.executions import Sample, executions_for
from bitwright.api.open import subject
from bitwright.api.telling import Teller, teller
from bitwright.errors import InputError, Report, counted, option
from bitwright.files.storage import as_path, check_writable
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm
from bitwright.running.progress import Progress
from bitwright.theory.encoding.training_set import TrainingSet, check_dense


@dataclass(frozen=True, repr=False)
class Dataset(Report):
    """A file that was written, and what is in it.

    >>> from bitwright import addition
    >>> print(dataset(addition(2), "set.npz"))
    wrote set.npz: 8 examples of 6 bits
    """

    file: Path
    about: dict[str, Any]
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What is in the file, as `bitwright export --to dataset --json` prints it."""
        return {"file": str(self.file), **self.about}


def dataset(
    what: Algorithm | Program | str | PathLike[str],
    path: str | PathLike[str],
    *,
    executions: str | Sample | None = None,
    padding: int | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Dataset:
    """Writes the training set of a program; or `executions`, states and the states that follow them.

    `padding` adds examples that are never matched. Executions are of "runs" with random inputs or of random "states"; a
    `Sample` says how many, and which.

    >>> print(dataset("addition", "states.npz", executions="states"))
    wrote states.npz: 320 random states and their successors, 12 bits
    """
    file, tell, algorithm = as_path(path, "the file to write"), teller(progress), as_algorithm(subject(what))  # type: ignore[arg-type]
    if file.suffix != ".npz":
        raise InputError(f"{option('path')} takes a .npz file, got {file}")
    program, bits = algorithm.program, counted(algorithm.program.bits, "bit")
    about: dict[str, Any] = {"name": algorithm.name, "program_id": program.id, "bits": program.bits}
    if executions is not None:
        if padding is not None:
            raise InputError(f"{option('padding')} is for training sets; leave it out")
        check_writable(file)
        sample = executions if isinstance(executions, Sample) else Sample(executions)
        with tell.working("executions"):
            found = executions_for(algorithm, sample)
            found.save(file)
        asked = {"source": str(sample.source), "runs": sample.runs, "sample_seed": sample.sample_seed}
        of = {"runs": "states of runs", "states": "random states"}.get(str(sample.source), f"states of {sample.source}")
        sentence = f"wrote {file}: {len(found):,} {of} and their successors, {bits}"
        return Dataset(file, {**about, "states": len(found), **asked}, sentence)
    check_dense(program, padding or 0)
    examples = TrainingSet(program, padding or 0)
    with tell.working("writing"):
        examples.save(file)
    about |= {
        "examples": examples.examples,
        "padding": padding or 0,
        "templates": program.templates,
    }
    return Dataset(file, about, f"wrote {file}: {counted(examples.examples, 'example')} of {bits}")
