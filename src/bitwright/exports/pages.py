"""The web pages: numbers, a graph, and a computer with a console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.exports.claims import ExportClaim, claim_of
from bitwright.exports.model import Exported, exported_cells
from bitwright.exports.page import page_text
from bitwright.graphs.files import open_graph
from bitwright.networks import IntegerNetwork
from bitwright.pages.graph import graph_facts
from bitwright.pages.graph.view import DrawnGraph
from bitwright.pages.page import Blob
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
_SHOWN = (13, 11, 7, 5, 3, 2)  # initial inputs of a page if none are given


@dataclass(frozen=True)
class Page:
    """The text of a page, and the claim about its network."""

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
    """Returns the page of a node program on a graph, whose inputs the reader types or clicks."""
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
    """Returns initial values for an input."""
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
        raise InputError(f"a page supports machines of up to {MOST_WORDS:,} words of {MOST_WIDTH} bits, got {shape}")
    if not program.image:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
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
        return {"about": f"{program.templates:,} templates, generated by the program that builds it.", "lines": []}
    about = (
        "The network learned these rules: each rule at a position is an example. Steps on this page do not use them."
    )
    return {"about": about, "lines": [*lines, *(f"ensure {line}" for line in ensures)]}


def _values(algorithm: Algorithm, given: Mapping[str, int]) -> dict[str, str]:
    """Returns the initial inputs of a page: the given values, otherwise small numbers."""
    small = {
        word.name: _SHOWN[at % len(_SHOWN)] % (1 << max(1, len(word.bits) - word.signed))
        for at, word in enumerate(algorithm.inputs)
    }
    if given:
        algorithm.state({**small, **given})  # rejects values that do not fit
    return {name: str(value) for name, value in {**small, **given}.items()}
