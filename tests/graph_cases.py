"""Node programs on small graphs as ordinary algorithms, for the shared table."""

from collections.abc import Iterator, Sequence

import numpy as np
from graph_programs import TEXTS

from bitwright import Algorithm
from bitwright.rules import Topology, Word, parse_node_program

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
NODES = 5
WEIGHTS = [1, 3, 1, 2, 3, 2]
IDS = [6, 1, 4, 7, 2]


def on_graph(
    name: str,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    edges: Sequence[tuple[int, int]] = EDGES,
    lets: dict[str, int] | None = None,
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


RING = [(v, (v + k) % NODES) for k in (1, 2) for v in range(NODES)]


def graph_cases() -> Iterator[Algorithm]:
    """What they compute tests/test_graph_examples.py compares with networkx; here engines do as the rules do."""
    source, ports = [1, 0, 0, 0, 0], Topology.from_edges(NODES, EDGES).port_edge
    yield on_graph("flooding", ["source"], ["reached"])
    yield on_graph("bipartite", ["source"], ["even", "odd"])
    yield on_graph("life", ["alive"], ["alive"], RING, {"d": 4})
    yield on_graph("bfs", outputs=["level"], source=source)
    yield on_graph("dfs", outputs=["parent"], source=source)
    for name, lets in (("shortest-paths", {"W": 3}), ("shortest-paths-binary", {"B": 2})):
        yield on_graph(name, outputs=["distance"], lets=lets, source=source, weight=np.array(WEIGHTS)[ports].tolist())
    yield on_graph("components", outputs=["component"], id=IDS)
    yield on_graph("independent-set", outputs=["chosen"], id=IDS)
