"""Ensembles to execute with: a folder with one file for each member; training into it can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from bitwright.errors import InputError
from bitwright.networks.cache import is_as_asked
from bitwright.networks.network import FloatNetwork
from bitwright.networks.store import load_network, save_network
from bitwright.networks.train import Recipe, train
from bitwright.program import Program
from bitwright.workers import Workers

MODEL = "model.safetensors"  # in a folder of one network, as the Hugging Face Hub names it


def member_file(folder: Path, member: int) -> Path:
    return folder / f"member-{member:06d}.safetensors"


def network_files(path: Path) -> list[Path]:
    """The network files of a path: itself or, in a folder, the model or the members."""
    if not path.is_dir():
        return [path]
    if (path / MODEL).is_file():
        return [path / MODEL]
    found = sorted(path.glob("member-*.safetensors"))
    if not found:
        raise InputError(f"{path} is a folder without {MODEL} or member-*.safetensors files")
    return found


def train_members(
    program: Program,
    recipe: Recipe,
    count: int,
    folder: Path,
    workers: Workers | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Trains members 0 to count - 1 into a folder, except those that are already there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror or error}") from None
    missing = [member for member in range(count) if not _is_there(program, recipe, folder, member)]
    with closing((workers or Workers()).map(_train_one, (program, recipe), missing)) as done:
        for number, (member, network) in enumerate(zip(missing, done, strict=True), 1):
            save_network(network, program, member_file(folder, member))  # here: workers may be on other machines
            if progress:
                progress(count - len(missing) + number, count)
    return [member_file(folder, member) for member in range(count)]


def _train_one(task: tuple[Program, Recipe], member: int) -> FloatNetwork:
    program, recipe = task
    return train(program, replace(recipe, member=member))[0]


def _is_there(program: Program, recipe: Recipe, folder: Path, member: int) -> bool:
    path = member_file(folder, member)
    if not path.exists():
        return False
    if not is_as_asked(load_network(path, program), replace(recipe, member=member)):
        raise InputError(f"{path} was trained with other settings; choose another folder")
    return True
