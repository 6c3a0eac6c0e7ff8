"""The order of boxes and bends within their layers: as few crossings as sweeps with barycentres find."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

from bitwright.pages.layered.layers import Layers

_SWEEPS = 24


def untangle(layers: Layers) -> None:
    """Orders `layers.rows` so that few arrows cross."""
    rows = [list(row) for row in layers.rows]
    best, least = [list(row) for row in rows], crossings(rows, layers.below)
    for sweep in range(_SWEEPS):
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
