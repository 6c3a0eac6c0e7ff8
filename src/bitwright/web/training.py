"""A network for a program: trained, rounded to integers, proved on all its states, and written for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bitwright.api import export
from bitwright.api.certificates import NetworkCertificate
from bitwright.api.certify import certify
from bitwright.api.export import ExportClaim, Exported, exported_cells, exported_whole
from bitwright.api.export.pages import computer_page, graph_page, program_page
from bitwright.api.making import Making, Plan
from bitwright.errors import BitwrightError, InputError, readable
from bitwright.web.choosing import trained
from bitwright.web.computers import read_computer
from bitwright.web.graphs import read_nodes
from bitwright.web.limits import Limits
from bitwright.web.sources import read_source
from bitwright.web.told import Files, Progress, json_file

_HOURS = 1_000  # times what a server tries: what a command line tries in some hours
_SUFFIXES = {"js": "mjs", "page": "html"}  # where it is not the name of the form


def make_network(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Trains, proves and writes; gives the facts for the page, and the files to download."""
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
    exported, missing = _exports(name, made, certificate, limits, lambda: _page(request["source"], made, limits))
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
    return {**result, "missing": dict(missing)}, {**files, **exported}


def _made(request: Mapping[str, Any], limits: Limits, progress: Progress) -> Making:
    source, cells = request["source"], request["of"] == "cells"
    if cells and source["kind"] == "nodes":
        wanted = Making.of_cells(read_nodes(source))
    elif cells and source["kind"] == "subleq":
        wanted = Making.of_cells(read_computer(source, limits))
    elif cells:
        wanted = Making.of_cells(read_source(source, limits)[0])
    elif source["kind"] in ("subleq", "nodes"):
        raise InputError("networks of machine V and of node programs are those of their cells; choose cells")
    else:
        wanted = Making.of_whole(read_source(source, limits)[0])
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


def _proof(name: str, made: Making, limits: Limits, progress: Progress) -> NetworkCertificate | str:
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
    name: str, made: Making, proof: Mapping[str, Any], limits: Limits, page: Callable[[], str]
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
    claim = ExportClaim(made.pattern is not None, proof.get("states", made.states), proof.get("wrong"))
    return export_files(name, found, claim, limits.result // 4, page)


def _page(source: Mapping[str, Any], made: Making, limits: Limits) -> str:
    """The page that runs the network in a browser: on a graph, as a computer, or with numbers."""
    if made.pattern is not None and source["kind"] == "nodes":
        return graph_page(made.network, made.pattern, read_nodes(source)).text
    if made.pattern is not None and source["kind"] == "subleq":
        return computer_page(made.network, made.pattern, read_computer(source, limits)).text
    assert made.algorithm is not None
    return program_page(made.network, made.pattern, made.algorithm).text


def forms() -> dict[str, Callable[[Exported, ExportClaim], str]]:
    """The writers of that room by the names of their forms."""
    return {name.removesuffix("_text"): getattr(export, name) for name in export.__all__ if name.endswith("_text")}


def export_files(
    name: str, found: Exported, claim: ExportClaim, most: int, page: Callable[[], str]
) -> tuple[Files, Mapping[str, str]]:
    """The files of at most `most` bytes each, and why others are missing. `page` writes the page."""
    files: Files = {}
    missing: dict[str, str] = {}
    texts: dict[str, Callable[[], str]] = {form: partial(write, found, claim) for form, write in forms().items()}
    for form, text in {"page": page, **texts}.items():
        file = f"{name}.{_SUFFIXES.get(form, form)}"
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
        files[f"{name}.d.mts"] = export.js_types(found).encode()
    return files, missing
