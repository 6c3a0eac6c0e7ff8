"""Writes networks in each export format and reports the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bitwright.common.errors import InputError, option, short_repr
from bitwright.common.files.storage import check_writable, write_atomically
from bitwright.exports.c import c_text
from bitwright.exports.claims import ExportClaim, claim_of
from bitwright.exports.javascript import js_text, js_types
from bitwright.exports.model import Exported, exported_cells
from bitwright.networks import IntegerNetwork
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern

SUFFIXES = {"c": (".c",), "js": (".mjs", ".js"), "page": (".html",), "onnx": (".onnx",)}
FOLDERS = ("vnnlib", "rocq", "hub")  # formats written to a folder of any name
FORMS = (*SUFFIXES, *FOLDERS)


@dataclass(frozen=True)
class Subject:
    """A network to export, the program or pattern it was trained for, and the program to run."""

    network: IntegerNetwork
    pattern: Pattern
    algorithm: Algorithm | None  # None for a network of cells without a program

    @property
    def program(self) -> Program:
        """The program that the network was trained for."""
        return self.pattern.program

    @property
    def exported(self) -> Exported:
        """The tables for source text."""
        return exported_cells(self.network, self.pattern, self.algorithm)


@dataclass(frozen=True)
class Export:
    """The result of an export: the files, a line that describes them, and the verdict on the network.

    >>> from bitwright import addition, export, train
    >>> done = export(train(addition(4)), "adder.c", addition(16))
    >>> [file.name for file in done.files], done.about["proved"]
    (['adder.c'], True)
    """

    files: list[Path]
    note: str
    about: dict[str, Any]  # the verdict on the network
    facts: dict[str, Any] = field(default_factory=dict)  # the format and the network written

    @property
    def sentence(self) -> str:
        """The names of the files, followed by their description."""
        return f"{', '.join(map(str, self.files))}: {self.note}"

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """The document that `bitwright export --json` prints."""
        return self.facts | self.about


def write_onnx(given: Subject, output: Path) -> Export:
    """Writes an ONNX model of one step of a program."""
    from bitwright.exports.onnx_step import save_step_onnx

    found = given.exported
    if found.wires is None:
        raise InputError(f"an ONNX model makes one step of a program; name the program with {option('what')}")
    save_step_onnx(found, output)
    claim = claim_of(found.network, found.pattern)
    about = {"states": claim.states, "wrong": claim.wrong, "proved": claim.proved}
    return Export([output], f"maps a state to the next, using only integer operators; {claim.note}", about)


def write_vnnlib(given: Subject, folder: Path) -> Export:
    """Writes a folder for verifiers with the model and a property for each state."""
    from bitwright.proofs.exhaustion.vnnlib import MODEL, save_vnnlib

    covered = save_vnnlib(given.network, given.program, folder)
    about = {"states": covered.states, "properties": covered.properties, "cases": covered.cases}
    return Export([folder / "instances.csv", folder / MODEL], covered.text, about)


def write_c(given: Subject, output: Path) -> Export:
    """Writes a C99 file, with a program to run if there is one."""
    found = given.exported
    claim = claim_of(found.network, found.pattern)
    return write_texts({output: c_text(found, claim)}, claim, found.wires is None)


def write_js(given: Subject, output: Path) -> Export:
    """Writes a JavaScript module with its TypeScript declarations."""
    types = output.with_suffix({".mjs": ".d.mts", ".js": ".d.ts"}[output.suffix])
    check_writable(types)
    found = given.exported
    claim = claim_of(found.network, found.pattern)
    texts = {output: js_text(found, claim), types: js_types(found)}
    return write_texts(texts, claim, found.wires is None)


def write_texts(texts: Mapping[Path, str], claim: ExportClaim, alone: bool = False, **more: object) -> Export:
    """Writes text files, first the one with the network; `alone` means that there is no program to run."""
    for path, text in texts.items():
        write_atomically(path, text.encode())
    sizes = [len(text.encode()) for text in texts.values()]
    about = {"bytes": sizes[0], "states": claim.states, "wrong": claim.wrong, "proved": claim.proved, **more}
    missing = f"; the file does not contain a program to run; add one with {option('what')}" if alone else ""
    return Export(list(texts), f"{sizes[0]:,} bytes; the network: {claim.note}{missing}", about)


WRITERS: dict[str, Callable[[Subject, Path], Export]] = {
    "c": write_c,
    "js": write_js,
    "onnx": write_onnx,
    "vnnlib": write_vnnlib,
}
