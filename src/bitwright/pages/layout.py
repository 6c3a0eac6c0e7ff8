"""Positions of the nodes of a graph on paper.

The same graph is always laid out the same.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bitwright.rules.graph.schema import Topology
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:  # networkx and SciPy are loaded where something is drawn
    from networkx import Graph

_PLACE = re.compile(r"\(?(\d{1,5})[.,] ?(\d{1,5})\)?")  # 3.7, or (3, 7) as networkx names the nodes of its grids
_EXACT = 1000  # nodes of a part in which the distances of all pairs count
_WORK = 40_000_000  # pairs of nodes that push each other in larger parts
_APART = 1.1  # between parts, where an edge is about 1 long


@dataclass(frozen=True, eq=False)
class GraphLayout:
    """Positions of nodes; y grows downwards, as on a page."""

    places: FloatArray  # (nodes, 2)
    grid: bool  # whether nodes are the cells of a grid, one apart
    spacing: float  # how far nodes are from their nearest neighbours on paper; most are farther


def graph_layout(topology: Topology, names: Sequence[Hashable] = ()) -> GraphLayout:
    """The layout of a graph whose nodes have these names: a grid if the names say so, otherwise by distances.

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
    """Whether names say where nodes are on a grid.

    >>> on_grid(["0.0", "0.1", "1.0", "1.1"]), on_grid(["a", "b"])
    (True, False)
    """
    return _cells([str(name) for name in names]) is not None


def _cells(names: Sequence[str]) -> FloatArray | None:
    """Column and row of each node, if all names are such and the grid is not mostly holes."""
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
    """One connected part, its long side level and its edges about 1 long."""
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
    signs = np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)  # which of the mirror images
    return np.asarray(places * signs)


def _by_distances(wanted: FloatArray, rounds: int = 60) -> FloatArray:  # (nodes, 2)
    """Places whose distances are close to those wanted: stress majorization (Gansner, Koren and North, 2004).

    It starts from classical scaling; a small circle keeps apart nodes that this puts on one point.
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
    """Parts side by side in rows, about half as wide again as high."""
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
    """A tenth of all nodes have a neighbour closer than this."""
    from scipy.spatial import cKDTree

    if len(places) < 2:
        return 1.0
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    return round(max(float(np.quantile(nearest, 0.1)), 0.05), 3)


def edge_bends(topology: Topology) -> FloatArray:  # (edges,)
    """How far each edge bends to one side on its way from its smaller node to its larger, so that no two coincide.

    Edges alone between their nodes are straight. Of loops it says which one at its node it is.

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
