"""Finds the examples used in the documentation, and copies them into a folder."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bitwright.common.errors import InputError, listing
from bitwright.common.files.storage import make_folder, write_atomically

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "example_files", _PACKAGE.parents[1])
_BINARY = (".npz", ".safetensors")
_KINDS = (".bw", ".sbn", ".sq", ".py", ".ipynb", ".yaml", ".md", ".json", ".task", *_BINARY, "")  # "": a Dockerfile


@dataclass(frozen=True)
class ExampleFile:
    """An example file: its path below the folder that it is written to, and its source."""

    name: str  # such as examples/sbn/gcd.sbn
    source: Path

    @cached_property
    def data(self) -> bytes:
        try:
            return self.source.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {self.source}: {error.strerror or error}") from None

    @property
    def about(self) -> str:
        """The first line of the file's description, or an empty text for data."""
        if self.source.suffix in (".json", *_BINARY):
            return ""
        text = self.data.decode()
        if self.source.suffix == ".ipynb":
            text = "".join(json.loads(text)["cells"][0]["source"])
        elif self.source.suffix == ".py":
            module = ast.parse(text)
            places: list[ast.Module | ast.FunctionDef] = [module]
            places += (part for part in module.body if isinstance(part, ast.FunctionDef))
            text = next((found for place in places if (found := ast.get_docstring(place))), "")
        return text.partition("\n")[0].lstrip("#; ").strip()


def example_files() -> list[ExampleFile]:
    """Returns all example files: the programs and notebooks in `examples`, and the folder `sceptic`."""
    place = next((place for place in _PLACES if (place / "examples").is_dir()), None)
    if place is None:
        raise InputError("this installation has no examples; install the wheel, or use the repository")
    paths = [*_below(place / "examples"), *_below(place / "sceptic")]
    return [ExampleFile(path.relative_to(place).as_posix(), path) for path in paths]


def _below(folder: Path) -> Iterator[Path]:
    """Yields the files below a folder, first those directly in it, except hidden files and caches."""
    found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__")))
    yield from (path for path in found if path.is_file() and path.suffix in _KINDS)
    for inner in found:
        if inner.is_dir():
            yield from _below(inner)


def write_examples(folder: Path) -> list[str]:
    """Writes the files that are missing, and returns their names.

    Raises InputError before writing anything if a file exists with different content.
    """
    missing = [one for one in example_files() if not _holds(folder / one.name, one.data)]
    in_the_way = [str(folder / one.name) for one in missing if os.path.lexists(folder / one.name)]
    if in_the_way:
        differ = "exists and differs" if len(in_the_way) == 1 else "exist and differ"
        raise InputError(
            f"{listing(in_the_way, 3)} {differ} from the example; nothing was written. "
            "Choose another folder, or delete the files to be replaced"
        )
    for one in missing:
        make_folder((folder / one.name).parent)
        write_atomically(folder / one.name, one.data)
    return [one.name for one in missing]


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False
