"""Node programs as ordinary programs, with each bit once and a bit for each target with a path; graphs as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.errors import InputError, counted
from bitwright.common.frozen import FrozenArrays, frozen
from bitwright.rules.algorithm import FIXED_POINT, Halt
from bitwright.rules.layout import IntArray
from bitwright.rules.program import Program

Place = Literal["node", "port", "whole"]


@dataclass(frozen=True)
class NodeWord:
    """A number at every node, at every port, or of the whole graph; lowest bit first."""

    name: str
    place: Place
    bits: tuple[int, ...]  # bits of the schema
    signed: bool = False
    unique: bool = False  # whether the values of all nodes must differ
    also: tuple[int, ...] = ()  # for a one-bit number: bits, or targets with a path, that get the same value
    where: int | None = None  # the bit that is on where an output has a value
    way: Literal["", "not", "place"] = ""  # whether the bits are complemented, or one-hot
    positive: bool = False  # whether 0 is excluded
    one: bool = False  # whether it is 1 at exactly one node

    @property
    def width(self) -> int:
        """The number of bits."""
        return len(self.bits)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and largest values."""
        if self.way == "place":
            return 1, self.width
        if self.signed:
            return -(1 << self.width - 1), (1 << self.width - 1) - 1
        return int(self.positive), (1 << self.width) - 1


@dataclass(frozen=True, eq=False)
class Schema:
    """A node program for graphs of one size.

    The kinds of the cells of its program are the kinds on every graph of this size, because a target with a path is a
    single column, however many bits it reaches. Nodes without neighbours and ports without a next port add no kinds.
    """

    program: Program  # the declared bits, then the targets with a path
    places: tuple[Place, ...]  # place of each declared name
    targets: tuple[tuple[str, int], ...]  # for each bit after the declared bits: its path, and the bit that it reaches
    chains: dict[int, int]  # from a bit of a port to the bit of the node that follows the last port
    inputs: tuple[NodeWord, ...]
    outputs: tuple[NodeWord, ...]
    start: tuple[int, ...]
    steps: int | None
    halt: Halt
    requires: frozenset[str]  # a subset of `simple`, `connected`, `directed`
    degree: int | None

    @property
    def bits(self) -> int:
        """The number of declared bits."""
        return self.program.bits - len(self.targets)

    def place_of(self, bit: int) -> Place:
        """Returns the place of a declared bit."""
        fields = self.program.layout.fields
        return self.places[fields.index(self.program.layout.field_of(bit))]

    def name_of(self, bit: int) -> str:
        """Returns the name of a declared bit or of a target with its path, such as `level[3]` or `far.all.g[2]`."""
        path, reached = self.targets[bit - self.bits] if bit >= self.bits else ("", bit)
        return ".".join(filter(None, (path, self.program.layout.name_of(reached))))

    def text_lines(self) -> Iterator[str]:
        """Yields the canonical rule text; parsing it gives an equivalent node program on graphs of this size."""
        program, names = self.program, self.program.layout.names
        for declared, place in zip(program.layout.fields, self.places, strict=False):
            yield f"{'' if place == 'node' else f'{place} '}bits {declared}"
        for block in range(program.blocks):
            members = program.block_members(block).tolist()
            if members[0] < self.bits:
                yield "block " + " ".join(names[bit] for bit in members)
        for template in range(program.templates):
            when = program.template_text(template).partition(" write ")[0]
            written = sorted(program.writes(template).tolist(), key=self._target_order)
            yield f"{when} write {' '.join(map(self.name_of, written)) or 'nothing'}"
        declared_bits = set(names[: self.bits])
        yield from (line for line in program.cell_lines() if declared_bits.issuperset(line.split()[1:]))
        for link, end in sorted(self.chains.items()):
            yield f"chain {names[link]} -> {names[end]}"
        for word in self.inputs:
            yield self._line("input", word)
        for word in self.outputs:
            yield self._line("output", word)
        if self.start:
            yield f"start {' '.join(names[bit] for bit in self.start)}"
        graphs = [*sorted(self.requires), *([] if self.degree is None else [f"degree {self.degree}"])]
        if graphs:
            yield f"graph {', '.join(graphs)}"
        if self.steps is not None:
            yield f"steps {self.steps}"
        if self.halt is not None:
            yield "halt at fixed point" if self.halt == FIXED_POINT else f"halt when {names[self.halt]}"

    def _target_order(self, bit: int) -> tuple[int, str]:
        """Returns a key that sorts targets by the bit that they reach, independent of their first use."""
        path, reached = self.targets[bit - self.bits] if bit >= self.bits else ("", bit)
        return reached, path

    def _line(self, kind: str, word: NodeWord) -> str:
        """Formats an input or output, highest bit first, such as `input unique id = not r[2] r[1]`."""
        words = {"signed": word.signed, "unique": word.unique, "positive": word.positive, "one": word.one}
        head = [
            kind,
            *(name for name, present in words.items() if present),
            word.name,
            "=",
            *([word.way] * bool(word.way)),
        ]
        line = " ".join((*head, *map(self.name_of, reversed(word.bits))))
        if word.also:
            line += ", " + " ".join(map(self.name_of, sorted(word.also, key=self._target_order)))
        return line if word.where is None else f"{line} if {self.name_of(word.where)}"


