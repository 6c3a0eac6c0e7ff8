"""The first half of a layered layout (Sugiyama, Tagawa, Toda 1981): which box is in which layer.

Arrows that close a circle are turned round for the layout; which ones follows from an order of the boxes, and there are
two to try. Then every arrow leads down, each box stands as high as it can, and no layer is wider than a page where that
can be helped. Arrows that pass a layer get a bend there, which is placed like a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[int, int]


@dataclass
class Layers:
    """Boxes and bends in layers from the top, and what hangs together between neighbouring layers."""

    rows: list[list[int]]  # boxes keep their numbers, bends come after them
    chains: list[list[int]]  # for every edge: from its upper box by its bends to its lower box
    turned: list[bool]  # for every edge: whether it leads up
    above: list[list[int]]  # for every box or bend: those in the layer above it that it hangs on
    below: list[list[int]]


def in_layers(
    widths: Sequence[float], edges: Sequence[Edge], order: Sequence[int], most_width: float, apart: float
) -> Layers:
    """Layers for boxes of these widths; what leads back in `order` leads up. None is wider than `most_width`."""
    rank = {node: place for place, node in enumerate(order)}
    turned = [rank[a] > rank[b] for a, b in edges]
    down = [(b, a) if up else (a, b) for (a, b), up in zip(edges, turned, strict=True)]
    layer = _layers_of(widths, down, order, most_width, apart)
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node, at in enumerate(layer):
        rows[at].append(node)
    chains, nodes = [], len(widths)
    for a, b in down:
        bends = list(range(nodes, nodes + layer[b] - layer[a] - 1))
        for offset, bend in enumerate(bends, layer[a] + 1):
            rows[offset].append(bend)
        chains.append([a, *bends, b])
        nodes += len(bends)
    above: list[list[int]] = [[] for _ in range(nodes)]
    below: list[list[int]] = [[] for _ in range(nodes)]
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return Layers(rows, chains, turned, above, below)


def walked(count: int, edges: Sequence[Edge]) -> list[int]:
    """An order of boxes in which only edges that close a circle lead back: that of a walk in depth (reverse postorder).

    The walk begins at boxes that no edge leads to, then at the first that is left: programs tell their story in order.
    """
    reached = {b for _, b in edges}
    import networkx  # here, since most commands draw nothing

    graph = networkx.DiGraph()
    graph.add_nodes_from(sorted(range(count), key=lambda node: (node in reached, node)))
    graph.add_edges_from(edges)
    return list(networkx.dfs_postorder_nodes(graph))[::-1]


def greedy(count: int, edges: Sequence[Edge]) -> list[int]:
    """An order in which few edges lead back (Eades, Lin, Smyth 1993): sources first, sinks last, else what gives."""
    after: list[set[int]] = [set() for _ in range(count)]
    before: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        after[a].add(b)
        before[b].add(a)
    left = dict.fromkeys(range(count))
    first: list[int] = []
    last: list[int] = []
    while left:
        sink = next((node for node in left if not after[node]), None)
        source = next((node for node in left if not before[node]), None)
        if sink is not None and (before[sink] or source is None):
            taken, to = sink, last
        elif source is not None:
            taken, to = source, first
        else:
            taken, to = max(left, key=lambda node: (len(after[node]) - len(before[node]), -node)), first
        to.append(taken)
        del left[taken]
        for other in after[taken]:
            before[other].discard(taken)
        for other in before[taken]:
            after[other].discard(taken)
    return first + last[::-1]


def _layers_of(
    widths: Sequence[float], down: Sequence[Edge], order: Sequence[int], most_width: float, apart: float
) -> list[int]:
    """As high as possible, one layer lower where a layer is full; then closer to where most edges lead."""
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for a, b in down:
        above[b].append(a)
        below[a].append(b)
    layer, used = [0] * len(widths), [0.0] * (len(widths) + 1)
    for node in order:
        at = max((layer[other] + 1 for other in above[node]), default=0)
        while used[at] and used[at] + apart + widths[node] > most_width:
            at += 1
        layer[node] = at
        used[at] += apart + widths[node]
    for node in reversed(order):
        if len(below[node]) > len(above[node]):
            lowest = min(layer[other] for other in below[node]) - 1
            fitting = (at for at in range(lowest, layer[node], -1) if used[at] + apart + widths[node] <= most_width)
            at = next(fitting, layer[node])
            used[layer[node]] -= apart + widths[node]
            used[at] += apart + widths[node]
            layer[node] = at
    present = sorted(set(layer))
    return [present.index(at) for at in layer]
