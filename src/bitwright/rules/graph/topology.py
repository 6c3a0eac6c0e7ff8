"""Graphs as arrays: nodes, and a port for every end of an edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.errors import InputError, counted
from bitwright.common.frozen import FrozenArrays, frozen
from bitwright.rules.layout import IntArray


@dataclass(frozen=True)
class Board:
    """Rows and columns of nodes, numbered row by row; with `around` the last row and column border on the first.

    >>> Board(2, 3, around=False).beside("south.east").tolist()
    [4, 5, -1, -1, -1, -1]
    """

    rows: int
    columns: int
    around: bool

    def beside(self, way: str) -> IntArray:  # (nodes,)
        """The neighbour of each node in this direction, such as north or south.west; -1 beyond the border."""
        row, column = np.indices((self.rows, self.columns))
        row = row + ("south" in way) - ("north" in way)
        column = column + ("east" in way) - ("west" in way)
        neighbour = row % self.rows * self.columns + column % self.columns
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        return np.where(inside | self.around, neighbour, -1).ravel()


@dataclass(frozen=True, eq=False)
class Topology(FrozenArrays):
    """Nodes 0 to N-1 and their ports, node by node; the ports of a node are in the order of its edges.

    An undirected edge has a port at each of its ends, and each port is the opposite of the other; a loop has two ports
    at one node. A directed edge has a port only at its source, and no opposite.

    >>> path = Topology.from_edges(3, [(0, 1), (1, 2)])
    >>> path.port_node.tolist(), path.port_far.tolist(), path.opposite.tolist()
    ([0, 1, 1, 2], [1, 0, 2, 1], [1, 0, 3, 2])
    >>> path.port_edge.tolist()
    [0, 0, 1, 1]
    """

    nodes: int
    port_node: IntArray  # (ports,) ascending
    port_far: IntArray  # (ports,) the node at the other end
    port_edge: IntArray  # (ports,) the number of its edge
    opposite: IntArray | None  # (ports,) the port at the other end; None for a directed graph
    board: Board | None = None  # set if its nodes are the cells of a board

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InputError("a graph needs at least one node")
        super().__post_init__()

    @classmethod
    def from_edges(cls, nodes: int, edges: ArrayLike, directed: bool = False) -> Topology:
        """The graph of these pairs of nodes; the ports of a node follow the order of its edges."""
        if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer):
            raise InputError(f"nodes must be an integer, got {nodes!r}")
        pairs = np.asarray(edges)
        if pairs.size and (pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2):
            raise InputError(f"edges must be pairs of nodes, integers from 0 to {nodes - 1}")
        pairs = pairs.astype(np.int64).reshape(-1, 2)
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < nodes):
            wrong = int(pairs.min() if pairs.min() < 0 else pairs.max())
            raise InputError(f"edges must join nodes from 0 to {nodes - 1}, got node {wrong}")
        owner = pairs[:, 0] if directed else pairs.ravel()
        far = pairs[:, 1] if directed else pairs[:, ::-1].ravel()
        order = np.argsort(owner, kind="stable")
        if directed:
            return cls(nodes, owner[order], far[order], order, None)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return cls(nodes, owner[order], far[order], order // 2, place[order ^ 1])

    @property
    def ports(self) -> int:
        """The number of ports: two per edge, or one per directed edge."""
        return len(self.port_node)

    @property
    def directed(self) -> bool:
        """Whether edges are directed; then only their sources have ports."""
        return self.opposite is None

    @property
    def edges(self) -> int:
        """The number of edges."""
        return self.ports if self.directed else self.ports // 2

    @cached_property
    def first_port(self) -> IntArray:  # (nodes + 1,)
        """The first port of each node, and the number of ports."""
        return frozen(np.searchsorted(self.port_node, np.arange(self.nodes + 1)))

    @cached_property
    def degrees(self) -> IntArray:  # (nodes,)
        """The number of ports of each node; a loop counts twice."""
        return frozen(np.diff(self.first_port))

    @cached_property
    def edge_ends(self) -> IntArray:  # (edges, 2)
        """The two nodes of each edge."""
        first = np.full(self.edges, self.ports, dtype=np.int64)
        np.minimum.at(first, self.port_edge, np.arange(self.ports))
        return np.stack((self.port_node[first], self.port_far[first]), axis=1) if self.edges else np.zeros((0, 2), int)

    def arranged(self, order: IntArray) -> Topology:
        """The same graph with its ports reordered, `order[new] = old`; they must still be sorted by node."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        opposite = None if self.opposite is None else place[self.opposite[order]]
        return Topology(
            self.nodes, self.port_node[order], self.port_far[order], self.port_edge[order], opposite, self.board
        )

    def __repr__(self) -> str:
        edges = counted(self.edges, "directed edge" if self.directed else "edge")
        return f"<Topology: {counted(self.nodes, 'node')}, {edges}>"
