"""Node programs on graphs that a page has drawn, or that have the name of a shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.graphs import on_graph
from bitwright.errors import InputError
from bitwright.graphs.named import NamedGraph
from bitwright.graphs.shapes import shaped_graph
from bitwright.program import GraphAlgorithm, NodeProgram, Topology
from bitwright.program.algorithm import Algorithm
from bitwright.program.graph.node_program import check_graph
from bitwright.program.graph.schema import NodeWord
from bitwright.program.graph.wiring import GraphWiring
from bitwright.program.text import parse_node_program
from bitwright.running.run import Run
from bitwright.viewer.graph.layout import graph_layout
from bitwright.web.choosing import offers
from bitwright.web.limits import Limits


def read_graph(graph: Mapping[str, Any], limits: Limits) -> NamedGraph:
    """The graph of a request; raises InputError for what is none, or too large."""
    if graph["shape"] is not None:
        if graph["nodes"] or graph["edges"]:
            raise InputError("a graph is given by its shape or by its nodes and edges; leave out one of them")
        _check_shape(graph["shape"], limits)
        found = shaped_graph(graph["shape"])
    else:
        found = _drawn(graph)
    topology = found.topology
    for count, most, what in (
        (topology.nodes, limits.nodes, "nodes"),
        (topology.edges, limits.edges, "edges"),
    ):
        if count > most:
            raise InputError(f"this graph has {count:,} {what}; this server takes at most {most:,}")
    return found


def _check_shape(shape: str, limits: Limits) -> None:
    """Before it is made: the numbers of a shape are at most its nodes, or its edges."""
    numbers = [int(part) for part in "".join(c if c.isdigit() else " " for c in shape if c.isascii()).split()[:2]]
    most = max(limits.nodes, limits.edges)
    if numbers and max(numbers) > most:
        raise InputError(f"{shape[:60]} is too large: this server takes at most {limits.nodes:,} nodes")


def _drawn(graph: Mapping[str, Any]) -> NamedGraph:
    names, edges = graph["nodes"], graph["edges"]
    if not names:
        raise InputError("a graph has at least one node; add one")
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"two nodes are called '{twice}'; give one of them another name")
    seen: set[tuple[int, int]] = set()
    for one, other in edges:
        if not (0 <= one < len(names) and 0 <= other < len(names)):
            raise InputError(f"an edge joins two of the {len(names):,} nodes, numbered from 0, got {[one, other]}")
        ends = (one, other) if graph["directed"] else (min(one, other), max(one, other))
        if ends in seen:
            raise InputError(f"there are two edges between '{names[one]}' and '{names[other]}'; leave out one of them")
        seen.add(ends)
    topology = Topology.from_edges(len(names), edges, graph["directed"])
    return NamedGraph(topology, tuple(names))


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
    return parse_node_program(source["text"].removeprefix("\ufeff"), source["name"])


def describe_nodes(source: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """What a page needs in order to ask for the values of nodes and edges."""
    program, graph = read_nodes(source), read_graph(source["graph"], limits)
    topology = graph.topology
    schema = program.schema(topology.nodes, topology.ports)
    check_graph(program.name, schema, topology, graph.names)
    whole = GraphWiring(schema, topology).program
    _check_size(whole.bits, whole.templates, limits)
    return {
        "description": program.description,
        "bits": whole.bits,
        "blocks": whole.blocks,
        "templates": whole.templates,
        "steps": schema.steps,
        "inputs": [_word(word) for word in schema.inputs],
        "outputs": [word.name for word in schema.outputs],
        "machine": f"{topology.nodes:,} nodes, {topology.edges:,} edges",
        "engines": offers(Algorithm(program.name, whole), limits),
        "program_id": whole.id,
    }


def _word(word: NodeWord) -> dict[str, object]:
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
    _check_size(algorithm.program.bits, algorithm.program.templates, limits)
    return algorithm


def _check_size(bits: int, templates: int, limits: Limits) -> None:
    for size, most, what in ((bits, limits.bits, "bits"), (templates, limits.templates, "templates")):
        if size > most:
            raise InputError(
                f"this program has {size:,} {what} on this graph; this server takes at most {most:,}; "
                "take a smaller graph"
            )


def node_rows(done: Run) -> dict[str, dict[str, str]]:
    """What every node puts out, as text."""
    return {str(node): {name: _shown(value) for name, value in own.items()} for node, own in done.nodes.items()}


def _shown(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ", ".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
