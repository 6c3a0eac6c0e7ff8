"""Places of boxes in layers with arrows between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Edge = tuple[int, int]
Point = tuple[float, float]

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
