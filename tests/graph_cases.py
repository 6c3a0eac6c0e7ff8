"""Node programs on small graphs as ordinary algorithms, with their meaning in Python, for the shared table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import networkx as nx
import numpy as np
from graph_programs import TEXTS

from bitwright import Algorithm
from bitwright.program import Topology, Word, parse_node_program

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
NODES = 5
GRAPH = nx.Graph(EDGES)
WEIGHTS = [1, 3, 1, 2, 3, 2]
IDS = [6, 1, 4, 7, 2]
Values = dict[str, int]


def on_graph(
    name: str,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    edges: Sequence[tuple[int, int]] = EDGES,
    lets: Values | None = None,
    **given: Sequence[int],
) -> Algorithm:
    """An input or output is the number whose bit v is that of node (or port) v; of wide ones there is a `name_v`."""
    program = parse_node_program(TEXTS[name], name, lets)
    topology = Topology.from_edges(NODES, edges)
    values = {word: np.zeros(NODES, dtype=np.int64) for word in inputs} | {
        word: np.array(numbers) for word, numbers in given.items()
    }
    found = program.on(topology, values)
    wiring, layout = found.wiring, program.schema(topology.nodes, topology.ports)
    assert wiring is not None

    def words(kind: str, chosen: Sequence[str]) -> Iterator[Word]:
        for word in layout.inputs if kind == "input" else layout.outputs:
            bits = [wiring.bits(bit, np.arange(wiring.count(word.place))).tolist() for bit in word.bits]
            if word.name in chosen and word.width == 1:
                yield Word(word.name, tuple(bits[0]))
            elif word.name in chosen:
                yield from (Word(f"{word.name}_{v}", tuple(row[v] for row in bits)) for v in range(NODES))

    return Algorithm(
        name=f"graphs/{name}",
        program=found.program,
        inputs=tuple(words("input", inputs)),
        outputs=tuple(words("output", outputs)),
        start=found.start,
        steps=found.steps,
        halt=found.halt,
    )


def walks(source: int) -> Values:
    """Which nodes walks of even and of odd length lead to."""
    sides = {"even": source, "odd": 0}
    for _ in range(2 * NODES):
        sides = {
            side: sides[side] | sum({1 << v for u in range(NODES) if sides[other] >> u & 1 for v in GRAPH[u]})
            for side, other in (("even", "odd"), ("odd", "even"))
        }
    return sides


def reached(source: int) -> Values:
    return {"reached": (1 << NODES) - 1 if source else 0}  # the graph is connected


RING = [(v, (v + k) % NODES) for k in (1, 2) for v in range(NODES)]


def life(alive: int) -> Values:
    """One generation where each of five cells is a neighbour of all others."""
    after = 0
    for v in range(NODES):
        count = (alive & ~(1 << v)).bit_count()
        after |= (count == 3 or (count == 2 and alive >> v & 1)) << v
    return {"alive": after}


def tree(edges: list[tuple[int, int]]) -> Values:
    """The ports that lead from nodes to their parents."""
    topology = Topology.from_edges(NODES, EDGES)
    ends = list(zip(topology.port_node.tolist(), topology.port_far.tolist(), strict=True))
    return {"parent": sum(1 << port for port, (node, far) in enumerate(ends) if (far, node) in edges)}


def numbered(name: str, values: dict[int, int]) -> Callable[..., Values]:
    return lambda: {f"{name}_{v}": value for v, value in values.items()}


def graph_cases() -> Iterator[tuple[Algorithm, Callable[..., Values]]]:
    first = [1, 0, 0, 0, 0]
    ports = Topology.from_edges(NODES, EDGES).port_edge
    weighted = nx.Graph()
    weighted.add_weighted_edges_from((*edge, weight) for edge, weight in zip(EDGES, WEIGHTS, strict=True))
    yield on_graph("flooding", ["source"], ["reached"]), reached
    yield on_graph("bipartite", ["source"], ["even", "odd"]), walks
    yield on_graph("life", ["alive"], ["alive"], RING, {"d": 4}), life
    levels = nx.single_source_shortest_path_length(GRAPH, 0)
    yield on_graph("bfs", outputs=["level"], source=first), numbered("level", levels)
    yield on_graph("dfs", outputs=["parent"], source=first), lambda: tree(list(nx.dfs_edges(GRAPH, 0)))
    distances = nx.single_source_dijkstra_path_length(weighted, 0)
    given = {"source": first, "weight": np.array(WEIGHTS)[ports].tolist()}
    for name, lets in (("shortest-paths", {"W": 3}), ("shortest-paths-binary", {"B": 2})):
        yield on_graph(name, outputs=["distance"], lets=lets, **given), numbered("distance", distances)
    yield on_graph("components", outputs=["component"], id=IDS), numbered("component", dict.fromkeys(range(NODES), 7))
    chosen = nx.maximal_independent_set(GRAPH, [3, 1])
    yield on_graph("independent-set", outputs=["chosen"], id=IDS), lambda: {"chosen": sum(1 << v for v in chosen)}
