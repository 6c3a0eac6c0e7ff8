"""A network for a program: trained, rounded to whole numbers, proved on all its states, and written for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bitwright.api.cells import as_algorithm, pattern_of, train_on_pattern
from bitwright.api.certificates import NetworkCertificate
from bitwright.api.certify import certify
from bitwright.api.export import Claim, exported_cells, exported_whole
from bitwright.api.export.pages import computer_page, graph_page, program_page
from bitwright.api.whole import whole_network
from bitwright.checking.exhaustion.certificate import covered_by_cells
from bitwright.checking.exhaustion.domains import StatesDomain
from bitwright.checking.width import suggested_cells_width, suggested_width
from bitwright.errors import BitwrightError, InputError, readable
from bitwright.networks import FloatNetwork, IntegerNetwork, Plan, Recipe
from bitwright.networks.store import network_bytes
from bitwright.program import Algorithm, Program
from bitwright.program.pattern import Pattern
from bitwright.web.choosing import Curve, trained
from bitwright.web.computers import read_computer
from bitwright.web.exports import export_files
from bitwright.web.graphs import read_nodes
from bitwright.web.limits import Limits
from bitwright.web.sources import read_source
from bitwright.web.told import Files, Progress, json_file

_PLAN = Plan(momentum=True)
_HOURS = 1_000  # times what a server tries: what a command line tries in some hours


@dataclass(frozen=True)
class _Made:
    """A network, what it is for, and the program that is written beside it, if one can be."""

    network: IntegerNetwork
    program: Program  # that it was trained on; the pattern's, if it is one of cells
    pattern: Pattern | None
    algorithm: Algorithm | None
    covers: str
    curve: Curve


def make_network(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Trains, proves and writes; gives the facts for the page, and the files to download."""
    progress("reading the program")
    name = str(request["source"].get("name") or request["source"]["kind"])
    made = _of_cells(request, limits, progress) if request["of"] == "cells" else _of_whole(request, limits, progress)
    network = made.network
    files = {"network.safetensors": network_bytes(network, made.program)}
    proof = _proof(name, made, limits, progress)
    certificate = {"problem": proof} if isinstance(proof, str) else proof.to_dict()
    if not isinstance(proof, str):
        files["network-certificate.json"] = proof.text().encode()
    progress("writing source text")
    exported, missing = _exports(name, made, proof, limits, lambda: _page(request["source"], made, limits))
    result: dict[str, object] = {
        "title": f"a network for {name}",
        "name": name,
        "of": request["of"],
        "covers": made.covers,
        "width": network.shape.width,
        "examples": made.program.templates,
        "weight_bits": network.weight_bits,
        "seed": network.origin.seed,
        "training_steps": network.origin.steps,
        "training_error": network.origin.error,
        "sha256": network.digest,
        "curve": made.curve,
        "tolerance": _PLAN.tolerance,
        "certificate": certificate,
        "exports": list(exported),
    }
    files["network.json"] = json_file(result)
    return {**result, "missing": dict(missing)}, {**files, **exported}


def _of_cells(request: Mapping[str, Any], limits: Limits, progress: Progress) -> _Made:
    source, algorithm = request["source"], None
    if source["kind"] == "nodes":
        program = read_nodes(source)
        pattern, covers = Pattern.of(program.kinds), covered_by_cells(None, program.graphs)
    elif source["kind"] == "subleq":
        computer = read_computer(source, limits)
        pattern, covers = pattern_of([computer.machine.program]), "every image of such a machine"
    else:
        algorithm = read_source(source, limits)[0]
        pattern, covers = pattern_of([algorithm.program]), covered_by_cells()
    _check_examples(pattern.program.templates, "the cells of this program have", limits)
    width = _width(request["width"] or suggested_cells_width(pattern), limits)
    curves: dict[int, Curve] = {}

    def make(program: Program, recipe: Recipe) -> FloatNetwork:
        network, curves[recipe.seed] = trained(program, recipe, "a network of cells", progress)
        return network

    found = train_on_pattern(pattern, Recipe(width, request["seed"], plan=_PLAN), make=make)
    return _Made(found.network, pattern.program, pattern, algorithm, covers, curves[found.network.origin.seed])


