"""The pages: numbers at any size, a torus, a graph, a computer with a console."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.api.export.claims import ExportClaim, try_states
from bitwright.api.export.every_size import Maker, PageSizes, describe, every_size, progressions
from bitwright.api.export.model import Exported, exported_cells
from bitwright.api.export.page_file import page_text
from bitwright.api.export.text import ending_of
from bitwright.errors import InputError, ProgramError
from bitwright.graphs.shapes import shaped_graph
from bitwright.networks import IntegerNetwork
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.ensures import EnsureLine
from bitwright.program.graph.node_program import check_graph
from bitwright.program.graph.schema import Schema
from bitwright.program.pattern import Pattern

if TYPE_CHECKING:
    from bitwright.machines.programs import SubleqProgram

MOST_NODES = 256  # of graphs, where what a program says depends on how many nodes there are
_LARGE = (1_000, 1_000_000)
_PATHS = {"far", "all", "far.all", "next", "every"}  # that pages can follow


def node_facts(program: NodeProgram, pattern: Pattern) -> dict[str, Any]:
    """The schemas of the program, each with the number of nodes from which it holds."""
    schemas: list[tuple[int, dict[str, Any]]] = []
    before: tuple[Schema, Schema] | None = None
    for nodes in range(1, MOST_NODES + 1) if "nodes" in program.depends_on else (1,):
        pair = _schemas_at(program, nodes)
        if pair is None or (before is not None and pair[0] is before[0] and pair[1] is before[1]):
            continue
        before = pair
        found = _agreed(program, pattern, pair)
        if not schemas or schemas[-1][1] != found:
            schemas.append((nodes, found))
    if not schemas:
        raise InputError(f"{program.name} says nothing for graphs of up to {MOST_NODES} nodes")
    same = len(schemas) == 1 and all(
        pair is not None and _agreed(program, pattern, pair) == schemas[0][1]
        for pair in (_schemas_at(program, nodes) for nodes in _LARGE)
    )
    return {"schemas": schemas, "most": _LARGE[-1] if same else MOST_NODES}


def _schemas_at(program: NodeProgram, nodes: int) -> tuple[Schema, Schema] | None:
    """The schemas for this many nodes with few and many edges; None if the program does not run on such graphs."""
    try:
        return program.schema(nodes, 2 * nodes), program.schema(nodes, 8 * nodes)
    except ProgramError:
        return None


def _agreed(program: NodeProgram, pattern: Pattern, schemas: tuple[Schema, Schema]) -> dict[str, Any]:
    """What both schemas say."""
    few, many = schemas
    found = _document(few, pattern)
    if many is not few and _document(many, pattern) != found:
        raise InputError(f"what {program.name} says depends on how many edges a graph has; a page takes other programs")
    return found


def _document(schema: Schema, pattern: Pattern) -> dict[str, Any]:
    if others := sorted({path for path, _ in schema.targets} - _PATHS):
        raise InputError(f"a page cannot follow the path '{others[0]}.'; it knows {', '.join(sorted(_PATHS))}")
    how, steps, halt = ending_of(schema)
    fields = zip(schema.program.layout.fields, schema.places, strict=False)
    document = {
        "fields": [[field.name, place, list(field.shape)] for field, place in fields],
        "cells": _cells(schema, pattern),
        "targets": [list(target) for target in schema.targets],
        "chains": sorted([link, end] for link, end in schema.chains.items()),
        "inputs": [asdict(word) for word in schema.inputs],
        "outputs": [asdict(word) for word in schema.outputs],
        "start": list(schema.start),
        "steps": steps,
        "ending": how,
        "halt": halt,
        "requires": sorted(schema.requires),
        "degree": schema.degree,
    }
    found: dict[str, Any] = json.loads(json.dumps(document, default=int))
    return found


def _cells(schema: Schema, pattern: Pattern) -> list[list[Any]]:
    """Each cell: where it is, its kind, its bits block by block, and pairs of a port and a target."""
    program, known = schema.program, schema.program.kinds
    places = program.cells.bit_place
    occupied = set(program.template_block.tolist())
    found = []
    for cell in range(len(program.cells)):
        if known.of[cell] < 0:  # a target with a path, or bits that nothing reads
            continue
        bits: list[int] = []
        for block in program.cells.members(cell).tolist():
            if block in occupied:
                members = program.block_members(block)
                bits += (members if places is None else members[np.argsort(places[members])]).tolist()
        kind = pattern.place_of(known.kinds[known.of[cell]])
        if kind is None:
            raise InputError(
                f"this network has no cell like that of {program.layout.name_of(bits[0])}; train it on this program"
            )
        wires = np.flatnonzero(known.wire_cell == cell)
        pairs = [[int(known.wire_port[wire]), int(known.wire_bit[wire])] for wire in wires]
        found.append([schema.place_of(bits[0]), kind, bits, pairs])
    return found


MOST_WORDS = 1_024
MOST_WIDTH = 32
_SHOWN = (13, 11, 7, 5, 3, 2)  # inputs that a page begins with, where none are given


@dataclass(frozen=True)
class Page:
    """The text of a page, and what is known of the network in it."""

    text: str
    claim: ExportClaim
    view: str


def program_page(
    network: IntegerNetwork,
    pattern: Pattern,
    algorithm: Algorithm,
    values: Mapping[str, int] | None = None,
    sized: tuple[str, int, Maker] | None = None,
) -> Page:
    """A program that takes numbers and gives numbers; `sized` is the name of its size, this one's, and how to make it
    in another.
    """
    found = exported_cells(network, pattern, algorithm)
    if sized is None:
        name, sizes = "size", _one_size(found, 1)
    else:
        name, chosen, make = sized
        sizes = every_size(network, pattern, make, chosen)
    about: dict[str, Any] = {"sizes": sizes.document(), "sizeName": name, "values": _values(algorithm, values or {})}
    about["runs"] = bool(values)  # who gives inputs wants to see their result
    if sizes.formula is not None:
        checked = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in sizes.compared)
        about["origin"] = f"The wiring is a formula, compared with the program at the sizes {checked}."
    return _page(found, "numbers", algorithm.name, {**about, "rules": _rules(algorithm.program, algorithm.ensures)})


def graph_page(network: IntegerNetwork, pattern: Pattern, program: NodeProgram, graph: str | None = None) -> Page:
    """A node program on a graph that the reader chooses; with eight neighbours at every node, a torus to click on."""
    facts = node_facts(program, pattern)
    schema = program.schema()
    words = (*schema.inputs, *schema.outputs)
    board = schema.degree == 8 and len(words) == 2 and all(word.place == "node" and word.width == 1 for word in words)
    shape = graph or ("torus:24x40" if schema.degree == 8 else "random:20,30")
    topology = shaped_graph(shape).topology
    check_graph(program.name, program.schema(topology.nodes, topology.ports), topology, None)
    if board and not shape.startswith("torus:"):
        raise InputError(f"{program.name} is shown on a torus; give one such as torus:20x30, got {shape}")
    if topology.nodes > facts["most"]:
        raise InputError(
            f"a page of {program.name} takes graphs of up to {facts['most']:,} nodes, got {topology.nodes:,}"
        )
    found = exported_cells(network, pattern, None)
    about = {"node": facts, "graph": shape, "rules": _rules(schema.program)}
    return _page(found, "life" if board else "graph", program.name, about)


def computer_page(network: IntegerNetwork, pattern: Pattern, program: SubleqProgram) -> Page:
    """Machine V with an image, a console and its memory."""
    machine = program.machine
    shape = machine.shape
    if shape.words > MOST_WORDS or shape.width > MOST_WIDTH:
        raise InputError(f"a page takes machines of up to {MOST_WORDS:,} words of {MOST_WIDTH} bits, got {shape}")
    if not program.image:
        raise InputError("machine-v needs an image to run; give a .dec or .sq file")
    found = exported_cells(network, pattern, machine.algorithm(program.image, program.name))
    ports = machine.ports
    computer = {
        "words": shape.words,
        "width": shape.width,
        "dialect": shape.dialect.name,
        "image": [int(word) for word in program.image],
        "memory": progressions(machine.memory_bits.ravel().tolist()),
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
    about = {
        "sizes": _one_size(found, shape.words).document(),
        "computer": computer,
        "rules": _rules(machine.program),
    }
    return _page(found, "computer", program.name, about)


def _page(found: Exported, view: str, name: str, about: Mapping[str, Any]) -> Page:
    claim = try_states(found)
    return Page(page_text(found, claim, view, f"{name} by a network", about), claim, view)


def _rules(program: Program, ensures: Sequence[EnsureLine] = ()) -> dict[str, Any]:
    """The rules that the network was trained on, as they were written; generated rules have no lines."""
    lines = [line for line in dict.fromkeys(program.rule_families.labels) if " " in line]
    if not lines:
        return {"about": f"{program.templates:,} templates, made by a program that builds this machine.", "lines": []}
    about = "The network learnt these rules: each, at one place, is an example. No step on this page is taken by them."
    return {"about": about, "lines": [*lines, *(f"ensure {line}" for line in ensures)]}


def _one_size(found: Exported, size: int) -> PageSizes:
    assert found.wires is not None
    return PageSizes(size, None, None, {size: describe(found.core, found.wires)}, ())


def _values(algorithm: Algorithm, given: Mapping[str, int]) -> dict[str, str]:
    """The first inputs of a page: those given, else small numbers."""
    small = {
        word.name: _SHOWN[at % len(_SHOWN)] % (1 << max(1, len(word.bits) - word.signed))
        for at, word in enumerate(algorithm.inputs)
    }
    if given:
        algorithm.state({**small, **given})  # refuses what does not fit
    return {name: str(value) for name, value in {**small, **given}.items()}
