"""The pictures of runs on graphs in docs/pictures: `python tools/graph_pictures.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bitwright import Run, run
from bitwright.common.files.storage import write_atomically
from bitwright.pages import graph_steps_svg, graph_svg
from bitwright.rules import NodeProgram, Topology, parse_node_program

ROOT = Path(__file__).parent.parent
GENERATIONS = (0, 10, 20, 30, 60, 90)
GUN = """
........................o...........
......................o.o...........
............oo......oo............oo
...........o...o....oo............oo
oo........o.....o...oo..............
oo........o...o.oo....o.o...........
..........o.....o.......o...........
...........o...o....................
............oo......................
"""  # by Gosper; every 30 generations it sends off a glider


def program(name: str, **lets: int) -> NodeProgram:
    return parse_node_program((ROOT / "examples" / "graphs" / f"{name}.bw").read_text(), name, lets)


def search(nodes: int = 30, seed: int = 11) -> Run:
    """A breadth-first search on places in the plane, each joined with those nearby."""
    places = np.random.default_rng(seed).random((nodes, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    edges = np.argwhere(np.triu(apart < 0.27, 1))
    source = np.zeros(nodes, dtype=np.int64)
    source[np.argmin(places.sum(axis=1))] = 1
    return run(program("bfs").on(Topology.from_edges(nodes, edges), {"source": source}), record=True)


def life(rows: int = 30, columns: int = 40, generations: int = GENERATIONS[-1]) -> Run:
    """A glider gun on a torus."""
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    edges = [
        (row * columns + column, (row + down) % rows * columns + (column + right) % columns)
        for row, column in cells
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    alive = np.zeros((rows, columns), dtype=np.int64)
    for row, line in enumerate(GUN.split(), start=2):
        alive[row, 2 : 2 + len(line)] = [cell == "o" for cell in line]
    names = [f"{row}.{column}" for row, column in cells]
    torus = Topology.from_edges(rows * columns, edges)
    on = program("life", generations=generations).on(torus, {"alive": alive.ravel()}, names)
    return run(on, record=True)


def main() -> None:
    pictures = ROOT / "docs" / "pictures"
    title = "Breadth-first search: levels, and the tree"
    write_atomically(pictures / "graph-bfs.svg", graph_svg(search(), title=title).encode())
    labels = {9 * generation + 1: f"generation {generation}" for generation in GENERATIONS}
    title = "Game of Life, a glider gun on a torus of 30 × 40 nodes"
    write_atomically(pictures / "life.svg", graph_steps_svg(life(), labels, title=title).encode())


if __name__ == "__main__":
    main()
