"""Node programs on graphs, and their runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from bitwright.common.errors import (
    InputError,
    option,
    printable,
    problems_of,
)
from bitwright.common.files.storage import as_path
from bitwright.graphs.files import NamedGraph as NamedGraph
from bitwright.graphs.files import open_graph as open_graph
from bitwright.graphs.named import is_matrix
from bitwright.graphs.named import shaped_graph as shaped_graph
from bitwright.graphs.values import parse_assignments, values_for
from bitwright.rules import GraphAlgorithm as GraphAlgorithm
from bitwright.rules import NodeProgram, Topology, parse_node_program
from bitwright.rules.text import parse_any, read_text
from bitwright.runs.run import Run
from bitwright.verbs.progress import teller
from bitwright.verbs.run import check_named, run

Result = TypeVar("Result")


def on_graph(
    program: NodeProgram,
    graph: Any,
    inputs: Mapping[str, Any] | Sequence[str] | None = None,
    table: str | Path | None = None,
) -> GraphAlgorithm:
    """Returns a node program on a graph; its inputs are given by name, as NAME=VALUE texts, or in a table."""
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
    """Returns the node program in a rule file, or None if the file is another program.

    With `any_rules`, every rule file counts as a node program, even if its nodes do not communicate.
    """
    place = Path(path)
    if place.suffix.lower() != ".bw" or not place.is_file():
        return None
    with problems_of(place):
        found = (parse_node_program if any_rules else parse_any)(read_text(place), printable(place.stem), lets)
    return found if isinstance(found, NodeProgram) else None


def run_on_graph(
    program: NodeProgram, graph: Any, inputs: Any, values: Mapping[str, Any], how: Mapping[str, Any]
) -> Run:
    """Runs a node program on a graph; its inputs may be in a table (.csv)."""
    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give {option('graph')}: a file, or a shape such as torus:20x30"
        )
    table = as_path(inputs, "a table of inputs") if isinstance(inputs, str | PathLike) else None
    if table is None:
        check_named(program, inputs)
        values = {**(inputs or {}), **values}
    with teller(how["progress"]).working("wiring the graph"):
        algorithm = on_graph(program, graph, values, table)
    done: Run = run(algorithm, **how)
    return done
