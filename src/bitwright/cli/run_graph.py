"""Node programs on the command line: the graph, the inputs of nodes, and a table of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.cli.options import refuse
from bitwright.cli.progress import working
from bitwright.cli.reporting import report
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError, columns

if TYPE_CHECKING:
    from bitwright import NodeProgram, Run
    from bitwright.verbs.graphs import GraphAlgorithm

_DIRECTED = "directed:"  # before a list of directed edges


def node_program(target: Target, graph: str | None = None) -> NodeProgram | None:
    """The node program in a file; None for other programs.

    With a graph, every rule file counts as a node program, even if its nodes do not communicate.
    """
    from bitwright.verbs.graphs import as_node_program

    return as_node_program(target.name, target.lets, any_rules=graph is not None)


def asked_graph(target: Target, inputs: Sequence[str], graph: str | None) -> GraphAlgorithm | None:
    """The node program in a file on the graph of --graph; None for other programs."""
    if (program := node_program(target, graph)) is None:
        refuse("goes with node programs, which have port bits or paths", "graph")
        return None
    from bitwright.verbs.graphs import on_graph, open_graph

    refuse("does not go with node programs; set sizes with --let", "bits", "order", "machine")
    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give it a graph: --graph FILE, or a shape such as --graph torus:20x30"
        )
    tables = [one for one in inputs if one.lower().endswith(".csv") and "=" not in one]
    if len(tables) > 1:
        raise InputError(f"give one table of inputs, got {' and '.join(tables)}")
    with working("wiring the graph"):
        named = open_graph(graph.removeprefix(_DIRECTED), graph.startswith(_DIRECTED))
        return on_graph(program, named, [one for one in inputs if one not in tables], *map(Path, tables))


def report_graph(done: Run, as_json: bool) -> int:
    """Prints a run on a graph, with a line for each node; returns the exit code."""
    whole = [f"{name} = {value}" for name, value in done.outputs.items()]
    names = list(next(iter(done.nodes.values()), {}))
    rows = [[str(node), *(_shown(own[name]) for name in names)] for node, own in done.nodes.items()]
    lines = columns([["node", *names], *rows]) if names else []
    return report(done, "\n".join([*whole, *lines]), "\n".join([*whole, *lines[1:]]), as_json)


def _shown(value: Any) -> str:
    """A value of a node as text; a dash if it is missing."""
    if isinstance(value, list):
        return ",".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value) or "-"
    return "-" if value is None else str(value)
