"""Computes positions for drawing the nodes of a graph; the same graph always gets the same layout."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bitwright.rules.graph.schema import Topology
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:  # networkx and SciPy are imported only when a graph is drawn
    from networkx import Graph

_PLACE = re.compile(r"\(?(\d{1,5})[.,] ?(\d{1,5})\)?")  # 3.7, or (3, 7) as networkx names the nodes of its grids
_EXACT = 1000  # largest component laid out by the distances of all pairs of nodes
_WORK = 40_000_000  # repulsions computed for a larger component
_APART = 1.1  # distance between components; an edge has a length of about 1


@dataclass(frozen=True, eq=False)
class GraphLayout:
    """Positions of nodes; y grows downwards, as on a page."""

    places: FloatArray  # (nodes, 2)
    grid: bool  # whether nodes are the cells of a grid with distance 1
    spacing: float  # a distance that most nodes keep from their nearest neighbour


def graph_layout(topology: Topology, names: Sequence[Hashable] = ()) -> GraphLayout:
    """Returns a grid if the names of the nodes are grid positions, otherwise a layout by distances.

    >>> graph_layout(Topology.from_edges(2, [(0, 1)]), ["0.0", "0.1"]).places.tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    cells = _cells([str(name) for name in names])
    if cells is not None:
        return GraphLayout(cells, True, 1.0)
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from((a, b) for a, b in topology.edge_ends.tolist() if a != b)
    parts = sorted((sorted(part) for part in networkx.connected_components(graph)), key=len, reverse=True)
    places = np.round(_packed([(part, _places(graph.subgraph(part), part)) for part in parts], topology.nodes), 3)
    return GraphLayout(places, False, _spacing(places))


def on_grid(names: Sequence[Hashable]) -> bool:
    """Returns whether the names of nodes are positions on a grid.

    >>> on_grid(["0.0", "0.1", "1.0", "1.1"]), on_grid(["a", "b"])
    (True, False)
    """
    return _cells([str(name) for name in names]) is not None


def _cells(names: Sequence[str]) -> FloatArray | None:
    """Returns the column and row of each node; None if a name has another form or most of the grid is empty."""
    found = [_PLACE.fullmatch(name) for name in names]
    if len(names) < 2 or not all(found):
        return None
    rows, columns = (np.array([int(match[part]) for match in found if match], dtype=np.float64) for part in (1, 2))
    rows, columns = rows - rows.min(), columns - columns.min()
    if (rows.max() + 1) * (columns.max() + 1) > 4 * len(names) + 16:
        return None
    cells = np.stack((columns, rows), axis=1)
    return cells if len(np.unique(cells, axis=0)) == len(cells) else None


def _places(graph: Graph, nodes: Sequence[int]) -> FloatArray:  # (nodes, 2)
    """Lays out one component, with its long axis horizontal and a median edge length of 1."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    import networkx
    from scipy.sparse.csgraph import shortest_path

    adjacency = networkx.to_scipy_sparse_array(graph, nodes)
    if len(nodes) <= _EXACT:
        places = _by_distances(shortest_path(adjacency, unweighted=True))
    else:
        rounds = max(5, min(50, _WORK // len(nodes) ** 2))
        found = networkx.spring_layout(graph, pos=networkx.spectral_layout(graph), seed=0, iterations=rounds)
        places = np.array([found[node] for node in nodes])
    ends = np.stack(adjacency.nonzero(), axis=1)
    places = places / max(float(np.median(np.linalg.norm(np.diff(places[ends], axis=1), axis=2))), 1e-9)
    places = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(places.T @ places)
    places = places @ axes[:, ::-1]
    signs = np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)  # choose one of the mirror images
    return np.asarray(places * signs)


def _by_distances(wanted: FloatArray, rounds: int = 60) -> FloatArray:  # (nodes, 2)
    """Approximates the given distances in the plane: stress majorization (Gansner, Koren and North, 2004).

    It starts from classical scaling, plus a small circle to separate nodes at the same point.
    """
    count = len(wanted)
    centred = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ wanted**2 @ centred)
    turn = 2 * np.pi * np.arange(count) / count
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)) + 0.1 * np.stack(
        (np.cos(turn), np.sin(turn)), axis=1
    )
    weights = 1 / np.maximum(wanted, 1) ** 2 - np.eye(count)
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / count)
    for _ in range(rounds):
        apart = np.maximum(np.linalg.norm(places[:, None] - places, axis=2), 1e-9)
        pull = weights * wanted / apart
        places = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ places)
    return np.asarray(places)


def _packed(parts: Sequence[tuple[Sequence[int], FloatArray]], nodes: int) -> FloatArray:
    """Arranges the components in rows, in a rectangle about 1.5 times as wide as high."""
    boxes = [places.max(axis=0) - places.min(axis=0) + _APART for _, places in parts]
    wide = max(max(float(box[0]) for box in boxes), 1.5 * float(np.sqrt(sum(float(box.prod()) for box in boxes) / 1.5)))
    result = np.zeros((nodes, 2))
    x = y = high = 0.0
    for (part, places), box in zip(parts, boxes, strict=True):
        if x > 0 and x + box[0] > wide + 1e-6:
            x, y, high = 0.0, y + high, 0.0
        result[part] = places - places.min(axis=0) + (x, y)
        x, high = x + float(box[0]), max(high, float(box[1]))
    return np.asarray(result - result.min(axis=0))


def _spacing(places: FloatArray) -> float:
    """Returns the distance below which a tenth of all nodes have a neighbour."""
    from scipy.spatial import cKDTree

    if len(places) < 2:
        return 1.0
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    return round(max(float(np.quantile(nearest, 0.1)), 0.05), 3)


def edge_bends(topology: Topology) -> FloatArray:  # (edges,)
    """Returns how far each edge bends to one side, from its smaller to its larger node, so that no two coincide.

    A single edge between two nodes is straight. Loops are numbered at their node.

    >>> edge_bends(Topology.from_edges(3, [(0, 1), (1, 0), (1, 2)])).tolist()
    [-0.5, 0.5, 0.0]
    """
    ends = np.sort(topology.edge_ends, axis=1)
    pair = ends[:, 0] * topology.nodes + ends[:, 1]
    order = np.argsort(pair, kind="stable")
    _, first, which, counts = np.unique(pair[order], return_index=True, return_inverse=True, return_counts=True)
    turn, total = np.empty(len(pair)), np.empty(len(pair))
    turn[order] = np.arange(len(pair)) - first[which]
    total[order] = counts[which]
    return np.where(ends[:, 0] == ends[:, 1], turn, turn - (total - 1) / 2)
