"""How far to the right boxes and bends stand: near what they hang on, in their order, and apart.

In each layer that is a least-squares problem under x[i+1] - x[i] >= d[i], which pooling adjacent violators solves
exactly; layers take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bitwright.pages.layered.layers import Layers

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
