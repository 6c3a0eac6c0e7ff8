"""A network for a program: trained, quantized, proved on all its states, and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bitwright.api.certificates import NetworkCertificate
from bitwright.api.certify import certify
from bitwright.api.export import ExportClaim, c_text, exported_cells, exported_whole, js_text, js_types
from bitwright.api.export.pages import computer_page, graph_page, program_page
from bitwright.api.making import Made, Making, Plan
from bitwright.errors import BitwrightError, InputError, readable
from bitwright.web.choosing import trained
from bitwright.web.computers import read_computer
from bitwright.web.graphs import read_nodes
from bitwright.web.limits import Limits
from bitwright.web.sources import read_source
from bitwright.web.told import Files, Progress, json_file

_HOURS = 1_000  # times what a server tries: what a command line tries in some hours


def make_network(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Trains, proves and exports a network; returns the facts for the page, and the files to download."""
    progress("reading the program")
    name = str(request["source"].get("name") or request["source"]["kind"])
    made = _made(request, limits, progress)
    network = made.network
    files = {"network.safetensors": made.file()}
    proof = _proof(name, made, limits, progress)
    certificate = {"problem": proof} if isinstance(proof, str) else proof.to_dict()
    if not isinstance(proof, str):
        files["network-certificate.json"] = proof.text().encode()
    progress("writing source text")
    exported, missing = _exports(request["source"], name, made, certificate, limits)
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
        "tolerance": Plan().tolerance,
        "certificate": certificate,
        "exports": list(exported),
    }
    files["network.json"] = json_file(result)
    return {**result, "missing": missing}, {**files, **exported}


def _made(request: Mapping[str, Any], limits: Limits, progress: Progress) -> Made:
    source, cells = request["source"], request["of"] == "cells"
    if cells and source["kind"] == "nodes":
        wanted = Making.of_cells(read_nodes(source))
    elif cells and source["kind"] == "subleq":
        wanted = Making.of_cells(read_computer(source, limits))
    elif cells:
        wanted = Making.of_cells(read_source(source, limits))
    elif source["kind"] in ("subleq", "nodes"):
        raise InputError("networks of machine V and of node programs are those of their cells; choose cells")
    else:
        wanted = Making.of_whole(read_source(source, limits))
    if (examples := wanted.program.templates) > limits.network:
        what = "the cells of this program have" if cells else "this program has"
        raise InputError(
            f"this server trains networks on at most {limits.network:,} examples, {what} {examples:,}; "
            "train it on the command line: bitwright train"
        )
    width = request["width"]
    if width is not None and width > limits.width:
        raise InputError(f"this server trains networks of at most {limits.width:,} hidden units, got {width:,}")
    what = "a network of cells" if cells else "a network of the whole state"
    return wanted.made(
        width,
        limits.width,
        request["seed"],
        lambda program, recipe: trained(program, recipe, what, progress),
        lambda: progress("rounding to integers"),
    )


def _proof(name: str, made: Made, limits: Limits, progress: Progress) -> NetworkCertificate | str:
    """The certificate, or why there is none."""
    if made.states > limits.proof:
        what = f"{readable(made.states, 10**15)} state{'s' * (made.states != 1)}"
        many = f"there are {what}, and this server tries at most {limits.proof:,}"
        if made.pattern is not None:
            return f"{many}; cells of fewer blocks have fewer"
        here = ", or this one on the command line: bitwright certify --network" * (made.states <= _HOURS * limits.proof)
        return f"{many}; prove a network of cells{here}"
    try:
        return certify(
            made.proved_as(name),
            made.held,
            device="cpu",
            yes=True,
            progress=lambda done, size: progress("proving", done, size, unit="state"),
        )
    except BitwrightError as error:
        return str(error)


def _exports(
    source: Mapping[str, Any], name: str, made: Made, proof: Mapping[str, Any], limits: Limits
) -> tuple[Files, dict[str, str]]:
    """The network as a page and as source text, with its program if that runs by itself; and why others are missing."""
    try:
        if made.pattern is not None:
            found = exported_cells(made.network, made.pattern, made.algorithm)
        else:
            assert made.algorithm is not None
            found = exported_whole(made.network, made.algorithm)
    except BitwrightError as error:
        return {}, {name: str(error)}
    claim = ExportClaim(made.pattern is not None, proof.get("states", made.states), proof.get("wrong"))
    texts: dict[str, Callable[[], str]] = {
        f"{name}.html": lambda: _page(source, made, limits),
        f"{name}.c": lambda: c_text(found, claim),
        f"{name}.mjs": lambda: js_text(found, claim),
    }
    files: Files = {}
    missing: dict[str, str] = {}
    most = limits.result // 4
    for file, text in texts.items():
        try:
            data = text().encode()
        except BitwrightError as error:
            missing[file] = str(error)
            continue
        if len(data) > most:
            missing[file] = f"it has {len(data) >> 10:,} KiB, and this server keeps at most {most >> 10:,} KiB of it"
        else:
            files[file] = data
    if f"{name}.mjs" in files:
        files[f"{name}.d.mts"] = js_types(found).encode()
    return files, missing


def _page(source: Mapping[str, Any], made: Made, limits: Limits) -> str:
    """The page that runs the network in a browser: on a graph, as a computer, or with numbers."""
    if made.pattern is not None and source["kind"] == "nodes":
        return graph_page(made.network, made.pattern, read_nodes(source)).text
    if made.pattern is not None and source["kind"] == "subleq":
        return computer_page(made.network, made.pattern, read_computer(source, limits)).text
    assert made.algorithm is not None
    return program_page(made.network, made.pattern, made.algorithm).text
