"""Node programs on the graphs that a person names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from os.path import exists  # unlike Path.exists it takes names of any length
from pathlib import Path
from typing import Any

from bitwright.errors import InputError
from bitwright.graphs.files import NamedGraph, from_networkx, read_graph
from bitwright.graphs.matrix import from_matrix, is_matrix
from bitwright.graphs.shapes import is_shape, shaped_graph
from bitwright.graphs.values import parse_assignments, values_for
from bitwright.program import GraphAlgorithm as GraphAlgorithm
from bitwright.program import NodeProgram, Topology


def open_graph(what: Any, directed: bool = False) -> NamedGraph:
    """A graph from a file, from a shape such as `torus:20x30`, from networkx, from a matrix, or as it is.

    >>> open_graph("path:3").topology
    <Topology: 3 nodes, 2 edges>
    """
    if isinstance(what, NamedGraph):
        return what
    if isinstance(what, Topology):
        return NamedGraph(what, tuple(map(str, range(what.nodes))), {}, {}, {}, None)
    if isinstance(what, str) and is_shape(what) and not exists(what):
        if directed:
            raise InputError("shapes are undirected; leave out directed")
        return shaped_graph(what)
    if isinstance(what, str | PathLike):
        return read_graph(fspath(what), directed)
    if hasattr(what, "adj") and hasattr(what, "nodes"):
        return from_networkx(what)
    if is_matrix(what):
        return from_matrix(what)
    raise InputError(
        "give a graph of networkx, an adjacency matrix, a file or a shape such as torus:20x30, "
        f"got a {type(what).__name__}"
    )


def on_graph(
    program: NodeProgram,
    graph: Any,
    inputs: Mapping[str, Any] | Sequence[str] | None = None,
    table: str | Path | None = None,
) -> GraphAlgorithm:
    """A node program on a graph; its inputs are given by name, as NAME=VALUE, or in a table."""
    values = inputs if isinstance(inputs, Mapping) else parse_assignments(inputs or ())
    named = open_graph(graph)
    topology = named.topology
    schema = program.schema(topology.nodes, topology.ports)
    found = values_for(schema.inputs, named, values, table, program.name, program.let_names)
    names: Sequence[Hashable] = named.names if named.source is None else list(named.source)
    if isinstance(graph, Topology) or is_matrix(graph):
        names = range(topology.nodes)
    return replace(program.on(topology, found, names), given=dict(values))


def as_node_program(
    path: str | PathLike[str], lets: Mapping[str, int] | None = None, any_rules: bool = True
) -> NodeProgram | None:
    """The node program in a rule file; None for another program.

    With `any_rules` all rules are one, whose nodes need not talk to each other.
    """
    from bitwright.errors import printable, problems_of
    from bitwright.program import parse_node_program
    from bitwright.program.text import parse_any
    from bitwright.program.text.files import read_text

    place = Path(path)
    if place.suffix.lower() != ".bw" or not place.is_file():
        return None
    with problems_of(place):
        found = (parse_node_program if any_rules else parse_any)(read_text(place), printable(place.stem), lets)
    return found if isinstance(found, NodeProgram) else None
