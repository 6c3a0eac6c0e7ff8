"""Writes a run on a graph as an HTML page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from bitwright.common.errors import InputError, printable
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.pages.graph.view import SCALE, SETS, Choice, DrawnGraph, GraphView
from bitwright.pages.page import Blob, assemble
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run

MAX_PAGE = 1 << 25  # bytes


def graph_page(run: Run, *, title: str = "") -> str:
    """Returns the page of a run on a graph as HTML; it works offline, without other files.

    `run` must come from `run(..., record=True)` of a node program on a graph, with any engine and any outcome. Raises
    InputError if the run was not recorded, is not on a graph, or is too large for a page.

    >>> from bitwright import parse, run
    >>> from bitwright.rules import Topology
    >>> lines = ["bits x", "block x", "when x=1 write x far.x", "input source = x"]
    >>> flood = parse(chr(10).join(lines))
    >>> edge = Topology.from_edges(2, [(0, 1)])
    >>> page = graph_page(run(flood.on(edge, {"source": np.array([1, 0])}), record=True))
    >>> page.startswith("<!DOCTYPE html>"), "https://" in page
    (True, False)
    """
    view, blob = GraphView(run), Blob()
    differing = _differing(run, view.trace)
    blob.deltas("states", view.trace.packed)
    blob.integers("wrong", differing)
    facts = {
        "title": printable(title or view.title),
        "engine": run.engine,
        "halted": run.halted,
        "steps": run.steps,
        "wrong_steps": int(np.count_nonzero(differing)),
        **graph_facts(view, blob),
        "given": view.given,
        "colours": [_choice(view, choice) for choice in view.colours],
        "arrays": blob.directory,
    }
    page = assemble("graph", facts, blob.packed())
    if len(page) > MAX_PAGE:
        raise InputError(
            f"a page of a graph has at most {MAX_PAGE >> 20} MiB, this one would have {len(page) >> 20}; let it run "
            "for fewer steps"
        )
    return page


def graph_facts(graph: DrawnGraph, blob: Blob) -> dict[str, Any]:
    """Returns the facts about a program on a graph; adds the ports and the positions of nodes to the blob."""
    topology, layout, schema = graph.topology, graph.layout, graph.schema
    for name in ("port_node", "port_far", "port_edge"):
        blob.integers(name, getattr(topology, name))
    if topology.opposite is not None:
        blob.integers("opposite", topology.opposite)
    for name, values in (("x", layout.places[:, 0]), ("y", layout.places[:, 1]), ("bend", graph.bends)):
        blob.reals(name, values, single=True)
    return {
        "description": printable(graph.algorithm.description),
        "bits": graph.wiring.layout.size,
        "program": graph.algorithm.program.id,
        "nodes": topology.nodes,
        "edges": topology.edges,
        "directed": topology.directed,
        "grid": layout.grid,
        "spacing": layout.spacing,
        "names": graph.names,
        "declared": _declared(graph),
        "fields": [
            [field.name, place, list(field.shape), field.offset]
            for field, place in zip(schema.program.layout.fields, schema.places, strict=False)
        ],
        "inputs": [asdict(word) for word in schema.inputs],
        "outputs": [asdict(word) for word in schema.outputs],
        "colours": [asdict(choice) for choice in graph.colours],
        "marks": [asdict(choice) for choice in graph.marks],
        "colour": 0 if graph.colours else -1,
        "mark": 0 if any(choice.group == "outputs" for choice in graph.marks) else -1,
        "rules": _rules(graph),
        "scale": SCALE,
        "sets": SETS,
    }


def _declared(view: DrawnGraph) -> list[tuple[str, str, int, int]]:
    """Returns the name, place and first number of each declared bit, and the distance to its next number."""
    name_of, found = view.schema.program.layout.name_of, list[tuple[str, str, int, int]]()
    for bit in range(view.schema.bits):
        first, second = view.wiring.bits(bit, np.arange(2)).tolist()
        found.append((name_of(bit), view.wiring.places[bit], first, second - first))
    return found


def _choice(view: GraphView, choice: Choice) -> dict[str, object]:
    """Returns a choice with the numbers or sets that occur in the run."""
    if choice.sort == "number":
        return {**asdict(choice), "range": view.range(choice)}
    return {**asdict(choice), "occurring": view.sets(choice) if choice.sort == "set" else []}


def _rules(view: DrawnGraph) -> list[dict[str, object]]:
    """Returns the blocks of the node program, with their templates by configuration."""
    program, found = view.schema.program, []
    for block in range(program.blocks):
        members = program.block_members(block).tolist()
        if members[0] < view.schema.bits:
            begin, end = np.searchsorted(program.template_block, [block, block + 1]).tolist()
            templates = {int(program.template_config[one]): program.template_text(one) for one in range(begin, end)}
            found.append({"place": view.wiring.places[members[0]], "bits": members, "templates": templates})
    return found


def _differing(run: Run, trace: Trace, chunk: int = 64) -> IntArray:  # (steps,)
    """Returns the number of incorrect bits in each step; 0 for engines that are always correct."""
    engine, wrong = RuleEngine(trace.program), np.zeros(trace.steps, dtype=np.int64)
    for first in range(0, trace.steps if run.fallible else 0, chunk):
        packed = trace.packed[first : first + chunk + 1]
        states = np.unpackbits(packed, axis=1, count=trace.layout.size).astype(bool)
        batch = PackedBatch(engine, states[:-1])
        batch.step()
        wrong[first : first + chunk] = np.count_nonzero(batch.states() != states[1:], axis=1)
    return wrong
