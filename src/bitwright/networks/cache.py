"""Folders of networks: the user's cache, and ensembles with one file for each member.

A cache entry is used only if its digest matches; otherwise its network is trained again and replaced. Several processes
may write at once: entries are complete or absent, and every process would write the same network.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from bitwright.common.errors import InputError
from bitwright.common.workers import Workers
from bitwright.common.workers.linear_algebra import kernel_name, way_to_kernel
from bitwright.networks.descent import Progress
from bitwright.networks.network import FloatNetwork
from bitwright.networks.store import About, load_network, read_about, read_network, save_network
from bitwright.networks.train import Recipe, train
from bitwright.rules import Program

_log = logging.getLogger(__name__)


def cached_network(program: Program, recipe: Recipe, progress: Progress | None = None) -> tuple[FloatNetwork, bool]:
    """Returns the network of this recipe, from the cache or newly trained and stored, and whether it was trained now.

    An unusable entry is replaced with a warning in the log, which goes to stderr unless logging is configured.
    """
    try:
        path = entry_path(program, recipe)
    except InputError:  # there is no cache folder
        return train(program, recipe, progress)[0], True
    if path.exists():
        try:
            network = load_network(path, program)
            if not is_as_asked(network, recipe):
                raise InputError(f"{path} was trained with other settings")
            return network, False
        except InputError as error:
            _log.warning("%s; training it again", error)
    network, _ = train(program, recipe, progress)
    with suppress(OSError, InputError):  # an unwritable cache is not an error
        path.parent.mkdir(parents=True, exist_ok=True)
        save_network(network, program, path)
    return network, True


def is_as_asked(network: FloatNetwork, recipe: Recipe) -> bool:
    """Whether a stored network is the one that this recipe produces on this machine."""
    return network.origin.kernel == recipe.kernel and has_settings(network, recipe)


def has_settings(network: FloatNetwork, recipe: Recipe) -> bool:
    """Whether this recipe produces a stored network with some kernel."""
    found, plan = network.origin, recipe.plan
    return (
        (network.shape.width, found.seed, found.member, found.start)
        == (recipe.width, recipe.seed, recipe.member, recipe.start)
        and (found.padding, found.tolerance, found.descent) == (recipe.padding, plan.tolerance, plan.descent)
        and found.parametrization == plan.parametrization
        and network.first.dtype == recipe.precision
        and found.executions is None
    )


def entry_path(program: Program, recipe: Recipe) -> Path:
    """Returns the file of this recipe; recipes and kernels that may give different weights have different files."""
    decides = json.dumps({**asdict(recipe), "kernel": recipe.kernel}, sort_keys=True, default=float)
    key = sha256(decides.encode()).hexdigest()[:16]
    return networks_folder() / f"{program.id[:24]}-{recipe.width}-{recipe.seed}-{recipe.member}-{key}.safetensors"


def networks_folder() -> Path:
    return cache_folder() / "networks"


def cache_folder() -> Path:
    """The folder `bitwright` in $BITWRIGHT_CACHE, $XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("BITWRIGHT_CACHE"):
        return Path(own) / "bitwright"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # the XDG standard ignores relative paths
        return Path(shared) / "bitwright"
    try:
        return Path.home() / ".cache" / "bitwright"
    except RuntimeError:
        raise InputError("this user has no home folder for the cache; set BITWRIGHT_CACHE to a folder") from None


@dataclass(frozen=True)
class CachedNetwork:
    """A network file in the cache, its metadata, and why it cannot be used, if so."""

    path: Path
    bytes: int
    about: About | None
    problem: str | None


# Also matches entries of earlier versions, which had more parts, and leftovers of interrupted writes.
_OURS = re.compile(r"[0-9a-f]{24}-[0-9]+-[0-9]+-[0-9]+-[0-9a-z.+-]+\.safetensors|\.[0-9a-f]{24}-.+\.safetensors\..+")


def entries() -> Iterator[CachedNetwork]:
    """Yields the entries of the cache by name, each read completely; skips other files."""
    for path, size in _files():
        about, problem = None, None
        try:
            about = read_about(path)
            problem = _other_kernel(about)
            read_network(path)
        except InputError as error:
            problem = str(error)
        yield CachedNetwork(path, size, about, problem)


def _other_kernel(about: About) -> str | None:
    library, _, device = about.origin.trainer.partition(" on ")
    try:
        own = kernel_name((library, device))
    except (ImportError, RuntimeError, AssertionError):  # no PyTorch, or no such device
        own = f"no {library} on {device}"
    if own == about.origin.kernel:
        return None
    return f"{about.path} was trained with {about.origin.kernel or 'an unknown kernel'}, but this machine has {own}"


def clear_cache() -> tuple[int, int]:
    """Removes all entries and nothing else; returns their number and their bytes."""
    count, size = 0, 0
    for path, bytes_ in _files():
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {path}: {error.strerror or error}") from None
        count, size = count + 1, size + bytes_
    for folder in (networks_folder(), cache_folder()):
        with suppress(OSError):  # missing or not empty
            folder.rmdir()
    return count, size


def _files() -> Iterator[tuple[Path, int]]:
    folder = networks_folder()
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror or error}") from None
    for name in names:
        path = folder / name
        with suppress(FileNotFoundError):  # another process was faster
            if _OURS.fullmatch(name) and path.is_file() and not path.is_symlink():
                yield path, path.stat().st_size


MODEL = "model.safetensors"  # in a folder with one network, as on the Hugging Face Hub


def member_file(folder: Path, member: int) -> Path:
    return folder / f"member-{member:06d}.safetensors"


def network_files(path: Path) -> list[Path]:
    """Returns the network files of a path: the file itself, or the model or members in a folder."""
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
    with closing((workers or Workers()).map(_train_one, (program, recipe), missing, floats=recipe.library)) as done:
        for number, (member, network) in enumerate(zip(missing, done, strict=True), 1):
            save_network(
                network, program, member_file(folder, member)
            )  # saved here, since workers may be on other machines
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
    network = load_network(path, program)
    if not has_settings(network, replace(recipe, member=member)):
        raise InputError(f"{path} was trained with other settings; choose another folder")
    if network.origin.kernel != recipe.kernel:
        raise InputError(
            f"{path} was trained with the kernel {network.origin.kernel or 'of an earlier version'}, but this machine "
            f"has {recipe.kernel}; {way_to_kernel(network.origin.kernel)}choose another folder"
        )
    return True
