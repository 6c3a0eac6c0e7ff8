"""Positions of the nodes of a graph: on a grid if their names say so, else with distances close to those along edges.

A connected part is placed by stress majorisation: the sum of (|x_i - x_j| - d_ij)^2 / d_ij^2 over all pairs falls in
every round (Gansner, Koren and North, 2004). In large parts only distances to some pivots and along edges count.
The result is the same each time.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bitwright.program.graph.node_program import components
from bitwright.program.graph.topology import Topology
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.workers.linear_algebra import one_thread

if TYPE_CHECKING:  # SciPy is loaded where a graph is drawn
    from scipy.sparse import csr_array

_PLACE = re.compile(r"\(?(\d{1,5})[.,] ?(\d{1,5})\)?")  # 3.7, or (3, 7) as networkx names the nodes of its grids
_EXACT = 700  # nodes of a part in which all pairs count
_PIVOTS = 200
_ROUNDS = 200
_SETTLED = 1e-4  # the part of its stress that a round must take away for another to be worth it
_APART = 1.1  # between parts, where an edge is about 1 long


@dataclass(frozen=True, eq=False)
class GraphLayout:
    """Positions of nodes; y grows downwards, as on a page."""

    places: FloatArray  # (nodes, 2)
    grid: bool  # whether nodes are the cells of a grid, one apart
    spacing: float  # how far nodes are from their nearest neighbours on paper; most are farther


def graph_layout(topology: Topology, names: Sequence[Hashable] = ()) -> GraphLayout:
    """The layout of a graph whose nodes have these names.

    >>> graph_layout(Topology.from_edges(2, [(0, 1)]), ["0.0", "0.1"]).places.tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    cells = _cells([str(name) for name in names])
    if cells is not None:
        return GraphLayout(cells, True, 1.0)
    places = np.round(_packed([(part, _place(topology, part)) for part in _parts(topology)], topology.nodes), 3)
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


def _parts(topology: Topology) -> list[IntArray]:
    """The nodes of each connected part, large parts first."""
    part_of = components(topology)
    order = np.argsort(part_of, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(part_of[order])) + 1)
    return sorted(parts, key=lambda part: -len(part))


@one_thread()
def _place(topology: Topology, part: IntArray) -> FloatArray:  # (nodes of the part, 2)
    """One connected part, its long side level."""
    if len(part) == 1:
        return np.zeros((1, 2))
    links = _links(topology, part)
    if len(part) <= _EXACT:
        places = _majorised(_path_lengths(links))
        for _ in range(20):
            places += _pushed(places)
    else:
        places = _by_pivots(links)
    places = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(places.T @ places)
    places = places @ axes[:, ::-1]
    signs = np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)  # which of the mirror images
    return np.asarray(places * signs)


def _links(topology: Topology, part: IntArray) -> csr_array:
    """The edges of a part, each once in either direction, without loops; nodes are numbered within the part."""
    from scipy.sparse import coo_array, csr_array

    number = np.full(topology.nodes, -1, dtype=np.int64)
    number[part] = np.arange(len(part))
    ends = number[topology.edge_ends]
    ends = ends[(ends[:, 0] >= 0) & (ends[:, 0] != ends[:, 1])]
    both = np.unique(np.concatenate((ends, ends[:, ::-1])), axis=0)
    return csr_array(coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(len(part), len(part))))


def _majorised(distance: FloatArray) -> FloatArray:  # (n, n) -> (n, 2)
    """Stress majorisation of all pairs, from classical scaling."""
    n = len(distance)
    far = distance + np.eye(n)
    weight = far**-2.0
    np.fill_diagonal(weight, 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n  # of the Laplacian, whose kernel is the constants
    places = _scaled(distance)
    before = np.inf
    for _ in range(_ROUNDS):
        apart = _distances(places, places)
        stress = float((weight * (apart - distance) ** 2).sum())
        if before - stress < _SETTLED * stress:
            break
        before = stress
        pull = -weight * distance / np.maximum(apart, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ (pull @ places)
    return places


def _scaled(distance: FloatArray) -> FloatArray:
    """Classical scaling in the plane, each node moved a little so that none share a place."""
    centred = distance**2
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(-centred / 2)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    return np.asarray(places + 0.05 * np.random.default_rng(0).standard_normal(places.shape))


def _by_pivots(links: csr_array) -> FloatArray:
    """Places pivots as above, then all nodes by their distances from them, and in the end also by their neighbours."""
    n = links.shape[0]
    pivots, rows = [0], [_path_lengths(links, 0)]
    nearest = rows[0].copy()
    for _ in range(_PIVOTS - 1):  # each is the node farthest from those before
        pivots.append(int(np.argmax(nearest)))
        rows.append(_path_lengths(links, pivots[-1]))
        nearest = np.minimum(nearest, rows[-1])
    distance = np.stack(rows, axis=1)  # (n, pivots)
    fixed = _majorised(distance[pivots])
    weight = np.maximum(distance, 1) ** -2.0
    places = weight @ fixed / weight.sum(axis=1, keepdims=True)
    places += 0.3 * np.random.default_rng(0).standard_normal(places.shape)
    one, other = links.nonzero()
    degree = np.bincount(one, minlength=n)
    for turn in range(80):
        apart = np.maximum(_distances(places, fixed), 1e-9)
        ratio = weight * distance / apart
        pulled = weight @ fixed + ratio.sum(axis=1, keepdims=True) * places - ratio @ fixed
        total = weight.sum(axis=1)
        if turn > 30:
            step = places[one] - places[other]
            length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
            goal = places[other] + step / length
            strength = float(total.mean() / degree.mean())
            for axis in range(2):
                pulled[:, axis] += strength * np.bincount(one, goal[:, axis], minlength=n)
            total = total + strength * degree
        places = (places + pulled / total[:, None]) / 2
        places = places + _pushed(places)
    return np.asarray(places)


def _path_lengths(links: csr_array, start: int | None = None) -> FloatArray:
    """From every node, or from one, to all."""
    from scipy.sparse.csgraph import shortest_path

    return np.asarray(shortest_path(links, unweighted=True, indices=start))


def _distances(places: FloatArray, others: FloatArray) -> FloatArray:
    square = (places**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * (places @ others.T)
    return np.asarray(np.sqrt(np.maximum(square, 0)))


def _pushed(places: FloatArray, least: float = 0.6) -> FloatArray:
    """Moves that part nodes which are closer than `least`."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(places).query_pairs(least, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    step = places[pairs[:, 0]] - places[pairs[:, 1]]
    length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
    move = step / length * (least - length) / 4
    moves = np.zeros_like(places)
    for axis in range(2):
        moves[:, axis] = np.bincount(pairs[:, 0], move[:, axis], minlength=len(places))
        moves[:, axis] -= np.bincount(pairs[:, 1], move[:, axis], minlength=len(places))
    return np.asarray(np.clip(moves, -least, least))


def _packed(parts: Sequence[tuple[IntArray, FloatArray]], nodes: int) -> FloatArray:
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
    turn = np.empty(len(pair))
    turn[order] = np.arange(len(pair)) - first[which]
    total = np.empty(len(pair))
    total[order] = counts[which]
    return np.where(ends[:, 0] == ends[:, 1], turn, turn - (total - 1) / 2)
