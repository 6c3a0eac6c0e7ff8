"""Does the work of a request: checks or runs a program, draws a graph, or trains a network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bitwright import Algorithm, NodeProgram
from bitwright.common.errors import BitwrightError, InputError, Problem, ProgramError, readable
from bitwright.exports import ExportClaim, c_text, exported_cells, js_text, js_types
from bitwright.exports.pages import graph_page as live_graph_page
from bitwright.exports.pages import program_page
from bitwright.pages import graph_page, run_title, trace_page
from bitwright.pages.layout import graph_layout
from bitwright.verbs.certificates import Certificate
from bitwright.verbs.certify import certify
from bitwright.verbs.graphs import on_graph
from bitwright.verbs.images import ImageConsole, MachineTally, SubleqProgram, image_text, run_image, with_padding
from bitwright.verbs.local_page import TOLERANCE, cells_of, make_network, network_file, numbers_of
from bitwright.verbs.numbers import json_text
from bitwright.verbs.run import run as run_program
from bitwright.verbs.size import size
from bitwright.web.programs import (
    Progress,
    What,
    check_size,
    describe,
    make_engine,
    read_graph,
    read_program,
    report_training,
)
from bitwright.web.requests import Limits, Request

Files = dict[str, bytes]
Done = tuple[dict[str, Any], Files]  # facts for the page, and files to download
_SHARE = 0.8  # share of the time limit for a run of machine V; the rest is for its report


def check(request: Request, limits: Limits, progress: Progress) -> Done:  # noqa: ARG001
    """Returns the problems of a program with line and column, or its description; line 0 means the entire program."""
    try:
        return {"ok": True, "problems": [], "count": 0, "about": describe(request.source, limits)}, {}
    except BitwrightError as error:
        problems = error.problems if isinstance(error, ProgramError) else (Problem(0, 0, str(error)),)
    found = [{"line": p.line, "column": p.column, "message": p.message} for p in problems[:200]]
    return {"ok": False, "problems": found, "count": len(problems), "about": None}, {}


def draw(request: Request, limits: Limits, progress: Progress) -> Done:  # noqa: ARG001
    """Returns a graph with the positions of its nodes; no nodes if there are too many to draw."""
    graph = read_graph(request.source.graph, limits)
    shape, names = graph.topology, graph.names
    found: dict[str, Any] = {"count": shape.nodes, "nodes": [], "edges": [], "places": []}
    if shape.nodes <= limits.drawn:
        layout = graph_layout(shape, names)
        found |= {"nodes": list(names), "edges": shape.edge_ends.tolist(), "places": layout.places.tolist()}
        found |= {"directed": shape.directed, "grid": layout.grid, "spacing": layout.spacing}
    return found, {}


def run(request: Request, limits: Limits, progress: Progress) -> Done:
    """Runs a program; returns the facts for the page, and the files to download."""
    progress("reading the program")
    what, values = read_program(request.source, limits), dict[str, int]()
    if isinstance(what, SubleqProgram):
        return _run_computer(what, request, limits, progress)
    if isinstance(what, NodeProgram):
        given = {name: text.strip() for name, text in request.inputs.items() if text.strip()}
        algorithm: Algorithm = on_graph(what, read_graph(request.source.graph, limits), given)
        check_size(algorithm.program, limits, graph=True)
    else:
        algorithm, values = what, numbers_of(request.inputs)
        algorithm.state(values)  # check inputs before long work
    engine = make_engine(algorithm, request, limits, progress)
    done = run_program(
        algorithm,
        values,
        engine=engine,
        steps=min(request.max_steps, limits.cells // algorithm.program.bits),
        record=True,
        progress=lambda step, limit: progress("running", step, limit),
    )
    progress("comparing with the rules")
    facts = done.to_dict()
    files = {"program.bw": algorithm.text().encode(), "run.json": json_text(facts).encode()}
    facts.pop("value", None)
    shown = facts | {
        "title": run_title(done),
        "sentences": done.sentences,
        "exact": done.exact,
        "networks": list(engine.digests),  # to identify the network that was proved
        "inputs": {name: str(value) for name, value in done.inputs.items()},  # JSON readers refuse long numbers
        "outputs": {name: str(value) for name, value in done.outputs.items()},
    }
    progress("proving")
    shown["certificate"] = document(files, "certificate.json", lambda: certify(algorithm, rounding=request.rounding))
    shown["size"] = document(files, "size.json", lambda: size(algorithm))
    progress("writing the trace")
    if isinstance(what, NodeProgram):
        shown["nodes"] = {str(node): {k: _cell(v) for k, v in own.items()} for node, own in done.nodes.items()}
        files |= {"program.bw": request.source.text.encode(), "trace.html": graph_page(done).encode()}
    else:
        files["trace.html"] = trace_page(done).encode()
    return shown, files


def document(files: Files, name: str, make: Callable[[], Any]) -> dict[str, Any]:
    """Creates a document, adds it to the files and returns its facts; if this fails, returns the problem."""
    try:
        found = make()
    except BitwrightError as error:
        return {"problem": str(error)}
    facts: dict[str, Any] = found.to_dict()
    files[name] = (found.text() if hasattr(found, "text") else json_text(facts)).encode()
    return facts | {"report": str(found).splitlines()}


def _cell(value: Any) -> str:
    """Formats an output of a node."""
    if isinstance(value, list):
        return ", ".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return "" if value is None else str(value)


def _run_computer(program: SubleqProgram, request: Request, limits: Limits, progress: Progress) -> Done:
    """Runs an image on machine V; its steps are not recorded, so runs may be long."""
    if request.inputs:
        raise InputError(f"machine V takes input only from its console, got inputs {', '.join(request.inputs)[:60]}")
    progress("making the machine")
    engine = make_engine(with_padding(program.machine.algorithm()), request, limits, progress)
    done = run_image(
        program,
        _Console(request, limits, progress),
        engine=engine,
        instructions=request.max_instructions,
        seconds=_SHARE * limits.seconds,
        memory=[f"0:{program.machine.shape.words - 1}"],
    )
    memory = done.words[0].words
    facts = done.to_dict()
    shown = {
        "title": f"{program.name} on machine V",
        "sentences": [*done.report()],
        "console": done.output.decode("utf-8", "replace"),
        "memory": memory,
        "labels": program.labels,
        "wrong": 0 if engine.name == "templates" else done.ending.tally.wrong,
    }
    files = {"output.txt": done.output, "run.json": json_text(facts).encode()}
    files |= {"memory.dec": image_text(memory).encode(), "image.dec": image_text(program.image).encode()}
    return facts | shown, files


class _Console(ImageConsole):
    """Keeps the first bytes of output and reports the progress of the run."""

    def __init__(self, request: Request, limits: Limits, progress: Progress) -> None:
        super().__init__(request.console.encode())
        self._limit, self._most, self._progress = request.max_instructions or 0, limits.console, progress

    def write(self, byte: int) -> None:
        if len(self.collected) < self._most:
            super().write(byte)

    def look(self, now: MachineTally) -> bool:
        printed = self.collected.decode("utf-8", "replace")
        self._progress("running", now.instructions, self._limit, console=printed, unit="instruction")
        return len(self.collected) < self._most


def train(request: Request, limits: Limits, progress: Progress) -> Done:
    """Trains, proves and exports a network; returns the facts for the page, and the files to download."""
    progress("reading the program")
    name, what = request.source.title, read_program(request.source, limits)
    pattern, covers = cells_of(what, request.tile)
    runs = None if pattern.whole is None or not isinstance(what, Algorithm) else what
    phase = "a network of cells" if runs is None else "a network of the whole state"
    report = report_training(phase, progress)
    network, curve = make_network(pattern, runs, request.width, limits.width, request.seed, report)
    files, states = {"network.safetensors": network_file(network)}, pattern.local_states
    prove = partial(_prove, name, what, network, states, limits, partial(progress, "proving", unit="state"))
    certificate = document(files, "network-certificate.json", prove)
    progress("writing source text")
    claim = ExportClaim(runs is None, certificate.get("states", states), certificate.get("wrong"))
    exports, missing = _export(request, limits, what, network, claim)
    weights: Any = network.weights
    result: dict[str, Any] = {
        "title": f"a network for {name}",
        "tile": request.tile,
        "covers": covers,
        "width": network.width,
        "seed": weights.origin.seed,
        "sha256": network.digest,
        "curve": curve,
        "tolerance": TOLERANCE,
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
    return certify(own, network, device="cpu", progress=report)


def _export(request: Request, limits: Limits, what: What, network: Any, claim: ExportClaim) -> tuple[Files, Any]:
    """Returns the network as a page and as source text, and the reasons for missing files."""
    own: Any = what if isinstance(what, Algorithm) else None
    page: Any = program_page
    if isinstance(what, NodeProgram):
        page = partial(live_graph_page, graph=read_graph(request.source.graph, limits))
    name, weights, pattern = request.source.title, network.weights, network.pattern
    files, missing = Files(), dict[str, str]()
    try:
        tables = exported_cells(weights, pattern, own)
    except BitwrightError as error:
        return files, {name: str(error)}
    for ending, make in (
        *(() if isinstance(what, SubleqProgram) else (("html", lambda: page(weights, pattern, what).text),)),
        ("c", lambda: c_text(tables, claim)),
        ("mjs", lambda: js_text(tables, claim)),
        ("d.mts", lambda: js_types(tables)),
    ):
        try:
            files[f"{name}.{ending}"] = make().encode()
        except BitwrightError as error:
            missing[f"{name}.{ending}"] = str(error)
    return files, missing
