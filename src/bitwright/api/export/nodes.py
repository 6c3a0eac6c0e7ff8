"""A node program for a page: what it says for graphs of each size, as tables that a page wires along a graph."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bitwright.api.export.text import halting_of
from bitwright.errors import InputError, ProgramError
from bitwright.program import NodeProgram
from bitwright.program.graph.schema import NodeWord, Schema
from bitwright.program.pattern import Pattern

MOST_NODES = 256  # of graphs, where what a program says depends on how many nodes there are
_LARGE = (1_000, 1_000_000)
_PATHS = {"far", "all", "far.all", "next", "every"}  # that pages can follow


def node_facts(program: NodeProgram, pattern: Pattern) -> dict[str, Any]:
    """What the program says from which number of nodes on."""
    schemas: list[tuple[int, dict[str, Any]]] = []
    for nodes in range(1, MOST_NODES + 1) if "nodes" in program.depends_on else (1,):
        found = _at(program, pattern, nodes)
        if found is not None and (not schemas or schemas[-1][1] != found):
            schemas.append((nodes, found))
    if not schemas:
        raise InputError(f"{program.name} says nothing for graphs of up to {MOST_NODES} nodes")
    same = len(schemas) == 1 and all(_at(program, pattern, nodes) == schemas[0][1] for nodes in _LARGE)
    return {"schemas": schemas, "most": _LARGE[-1] if same else MOST_NODES}


def _at(program: NodeProgram, pattern: Pattern, nodes: int) -> dict[str, Any] | None:
    """The tables for this many nodes; None if the program does not run on such graphs."""
    try:
        few, many = (program.schema(nodes, ports) for ports in (2 * nodes, 8 * nodes))
    except ProgramError:
        return None
    found = _document(few, pattern)
    if many is not few and _document(many, pattern) != found:
        raise InputError(f"what {program.name} says depends on how many edges a graph has; a page takes other programs")
    return found


def _document(schema: Schema, pattern: Pattern) -> dict[str, Any]:
    if others := sorted({path for path, _ in schema.targets} - _PATHS):
        raise InputError(f"a page cannot follow the path '{others[0]}.'; it knows {', '.join(sorted(_PATHS))}")
    how, steps, halt = halting_of(schema.halt, schema.steps)
    fields = zip(schema.program.layout.fields, schema.places, strict=False)
    document = {
        "fields": [[field.name, place, list(field.shape)] for field, place in fields],
        "cells": _cells(schema, pattern),
        "targets": [list(target) for target in schema.targets],
        "chains": sorted([link, end] for link, end in schema.chains.items()),
        "inputs": [_word(word) for word in schema.inputs],
        "outputs": [_word(word) for word in schema.outputs],
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


def _word(word: NodeWord) -> dict[str, Any]:
    return {
        "name": word.name,
        "place": word.place,
        "bits": list(word.bits),
        "signed": word.signed,
        "unique": word.unique,
        "also": list(word.also),
        "where": word.where,
        "way": word.way,
        "positive": word.positive,
        "one": word.one,
    }
