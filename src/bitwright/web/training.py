"""A network for a program: trained, quantized, proved on all its states, and exported."""

from __future__ import annotations

from functools import partial
from typing import Any

from bitwright import Algorithm, NodeProgram
from bitwright.api.certificates import Certificate
from bitwright.api.certify import certify
from bitwright.api.export import ExportClaim, c_text, exported_cells, js_text, js_types
from bitwright.api.export.pages import computer_page, program_page
from bitwright.api.export.pages import graph_page as live_graph_page
from bitwright.api.images import SubleqProgram
from bitwright.api.making import Plan, cells_of, make_network, network_file
from bitwright.api.numbers import json_text
from bitwright.errors import BitwrightError, InputError, readable
from bitwright.web.programs import Progress, What, read_graph, read_program, train_network
from bitwright.web.requests import Limits, Request
from bitwright.web.work import Done, Files, document


def train(request: Request, limits: Limits, progress: Progress) -> Done:
    """Trains, proves and exports a network; returns the facts for the page, and the files to download."""
    progress("reading the program")
    name, cells, what = request.source.title, request.of == "cells", read_program(request.source, limits)
    if not cells and isinstance(what, NodeProgram | SubleqProgram):
        raise InputError("networks of machine V and of node programs are those of their cells; choose cells")
    runs = None if cells or not isinstance(what, Algorithm) else what
    pattern, covers = cells_of(what, runs)
    phase = "a network of cells" if cells else "a network of the whole state"
    trainer = partial(train_network, what=phase, progress=progress)
    network, curve = make_network(pattern, runs, request.width, limits.width, request.seed, trainer)
    files, states = {"network.safetensors": network_file(network)}, pattern.local_states
    prove = partial(_prove, name, what, network, states, limits, partial(progress, "proving", unit="state"))
    certificate = document(files, "network-certificate.json", prove)
    progress("writing source text")
    claim = ExportClaim(cells, certificate.get("states", states), certificate.get("wrong"))
    exports, missing = _export(request, limits, what, network, claim)
    weights: Any = network.weights
    result: dict[str, Any] = {
        "title": f"a network for {name}",
        "of": request.of,
        "covers": covers,
        "width": network.width,
        "seed": weights.origin.seed,
        "sha256": network.digest,
        "curve": curve,
        "tolerance": Plan().tolerance,
        "certificate": certificate,
        "missing": missing,
    }
    return result, {**files, "network.json": json_text(result).encode(), **exports}


def _prove(name: str, what: What, network: Any, states: int, limits: Limits, report: Progress) -> Certificate:
    if states > limits.proof:
        instead = "cells of fewer blocks have fewer" if network.cells else "prove a network of cells"
        here = ", or this one on the command line: bitwright certify --network" * (states <= 1000 * limits.proof)
        there = f"there are {readable(states, 10**15)} states, and this page tries at most {limits.proof:,}"
        raise InputError(f"{there}; {instead}{here}")
    own = what if isinstance(what, Algorithm) else Algorithm(name, network.program)
    return certify(own, network, device="cpu", yes=True, progress=report)


def _export(request: Request, limits: Limits, what: What, network: Any, claim: ExportClaim) -> tuple[Files, Any]:
    """The network as a page and as source text, with its program if that runs by itself; and why others are missing."""
    own: Any = what if isinstance(what, Algorithm) else None
    page: Any = program_page if own else computer_page
    if isinstance(what, NodeProgram):
        page = partial(live_graph_page, graph=read_graph(request.source.graph, limits))
    name, weights, pattern = request.source.title, network.weights, network.pattern
    files, missing = Files(), dict[str, str]()
    try:
        tables = exported_cells(weights, pattern, own)
    except BitwrightError as error:
        return files, {name: str(error)}
    for ending, make in (
        ("html", lambda: page(weights, pattern, what).text),
        ("c", lambda: c_text(tables, claim)),
        ("mjs", lambda: js_text(tables, claim)),
        ("d.mts", lambda: js_types(tables)),
    ):
        try:
            files[f"{name}.{ending}"] = make().encode()
        except BitwrightError as error:
            missing[f"{name}.{ending}"] = str(error)
    return files, missing
