"""Node programs on the graphs that a person names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from os.path import exists  # unlike Path.exists it takes names of any length
from pathlib import Path
from typing import Any, TypeVar

from bitwright.bits import shorten
from bitwright.errors import BitwrightError, InputError
from bitwright.graphs.files import NamedGraph, from_networkx, read_graph
from bitwright.graphs.shapes import is_shape, shaped_graph
from bitwright.graphs.values import values_for
from bitwright.program import GraphAlgorithm, NodeProgram, Topology
from bitwright.running.run import Run
from bitwright.workers import in_threads

Result = TypeVar("Result")


def open_graph(what: Any, directed: bool = False) -> NamedGraph:
    """A graph from a file, from a shape such as `torus:20x30`, from networkx, or as it is.

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
    raise InputError(f"give a graph of networkx, a file or a shape such as torus:20x30, got a {type(what).__name__}")


def on_graph(
    program: NodeProgram, graph: Any, values: Mapping[str, Any] | None = None, table: str | Path | None = None
) -> GraphAlgorithm:
    """A node program on a graph, with its inputs given in any of the ways of `graph_values`."""
    named = open_graph(graph)
    topology = named.topology
    schema = program.schema(topology.nodes, topology.ports)
    found = values_for(schema.inputs, named, values or {}, table, program.name, program.let_names)
    names: Sequence[Hashable] = named.names if named.source is None else list(named.source)
    if isinstance(graph, Topology):
        names = range(topology.nodes)
    return program.on(topology, found, names)


def run_graphs(
    program: NodeProgram, graphs: Iterable[Any], inputs: Sequence[Mapping[str, Any]] | None = None, **settings: Any
) -> list[Run]:
    """Runs a node program on many graphs, on all cores; `inputs` are those of each graph.

    `settings` are those of `run`: an engine, a network, a limit. The results do not depend on the number of cores. All
    graphs and inputs are looked at before the first run; an error says which one is wrong, counted from 0.

    >>> from bitwright import parse_node_program
    >>> flood = parse_node_program("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> done = run_graphs(flood, ["path:3", "ring:4"], [{"source": "0"}, {"source": "2"}])
    >>> [run.steps for run in done]
    [2, 2]
    """
    from bitwright.api.public import run

    listed = list(graphs)
    given: Sequence[Mapping[str, Any]] = [{}] * len(listed) if inputs is None else inputs
    if len(given) != len(listed):
        raise InputError(f"there are {len(listed)} graphs and the inputs of {len(given)}; give those of each graph")

    def named(place: int, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except BitwrightError as error:
            graph = listed[place]
            name = f" ({shorten(str(graph))})" if isinstance(graph, str | PathLike) else ""
            raise InputError(f"graphs[{place}]{name}: {error}") from None

    places = range(len(listed))
    on = list(in_threads(lambda at: named(at, lambda: on_graph(program, listed[at], given[at])), places))
    return list(in_threads(lambda at: named(at, lambda: run(on[at], **settings)), places))


def with_results(graph: Any, done: Run) -> Any:
    """A copy of a networkx graph whose nodes have what they put out as attributes; what has no value is left out.

    >>> import networkx as nx
    >>> from bitwright import parse_node_program, run
    >>> flood = parse_node_program("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> G = nx.path_graph(3)
    >>> with_results(G, run(flood, graph=G, source=0)).nodes(data=True)
    NodeDataView({0: {'x': 1}, 1: {'x': 1}, 2: {'x': 1}})
    """
    copy = graph.copy()
    for node, own in done.nodes.items():
        copy.nodes[node].update({name: value for name, value in own.items() if value is not None})
    copy.graph.update(done.outputs)
    return copy
