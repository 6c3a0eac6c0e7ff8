"""A layered layout from boxes and arrows to points: layers, orders, columns, and curves between them."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bitwright.pages.layered.layers import Edge, Layers, greedy, in_layers, walked

_PASSES = 24


def untangle(layers: Layers) -> None:
    """Orders `layers.rows` so that few arrows cross."""
    rows = [list(row) for row in layers.rows]
    best, least = [list(row) for row in rows], crossings(rows, layers.below)
    for sweep in range(_PASSES):
        downwards = sweep % 2 == 0
        near = layers.above if downwards else layers.below
        numbers = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
        for number in numbers:
            _sort(rows[number], rows[number + (-1 if downwards else 1)], near)
        _exchange(rows, layers)
        found = crossings(rows, layers.below)
        if found < least:
            best, least = [list(row) for row in rows], found
    layers.rows = best


def crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of arrows cross between neighbouring layers."""
    count = 0
    for upper, lower in pairwise(rows):
        place = {node: at for at, node in enumerate(lower)}
        ends: list[int] = []
        for node in upper:
            own = sorted(place[other] for other in below[node])
            count += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return count


def _sort(row: list[int], fixed: Sequence[int], near: Sequence[Sequence[int]]) -> None:
    """By the mean place of what each hangs on; what hangs on nothing keeps its place."""
    place = {node: at for at, node in enumerate(fixed)}
    wanted = {}
    for at, node in enumerate(row):
        own = [place[other] for other in near[node]]
        wanted[node] = sum(own) / len(own) if own else at * len(fixed) / len(row)
    row.sort(key=wanted.__getitem__)


def _exchange(rows: list[list[int]], layers: Layers) -> None:
    """Exchanges neighbours in a layer as long as that removes crossings."""
    for _ in range(4):
        better = False
        for number, row in enumerate(rows):
            near = []
            for other, linked in ((number - 1, layers.above), (number + 1, layers.below)):
                if 0 <= other < len(rows):
                    near.append(({node: at for at, node in enumerate(rows[other])}, linked))
            for at in range(len(row) - 1):
                one, two = row[at], row[at + 1]
                gain = 0
                for place, linked in near:
                    left, right = ([place[node] for node in linked[which]] for which in (one, two))
                    gain += sum((a > b) - (a < b) for a in left for b in right)
                if gain > 0:
                    row[at], row[at + 1] = two, one
                    better = True
        if not better:
            return


_SWEEPS = 16
_STIFF = 8.0  # how much more than at a box an arrow wants to be straight between two bends


def columns(layers: Layers, widths: Sequence[float], boxes: int, apart: float, bend_apart: float) -> list[float]:
    """The middle of every box and bend; those below `boxes` are boxes."""

    def distance(one: int, two: int) -> float:
        space = apart if one < boxes and two < boxes else bend_apart
        return (widths[one] + widths[two]) / 2 + space

    x = [0.0] * len(widths)
    for row in layers.rows:
        at = 0.0
        for one, two in zip([None, *row], row, strict=False):
            at += 0.0 if one is None else distance(one, two)
            x[two] = at
    for sweep in range(_SWEEPS):
        last = sweep >= _SWEEPS - 4  # in the end all neighbours count
        downwards = sweep % 2 == 0
        for row in layers.rows if downwards else reversed(layers.rows):
            wanted, weights = [], []
            for node in row:
                near = [
                    (x[other], _STIFF if node >= boxes and other >= boxes else 1.0)
                    for other in (
                        layers.above[node] + layers.below[node]
                        if last
                        else layers.above[node] if downwards else layers.below[node]
                    )
                ]  # fmt: skip
                total = sum(weight for _, weight in near)
                wanted.append(sum(place * weight for place, weight in near) / total if total else x[node])
                weights.append(total or 0.01)
            gaps = [distance(one, two) for one, two in pairwise(row)]
            for node, place in zip(row, spread(wanted, weights, gaps), strict=True):
                x[node] = place
    return x


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to those wanted (weighted least squares) that keep the gaps between neighbours.

    >>> spread([0, 0, 10], [1, 1, 1], [4, 4])
    [-2.0, 2.0, 10.0]
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # place of the first, weight, how many
    for place, weight, offset in zip(wanted, weights, offsets, strict=False):
        pool = (place - offset, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            before = pools.pop()
            total = before[1] + pool[1]
            pool = ((before[0] * before[1] + pool[0] * pool[1]) / total, total, before[2] + pool[2])
        pools.append(pool)
    firsts = [place for place, _, count in pools for _ in range(count)]
    return [first + offset for first, offset in zip(firsts, offsets, strict=False)]


Point = tuple[float, float]
_APART, _BEND_APART, _BEND = 26.0, 12.0, 2.0  # between boxes, beside a bend, and how wide a bend is
_LAYER, _MOST_LAYER = 38.0, 74.0  # between layers
_PORT = 18.0  # between arrows at a box
_SHELF = 34.0  # between parts that do not hang together


@dataclass(frozen=True)
class Placed:
    """Places of boxes and arrows; y runs down. A route is a curve: a point, then two handles and a point, repeated."""

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
    """The smaller of two layouts: one keeps the order of the program, the other has fewer arrows back."""
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
