"""Recorded runs on graphs that tests of pages and pictures look at."""

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from bitwright import Run, run
from bitwright.rules import NodeProgram, Topology, parse_node_program

GRAPHS = Path(__file__).parent.parent / "examples" / "graphs"
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4), (1, 7), (8, 9)]
NAMES = tuple("abcdefghij")


def program(name: str, **lets: int) -> NodeProgram:
    return parse_node_program((GRAPHS / f"{name}.bw").read_text(), name, lets)


def one(nodes: int, node: int) -> np.ndarray:
    return np.eye(nodes, dtype=np.int64)[node]


def searched(name: str = "bfs", names: Sequence[Hashable] | None = NAMES) -> Run:
    """From node a of a graph of two parts."""
    return run(program(name).on(Topology.from_edges(10, EDGES), {"source": one(10, 0)}, names), record=True)


def torus(rows: int, columns: int) -> tuple[Topology, list[str]]:
    """Eight neighbours each; names are row and column."""
    edges = [
        (row * columns + column, (row + down) % rows * columns + (column + right) % columns)
        for row in range(rows)
        for column in range(columns)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    return Topology.from_edges(rows * columns, edges), [f"{row}.{at}" for row in range(rows) for at in range(columns)]


def glider(generations: int = 4, size: int = 8) -> Run:
    graph, names = torus(size, size)
    alive = np.zeros((size, size), dtype=np.int64)
    alive[[1, 2, 3, 3, 3], [2, 3, 1, 2, 3]] = 1
    return run(program("life", generations=generations).on(graph, {"alive": alive.ravel()}, names), record=True)
