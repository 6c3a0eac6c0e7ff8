"""Node programs on graphs that are drawn on the page, or named as a shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from bitwright import NodeProgram
from bitwright.api.graphs import GraphAlgorithm, NamedGraph, on_graph, shaped_graph
from bitwright.api.pasted import drawn_graph, pasted_nodes, whole_program
from bitwright.errors import InputError
from bitwright.pages.graph.layout import graph_layout
from bitwright.web.choosing import check_size, described
from bitwright.web.limits import Limits


def read_graph(graph: Mapping[str, Any], limits: Limits) -> NamedGraph:
    """The graph of a request; raises InputError if it is invalid or too large."""
    if graph["shape"] is not None:
        if graph["nodes"] or graph["edges"]:
            raise InputError("a graph is given by its shape or by its nodes and edges; leave out one of them")
        _check_shape(graph["shape"], limits)
        found = shaped_graph(graph["shape"])
    else:
        found = drawn_graph(graph["nodes"], graph["edges"], graph["directed"])
    topology = found.topology
    for count, most, what in (
        (topology.nodes, limits.nodes, "nodes"),
        (topology.edges, limits.edges, "edges"),
    ):
        if count > most:
            raise InputError(f"this graph has {count:,} {what}; this server takes at most {most:,}")
    return found


def _check_shape(shape: str, limits: Limits) -> None:
    """Raises InputError for a shape that is too large, before making it: its numbers, or their product as in 20x30, are
    at most its nodes or edges."""
    numbers = [int(part) for part in re.findall("[0-9]+", shape)[:2]]
    least = prod(numbers) if "x" in shape else max(numbers, default=0)
    if least > max(limits.nodes, limits.edges):
        raise InputError(f"{shape[:60]} is too large: this server takes at most {limits.nodes:,} nodes")


def laid_out(graph: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """A graph with the places of its nodes, for a page to draw."""
    found = read_graph(graph, limits)
    topology = found.topology
    about: dict[str, object] = {"count": topology.nodes, "directed": topology.directed}
    if topology.nodes > limits.drawn:
        return {"drawn": False, **about, "nodes": [], "edges": [], "places": []}
    layout = graph_layout(topology, found.names)
    return {
        "drawn": True,
        **about,
        "nodes": list(found.names),
        "edges": topology.edge_ends.tolist(),
        "places": layout.places.tolist(),
    }


def read_nodes(source: Mapping[str, Any]) -> NodeProgram:
    return pasted_nodes(source["text"], source["name"])


def describe_nodes(source: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """What a page needs to ask for the values of nodes and edges."""
    program, graph = read_nodes(source), read_graph(source["graph"], limits)
    algorithm, schema = whole_program(program, graph)
    check_size(algorithm.program, limits, graph=True)
    return described(
        algorithm,
        limits,
        description=program.description,
        steps=schema.steps,
        inputs=[_word(word) for word in schema.inputs],
        outputs=[word.name for word in schema.outputs],
        machine=f"{graph.topology.nodes:,} nodes, {graph.topology.edges:,} edges",
    )


def _word(word: Any) -> dict[str, object]:
    low, high = word.range
    marks = word.width == 1 and not word.unique and word.place != "whole"
    return {
        "name": word.name,
        "bits": word.width,
        "signed": word.signed,
        "place": word.place,
        "marks": marks,  # whether naming some nodes or edges is enough
        "unique": word.unique,
        "one": word.one,
        "least": str(low),
        "most": str(high),
    }


def read_algorithm(request: Mapping[str, Any], limits: Limits) -> GraphAlgorithm:
    """The program on its graph with its inputs, which are written as on the command line."""
    program, graph = read_nodes(request["source"]), read_graph(request["source"]["graph"], limits)
    given = {name: text.strip() for name, text in request["inputs"].items() if text.strip()}
    algorithm = on_graph(program, graph, given)
    check_size(algorithm.program, limits, graph=True)
    return algorithm


def node_rows(nodes: Mapping[Any, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The outputs of every node, as text."""
    return {str(node): {name: _shown(value) for name, value in own.items()} for node, own in nodes.items()}


def _shown(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ", ".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
