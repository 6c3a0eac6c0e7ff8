"""A network for a program: trained, quantized, proved on all its states, and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bitwright import Algorithm, Network, NodeProgram
from bitwright.api.certificates import NetworkCertificate
from bitwright.api.certify import certify
from bitwright.api.export import ExportClaim, Exported, c_text, exported_cells, exported_whole, js_text, js_types
from bitwright.api.export.pages import computer_page, graph_page, program_page
from bitwright.api.making import Plan, cells_of, make_network, network_file, states_of
from bitwright.api.pasted import SubleqProgram
from bitwright.errors import InputError, readable
from bitwright.web.choosing import check_width, read_source, too_many_examples, trained
from bitwright.web.computers import read_computer
from bitwright.web.graphs import read_nodes
from bitwright.web.limits import Limits
from bitwright.web.told import Files, Progress, attempt, json_file

_HOURS = 1_000  # times what a server tries: what a command line tries in some hours
Source = Algorithm | NodeProgram | SubleqProgram


def train_network(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Trains, proves and exports a network; returns the facts for the page, and the files to download."""
    progress("reading the program")
    name, cells = str(request["source"].get("name") or request["source"]["kind"]), request["of"] == "cells"
    what, width = _read(request["source"], cells, limits), request["width"]
    made_for, covers = cells_of(what) if cells else (what, "every choice in every block")
    assert not isinstance(made_for, NodeProgram | SubleqProgram)
    if (examples := made_for.program.templates) > limits.network:
        raise InputError(too_many_examples(examples, cells, limits, "train it on the command line: bitwright train"))
    check_width(width, limits)
    said = "a network of cells" if cells else "a network of the whole state"
    network, curve = make_network(
        made_for,
        width,
        limits.width,
        request["seed"],
        lambda program, recipe: trained(program, recipe, said, progress),
        lambda: progress("rounding to integers"),
    )
    files, states = {"network.safetensors": network_file(network)}, states_of(made_for)
    proof = _proof(name, what, network, states, limits, progress)
    certificate: dict[str, Any] = {"problem": proof} if isinstance(proof, str) else proof.to_dict()
    if not isinstance(proof, str):
        files["network-certificate.json"] = proof.text().encode()
    progress("writing source text")
    claim = ExportClaim(cells, certificate.get("states", states), certificate.get("wrong"))
    exported, missing = _exports(name, what, network, claim, limits)
    weights: Any = network.weights
    result: dict[str, object] = {
        "title": f"a network for {name}",
        "name": name,
        "of": request["of"],
        "covers": covers,
        "width": network.width,
        "examples": examples,
        "weight_bits": weights.weight_bits,
        "seed": weights.origin.seed,
        "training_steps": weights.origin.steps,
        "training_error": weights.origin.error,
        "sha256": network.digest,
        "curve": curve,
        "tolerance": Plan().tolerance,
        "certificate": certificate,
        "exports": list(exported),
    }
    files["network.json"] = json_file(result)
    return {**result, "missing": missing}, {**files, **exported}


def _read(source: Mapping[str, Any], cells: bool, limits: Limits) -> Source:
    if source["kind"] not in ("subleq", "nodes"):
        return read_source(source, limits)
    if not cells:
        raise InputError("networks of machine V and of node programs are those of their cells; choose cells")
    return read_nodes(source) if source["kind"] == "nodes" else read_computer(source, limits)


def _proof(
    name: str, what: Source, network: Network, states: int, limits: Limits, progress: Progress
) -> NetworkCertificate | str:
    """The certificate, or why there is none."""
    if states > limits.proof:
        said = f"{readable(states, 10**15)} state{'s' * (states != 1)}"
        many = f"there are {said}, and this server tries at most {limits.proof:,}"
        if network.cells:
            return f"{many}; cells of fewer blocks have fewer"
        here = ", or this one on the command line: bitwright certify --network" * (states <= _HOURS * limits.proof)
        return f"{many}; prove a network of cells{here}"
    assert network.program is not None
    own = what if isinstance(what, Algorithm) else Algorithm(name, network.program)

    def told(done: int, size: int) -> None:
        progress("proving", done, size, unit="state")

    return attempt(lambda: certify(own, network, device="cpu", yes=True, progress=told))


def _exports(
    name: str, what: Source, network: Network, claim: ExportClaim, limits: Limits
) -> tuple[Files, dict[str, str]]:
    """The network as a page and as source text, with its program if that runs by itself; and why others are missing."""
    own = what if isinstance(what, Algorithm) else None
    weights: Any = network.weights

    def tables() -> Exported:
        if network.pattern is not None:
            return exported_cells(weights, network.pattern, own)
        assert own is not None
        return exported_whole(weights, own)

    found = attempt(tables)
    if isinstance(found, str):
        return {}, {name: found}
    texts: dict[str, Callable[[], str]] = {
        f"{name}.html": lambda: _page(what, network),
        f"{name}.c": lambda: c_text(found, claim),
        f"{name}.mjs": lambda: js_text(found, claim),
    }
    files: Files = {}
    missing: dict[str, str] = {}
    most = limits.result // 4
    for file, text in texts.items():
        data = attempt(lambda text=text: text().encode())  # type: ignore[misc]
        if isinstance(data, str):
            missing[file] = data
        elif len(data) > most:
            missing[file] = f"it has {len(data) >> 10:,} KiB, and this server keeps at most {most >> 10:,} KiB of it"
        else:
            files[file] = data
    if f"{name}.mjs" in files:
        files[f"{name}.d.mts"] = js_types(found).encode()
    return files, missing


def _page(what: Source, network: Network) -> str:
    """The page that runs the network in a browser: on a graph, as a computer, or with numbers."""
    weights: Any = network.weights
    if isinstance(what, Algorithm):
        return program_page(weights, network.pattern, what).text
    assert network.pattern is not None
    page = graph_page if isinstance(what, NodeProgram) else computer_page
    return page(weights, network.pattern, what).text  # type: ignore[arg-type]
