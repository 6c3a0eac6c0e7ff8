"""Node programs on graphs, and their runs on one graph or on many at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar
from warnings import warn

from bitwright.common.bits import shorten
from bitwright.common.errors import (
    BitwrightError,
    BitwrightWarning,
    InputError,
    counted,
    option,
    printable,
    problems_of,
)
from bitwright.common.files.storage import as_path
from bitwright.common.workers import in_threads
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
from bitwright.verbs.run import check_named, check_once, run

Result = TypeVar("Result")


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

    With `any_rules` any rule file counts as one, even if its nodes do not communicate.
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
    """A run of a node program on one graph; its inputs may be in a table (.csv)."""
    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give the graph that it is to run on: {option('graph')}, a file, or a "
            "shape such as torus:20x30"
        )
    table = as_path(inputs, "a table of inputs") if isinstance(inputs, str | PathLike) else None
    if table is None:
        check_named(program, inputs)
        values = {**(inputs or {}), **values}
    with teller(how["progress"]).working("wiring the graph"):
        algorithm = on_graph(program, graph, values, table)
    done: Run = run(algorithm, **how)
    return done


def run_on_graphs(
    program: NodeProgram,
    graphs: Sequence[Any],
    inputs: Any,
    values: Mapping[str, Any],
    how: Mapping[str, Any],
    skip: bool,
) -> list[Run] | list[Run | None]:
    """Runs on many graphs, on all cores; all graphs and inputs are checked before the first run."""
    if inputs is None or isinstance(inputs, Mapping):
        each: list[Any] = [inputs or {}] * len(graphs)
    else:
        each = list(inputs)
    if len(each) != len(graphs):
        raise InputError(f"there are {len(graphs)} graphs and the inputs of {len(each)}; give those of each graph")
    for one in each:
        check_named(program, one)
        check_once(one, values)
    given = [{**one, **values} for one in each]
    failed: dict[int, str] = {}

    def named(place: int, work: Callable[[], Result]) -> Result | None:
        if place in failed:
            return None
        try:
            return work()
        except BitwrightError as error:
            graph = graphs[place]
            name = f" ({shorten(str(graph))})" if isinstance(graph, str | PathLike) else ""
            failed[place] = f"graphs[{place}]{name}: {error}"
            if skip:
                return None
            raise InputError(failed[place]) from None

    places = range(len(graphs))
    on = list(in_threads(lambda at: named(at, lambda: on_graph(program, graphs[at], given[at])), places))

    def ran(place: int) -> Run:
        algorithm = on[place]
        assert algorithm is not None
        found: Run = run(algorithm, **how)
        return found

    done = list(in_threads(lambda at: named(at, lambda: ran(at)), places))
    if failed:
        first = failed[min(failed)]
        warn(f"{counted(len(failed), 'graph')} of {len(graphs):,} skipped; {first}", BitwrightWarning, stacklevel=3)
    return done
