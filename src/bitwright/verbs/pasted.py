"""Programs and graphs from typed text or a drawing; nothing here reads a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bitwright.common.bits import parse_signed
from bitwright.common.errors import InputError, shorten
from bitwright.graphs.named import NamedGraph
from bitwright.machines import assemble
from bitwright.machines.programs import SubleqProgram, on_machine_v, on_sbn_machine
from bitwright.machines.subleq import assemble_sq, parse_image
from bitwright.rules import Algorithm, NodeProgram, Topology, parse
from bitwright.rules.graph.node_program import check_graph
from bitwright.rules.graph.schema import Schema
from bitwright.rules.graph.wiring import GraphWiring
from bitwright.rules.text import parse_node_program


def pasted_rules(text: str, name: str) -> Algorithm:
    """The algorithm of rule text; raises ProgramError with all its problems."""
    return parse(_plain(text), name)


def pasted_nodes(text: str, name: str) -> NodeProgram:
    """The node program of rule text; raises ProgramError with all its problems."""
    return parse_node_program(_plain(text), name)


def pasted_sbn(text: str, name: str, machine: str) -> Algorithm:
    """SBN assembly on machine A or B."""
    return on_sbn_machine(assemble(_plain(text), name), machine)


def pasted_image(
    check: Callable[[int, int], None],
    text: str,
    name: str,
    language: str,
    words: int | None,
    width: int | None,
    dialect: str | None,
) -> SubleqProgram:
    """SUBLEQ assembly, or an `image`; None takes what the text specifies.

    `check` may refuse a number of words of that width, before the machine is built, which may be large.
    """
    source = parse_image(_plain(text)) if language == "image" else assemble_sq(_plain(text))
    return on_machine_v(source, name, words, width, dialect, check)


def drawn_graph(names: Sequence[str], edges: Sequence[Sequence[int]], directed: bool) -> NamedGraph:
    """A graph of named nodes, and edges by the numbers of their ends; raises InputError if it is not a graph."""
    if not names:
        raise InputError("a graph has at least one node; add one")
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"two nodes are called '{twice}'; give one of them another name")
    seen: set[tuple[int, int]] = set()
    for one, other in edges:
        if not (0 <= one < len(names) and 0 <= other < len(names)):
            raise InputError(f"an edge joins two of the {len(names):,} nodes, numbered from 0, got {[one, other]}")
        ends = (one, other) if directed else (min(one, other), max(one, other))
        if ends in seen:
            raise InputError(f"there are two edges between '{names[one]}' and '{names[other]}'; leave out one of them")
        seen.add(ends)
    return NamedGraph(Topology.from_edges(len(names), edges, directed), tuple(names))


def whole_program(program: NodeProgram, graph: NamedGraph) -> tuple[Algorithm, Schema]:
    """A node program on a graph, without inputs, and the schema that lists its inputs."""
    topology = graph.topology
    schema = program.schema(topology.nodes, topology.ports)
    check_graph(program.name, schema, topology, graph.names)
    return Algorithm(program.name, GraphWiring(schema, topology).program), schema


def numbers_of(texts: Mapping[str, str]) -> dict[str, int]:
    """Typed input values by name: decimal, negative, 0x or 0b."""
    return {name: parse_signed(text, f"input {shorten(name)}") for name, text in texts.items()}


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff")
