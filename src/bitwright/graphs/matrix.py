"""Adjacency matrices as graphs: NumPy arrays, and the sparse arrays of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.errors import InputError
from bitwright.graphs.named import NamedGraph
from bitwright.program.graph.topology import Topology


def is_matrix(what: object) -> bool:
    """Whether this is an array, or a sparse array, that may be an adjacency matrix."""
    return isinstance(what, np.ndarray) or (hasattr(what, "tocoo") and hasattr(what, "shape"))


def from_matrix(matrix: Any) -> NamedGraph:
    """The graph of an adjacency matrix: entries other than 0 are edges, and their values the attribute `weight`.

    A matrix that equals its transpose is an undirected graph. In any other the edges point from row to column. Nodes
    are numbered from 0, and the ports of a node stand in the order of its neighbours.

    >>> from_matrix(np.array([[0, 2], [2, 0]])).topology
    <Topology: 2 nodes, 1 edge>
    >>> from_matrix(np.array([[0, 1], [0, 0]])).topology
    <Topology: 2 nodes, 1 directed edge>
    """
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        given = " x ".join(map(str, shape)) or "a single number"
        raise InputError(f"an adjacency matrix has as many rows as columns, at least one, got {given}")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix has numbers, got {matrix.dtype}")
    row, column, value = _entries(matrix)
    if not np.isfinite(value).all():
        raise InputError("an adjacency matrix has finite numbers, this one has infinity or nan; write 0 for no edge")
    nodes = int(shape[0])
    undirected = _same(nodes, (row, column, value), (column, row, value))
    kept = row <= column if undirected else np.ones(len(row), dtype=bool)
    edges = np.stack((row[kept], column[kept]), axis=1)
    weights = [int(one) if float(one).is_integer() else one for one in value[kept].tolist()]
    return NamedGraph(
        Topology.from_edges(nodes, edges, directed=not undirected),
        tuple(map(str, range(nodes))),
        {},
        {"weight": dict(enumerate(weights))},
    )


def _entries(matrix: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the entries other than 0, row by row."""
    if isinstance(matrix, np.ndarray):
        row, column = np.nonzero(matrix)
        return row.astype(np.int64), column.astype(np.int64), matrix[row, column]
    found = matrix.tocsr().copy()
    found.sum_duplicates()
    found.eliminate_zeros()
    found = found.tocoo()
    order = np.lexsort((found.col, found.row))
    return found.row[order].astype(np.int64), found.col[order].astype(np.int64), found.data[order]


def _same(nodes: int, one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> bool:
    """Whether the same entries are in both."""
    orders = [np.argsort(row * nodes + column) for row, column, _ in (one, other)]
    return all(np.array_equal(a[orders[0]], b[orders[1]]) for a, b in zip(one, other, strict=True))
