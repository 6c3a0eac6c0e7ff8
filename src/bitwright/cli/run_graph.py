"""Node programs on the command line: the graph, the values of its nodes, and a table of what they put out."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import isfile  # unlike Path.is_file it takes names of any length
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.cli.progress import working
from bitwright.cli.reporting import execute, report
from bitwright.cli.targets import given_lets
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.program import GraphAlgorithm, NodeProgram
    from bitwright.running.run import Run


def node_program(target: str, graph: str | None = None) -> NodeProgram | None:
    """The node program in a file; None where there is another program, or none.

    On a graph every program of rules is one, whose nodes need not talk to each other.
    """
    from bitwright.errors import printable, problems_of
    from bitwright.program import NodeProgram
    from bitwright.program.text import parse_node_program
    from bitwright.program.text.files import load_any, read_text

    if Path(target).suffix.lower() != ".bw" or not isfile(target):
        return None
    if graph is not None:
        with problems_of(Path(target)):
            return parse_node_program(read_text(Path(target)), printable(Path(target).stem), given_lets())
    found = load_any(target, given_lets())
    return found if isinstance(found, NodeProgram) else None


def graph_algorithm(
    program: NodeProgram, inputs: Sequence[str], graph: str | None, values: Path | None, directed: bool
) -> GraphAlgorithm:
    """The program on the graph that the options name."""
    from bitwright.api.graphs import on_graph, open_graph
    from bitwright.graphs.values import parse_assignments

    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give it a graph: --graph FILE, or a shape such as --graph torus:20x30"
        )
    with working("wiring the graph"):
        return on_graph(program, open_graph(graph, directed), parse_assignments(inputs), values)


def refuse_graph(graph: str | None, values: Path | None, directed: bool) -> None:
    """Raises InputError where a graph is given to a program that runs on none."""
    if graph is not None or values is not None or directed:
        raise InputError("--graph, --values and --directed go with node programs, which have port bits or paths")


def run_graph(algorithm: GraphAlgorithm, inputs: Sequence[str], as_json: bool, quiet: bool, options: Any) -> int:
    """Runs it and prints what nodes put out, a line each."""
    done = execute(algorithm, {}, quiet=quiet, **options)
    return report_graph(done, inputs, as_json, quiet)


def report_graph(done: Run, inputs: Sequence[str], as_json: bool, quiet: bool) -> int:
    """Prints a run on a graph and gives the exit code."""
    from bitwright.graphs.values import parse_assignments
    from bitwright.program import GraphAlgorithm

    assert isinstance(done.algorithm, GraphAlgorithm)
    graph = done.algorithm.topology
    found = {str(node): own for node, own in done.nodes.items()}
    whole = [f"{name} = {value}" for name, value in done.outputs.items()]
    rows = table(found)
    about = f"{counted(graph.nodes, 'node')}, {counted(graph.edges, 'edge')}; "
    more: dict[str, object] = {
        "inputs": parse_assignments(inputs),
        "graph": {"nodes": graph.nodes, "edges": graph.edges, "directed": graph.directed},
        "nodes": found,
    }
    lines, bare = "\n".join([*whole, *rows]), "\n".join([*whole, *rows[1:]])
    return report(done, None, lines, bare, as_json, quiet, about, **(more if as_json else {}))


def table(found: dict[str, dict[str, Any]]) -> list[str]:
    """Nodes and what they put out, in columns; what has no value is a dash."""
    names = list(next(iter(found.values()), {}))
    if not names:
        return []
    rows = [["node", *names], *([node, *(_shown(own[name]) for name in names)] for node, own in found.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return ",".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
