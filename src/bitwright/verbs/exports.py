"""Exports a network in a format that other tools read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bitwright.common.errors import InputError, option, shorten, suggestion
from bitwright.common.files.storage import as_path, check_writable
from bitwright.exports.pages import graph_page, program_page
from bitwright.exports.writers import FOLDERS, FORMS, SUFFIXES, WRITERS, Export, Subject, write_texts
from bitwright.networks import load_network
from bitwright.networks.store import network_file
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.pattern import Pattern
from bitwright.runs.progress import Progress
from bitwright.verbs.network import Network
from bitwright.verbs.open import as_algorithm, is_for_machine_v, is_image, open_subleq, opened
from bitwright.verbs.progress import Teller, teller
from bitwright.verbs.reports import refuse

if TYPE_CHECKING:
    from bitwright.exports.pages import Page
    from bitwright.machines.programs import SubleqProgram

    Exportable: TypeAlias = Algorithm | Program | NodeProgram | SubleqProgram
_BITS, _PAGE_BITS = 4, 10  # the sizes of a shipped algorithm that is given by name
_PROGRAMS = (".bw", ".sbn", ".sq", ".dec")


def export(
    network: str | PathLike[str] | Network,
    path: str | PathLike[str],
    what: Exportable | str | PathLike[str] | None = None,
    *,
    to: str | None = None,
    graph: str | None = None,
    inputs: Mapping[str, int] | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Export:
    """Writes a network in a format that other tools read, selected by the suffix of the file or by `to`.

    `.c` is a C99 file, `.mjs` or `.js` a JavaScript module, `.html` a page that runs the network in a browser, and
    `.onnx` a model. `to="vnnlib"` writes a folder for verifiers, with a model and a VNN-LIB 1.0 property for every
    state. `to="rocq"` writes a folder in which `make` has the Rocq kernel check all local states, and prove that runs
    of the network are runs of the rules of `what`. `to="hub"` writes a folder for the Hugging Face Hub, with a
    certificate for `what`.

    `what` is the program that the network was trained for or, for a network of cells, any program made of its kinds,
    which the export then runs. A page also takes the `graph` of a node program, and initial `inputs`.

    >>> from bitwright import addition, train
    >>> [file.name for file in export(train(addition(4)), "adder.mjs", addition(16)).files]
    ['adder.mjs', 'adder.d.mts']
    """
    output = as_path(path, "the file to write")
    form = _form(output, to)
    if form != "page" and (graph is not None or inputs):
        raise InputError(f"{option('graph')} and {option('inputs')} work only with {option('to')} page")
    if form not in FOLDERS:
        check_writable(output)
    if form == "hub":
        from bitwright.verbs.folder import export_folder

        trained = network if isinstance(network, Network) else Network.load(network, what)
        return export_folder(trained, output, what, teller(progress))
    with teller(progress).working("exporting"):
        trained, file = _opened(network)
        program = _program(what, trained, form)
        subject = _subject(trained, file, program, form)
        if form == "rocq":
            from bitwright.exports.rocq.folder import write_rocq

            written = write_rocq(subject, output, file)
        elif form == "page":
            page = _page(subject, program, graph, inputs or {})
            written = write_texts({output: page.text}, page.claim, view=page.view)
        else:
            written = WRITERS[form](subject, output)
    return replace(written, facts=_facts(subject, program, output, form, written))


def _facts(subject: Subject, program: Exportable | None, output: Path, form: str, written: Export) -> dict[str, Any]:
    network, known = subject.network, subject.algorithm or program
    return {
        "file": str(output),
        "files": [str(file) for file in written.files],
        "to": form,
        "name": getattr(known, "name", "cells"),
        "program_id": (subject.algorithm or subject).program.id,
        "examples": subject.program.templates + network.origin.padding,
        "padding": network.origin.padding,
        "width": network.shape.width,
        "digest": network.digest,
    }


def _either(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def _form(output: Path, to: str | None) -> str:
    """Returns the format given by `to` or by the suffix of the file."""
    ends = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
    if to is None and (form := ends.get(output.suffix)) is not None:
        return form
    if to is None:
        raise InputError(
            f"'{shorten(output.name)}' does not determine the format; use a name that ends in {_either(ends)}, or "
            f"choose the format of a folder with {option('to')}: {_either(FOLDERS)}"
        )
    if to not in FORMS:
        raise InputError(f"{option('to')} takes {' or '.join(FORMS)}, got {to}{suggestion(str(to), FORMS)}")
    if to not in FOLDERS and output.suffix not in SUFFIXES[to]:
        raise InputError(
            f"{option('path')} takes a {' or '.join(SUFFIXES[to])} file with {option('to')} {to}, got {output}"
        )
    return to


def default_bits(form: str | None) -> int:
    """Returns the bit length of a shipped algorithm that is given by name."""
    return _PAGE_BITS if form == "page" else _BITS


def _opened(network: object) -> tuple[Network, Path | None]:
    """Returns the network, and its file if a path was given."""
    if isinstance(network, str | PathLike):
        path = as_path(network, "a network file")
        if path.suffix.lower() in _PROGRAMS:
            raise InputError(f"{path} is a program; give the network first, and the program as {option('what')}")
        return Network.load(path), network_file(path)
    if not isinstance(network, Network):
        raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")
    return network, None


def _program(what: Exportable | str | PathLike[str] | None, network: Network, form: str) -> Exportable | None:
    """Opens the program to export; a shipped algorithm gets the size of the network, or a small size."""
    if what is None or isinstance(what, Algorithm | NodeProgram) or is_for_machine_v(what):
        return what
    if not isinstance(what, str | PathLike):
        return as_algorithm(what)
    target = fspath(what)
    if is_image(target):
        return open_subleq(target)
    return opened(target, default_bits=default_bits(form), network=network if network.pattern else None, nodes=True)


def _subject(network: Network, file: Path | None, program: Exportable | None, form: str) -> Subject:
    """Returns the network and its pattern and, for a network of cells, the program that it runs."""
    if network.pattern is not None and network.cells:
        if form == "vnnlib" and program is not None:
            raise InputError("the properties of a network of cells cover all its local states; leave out the program")
        if form != "page" and isinstance(program, NodeProgram):
            raise InputError(f"{program.name} is a node program; give it on a graph: what.on(graph)")
        if is_for_machine_v(program):
            raise InputError(f"{program.name} is for machine V, which needs a console; run it with: bitwright run")
        own = program if isinstance(program, Algorithm) and form != "page" else None
        return Subject(network.weights, network.pattern, own)
    if isinstance(program, NodeProgram):
        raise InputError(
            f"{program.name} is a node program and needs a network of cells; this one is for a whole state"
        )
    algorithm = program.algorithm if is_for_machine_v(program) else program or network.algorithm
    if algorithm is None:
        raise InputError("give the program that the network was trained for: export(network, path, program)")
    assert isinstance(algorithm, Algorithm)
    pattern = Pattern.of_state(algorithm.program)
    weights = network.weights if file is None else load_network(file, algorithm.program)
    return Subject(Network(weights, pattern, algorithm).weights, pattern, algorithm)


def _page(subject: Subject, program: Exportable | None, graph: str | None, inputs: Mapping[str, int]) -> Page:
    """Returns the page that fits the program: for numbers or for a graph."""
    network, pattern = subject.network, subject.pattern
    if pattern.whole is not None:
        if graph is not None:
            raise InputError(f"{option('graph')} works only with node programs")
        assert subject.algorithm is not None
        return program_page(network, pattern, subject.algorithm, inputs)
    if program is None:
        raise InputError(
            f"a page of a network of cells needs a program to run; give {option('what')}, such as addition"
        )
    assert not is_for_machine_v(program)
    if isinstance(program, NodeProgram):
        refuse("cannot be used with a node program", inputs=inputs or None)
        return graph_page(network, pattern, program, graph)
    refuse("cannot be used with a program without a graph", graph=graph)
    return program_page(network, pattern, as_algorithm(program), inputs)
