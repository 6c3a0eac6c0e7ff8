"""Names of nodes in traces as text: headings with the names of nodes and ports, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bitwright.errors import listing, printable
from bitwright.program import GraphAlgorithm

_MOST = 24  # nodes or ports that are listed


def heading_of(algorithm: GraphAlgorithm, heading: str) -> str:
    """`level[2]` as `level[Paris]`, where Paris is the second node; of ports `h[Paris>Rome]`."""
    found = re.fullmatch(r"(\w+)\[(\d+)(.*)\]", heading)
    names = _names(algorithm, _places(algorithm).get(found[1])) if found else []
    return f"{found[1]}[{names[int(found[2]) - 1]}{found[3]}]" if found and names else heading


def order_lines(algorithm: GraphAlgorithm) -> Iterator[str]:
    """The order of nodes, or ports, in columns that have one sign for each."""
    for place in ("node", "port"):
        if place in _places(algorithm).values() and (names := _names(algorithm, place)):
            yield f"{place}s, from the left: {listing(names[::-1], _MOST)}"


def _places(algorithm: GraphAlgorithm) -> dict[str, str]:
    assert algorithm.wiring is not None
    schema = algorithm.wiring.schema
    return {field.name: where for field, where in zip(schema.program.layout.fields, schema.places, strict=False)}


def _names(algorithm: GraphAlgorithm, place: str | None) -> list[str]:
    """Of all nodes or all ports; nothing of the whole graph."""
    assert algorithm.wiring is not None
    nodes, graph = [printable(str(name)) for name in algorithm.names], algorithm.wiring.topology
    if place == "port":
        ends = zip(graph.port_node.tolist(), graph.port_far.tolist(), strict=True)
        return [f"{nodes[here]}>{nodes[there]}" for here, there in ends]
    return nodes if place == "node" else []
