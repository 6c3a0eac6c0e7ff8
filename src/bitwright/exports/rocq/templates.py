"""Templates of Rocq text: the files in `templates`, in sections below lines `(*** NAME ***)`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from bitwright.exports.text import fill

_HEAD = re.compile(r"^\(\*\*\* (\w+) \*\*\*\)\n", re.MULTILINE)


class Templates:
    """The sections of one file, and pieces that all of them may name."""

    def __init__(self, file: str, **pieces: object) -> None:
        self.file, self.pieces = file, pieces

    def __call__(self, section: str, **pieces: object) -> str:
        """A section with each {{name}} replaced by its piece."""
        return fill(_sections(self.file)[section], self.pieces | pieces)

    def line(self, section: str, **pieces: object) -> str:
        """A section without the end of its last line."""
        return self(section, **pieces).removesuffix("\n")


@cache
def _sections(file: str) -> dict[str, str]:
    _, *parts = _HEAD.split((files(__package__) / "templates" / f"{file}.v").read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))
