"""Graphs that have a name: rings, paths, grids, tori and random ones, of any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.graphs.named import NamedGraph
from bitwright.program.graph.topology import Board, Topology
from bitwright.program.layout import IntArray

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
    """Whether a text names a shape, and not a file: `torus:20x30`."""
    name, colon, rest = text.partition(":")
    return (
        bool(colon) and re.fullmatch("[a-z]+", name) is not None and len(name) > 1 and not rest.startswith(("/", "\\"))
    )


def shaped_graph(text: str) -> NamedGraph:
    """The graph of a shape and its size; nodes are called 0, 1, ..., in a grid, board or torus by row and column: 3.7.

    >>> shaped_graph("torus:3x4").topology
    <Topology: 12 nodes, 48 edges>
    >>> shaped_graph("ring:5").names
    ('0', '1', '2', '3', '4')
    """
    name, _, size = text.partition(":")
    if name not in _FORMS:
        known = ", ".join(_FORMS)
        raise InputError(
            f"there is no shape of graphs '{shorten(name)}'; there are {known}{suggestion(name, list(_FORMS))}"
        )
    numbers = [int(part) for part in re.findall("[0-9]+", size) if len(part) < 19]
    flat = name in ("grid", "board", "torus")
    form = (
        r"[0-9]{1,18}x[0-9]{1,18}" if flat else r"[0-9]{1,18}(,[0-9]{1,18}){1,2}" if name == "random" else "[0-9]{1,18}"
    )
    if not re.fullmatch(form, size, re.ASCII) or not numbers[0] or (flat and not numbers[1]):
        raise InputError(f"a graph of this shape is given as {_FORMS[name]}, got '{shorten(text)}'")
    nodes = numbers[0] * numbers[1] if flat else numbers[0]
    edges = nodes * nodes if name == "complete" else numbers[1] if name == "random" else nodes
    if max(nodes, edges) > MOST_NODES:
        raise InputError(f"{shorten(text)} has more than {MOST_NODES:,} nodes or edges")
    if flat:
        places = [f"{row}.{column}" for row in range(numbers[0]) for column in range(numbers[1])]
        return _board(Board(numbers[0], numbers[1], around=name == "torus"), diagonal=name != "grid", names=places)
    return NamedGraph(Topology.from_edges(nodes, _EDGES[name](*numbers)), tuple(map(str, range(nodes))))


def _board(board: Board, diagonal: bool, names: list[str]) -> NamedGraph:
    """Up to eight neighbours at each node, or four where diagonals do not count."""
    ways = ("east", "south", "south.east", "south.west") if diagonal else ("east", "south")
    beside = [board.beside(way) for way in ways]
    edges = np.concatenate([np.stack((np.flatnonzero(to >= 0), to[to >= 0]), axis=1) for to in beside])
    found = Topology.from_edges(board.rows * board.columns, edges)
    return NamedGraph(replace(found, board=board), tuple(names))


def _random(nodes: int, edges: int, seed: int = 0) -> IntArray:
    """That many different edges between different nodes, each choice equally likely."""
    most = nodes * (nodes - 1) // 2
    if edges > most:
        raise InputError(f"{nodes:,} nodes have at most {most:,} edges, got {edges:,}")
    rng = np.random.default_rng(seed)
    number = rng.choice(most, edges, replace=False) if most <= 4 * MOST_NODES else _few(rng, most, edges)
    far = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    far -= far * (far - 1) // 2 > number  # rounded up
    far += (far + 1) * far // 2 <= number
    return np.stack((number - far * (far - 1) // 2, far), axis=1)


def _few(rng: np.random.Generator, most: int, count: int) -> IntArray:
    """Different numbers below `most`, of which there are many."""
    found = np.zeros(0, dtype=np.int64)
    while len(found) < count:
        found = np.concatenate((found, rng.integers(0, most, count)))
        found = found[np.sort(np.unique(found, return_index=True)[1])]
    return found[:count]


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
