"""One network for all graph programs: how small it is, that it is right, and how fast every engine is.

    python -m paper.measurements.graphs [--out FILE] [--small 1000] [--large 10] [--sizes 10,100,1000,10000,100000]

Trains one network of integers on the kinds of all examples, tries every local state, and runs every program
through it: on random graphs of 5 to 20 nodes and of 10,000 nodes, compared with networkx. Then breadth-first search on
graphs of several sizes with every engine. Prints one JSON line each.
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

from bitwright import NodeProgram, run
from bitwright.common.errors import InputError
from bitwright.graphs.named import from_networkx
from bitwright.proofs.width import suggested_width
from bitwright.rules import parse_node_program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import train_on_pattern
from bitwright.verbs.graphs import on_graph
from paper.training import Plan, Recipe, descend

EXAMPLES = Path(__file__).parents[2] / "examples" / "graphs"
LINES: list[dict[str, Any]] = []
LARGE_STEPS = 2_000_000


def say(**line: Any) -> None:
    LINES.append(line)
    print(json.dumps(line), flush=True)


def programs() -> dict[str, NodeProgram]:
    return {path.stem: parse_node_program(path.read_text(), path.stem) for path in sorted(EXAMPLES.glob("*.bw"))}


# What networkx says. Each gives the inputs, and a function from what the nodes say to whether that is right.
Case = tuple[dict[str, Any], Callable[[dict[Any, dict[str, Any]]], bool]]


def flooding(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    wanted = nx.node_connected_component(graph, source)
    return {"source": source}, lambda got: {v for v in graph if got[v]["reached"]} == wanted


def bipartite(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    wanted = nx.is_bipartite(graph.subgraph(nx.node_connected_component(graph, source)))
    return {"source": source}, lambda got: wanted == (not any(v["even"] and v["odd"] for v in got.values()))


def bfs(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    level = nx.single_source_shortest_path_length(graph, source)

    def right(got: dict[Any, dict[str, Any]]) -> bool:
        parents = (
            len(got[v]["parent"]) == (v in level and v != source)
            and all(level[u] == level[v] - 1 for u in got[v]["parent"])
            for v in graph
        )
        return all(got[v]["level"] == level.get(v) for v in graph) and all(parents)

    return {"source": source}, right


def of_components(output: str, choose: Callable[[Any], int]) -> Callable[[nx.Graph, np.random.Generator], Case]:
    def case(graph: nx.Graph, rng: np.random.Generator) -> Case:
        given = dict(zip(graph, rng.permutation(len(graph)).tolist(), strict=True))
        parts = [(part, choose(given[u] for u in part)) for part in nx.connected_components(graph)]
        wanted = {v: label for part, label in parts for v in part}
        return {"id": given}, lambda got: all(got[v][output] == wanted[v] for v in graph)

    return case


def shortest(largest: int) -> Callable[[nx.Graph, np.random.Generator], Case]:
    def case(graph: nx.Graph, rng: np.random.Generator) -> Case:
        for one, other in graph.edges:
            graph[one][other]["weight"] = int(rng.integers(1, largest + 1))
        source = int(rng.integers(len(graph)))
        wanted = nx.single_source_dijkstra_path_length(graph, source)
        inputs = {"source": source, "weight": "@weight"}
        return inputs, lambda got: all(got[v]["distance"] == wanted.get(v) for v in graph)

    return case


def dfs(graph: nx.Graph, rng: np.random.Generator) -> Case:
    source = int(rng.integers(len(graph)))
    wanted = {v: [u] for u, v in nx.dfs_edges(graph, source)}
    return {"source": source}, lambda got: all(got[v]["parent"] == wanted.get(v, []) for v in graph)


def independent(graph: nx.Graph, rng: np.random.Generator) -> Case:
    given = dict(zip(graph, rng.permutation(len(graph)).tolist(), strict=True))

    def right(got: dict[Any, dict[str, Any]]) -> bool:
        chosen = {v for v in graph if got[v]["chosen"]}
        apart = not any(u in chosen and v in chosen for u, v in graph.edges)
        return apart and all(v in chosen or any(u in chosen for u in graph[v]) for v in graph)

    return {"id": given}, right


CASES: dict[str, Callable[[nx.Graph, np.random.Generator], Case]] = {
    "flooding": flooding,
    "bipartite": bipartite,
    "bfs": bfs,
    "components": of_components("component", max),
    "leader": of_components("leader", min),
    "shortest-paths": shortest(15),
    "shortest-paths-binary": shortest(15),
    "dfs": dfs,
    "independent-set": independent,
}


def check(name: str, program: NodeProgram, cells: Any, sizes: list[int], degree: float, what: str) -> None:
    """Runs a program through the network on random graphs, and counts what networkx says otherwise."""
    wrong = steps = 0
    begin = time.perf_counter()
    seconds = 0.0
    for seed, nodes in enumerate(sizes):
        rng = np.random.default_rng(seed)
        graph = nx.gnm_random_graph(nodes, min(int(nodes * degree / 2), nodes * (nodes - 1) // 2), seed=seed)
        inputs, right = CASES[name](graph, rng)
        algorithm = on_graph(program, graph, inputs)
        start = time.perf_counter()
        done = run(algorithm, network=cells, steps=LARGE_STEPS)
        seconds += time.perf_counter() - start
        steps += done.steps
        wrong += not (done.halted and done.cells and done.cells["proved"] and right(done.nodes))
    say(
        what=what,
        program=name,
        graphs=len(sizes),
        nodes=[min(sizes), max(sizes)],
        wrong=wrong,
        steps=steps,
        running_s=round(seconds, 3),
        all_s=round(time.perf_counter() - begin, 3),
    )


def tori(name: str, program: NodeProgram, cells: Any, sizes: list[int]) -> None:
    """The same for Life on tori, beside NumPy."""
    wrong = 0
    for seed, side in enumerate(sizes):
        alive = np.random.default_rng(seed).random((side, side)) < 0.3
        count = sum(np.roll(alive, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        wanted = (count == 3) | (alive & (count == 2))
        given = {"alive": alive.ravel()}
        got = run(on_graph(program, f"torus:{side}x{side}", given), network=cells)
        wrong += [own["alive"] for own in got.nodes.values()] != wanted.ravel().astype(int).tolist()
    say(what="tori", program=name, graphs=len(sizes), sides=[min(sizes), max(sizes)], wrong=wrong)


def speed(program: NodeProgram, cells: Any, sizes: list[int]) -> None:
    """Breadth-first search with every engine; those that solve for all examples at once only where these are few."""
    engines: dict[str, dict[str, Any]] = {
        "templates": {"engine": "templates"},
        "limit": {"engine": "limit"},
        "network (cells)": {"network": cells},
        "sampled": {"engine": "sampled", "networks": 200},
    }
    for nodes in sizes:
        graph = nx.gnm_random_graph(nodes, 2 * nodes, seed=0)
        named = from_networkx(graph)
        begin = time.perf_counter()
        algorithm = on_graph(program, named, {"source": "0"})
        build = time.perf_counter() - begin
        wanted = None
        for name, how in engines.items():
            if name == "sampled" and algorithm.program.templates > 5_000:
                continue
            try:
                times = []
                for _ in range(3 if nodes <= 10_000 else 1):
                    begin = time.perf_counter()
                    done = run(algorithm, **how)
                    times.append(time.perf_counter() - begin)
            except InputError as error:
                say(what="speed", engine=name, nodes=nodes, refused=str(error))
                continue
            wanted = wanted or done.nodes
            rate = nodes * done.steps / min(times)
            sizes_of = {"nodes": nodes, "templates": algorithm.program.templates, "wiring_s": round(build, 3)}
            took = {"steps": done.steps, "seconds": round(min(times), 4), "node_steps_per_s": f"{rate:.3g}"}
            say(what="speed", engine=name, **sizes_of, **took, same=done.nodes == wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="also write the lines to this file")
    parser.add_argument("--small", type=int, default=1_000, help="random graphs of 5 to 20 nodes, for each program")
    parser.add_argument("--large", type=int, default=10, help="of 10,000 nodes")
    parser.add_argument("--sizes", default="10,100,1000,10000,100000", help="of graphs whose speed is measured")
    given = parser.parse_args()
    known = programs()
    pattern = Pattern.of(kind for program in known.values() for kind in program.kinds)
    begin = time.perf_counter()
    recipe = Recipe(suggested_width(pattern), 0, plan=Plan(descent="momentum"))
    cells = train_on_pattern(pattern, recipe, descend=descend)
    assert cells.tables is not None
    assert cells.training is not None
    say(
        what="network", programs=len(known), kinds=len(pattern.kinds), examples=pattern.program.templates,
        local_states=pattern.local_states, proved=cells.proved, width=cells.width, seeds=cells.training.seeds,
        bytes=cells.weights.bytes, margin=round(float(cells.tables.margin), 3),
        seconds=round(time.perf_counter() - begin, 2),
    )  # fmt: skip
    for name in CASES:
        if name in known:
            sizes = [5 + seed % 16 for seed in range(given.small)]
            check(name, known[name], cells, sizes, 3.0, "small graphs")
    tori("life", known["life"], cells, [3 + seed % 12 for seed in range(given.small // 10)])
    for name in CASES:
        if name in known:
            check(name, known[name], cells, [10_000] * given.large, 6.0, "large graphs")
    speed(known["bfs"], cells, [int(size) for size in given.sizes.split(",")])
    if given.out:
        given.out.write_text("".join(json.dumps(line) + "\n" for line in LINES))


if __name__ == "__main__":
    main()
