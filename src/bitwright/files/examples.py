"""Where the example programs are kept: in a wheel with the package, in a clone in the repository's own folders."""

from __future__ import annotations

from pathlib import Path

from bitwright.errors import InputError

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "example_files", _PACKAGE.parents[1])


def examples_folder() -> Path:
    """The folder that has the folder `examples`."""
    for place in _PLACES:
        if (place / "examples").is_dir():
            return place
    raise InputError("this installation was made without examples; the wheel and the repository have them")
