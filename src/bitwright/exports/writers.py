"""Writers of networks, one for each form, and what they report."""

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
from bitwright.networks import AnyNetwork, IntegerNetwork
from bitwright.networks.onnx_file import save_integer_onnx, save_onnx
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern

SUFFIXES = {"c": (".c",), "js": (".mjs", ".js"), "page": (".html",), "onnx": (".onnx",)}
FOLDERS = ("vnnlib", "rocq", "hub")  # whatever the name of the folder
FORMS = (*SUFFIXES, *FOLDERS)


@dataclass(frozen=True)
class Subject:
    """What is to be written: a network, what it was trained for, and for source text the program to run."""

    network: AnyNetwork
    pattern: Pattern
    algorithm: Algorithm | None  # None: a network of cells by itself

    @property
    def program(self) -> Program:
        """What the network was trained on."""
        return self.pattern.program

    @property
    def whole_numbers(self) -> IntegerNetwork:
        """The network; raises InputError for one that is not rounded."""
        if not isinstance(self.network, IntegerNetwork):
            raise InputError("source text is written of integer networks; quantize this one first")
        return self.network

    @property
    def exported(self) -> Exported:
        """The tables that source text is made of."""
        return exported_cells(self.whole_numbers, self.pattern, self.algorithm)


@dataclass(frozen=True)
class Export:
    """What was written: the files, a line about them, and what is known of the network in them.

    >>> from bitwright import addition, export, train
    >>> done = export(train(addition(4)), "adder.c", addition(16))
    >>> [file.name for file in done.files], done.about["proved"]
    (['adder.c'], True)
    """

    files: list[Path]
    note: str
    about: dict[str, Any]  # what is known of the network there
    facts: dict[str, Any] = field(default_factory=dict)  # what was written, of which network

    @property
    def sentence(self) -> str:
        """The files, and a line about them."""
        return f"{', '.join(map(str, self.files))}: {self.note}"

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright export --json` prints it."""
        return self.facts | self.about


def write_onnx(given: Subject, output: Path) -> Export:
    """A model to run; of cells with a program, one step of it."""
    if given.pattern.whole is None and given.algorithm is not None:
        from bitwright.exports.onnx_step import save_step_onnx

        found = given.exported
        save_step_onnx(found, output)
        claim = claim_of(found.network, found.pattern)
        about = {"states": claim.states, "wrong": claim.wrong, "proved": claim.proved}
        return Export([output], f"a state to the next one, in operators on integers alone; {claim.note}", about)
    if isinstance(given.network, IntegerNetwork):
        save_integer_onnx(given.network, given.program, output)
        return Export([output], "matched examples to the next state, in operators on integers alone", {})
    save_onnx(given.network, given.program, output)
    return Export([output], "encoded inputs to outputs, in float32", {})


def write_vnnlib(given: Subject, folder: Path, states: range | None, version: str) -> Export:
    """A property for each of these states, by default all, with the model, in a folder for verifiers."""
    from bitwright.proofs.exhaustion.vnnlib import MODEL, save_vnnlib

    network = given.network
    if not isinstance(network, IntegerNetwork):
        raise InputError("properties are written for networks of integers; quantize this one first")
    covered = save_vnnlib(network, given.program, folder, states, version)
    about = {
        "vnnlib_version": version,
        "first_state": covered.states[0],
        "last_state": covered.states[-1],
        "states": covered.of,
        "properties": covered.properties,
        "cases": covered.cases,
    }
    return Export([folder / "instances.csv", folder / MODEL], covered.text, about)


def write_c(given: Subject, output: Path) -> Export:
    """One C99 file, with a program that runs."""
    found = given.exported
    claim = claim_of(found.network, found.pattern)
    return write_texts({output: c_text(found, claim)}, claim, found.wires is None)


def write_js(given: Subject, output: Path) -> Export:
    """A module of JavaScript, with its types."""
    types = output.with_suffix({".mjs": ".d.mts", ".js": ".d.ts"}[output.suffix])
    check_writable(types)
    found = given.exported
    claim = claim_of(found.network, found.pattern)
    texts = {output: js_text(found, claim), types: js_types(found)}
    return write_texts(texts, claim, found.wires is None)


def write_texts(texts: Mapping[Path, str], claim: ExportClaim, alone: bool = False, **more: object) -> Export:
    """Writes text files, the first with the network in it; `alone` says that there is no program to run."""
    for path, text in texts.items():
        write_atomically(path, text.encode())
    sizes = [len(text.encode()) for text in texts.values()]
    about = {"bytes": sizes[0], "states": claim.states, "wrong": claim.wrong, "proved": claim.proved, **more}
    nothing = f"; the file has no program to run: add one with {option('what')}" if alone else ""
    return Export(list(texts), f"{sizes[0]:,} bytes; the network: {claim.note}{nothing}", about)


WRITERS: dict[str, Callable[[Subject, Path], Export]] = {"c": write_c, "js": write_js, "onnx": write_onnx}
