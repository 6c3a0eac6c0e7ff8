"""Boxes in rows: apart, with arrows from box to box and past the others, the same every time."""

import random
from itertools import combinations

import numpy as np
from cases import for_each

from paper.layered import Placed, layered

Edges = list[tuple[int, int]]
Sizes = list[tuple[float, float]]


def graph(seed: int) -> tuple[Sizes, Edges]:
    chance = random.Random(seed)
    count = chance.randrange(1, 30)
    sizes = [(chance.randrange(40, 300) * 1.0, chance.randrange(20, 120) * 1.0) for _ in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    return sizes, sorted(chance.sample(pairs, min(len(pairs), chance.randrange(0, 2 * count))))


every_graph = for_each(("sizes", "edges"), [graph(seed) for seed in range(12)])


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
    placed = layered(sizes, edges)
    check(placed, sizes, edges)
    assert placed == layered(sizes, edges)


@every_graph
def test_without_circles_every_arrow_leads_down(sizes: Sizes, edges: Edges) -> None:
    for route in layered(sizes, [(a, b) for a, b in edges if a < b]).routes:
        assert route[0][1] < route[-1][1]


def test_crossings_are_removed() -> None:
    x = [corner[0] for corner in layered([(10.0, 10.0)] * 6, [(0, 5), (1, 4), (2, 3)]).corners]
    assert np.argsort(x[:3]).tolist() == np.argsort([x[5], x[4], x[3]]).tolist()


def test_a_full_row_goes_on_below() -> None:
    sizes, edges = [(100.0, 20.0)] * 21, [(0, node) for node in range(1, 21)]
    placed = layered(sizes, edges, 600.0)
    check(placed, sizes, edges)
    assert placed.width < 20 * 100
    assert len({y for _, y in placed.corners}) > 3
