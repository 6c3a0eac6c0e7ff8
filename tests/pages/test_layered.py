"""The layered layout: boxes apart, arrows from box to box and past the others, few crossings, the same every time."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import numpy as np
from cases import for_each

from bitwright.pages.layered.layers import greedy, in_layers, walked
from bitwright.pages.layered.place import Placed, crossings, place, spread, untangle

Edges = list[tuple[int, int]]
Sizes = list[tuple[float, float]]


def graph(seed: int) -> tuple[Sizes, Edges]:
    chance = random.Random(seed)
    count = chance.randrange(1, 30)
    sizes = [(chance.randrange(40, 300) * 1.0, chance.randrange(20, 120) * 1.0) for _ in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    return sizes, sorted(chance.sample(pairs, min(len(pairs), chance.randrange(0, 2 * count))))


GRAPHS = [graph(seed) for seed in range(12)]
every_graph = for_each(("sizes", "edges"), GRAPHS)


def points(route: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points all along a curve."""
    found = []
    for at in range(0, len(route) - 1, 3):
        p = np.array(route[at : at + 4])
        for t in np.linspace(0, 1, 9):
            weights = np.array([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])
            found.append((float(weights @ p[:, 0]), float(weights @ p[:, 1])))
    return found


def check(placed: Placed, sizes: Sizes, edges: Edges) -> None:
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(placed.corners, sizes, strict=True)]
    for left, top, right, bottom in boxes:
        assert left >= -0.1
        assert top >= -0.1
        assert right <= placed.width + 0.1
        assert bottom <= placed.height + 0.1
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        assert c <= e or g <= a or d <= f or h <= b
    for (source, target), route in zip(edges, placed.routes, strict=True):
        for end, box in ((route[0], boxes[source]), (route[-1], boxes[target])):
            assert box[0] - 1 <= end[0] <= box[2] + 1
            assert box[1] - 1 <= end[1] <= box[3] + 1
        for number, (left, top, right, bottom) in enumerate(boxes):
            inside = [(x, y) for x, y in points(route) if left < x < right and top < y < bottom]
            assert number in (source, target) or not inside


@every_graph
def test_boxes_stand_apart_and_arrows_lead_past_them(sizes: Sizes, edges: Edges) -> None:
    placed = place(sizes, edges)
    check(placed, sizes, edges)
    assert placed == place(sizes, edges)


@every_graph
def test_without_circles_every_arrow_leads_down(sizes: Sizes, edges: Edges) -> None:
    down = [(a, b) for a, b in edges if a < b]
    for route in place(sizes, down).routes:
        assert route[0][1] < route[-1][1]


@every_graph
def test_layers_have_every_box_once_and_chains_step_by_step(sizes: Sizes, edges: Edges) -> None:
    widths = [width for width, _ in sizes]
    for order in (walked, greedy):
        found = order(len(sizes), edges)
        assert sorted(found) == list(range(len(sizes)))
        layers = in_layers(widths, edges, found, 800.0, 20.0)
        at = {node: number for number, row in enumerate(layers.rows) for node in row}
        assert sorted(at) == list(range(len(layers.above)))
        assert all(at[b] == at[a] + 1 for chain in layers.chains for a, b in pairwise(chain))
        for (a, b), chain, turned in zip(edges, layers.chains, layers.turned, strict=True):
            assert (chain[0], chain[-1]) == ((b, a) if turned else (a, b))
        before = crossings(layers.rows, layers.below)
        untangle(layers)
        assert crossings(layers.rows, layers.below) <= before
        assert at == {node: number for number, row in enumerate(layers.rows) for node in row}


def test_crossings_are_counted_and_removed() -> None:
    edges = [(0, 5), (1, 4), (2, 3)]
    layers = in_layers([10.0] * 6, edges, walked(6, edges), 1000.0, 1.0)
    layers.rows = [[0, 1, 2], [3, 4, 5]]
    assert crossings(layers.rows, layers.below) == 3
    untangle(layers)
    assert crossings(layers.rows, layers.below) == 0


def test_a_full_layer_goes_on_below() -> None:
    sizes = [(100.0, 20.0)] * 21
    edges = [(0, node) for node in range(1, 21)]
    placed = place(sizes, edges, 600.0)
    check(placed, sizes, edges)
    assert placed.width < 20 * 100
    assert len({y for _, y in placed.corners}) > 3


def test_parts_that_do_not_hang_together_fill_shelves() -> None:
    placed = place([(200.0, 30.0)] * 12, [], 950.0)
    assert placed.width <= 950
    assert len({y for _, y in placed.corners}) == 3


def test_places_are_the_nearest_that_keep_apart() -> None:
    """Against a search by quadratic programming on a grid of shifts: no single move makes it better."""
    chance = np.random.default_rng(7)
    for _ in range(20):
        count = int(chance.integers(1, 8))
        wanted, weights = chance.uniform(0, 30, count), chance.uniform(0.5, 8, count)
        gaps = chance.uniform(1, 9, count - 1)
        found = np.array(spread(wanted.tolist(), weights.tolist(), gaps.tolist()))
        assert np.all(np.diff(found) >= gaps - 1e-9)
        cost = float(weights @ (found - wanted) ** 2)
        for _ in range(50):
            other = np.sort(found + chance.normal(0, 1, count))
            for at in range(1, count):
                other[at] = max(other[at], other[at - 1] + gaps[at - 1])
            assert float(weights @ (other - wanted) ** 2) >= cost - 1e-9