def _of_whole(request: Mapping[str, Any], limits: Limits, progress: Progress) -> _Made:
    if request["source"]["kind"] in ("subleq", "nodes"):
        raise InputError("networks of machine V and of node programs are those of their cells; choose cells")
    algorithm = read_source(request["source"], limits)[0]
    program = algorithm.program
    _check_examples(program.templates, "this program has", limits)
    width = _width(request["width"] or min(suggested_width(algorithm), limits.width), limits)
    recipe = Recipe(width, request["seed"], plan=_PLAN)
    network, curve = trained(program, recipe, "a network of the whole state", progress)
    progress("rounding to whole numbers")
    rounded = whole_network(algorithm, [network])[0]
    return _Made(rounded, program, None, algorithm, "every choice in every block", curve)


def _check_examples(examples: int, what: str, limits: Limits) -> None:
    if examples > limits.network:
        raise InputError(
            f"this server trains networks on at most {limits.network:,} examples, {what} {examples:,}; "
            "train it on the command line: bitwright train"
        )


def _width(width: int, limits: Limits) -> int:
    if width > limits.width:
        raise InputError(f"this server trains networks of at most {limits.width:,} hidden units, got {width:,}")
    return width


def _proof(name: str, made: _Made, limits: Limits, progress: Progress) -> NetworkCertificate | str:
    """The certificate, or why there is none."""
    if made.pattern is not None:
        algorithm, states = as_algorithm(made.pattern, name), made.pattern.local_states
    else:
        assert made.algorithm is not None
        algorithm, states = made.algorithm, StatesDomain(made.program).size
    if states > limits.proof:
        what = f"{readable(states, 10**15)} state{'s' * (states != 1)}"
        many = f"there are {what}, and this server tries at most {limits.proof:,}"
        if made.pattern is not None:
            return f"{many}; cells of fewer blocks have fewer"
        here = ", or this one on the command line: bitwright certify --network" * (states <= _HOURS * limits.proof)
        return f"{many}; prove a network of cells{here}"
    try:
        return certify(
            algorithm,
            made.network,
            device="cpu",
            yes=True,
            progress=lambda done, size: progress("proving", done, size, unit="state"),
        )
    except BitwrightError as error:
        return str(error)


def _exports(
    name: str, made: _Made, proof: NetworkCertificate | str, limits: Limits, page: Callable[[], str]
) -> tuple[Files, Mapping[str, str]]:
    """Source text of the network, and of the program where it has one that runs by itself."""
    try:
        if made.pattern is not None:
            found = exported_cells(made.network, made.pattern, made.algorithm)
        else:
            assert made.algorithm is not None
            found = exported_whole(made.network, made.algorithm)
    except BitwrightError as error:
        return {}, {name: str(error)}
    states, wrong = (proof.states, proof.wrong) if isinstance(proof, NetworkCertificate) else (0, None)
    if wrong is None and made.pattern is None:
        states = StatesDomain(made.program).size
    elif wrong is None and made.pattern is not None:
        states = made.pattern.local_states
    return export_files(name, found, Claim(made.pattern is not None, states, wrong), limits.result // 4, page)


def _page(source: Mapping[str, Any], made: _Made, limits: Limits) -> str:
    """The page that runs the network in a browser: on a graph, as a computer, or with numbers."""
    if made.pattern is not None and source["kind"] == "nodes":
        return graph_page(made.network, made.pattern, read_nodes(source)).text
    if made.pattern is not None and source["kind"] == "subleq":
        return computer_page(made.network, made.pattern, read_computer(source, limits)).text
    assert made.algorithm is not None
    return program_page(made.network, made.pattern, made.algorithm).text
