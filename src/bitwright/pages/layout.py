"""Positions on paper by networkx: of the nodes of a graph, and of boxes in layers with arrows between them.

The same graph is always laid out the same.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bitwright.rules.graph.topology import Topology
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:  # networkx and SciPy are loaded where something is drawn
    from networkx import Graph

Edge = tuple[int, int]
Point = tuple[float, float]

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


_BOXES, _BESIDE, _ROWS, _PORT = 38.0, 12.0, 46.0, 16.0  # between boxes, beside a bend, between rows, between arrows
_SWEEPS = 12


@dataclass(frozen=True)
class Placed:
    """Places of boxes and arrows; y runs down. A route is a curve: a point, then two handles and a point, repeated."""

    corners: tuple[Point, ...]  # the upper left of every box
    routes: tuple[tuple[Point, ...], ...]  # of every edge, from its source to its target
    width: float
    height: float


def layered(sizes: Sequence[Point], edges: Sequence[Edge], most_width: float = 1100.0) -> Placed:
    """Boxes of these sizes in rows, and edges between different boxes, which lead down where they close no circle."""
    widths = [width for width, _ in sizes]
    rows, chains = _rows(widths, edges, most_width)
    widths += [0.0] * (sum(map(len, rows)) - len(sizes))
    near: list[list[int]] = [[] for _ in widths]
    for a, b in (link for chain in chains for link in pairwise(chain)):
        near[a].append(b)
        near[b].append(a)
    row_of = {node: number for number, row in enumerate(rows) for node in row}
    x = _columns(rows, row_of, near, widths, len(sizes))
    tops, bottoms, y = list[float](), list[float](), 0.0
    for row in rows:
        tops.append(y)
        bottoms.append(y + max((sizes[node][1] for node in row if node < len(sizes)), default=0.0))
        far = sum(abs(x[node] - x[other]) > 60 for node in row for other in near[node])
        y = bottoms[-1] + min(_ROWS + 2 * far, 90)
    leaving = _ports(chains, x, widths)
    entering = _ports([chain[::-1] for chain in chains], x, widths)
    routes = []
    for chain, (a, _), left, entered in zip(chains, edges, leaving, entering, strict=True):
        route = [(left, tops[row_of[chain[0]]] + sizes[chain[0]][1])]
        for node, other in pairwise(chain):
            high, low = bottoms[row_of[node]], tops[row_of[other]]
            end = entered if other == chain[-1] else x[other]
            if high > route[-1][1]:
                route += [route[-1], (route[-1][0], high), (route[-1][0], high)]
            route += [(route[-1][0], (high + low) / 2), (end, (high + low) / 2), (end, low)]
        routes.append(tuple(route if chain[0] == a else route[::-1]))
    corners = tuple((x[box] - width / 2, tops[row_of[box]]) for box, (width, _) in enumerate(sizes))
    return Placed(corners, tuple(routes), max(at + wide / 2 for at, wide in zip(x, widths, strict=True)), bottoms[-1])


def _rows(widths: Sequence[float], edges: Sequence[Edge], most_width: float) -> tuple[list[list[int]], list[list[int]]]:
    """Rows of boxes and bends, numbered after the boxes; and for each edge its boxes and bends from above."""
    import networkx

    left, rank = networkx.DiGraph(edges), dict[int, int]()
    left.add_nodes_from(range(len(widths)))
    acyclic = networkx.create_empty_copy(left)
    while left:  # few edges lead back in this order (Eades, Lin and Smyth, 1993)
        chosen = max(left, key=lambda n: (not left.in_degree(n), left.out_degree(n) - left.in_degree(n), -n))
        rank[chosen] = len(rank)
        left.remove_node(chosen)
    down = [sorted(edge, key=rank.__getitem__) for edge in edges]
    acyclic.add_edges_from(down)
    rows: list[list[int]] = []
    for generation in networkx.topological_generations(acyclic):
        wide = most_width + 1
        for node in sorted(generation, key=rank.__getitem__):
            if wide + widths[node] > most_width:
                rows.append([])
                wide = 0.0
            rows[-1].append(node)
            wide += widths[node] + _BOXES
    row_of = {node: number for number, row in enumerate(rows) for node in row}
    chains, count = [], len(widths)
    for a, b in down:
        between = range(row_of[a] + 1, row_of[b])
        chains.append([a, *range(count, count + len(between)), b])
        for bend, row in enumerate(between, count):
            rows[row].append(bend)
        count += len(between)
    return rows, chains


def _columns(
    rows: list[list[int]], row_of: Mapping[int, int], near: list[list[int]], widths: Sequence[float], boxes: int
) -> list[float]:
    """The middle of every box and bend. Orders each row by what it hangs on, and then keeps the order."""
    from scipy.optimize import isotonic_regression

    x = [0.0] * len(near)
    for row in rows:
        for at, node in enumerate(row):
            x[node] = 100.0 * (at - len(row) / 2)

    def apart(one: int, other: int) -> float:
        space = _BOXES if max(one, other) < boxes else _BESIDE if min(one, other) >= boxes else _BOXES / 1.5
        return (widths[one] + widths[other]) / 2 + space

    for sweep in range(2 * _SWEEPS):
        side = -1 if sweep % 2 == 0 else 1  # by the rows above, then by those below, and in the end by both
        sides = {-1, 1} if sweep >= 2 * _SWEEPS - 2 else {side}
        for row in rows[::-side]:
            wanted = {}
            for node in row:
                linked = [x[other] for other in near[node] if np.sign(row_of[other] - row_of[node]) in sides]
                wanted[node] = sum(linked) / len(linked) if linked else x[node]
            if sweep < _SWEEPS:
                row.sort(key=wanted.__getitem__)
            # the places nearest to those wanted, by weighted squares, that keep the gaps between neighbours
            offsets = np.cumsum([0.0, *(apart(one, other) for one, other in pairwise(row))])
            weights = [4.0 if node >= boxes else 1.0 for node in row]
            places = isotonic_regression([wanted[node] for node in row] - offsets, weights=weights).x + offsets
            for node, place in zip(row, places.tolist(), strict=True):
                x[node] = place
    left = min(place - width / 2 for place, width in zip(x, widths, strict=True))
    return [place - left for place in x]


def _ports(chains: Sequence[Sequence[int]], x: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Where each arrow touches its first box: side by side, in the order in which they go on."""
    places = [0.0] * len(chains)
    for box in {chain[0] for chain in chains}:
        own = sorted((x[chain[1]], number) for number, chain in enumerate(chains) if chain[0] == box)
        gap = min(_PORT, 0.86 * widths[box] / len(own))
        for place, (_, number) in enumerate(own):
            places[number] = x[box] + (place - (len(own) - 1) / 2) * gap
    return places
