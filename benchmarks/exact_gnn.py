"""The four algorithms of exact_gnn by one proved network, on random graphs, each answer checked by networkx.

    python -m benchmarks.exact_gnn [--out FILE] [--graphs 100] [--nodes 20] [--seed 0]

Flooding of 8-bit messages, breadth-first search, depth-first search with depths, and shortest paths. Generators and
checks are our own: exact_gnn is on no package index. Prints one JSON line for each algorithm.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import bitwright

EXAMPLES = Path(__file__).parent.parent / "examples"
Nodes = dict[Any, dict[str, Any]]
Case = tuple[dict[str, Any], Callable[[Nodes], bool]]


def flooding(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source, message = int(rng.integers(len(graph))), int(rng.integers(1, 256))
    reached = nx.node_connected_component(graph, source)
    given = {"source": source, "message": {node: message * (node == source) for node in graph}}
    return given, lambda got: all(got[v]["message"] == (message if v in reached else None) for v in graph)


def bfs(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    level = nx.single_source_shortest_path_length(graph, source)
    return {"source": source}, lambda got: _tree(graph, got, source, level, "level", lambda *_: 1)


def dfs(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    tree = nx.dfs_tree(graph, source)
    depth = nx.single_source_shortest_path_length(tree, source)

    def right(got: Nodes) -> bool:
        edges = {(up, node) for node, found in got.items() for up in found["parent"]}
        return edges == set(tree.edges) and all(got[v]["depth"] == depth.get(v) for v in graph)

    return {"source": source}, right


def shortest_paths(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    nx.set_edge_attributes(graph, {edge: int(rng.integers(1, 16)) for edge in graph.edges}, "weight")
    distance = nx.single_source_dijkstra_path_length(graph, source)
    weight = lambda u, v: graph.edges[u, v]["weight"]  # noqa: E731
    return {"source": source}, lambda got: _tree(graph, got, source, distance, "distance", weight)


def _tree(
    graph: nx.Graph, got: Nodes, source: int, far: dict[int, int], name: str, weight: Callable[[int, int], int]
) -> bool:
    """Whether distances are right, and each node but the source has one parent that it can have."""
    return all(got[v][name] == far.get(v) for v in graph) and all(
        len(got[v]["parent"]) == (v in far and v != source)
        and all(far[u] + weight(u, v) == far[v] for u in got[v]["parent"])
        for v in graph
    )


ALGORITHMS: dict[str, tuple[str, Callable[[nx.Graph, np.random.Generator], Case]]] = {
    "flooding": ("exact_gnn/flooding.bw", flooding),
    "bfs": ("graphs/bfs.bw", bfs),
    "dfs": ("exact_gnn/dfs.bw", dfs),
    "shortest-paths": ("graphs/shortest-paths.bw", shortest_paths),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=20, help="of the largest graph; sizes are random, from 2 on")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    programs = {name: bitwright.open(EXAMPLES / path) for name, (path, _) in ALGORITHMS.items()}
    network = bitwright.train(*programs.values())
    lines = []
    for name, (_, case) in ALGORITHMS.items():
        rng = np.random.default_rng(options.seed)
        sizes = rng.integers(2, options.nodes + 1, options.graphs).tolist()
        graphs = [nx.gnp_random_graph(size, 0.3, seed=int(rng.integers(2**31))) for size in sizes]
        cases = [case(graph, rng) for graph in graphs]
        begin = time.perf_counter()
        runs = bitwright.run(programs[name], graph=graphs, inputs=[given for given, _ in cases], network=network)
        seconds = time.perf_counter() - begin
        right = sum(check(done.nodes) for done, (_, check) in zip(runs, cases, strict=True))
        steps = sum(done.steps for done in runs)
        line = {
            "algorithm": name, "graphs": len(graphs), "right": right, "proved": network.proved, "steps": steps,
            "nodes": [min(sizes), max(sizes)], "seconds": round(seconds, 2),
        }  # fmt: skip
        lines.append(json.dumps(line))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
