"""Graphs with names and values of nodes and edges, built from networkx, adjacency matrices or shapes.

Shapes are rings, paths, grids, tori, random graphs and others, of any size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, suggestion
from bitwright.rules.graph.schema import Board, Topology
from bitwright.rules.layout import IntArray

Values = Mapping[str, Mapping[int, Any]]  # attribute -> number of a node or an edge -> value


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph whose nodes and edges are numbered, with their names and attributes."""

    topology: Topology
    names: tuple[str, ...]
    node_values: Values = field(default_factory=dict)
    edge_values: Values = field(default_factory=dict)
    graph_values: Mapping[str, Any] = field(default_factory=dict)
    source: Any = None  # the original networkx graph

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each node by its name."""
        return {name: number for number, name in enumerate(self.names)}

    def number(self, name: object) -> int:
        """Returns the number of the node with this name; values other than text are converted to text."""
        try:
            return self.numbers[str(name)]
        except KeyError:
            shown = shorten(str(name))
            raise InputError(f"the graph has no node '{shown}'{suggestion(shown, self.names)}") from None

    def edges_between(self, one: int, other: int) -> list[int]:
        """Returns the numbers of the edges between two nodes; if directed, only edges from the first to the second."""
        return self._edges.get(self._ends(one, other), [])

    def node_label(self, node: int) -> str:
        return f"node '{shorten(self.names[node])}'"

    def edge_label(self, edge: int) -> str:
        one, other = self.topology.edge_ends[edge]
        return f"edge '{shorten(self.names[one])}'-'{shorten(self.names[other])}'"

    @cached_property
    def _edges(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for edge, (one, other) in enumerate(self.topology.edge_ends.tolist()):
            found.setdefault(self._ends(one, other), []).append(edge)
        return found

    def _ends(self, one: int, other: int) -> tuple[int, int]:
        return (one, other) if self.topology.directed or one <= other else (other, one)


class Attributes(Mapping[str, Mapping[int, Any]]):
    """The values of many records by attribute, collected on demand."""

    def __init__(self, records: Sequence[Mapping[Any, Any]]) -> None:
        self._records = records

    def __getitem__(self, name: str) -> Mapping[int, Any]:
        found = {number: record[name] for number, record in enumerate(self._records) if name in record}
        if not found:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(name for record in self._records for name in record)
        return (name for name in names if isinstance(name, str))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def from_networkx(graph: Any) -> NamedGraph:
    """Converts a networkx graph; the ports of a node are in the order of `graph.adj[node]`, and a loop has two ports.

    >>> import networkx
    >>> named = from_networkx(networkx.Graph([("b", "a"), ("c", "b")]))
    >>> named.names, named.topology.port_far.tolist()
    (('b', 'a', 'c'), [1, 2, 0, 0])
    """
    import networkx

    if not isinstance(graph, networkx.Graph):
        raise InputError(f"the graph must be a networkx graph, got {shorten(repr(type(graph).__name__))}")
    names = _names(list(graph))
    index = {node: number for number, node in enumerate(graph)}
    several = graph.is_multigraph()
    owners: list[int] = []
    fars: list[int] = []
    turns: list[int] = []  # index among the edges between the same two nodes
    records: list[Mapping[Any, Any]] = []
    for node, neighbours in graph.adjacency():
        for other, about in neighbours.items():
            for turn, record in enumerate(about.values() if several else (about,)):
                owners.append(index[node])
                fars.append(index[other])
                turns.append(turn)
                records.append(record)
    pairs = np.array((owners, fars), dtype=np.int64).T
    if graph.is_directed():
        topology = Topology.from_edges(len(names), pairs, directed=True)
    else:
        topology, first = _in_order(len(names), pairs, np.array(turns, dtype=np.int64))
        records = [records[place] for place in first]
    nodes = [about for _, about in graph.nodes(data=True)]
    known = {name: value for name, value in graph.graph.items() if isinstance(name, str)}
    return NamedGraph(topology, names, Attributes(nodes), Attributes(records), known, graph)


def _names(nodes: Sequence[object]) -> tuple[str, ...]:
    names = tuple(map(str, nodes))
    if len(set(names)) < len(names):
        seen: dict[str, object] = {}
        for name, node in zip(names, nodes, strict=True):
            if name in seen:
                raise InputError(
                    f"two nodes are named '{shorten(name)}': {shorten(repr(seen[name]))} and {shorten(repr(node))}; "
                    "rename one of them"
                )
            seen[name] = node
    return names


def _in_order(nodes: int, pairs: IntArray, turns: IntArray) -> tuple[Topology, list[int]]:
    """Builds an undirected graph with ports in the order of `pairs`, which contain each edge twice and each loop once.

    Also returns the index of the first occurrence of each edge in `pairs`; edges are numbered in that order.
    """
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    code = (low * nodes + high) * (int(turns.max(initial=0)) + 1) + turns
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    first = first[order]
    number = np.argsort(order)[which]  # edge number of each pair
    last = first.copy()
    np.maximum.at(last, number, np.arange(len(number)))
    topology = Topology.from_edges(nodes, pairs[first])
    edge = topology.port_edge
    place = np.where(topology.port_node == pairs[first, 0][edge], first[edge], last[edge])
    return topology.arranged(np.argsort(place, kind="stable")), first.tolist()


def is_matrix(what: object) -> bool:
    """Returns whether a value is a dense or sparse array that may be an adjacency matrix."""
    return isinstance(what, np.ndarray) or (hasattr(what, "tocoo") and hasattr(what, "shape"))


def from_matrix(matrix: Any) -> NamedGraph:
    """Converts an adjacency matrix; nonzero entries are edges, with their values in the attribute `weight`.

    A symmetric matrix is an undirected graph. In any other matrix the edges point from row to column. Nodes are
    numbered from 0, and the ports of a node are in the order of its neighbours.

    >>> from_matrix(np.array([[0, 2], [2, 0]])).topology
    <Topology: 2 nodes, 1 edge>
    >>> from_matrix(np.array([[0, 1], [0, 0]])).topology
    <Topology: 2 nodes, 1 directed edge>
    """
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        shown = " x ".join(map(str, shape)) or "a single number"
        raise InputError(f"an adjacency matrix must be square with at least one row, got {shown}")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix must be numeric, got {matrix.dtype}")
    import networkx
    from scipy.sparse import coo_array

    entries = coo_array(matrix)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    if not np.isfinite(entries.data).all():
        raise InputError("an adjacency matrix must be finite, got infinity or NaN; use 0 for no edge")
    kind = networkx.DiGraph if (entries != entries.T).nnz else networkx.Graph
    return replace(from_networkx(networkx.from_scipy_sparse_array(entries, create_using=kind)), source=None)


MOST_NODES = 10_000_000
_FORMS = {
    "path": "path:100",
    "ring": "ring:100",
    "star": "star:100",
    "complete": "complete:10",
    "grid": "grid:20x30",
    "board": "board:20x30",
    "torus": "torus:20x30",
    "random": "random:1000,2000 or random:1000,2000,SEED",
}


def is_shape(text: str) -> bool:
    """Returns whether a text is a shape, such as `torus:20x30`, rather than a file name."""
    name, colon, rest = text.partition(":")
    return (
        bool(colon) and re.fullmatch("[a-z]+", name) is not None and len(name) > 1 and not rest.startswith(("/", "\\"))
    )


def shaped_graph(text: str) -> NamedGraph:
    """Builds the graph of a shape and size; nodes are named 0, 1, ..., or by row and column, such as 3.7.

    >>> shaped_graph("torus:3x4").topology
    <Topology: 12 nodes, 48 edges>
    >>> shaped_graph("ring:5").names
    ('0', '1', '2', '3', '4')
    """
    name, _, size = text.partition(":")
    if name not in _FORMS:
        known = ", ".join(_FORMS)
        raise InputError(f"unknown graph shape '{shorten(name)}'; choose from {known}{suggestion(name, list(_FORMS))}")
    numbers = [int(part) for part in re.findall("[0-9]+", size) if len(part) < 19]
    flat = name in ("grid", "board", "torus")
    form = (
        r"[0-9]{1,18}x[0-9]{1,18}" if flat else r"[0-9]{1,18}(,[0-9]{1,18}){1,2}" if name == "random" else "[0-9]{1,18}"
    )
    if not re.fullmatch(form, size, re.ASCII) or not numbers[0] or (flat and not numbers[1]):
        raise InputError(f"a graph of this shape must have the form {_FORMS[name]}, got '{shorten(text)}'")
    nodes = numbers[0] * numbers[1] if flat else numbers[0]
    edges = nodes * nodes if name == "complete" else numbers[1] if name == "random" else nodes
    if max(nodes, edges) > MOST_NODES:
        raise InputError(f"a graph shape may have at most {MOST_NODES:,} nodes or edges, got {shorten(text)}")
    if flat:
        places = [f"{row}.{column}" for row in range(numbers[0]) for column in range(numbers[1])]
        return _board(Board(numbers[0], numbers[1], around=name == "torus"), diagonal=name != "grid", names=places)
    return NamedGraph(Topology.from_edges(nodes, _EDGES[name](*numbers)), tuple(map(str, range(nodes))))


def _board(board: Board, diagonal: bool, names: list[str]) -> NamedGraph:
    """Joins each node to up to eight neighbours, or four without diagonals."""
    ways = ("east", "south", "south.east", "south.west") if diagonal else ("east", "south")
    beside = [board.beside(way) for way in ways]
    edges = np.concatenate([np.stack((np.flatnonzero(to >= 0), to[to >= 0]), axis=1) for to in beside])
    topology = Topology.from_edges(board.rows * board.columns, edges)
    return NamedGraph(replace(topology, board=board), tuple(names))


def _random(nodes: int, edges: int, seed: int = 0) -> IntArray:
    """Draws distinct edges between different nodes uniformly."""
    most = nodes * (nodes - 1) // 2
    if edges > most:
        raise InputError(f"a graph of {nodes:,} nodes has at most {most:,} edges, got {edges:,}")
    rng = np.random.default_rng(seed)
    number = rng.choice(most, edges, replace=False) if most <= 4 * MOST_NODES else _few(rng, most, edges)
    far = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    far -= far * (far - 1) // 2 > number  # rounded up
    far += (far + 1) * far // 2 <= number
    return np.stack((number - far * (far - 1) // 2, far), axis=1)


def _few(rng: np.random.Generator, most: int, count: int) -> IntArray:
    """Draws `count` distinct random numbers below `most`, which is much larger."""
    drawn = np.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        drawn = np.concatenate((drawn, rng.integers(0, most, count)))
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn[:count]


def _pairs(first: IntArray, second: IntArray) -> IntArray:
    return np.stack((first, second), axis=1)


_EDGES: dict[str, Callable[..., IntArray]] = {
    "path": lambda n: _pairs(np.arange(n - 1), np.arange(1, n)),
    "ring": lambda n: (
        _pairs(np.arange(n), (np.arange(n) + 1) % n) if n > 2 else _pairs(np.arange(n - 1), np.arange(1, n))
    ),
    "star": lambda n: _pairs(np.zeros(n - 1, dtype=np.int64), np.arange(1, n)),
    "complete": lambda n: np.stack(np.triu_indices(n, 1), axis=1),
    "random": _random,
}
