"""Compiles a program to what a machine takes: a Python source to SBN assembly, SUBLEQ assembly to an image."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from bitwright import machines
from bitwright.common.errors import InputError, option, problems_of
from bitwright.common.files.storage import as_path, check_output, write_atomically
from bitwright.machines import subleq
from bitwright.rules.text.files import read_text


@dataclass(frozen=True)
class Compiled:
    """The text of a program in its next form, and how files of this form end."""

    text: str
    suffix: str

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the text to a file, completely or not at all."""
        place = as_path(path, "the file to write")
        check_output(place, self.suffix)
        write_atomically(place, self.text.encode())


def compile_file(path: str | PathLike[str], bits: int | None = None) -> Compiled:
    """The SBN assembly of a Python source (.py), or the image of SUBLEQ assembly (.sq).

    >>> from pathlib import Path
    >>> _ = Path("less.sq").write_text("sub a, b\\na: .data 1\\nb: .data 2\\n")
    >>> compile_file("less.sq").text
    '3 4 3\\n1 2\\n'
    """
    place = as_path(path, "a program")
    suffix = place.suffix.lower()
    if suffix == ".py":
        source = read_text(place, ".py")
        with problems_of(place):
            return Compiled(machines.compile_function(source, 8 if bits is None else bits, place.stem), ".sbn")
    if bits is not None:
        raise InputError(f"{option('bits')} goes with Python sources, and {place} is none")
    if suffix == ".sq":
        return Compiled(subleq.image_text(subleq.load_sq(place).image), ".dec")
    if suffix in (".dec", ".sbn"):
        raise InputError(f"{place} needs no compiling: bitwright run runs it")
    raise InputError(f"compile takes Python sources (.py) and SUBLEQ assembly (.sq), got {place}")
