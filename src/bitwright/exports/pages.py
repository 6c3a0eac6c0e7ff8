"""Writes web pages that run a network on numbers, on a graph, or as a computer with a console."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.exports.claims import ExportClaim, claim_of
from bitwright.exports.javascript import core_tables, core_text
from bitwright.exports.model import Exported, exported_cells
from bitwright.exports.templates import ending_of
from bitwright.graphs.files import open_graph
from bitwright.networks import IntegerNetwork
from bitwright.pages.graph import graph_facts
from bitwright.pages.graph.view import DrawnGraph
from bitwright.pages.library import plain_script
from bitwright.pages.page import Blob, LiveParts, assemble
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.graph.schema import NodeWord
from bitwright.rules.graph.wiring import GraphWiring
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern

if TYPE_CHECKING:
    from bitwright.machines.programs import SubleqProgram

MOST_WORDS = 1_024
MOST_WIDTH = 32
_SHOWN = (13, 11, 7, 5, 3, 2)  # default inputs of a page


@dataclass(frozen=True)
class Page:
    """The text of a page and the claim about its network."""

    text: str
    claim: ExportClaim
    view: str


def program_page(
    network: IntegerNetwork,
    pattern: Pattern,
    algorithm: Algorithm,
    values: Mapping[str, int] | None = None,
) -> Page:
    """Returns the page of a program from numbers to numbers."""
    found = exported_cells(network, pattern, algorithm)
    about = {"values": _values(algorithm, values or {}), "learnt": _rules(algorithm.program, algorithm.claims)}
    return _page(found, "numbers", algorithm.name, about)


def graph_page(network: IntegerNetwork, pattern: Pattern, program: NodeProgram, graph: Any = None) -> Page:
    """Returns the page of a node program on a graph, with inputs to type or click."""
    named = open_graph(graph or ("torus:24x40" if program.schema().degree == 8 else "random:20,30"))
    topology = named.topology
    schema = program.schema(topology.nodes, topology.ports)
    wiring = GraphWiring(schema, topology)
    algorithm = program.on(topology, {word.name: _usual(word, wiring) for word in schema.inputs}, named.names)
    found, drawn, blob = exported_cells(network, pattern, algorithm), DrawnGraph(algorithm), Blob()
    about = graph_facts(drawn, blob) | {
        "inputs": [_input(word, wiring) for word in schema.inputs],
        "start": [bit for one in schema.start for bit in _at_every_place(wiring, one)],
        "learnt": _rules(schema.program),
        "board": drawn.layout.grid and schema.degree == 8,
        "columns": 1 + int(drawn.layout.places[:, 0].max()),
        "rows": 1 + int(drawn.layout.places[:, 1].max()),
    }
    return _page(found, "graph", program.name, about, blob)


def _usual(word: NodeWord, wiring: GraphWiring) -> IntArray:
    """Returns default values for an input."""
    at = np.arange(wiring.count(word.place))
    return (
        at + word.range[0] if word.unique else np.where(at == 0, 1, 0) if word.one else np.full(len(at), word.range[0])
    )


def _input(word: NodeWord, wiring: GraphWiring) -> dict[str, Any]:
    """Returns an input with its range, and the bits that it turns on at each node or port."""
    reached: list[list[int]] = [[] for _ in range(wiring.count(word.place) if word.also else 0)]
    for target in word.also:
        for owner, bit in zip(*(part.tolist() for part in wiring.reached(word.place, target)), strict=True):
            reached[owner].append(bit)
    least, most = word.range
    marks = word.width == 1 and not word.unique and word.place != "whole"
    return {**asdict(word), "least": least, "most": most, "marks": marks, "reached": reached}


def _at_every_place(wiring: GraphWiring, bit: int) -> list[int]:
    found: list[int] = wiring.bits(bit, np.arange(wiring.count(wiring.places[bit]))).tolist()
    return found


def computer_page(network: IntegerNetwork, pattern: Pattern, program: SubleqProgram) -> Page:
    """Returns the page of Machine V with an image, a console and its memory."""
    machine = program.machine
    shape = machine.shape
    if shape.words > MOST_WORDS or shape.width > MOST_WIDTH:
        raise InputError(f"a page supports up to {MOST_WORDS:,} words of {MOST_WIDTH} bits, got {shape}")
    if not program.image:
        raise InputError("a page of machine-v needs an image to run; use a .dec or .sq file")
    found = exported_cells(network, pattern, machine.algorithm(program.image, program.name))
    ports = machine.ports
    computer = {
        "words": shape.words,
        "width": shape.width,
        "dialect": shape.dialect.name,
        "image": [int(word) for word in program.image],
        "memory": machine.memory_bits.ravel().tolist(),
        "address": machine.address_bits.tolist(),
        "boundary": machine.boundary,
        "halt": machine.halt,
        "ports": None
        if ports is None
        else {
            "request": ports.request,
            "give": ports.give,
            "given": ports.given.tolist(),
            "offer": ports.offer,
            "taken": ports.taken,
            "shown": ports.shown.tolist(),
        },
    }
    return _page(found, "computer", program.name, {"about": computer, "learnt": _rules(machine.program)})


def _page(found: Exported, view: str, name: str, about: Mapping[str, Any], blob: Blob | None = None) -> Page:
    claim = claim_of(found.network, found.pattern)
    return Page(page_text(found, claim, view, f"{name} by a network", about, blob), claim, view)


def _rules(program: Program, ensures: Sequence[EnsureLine] = ()) -> dict[str, Any]:
    """Returns the source of the rules that the network was trained on; generated rules have no lines."""
    lines = [line for line in dict.fromkeys(program.rule_families.labels) if " " in line]
    if not lines:
        return {"about": f"The {program.templates:,} templates were generated by Python code.", "lines": []}
    about = (
        "The network was trained on these rules: each rule at a position is an example. Steps on this page do not use "
        "them."
    )
    return {"about": about, "lines": [*lines, *(f"ensure {line}" for line in ensures)]}


def _values(algorithm: Algorithm, given: Mapping[str, int]) -> dict[str, str]:
    """Returns the initial inputs of a page: these values, and small numbers for all others."""
    small = {
        word.name: _SHOWN[at % len(_SHOWN)] % (1 << max(1, len(word.bits) - word.signed))
        for at, word in enumerate(algorithm.inputs)
    }
    if given:
        algorithm.state({**small, **given})  # rejects values that do not fit
    return {name: str(value) for name, value in {**small, **given}.items()}


ENGINE = ("tables", "core", "words", "wires", "answers", "machine", "prove", "breaking")
PICTURES = {"numbers": "trace", "graph": "graph", "computer": "trace"}


def page_text(
    found: Exported, claim: ExportClaim, view: str, title: str, about: Mapping[str, Any], blob: Blob | None = None
) -> str:
    """Returns the page; `about` and the arrays in `blob` are the additional data that its view needs."""
    facts = {"title": title, "steps": 0, "halted": True, "network": network_facts(found, claim), **about}
    facts["wiring"] = program_facts(found)
    above = _asset("page/live.html")
    above = above.replace("{{buttons}}", _asset("page/life.html") if about.get("board") else "")
    above = above.replace("{{console}}", _asset("page/computer.html") if view == "computer" else "")
    live = LiveParts(engine_text(found), joined(["live", "proof", "weights", view]), above, _asset("page/beside.html"))
    if blob is None:
        return assemble(PICTURES[view], facts, b"", live)
    return assemble(PICTURES[view], {**facts, "arrays": blob.directory}, blob.packed(), live)


def engine_text(found: Exported) -> str:
    """Returns the scripts that run and check the network, without a page."""
    core = core_text(found.core, ["The network of this page."], page=True)
    return plain_script([core if name == "core" else _script(name) for name in ENGINE])


def joined(names: Sequence[str]) -> str:
    """Concatenates scripts of a page."""
    return "\n".join(_script(name) for name in names)


def network_facts(found: Exported, claim: ExportClaim) -> dict[str, Any]:
    """Returns the network's weights, and the rules for its ports, against which it is checked."""
    network, core = found.network, found.core
    tables = {name: _packed(values, kind) for name, values, kind in core_tables(core)}
    tables["blockBits"] = _packed(core.block_bits, "Uint8Array")
    return {
        "tables": tables,
        "portExamples": _port_examples(found.pattern),
        "units": [float(unit) for unit in network.units],
        "mostMatches": len(network.thresholds),
        "sha256": network.digest,
        "width": network.shape.width,
        "cells": found.pattern.whole is None,
        "note": claim.note,
        "proved": claim.proved,
    }


