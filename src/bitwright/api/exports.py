"""Exports, as Python programs ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from bitwright.api.cells import TrainedCells, load_cells, pattern_in
from bitwright.api.export.writing import FORMS, SUFFIXES, WRITERS, Export, Subject, write_texts, write_vnnlib
from bitwright.api.network import Network
from bitwright.errors import InputError, suggestion
from bitwright.files.storage import as_path, check_writable
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import as_algorithm


def export(
    network: str | PathLike[str] | AnyNetwork | Network | TrainedCells,
    path: str | PathLike[str],
    what: Algorithm | Program | NodeProgram | None = None,
    *,
    to: str | None = None,
    states: range | None = None,
    version: str | None = None,
    graph: str | None = None,
    inputs: Mapping[str, int] | None = None,
) -> Export:
    """Writes a network, or its file, in a form that other people's tools read; the end of the name says which.

    `.c` is one C99 file, `.mjs` or `.js` a module of JavaScript, `.html` a page that runs it in a browser, `.onnx` a
    model. `to="vnnlib"` makes a folder for verifiers: a property for each of `states`, by default all, in VNN-LIB of
    this `version`, "1.0" by default or "2.0", and their model. `what` is the program that the network was trained for;
    of a network of cells any program of its kinds, which text, pages and models then run. Pages take the `graph` of a
    node program, and `inputs` that they begin with.

    >>> from bitwright import addition, train
    >>> [file.name for file in export(train(addition(4)), "adder.mjs", addition(16)).files]
    ['adder.mjs', 'adder.d.mts']
    """
    output = as_path(path, "the file to write")
    form = _form(output, to)
    subject = _subject(network, what, form)
    if form != "page" and (graph is not None or inputs is not None):
        raise InputError("graph and inputs go with pages, .html files; leave them out")
    if form == "vnnlib":
        return write_vnnlib(subject, output, states, version or "1.0")
    if states is not None or version is not None:
        raise InputError('states and version go with to="vnnlib"; leave them out')
    check_writable(output)
    if form == "page":
        return _page(subject, output, what, graph, inputs)
    return WRITERS[form](subject, output)


def _form(output: Path, to: str | None) -> str:
    if to is not None and to not in FORMS:
        raise InputError(f"networks are exported to {', '.join(FORMS)}, got '{to}'{suggestion(str(to), FORMS)}")
    if to == "vnnlib":
        return to
    for form, suffixes in SUFFIXES.items():
        if output.suffix in suffixes and to in (None, form):
            return form
    ends = [end for form, suffixes in SUFFIXES.items() if to in (None, form) for end in suffixes]
    raise InputError(f"the file to write ends in {' or '.join(ends)}, got {output}")


def _subject(
    network: str | PathLike[str] | AnyNetwork | Network | TrainedCells,
    what: Algorithm | Program | NodeProgram | None,
    form: str,
) -> Subject:
    """The network, whichever way it is held, and what it is for."""
    held: AnyNetwork
    if isinstance(network, Network):
        if network.pattern is None:
            return _subject(network.weights, network.algorithm if what is None else what, form)
        pattern, held = network.pattern, network.weights
    elif isinstance(network, TrainedCells):
        pattern, held = network.pattern, network.network
    elif isinstance(network, str | PathLike):
        found = pattern_in(Path(network))
        if found is None:
            return _of_whole_file(Path(network), what)
        pattern, held = found, load_cells([Path(network)], found)[0]
    elif isinstance(network, FloatNetwork | IntegerNetwork):
        if what is None:
            raise InputError("say which program the network was trained for: export(network, path, program)")
        algorithm = as_algorithm(_no_nodes(what))
        return Subject(network, algorithm.program, None, algorithm)
    else:
        raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")
    if form == "vnnlib" and what is not None:
        raise InputError("the property of a network of cells is of all local states; leave out the program")
    own = None if what is None or isinstance(what, NodeProgram) else as_algorithm(what)
    if isinstance(what, NodeProgram) and form != "page":
        raise InputError(f"{what.name} is a node program; give what.on(graph) here")
    return Subject(held, pattern.program, pattern, own)


def _of_whole_file(path: Path, what: Algorithm | Program | NodeProgram | None) -> Subject:
    from bitwright.api.whole import algorithm_in
    from bitwright.networks import load_any_network
    from bitwright.networks.store import read_about

    algorithm = algorithm_in(read_about(path)) if what is None else as_algorithm(_no_nodes(what))
    return Subject(load_any_network(path, algorithm.program), algorithm.program, None, algorithm)


def _no_nodes(what: Algorithm | Program | NodeProgram) -> Algorithm | Program:
    if isinstance(what, NodeProgram):
        raise InputError(f"{what.name} is a node program, whose networks are of cells; this one is of a whole state")
    return what


def _page(
    subject: Subject,
    output: Path,
    what: Algorithm | Program | NodeProgram | None,
    graph: str | None,
    inputs: Mapping[str, int] | None,
) -> Export:
    from bitwright.api.export.pages import graph_page, program_page

    if isinstance(what, NodeProgram):
        assert subject.pattern is not None
        if inputs is not None:
            raise InputError("a page of a node program takes its inputs from the reader; leave them out")
        page = graph_page(subject.whole_numbers, subject.pattern, what, graph)
    elif graph is not None:
        raise InputError("graph goes with node programs; leave it out")
    elif subject.algorithm is None:
        raise InputError("a page of a network of cells needs a program to run: export(network, path, program)")
    else:
        page = program_page(subject.whole_numbers, subject.pattern, subject.algorithm, inputs)
    return write_texts({output: page.text}, page.claim, view=page.view)
