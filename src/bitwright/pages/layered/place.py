"""A layered layout from boxes and arrows to points: layers, orders, columns, and curves between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bitwright.pages.layered.columns import columns
from bitwright.pages.layered.layers import Edge, Layers, greedy, in_layers, walked
from bitwright.pages.layered.ordering import untangle

Point = tuple[float, float]
_APART, _BEND_APART, _BEND = 26.0, 12.0, 2.0  # between boxes, beside a bend, and how wide a bend is
_LAYER, _MOST_LAYER = 38.0, 74.0  # between layers
_PORT = 18.0  # between arrows at a box
_SHELF = 34.0  # between parts that do not hang together


@dataclass(frozen=True)
class Placed:
    """Where everything stands; y runs down. A route is a curve: a point, then two handles and a point, repeated."""

    corners: tuple[Point, ...]  # the upper left of every box
    routes: tuple[tuple[Point, ...], ...]  # of every edge, from its source to its target
    width: float
    height: float


def place(sizes: Sequence[Point], edges: Sequence[Edge], most_width: float = 1100.0) -> Placed:
    """A layout of boxes of these sizes and edges between different boxes; the same for the same boxes and edges."""
    corners: dict[int, Point] = {}
    routes: dict[int, tuple[Point, ...]] = {}
    left = top = shelf = width = 0.0
    for nodes in _components(len(sizes), edges):
        own = [number for number, (a, _) in enumerate(edges) if a in set(nodes)]
        number_of = {node: number for number, node in enumerate(nodes)}
        theirs = [(number_of[edges[edge][0]], number_of[edges[edge][1]]) for edge in own]
        part = _connected([sizes[node] for node in nodes], theirs, most_width)
        if left and left + part.width > most_width:
            left, top, shelf = 0.0, top + shelf + _SHELF, 0.0
        for node, (x, y) in zip(nodes, part.corners, strict=True):
            corners[node] = (left + x, top + y)
        for edge, route in zip(own, part.routes, strict=True):
            routes[edge] = tuple((left + x, top + y) for x, y in route)
        width, shelf = max(width, left + part.width), max(shelf, part.height)
        left += part.width + _SHELF
    return Placed(
        tuple(corners[node] for node in range(len(sizes))),
        tuple(routes[edge] for edge in range(len(edges))),
        width,
        top + shelf,
    )


def _components(count: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Boxes that hang together, in the order of their first."""
    import networkx  # here, since most commands draw nothing

    graph = networkx.Graph(edges)
    graph.add_nodes_from(range(count))
    return sorted(map(sorted, networkx.connected_components(graph)))


def _connected(sizes: Sequence[Point], edges: Sequence[Edge], most_width: float) -> Placed:
    """The smaller of two layouts: one tells a program's story in its order, the other has fewer arrows back."""
    orders = [order(len(sizes), edges) for order in (walked, greedy)]
    return min((_ordered(sizes, edges, order, most_width) for order in orders), key=lambda one: one.width * one.height)


def _ordered(sizes: Sequence[Point], edges: Sequence[Edge], order: Sequence[int], most_width: float) -> Placed:
    layers = in_layers([width for width, _ in sizes], edges, order, most_width, _APART)
    untangle(layers)
    bends = len(layers.above) - len(sizes)
    widths = [width for width, _ in sizes] + [_BEND] * bends
    heights = [height for _, height in sizes] + [0.0] * bends
    x = columns(layers, widths, len(sizes), _APART, _BEND_APART)
    left = min(middle - wide / 2 for middle, wide in zip(x, widths, strict=True))
    x = [middle - left for middle in x]
    tops, bottoms, y = [], [], 0.0
    for number, row in enumerate(layers.rows):
        tops.append(y)
        y += max((heights[node] for node in row), default=0.0)
        bottoms.append(y)
        y += _gap(layers, number, x)
    at = {node: number for number, row in enumerate(layers.rows) for node in row}
    routes = _routes(layers, x, widths, heights, at, tops, bottoms)
    return Placed(
        tuple((x[node] - width / 2, tops[at[node]]) for node, (width, _) in enumerate(sizes)),
        tuple(routes),
        max(middle + wide / 2 for middle, wide in zip(x, widths, strict=True)),
        bottoms[-1],
    )


def _gap(layers: Layers, number: int, x: Sequence[float]) -> float:
    """The more arrows go far to the side below a layer, the more room they get."""
    far = sum(abs(x[node] - x[other]) > 60 for node in layers.rows[number] for other in layers.below[node])
    return min(_MOST_LAYER, _LAYER + 4 * far)


def _routes(
    layers: Layers,
    x: Sequence[float],
    widths: Sequence[float],
    heights: Sequence[float],
    at: dict[int, int],
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> list[tuple[Point, ...]]:
    leaving, entering = _ports(layers, x, widths)
    between: list[list[tuple[float, float]]] = [[] for _ in tops]  # what runs below each layer: from where to where
    stops = []
    for number, chain in enumerate(layers.chains):
        stop = [leaving[number], *(x[bend] for bend in chain[1:-1]), entering[number]]
        stops.append(stop)
        for layer, (one, two) in enumerate(pairwise(stop), at[chain[0]]):
            between[layer].append((one, two))
    turns = [_turns(own) for own in between]
    found = []
    for number, chain in enumerate(layers.chains):
        first, stop = at[chain[0]], stops[number]
        route = [(stop[0], tops[first] + heights[chain[0]])]
        for layer, (one, two) in enumerate(pairwise(stop), first):
            high, low = bottoms[layer], tops[layer + 1]
            _straight(route, (one, high))
            turn = high + (low - high) * turns[layer][one, two]
            route += [(one, turn), (two, turn), (two, low)]
        found.append(tuple(route[::-1] if layers.turned[number] else route))
    return found


def _turns(own: Sequence[tuple[float, float]]) -> dict[tuple[float, float], float]:
    """How far down each curve turns aside, so that those of one direction lie within each other and do not touch."""
    found = {}
    for right in (False, True):
        same = sorted({line for line in own if (line[1] > line[0]) == right}, reverse=right)
        for place, line in enumerate(same, 1):
            found[line] = 0.2 + 0.6 * place / (len(same) + 1)
    return found


def _straight(route: list[Point], end: Point) -> None:
    x, y = route[-1]
    if end[1] > y:
        route += [(x, y + (end[1] - y) / 3), (x, y + 2 * (end[1] - y) / 3), end]


def _ports(layers: Layers, x: Sequence[float], widths: Sequence[float]) -> tuple[dict[int, float], dict[int, float]]:
    """Where on its upper box an arrow begins, and where on its lower box it ends: in the order in which they go on."""
    ends: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for number, chain in enumerate(layers.chains):
        ends.setdefault((chain[0], True), []).append((x[chain[1]], number))
        ends.setdefault((chain[-1], False), []).append((x[chain[-2]], number))
    leaving: dict[int, float] = {}
    entering: dict[int, float] = {}
    for (box, lower), own in ends.items():
        apart = min(_PORT, 0.86 * widths[box] / len(own))
        for place, (_, number) in enumerate(sorted(own)):
            (leaving if lower else entering)[number] = x[box] + (place - (len(own) - 1) / 2) * apart
    return leaving, entering