def program_facts(found: Exported) -> dict[str, Any]:
    """Returns the words of a program, the end of its runs, and the kind, bits and wires of each cell."""
    assert found.wires is not None
    wires, algorithm = found.wires, found.wires.algorithm
    how, steps, halt = ending_of(algorithm)
    words = {
        name: [[word.name, word.signed, [*map(int, word.bits)]] for word in given]
        for name, given in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs))
    }
    tables = {
        "cellKind": _packed(wires.cell_kind, "Uint16Array"),
        "cellBit": _packed(wires.cell_bit, "Int32Array"),
        "wireStart": _packed(wires.wire_start, "Int32Array"),
        "wireBit": _packed(wires.wire_bit, "Int32Array"),
    }
    return {
        "fields": [[field.name, list(field.shape)] for field in algorithm.program.layout.fields],
        **words,
        "startBit": [*map(int, algorithm.start)],
        "ending": how,
        "steps": steps,
        "haltBit": halt,
        "tables": tables,
    }


def _port_examples(pattern: Pattern) -> list[list[int]]:
    """Returns the examples that write each port."""
    program, own = pattern.program, (pattern.port_bits(kind) for kind in range(len(pattern.kinds)))
    bits = [bit for part in own for bit in range(part.start, part.stop)]
    place = {bit: at for at, bit in enumerate(bits)}
    written: list[list[int]] = [[] for _ in bits]
    for template in range(program.templates):
        for bit in program.writes(template).tolist():
            written[place[bit]].append(template)
    return written


_TYPES = {
    "Int8Array": "<i1",
    "Uint8Array": "<u1",
    "Uint16Array": "<u2",
    "Uint32Array": "<u4",
    "Int32Array": "<i4",
    "Float64Array": "<f8",
}


def _packed(values: NDArray[np.integer], kind: str) -> tuple[str, str]:
    return kind, b64encode(np.ascontiguousarray(values).astype(_TYPES[kind]).tobytes()).decode()


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _script(name: str) -> str:
    return _asset(f"{name}.mjs" if name == "words" else f"page/{name}.mjs")