@dataclass(frozen=True)
class Board:
    """Rows and columns of nodes, numbered row by row; with `around`, the last row and column border on the first.

    >>> Board(2, 3, around=False).beside("south.east").tolist()
    [4, 5, -1, -1, -1, -1]
    """

    rows: int
    columns: int
    around: bool

    def beside(self, way: str) -> IntArray:  # (nodes,)
        """Returns the neighbour of each node in a direction such as north or south.west; -1 beyond the border."""
        row, column = np.indices((self.rows, self.columns))
        row = row + ("south" in way) - ("north" in way)
        column = column + ("east" in way) - ("west" in way)
        neighbour = row % self.rows * self.columns + column % self.columns
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        return np.where(inside | self.around, neighbour, -1).ravel()


@dataclass(frozen=True, eq=False)
class Topology(FrozenArrays):
    """A graph with nodes 0 to N-1 and their ports, node by node; the ports of a node are in the order of its edges.

    An undirected edge has a port at each end, and the two ports are opposite each other; a loop has two ports at one
    node. A directed edge has a single port, at its source, without an opposite.

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
    board: Board | None = None  # set if the nodes are the cells of a board

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InputError("a graph needs at least one node")
        super().__post_init__()

    @classmethod
    def from_edges(cls, nodes: int, edges: ArrayLike, directed: bool = False) -> Topology:
        """Builds a graph from pairs of nodes; the ports of a node follow the order of its edges."""
        if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer):
            raise InputError(f"nodes must be an integer, got {nodes!r}")
        pairs = np.asarray(edges)
        if pairs.size and (pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2):
            raise InputError(f"edges must be pairs of nodes, each an integer from 0 to {nodes - 1}")
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
        """Whether edges are directed, with ports only at their sources."""
        return self.opposite is None

    @property
    def edges(self) -> int:
        """The number of edges."""
        return self.ports if self.directed else self.ports // 2

    @cached_property
    def first_port(self) -> IntArray:  # (nodes + 1,)
        """The first port of each node, followed by the number of ports."""
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
        """Returns the graph with its ports reordered, `order[new] = old`; they must remain sorted by node."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        opposite = None if self.opposite is None else place[self.opposite[order]]
        return Topology(
            self.nodes, self.port_node[order], self.port_far[order], self.port_edge[order], opposite, self.board
        )

    def __repr__(self) -> str:
        edges = counted(self.edges, "directed edge" if self.directed else "edge")
        return f"<Topology: {counted(self.nodes, 'node')}, {edges}>"
