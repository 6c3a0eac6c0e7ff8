"""Node programs on the command line: the graph, the values of its nodes, and a table of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.cli.progress import working
from bitwright.cli.reporting import report
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError, columns

if TYPE_CHECKING:
    from bitwright import NodeProgram, Run
    from bitwright.verbs.graphs import GraphAlgorithm


def node_program(target: Target, graph: str | None = None) -> NodeProgram | None:
    """The node program in a file; None if it is another program, or no file.

    On a graph every rule file counts as one, even if its nodes do not communicate.
    """
    from bitwright.verbs.graphs import as_node_program

    return as_node_program(target.name, target.lets, any_rules=graph is not None)


def asked_graph(
    target: Target, inputs: Sequence[str], graph: str | None, values: Path | None, directed: bool
) -> GraphAlgorithm | None:
    """The node program in a file on the graph that the options name; None for another program."""
    if (program := node_program(target, graph)) is None:
        if graph is not None or values is not None or directed:
            raise InputError("--graph, --values and --directed go with node programs, which have port bits or paths")
        return None
    from bitwright.verbs.graphs import on_graph, open_graph

    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give it a graph: --graph FILE, or a shape such as --graph torus:20x30"
        )
    with working("wiring the graph"):
        return on_graph(program, open_graph(graph, directed), inputs, values)


def report_graph(done: Run, as_json: bool) -> int:
    """Prints a run on a graph, a line for each node, and returns the exit code."""
    whole = [f"{name} = {value}" for name, value in done.outputs.items()]
    rows = table({str(node): own for node, own in done.nodes.items()})
    return report(done, "\n".join([*whole, *rows]), "\n".join([*whole, *rows[1:]]), as_json)


def table(found: dict[str, dict[str, Any]]) -> list[str]:
    """Nodes and their outputs in columns; a missing value is a dash."""
    names = list(next(iter(found.values()), {}))
    if not names:
        return []
    rows = [["node", *names], *([node, *(_shown(own[name]) for name in names)] for node, own in found.items())]
    return columns(rows)


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return ",".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
