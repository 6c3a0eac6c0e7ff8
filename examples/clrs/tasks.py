"""Tasks of CLRS-30 as runs of node programs: from samples to graphs, and from outputs to the arrays of dm-clrs.

Samples are dictionaries of NumPy arrays, by the names of dm-clrs's probes and without its batch axis. Nothing here
imports dm-clrs. Numbers enter exactly, in fixed point. The programs find outputs; nothing is computed here but the
conversion of one form into another, and the README says where more than that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np

import bitwright
from bitwright.rules import NodeProgram, Topology

Sample = Mapping[str, np.ndarray]
Outputs = dict[str, np.ndarray]
HERE = Path(__file__).parent
PROGRAMS = (
    *sorted(HERE.glob("*.bw")),
    HERE.parent / "graphs" / "bfs.bw",
)


@dataclass(frozen=True)
class Result:
    """What a program put out on a graph: flags of nodes and of ports, by name."""

    topology: Topology
    nodes: Mapping[str, np.ndarray]
    ports: Mapping[str, np.ndarray]

    def pointers(self, name: str) -> np.ndarray:
        """The neighbour at the port that is marked; a node without one points to itself, as in dm-clrs."""
        found = np.arange(self.topology.nodes)
        marked = self.ports[name] > 0
        found[self.topology.port_node[marked]] = self.topology.port_far[marked]
        return found

    def sources(self, name: str) -> np.ndarray:
        """The neighbour whose port to this node is marked."""
        found = np.arange(self.topology.nodes)
        marked = self.ports[name] > 0
        found[self.topology.port_far[marked]] = self.topology.port_node[marked]
        return found

    def matrix(self, name: str) -> np.ndarray:
        """1 at both directions of every edge with a marked port."""
        found = np.zeros((self.topology.nodes, self.topology.nodes))
        marked = self.ports[name] > 0
        for one, far in zip(self.topology.port_node[marked], self.topology.port_far[marked], strict=True):
            found[one, far] = found[far, one] = 1
        return found


class Player:
    """Runs node programs by one network, or by their rules if there is none."""

    def __init__(self, network: bitwright.Network | None) -> None:
        self.network = network
        self.steps = 0  # of all runs so far

    def __call__(self, name: str, topology: Topology, lets: Mapping[str, int], **values: np.ndarray) -> Result:
        algorithm = opened(name, **lets).on(topology, values)
        done = bitwright.run(algorithm, network=self.network)
        self.steps += done.steps
        by_node, by_port = (
            {name: np.array(found) for name, found in algorithm.read_places(done.state, place).items()}
            for place in ("node", "port")
        )
        return Result(topology, by_node, by_port)


@lru_cache(maxsize=32)
def opened(name: str, **lets: int) -> NodeProgram:
    """A node program, with numbers in place of those that its text has."""
    (path,) = (path for path in PROGRAMS if path.stem == name)
    return bitwright.open(path, **lets)


# From samples to graphs and numbers.


def fixed_point(*arrays: np.ndarray) -> tuple[list[np.ndarray], int]:
    """The same real numbers as integers, all times one power of two, and how many bits the largest has.

    A float is a fraction whose denominator is a power of two, so this is exact.

    >>> fixed_point(np.array([0.5, 0.75]), np.array([2.0]))
    ([array([2, 3], dtype=object), array([8], dtype=object)], 4)
    """
    exact = [[Fraction(value) for value in np.ravel(array).tolist()] for array in arrays]
    scale = max((value.denominator for values in exact for value in values), default=1)
    whole = [[int(value * scale) for value in values] for values in exact]
    bits = max((abs(value).bit_length() for values in whole for value in values), default=1)
    return [
        np.array(values, dtype=object).reshape(np.shape(array)) for values, array in zip(whole, arrays, strict=True)
    ], max(bits, 2)


def flag(nodes: int, at: int) -> np.ndarray:
    """1 at one node."""
    return np.eye(nodes, dtype=int)[at]


def no_edges(nodes: int) -> Topology:
    return Topology.from_edges(nodes, np.zeros((0, 2), dtype=int))


def complete(nodes: int) -> Topology:
    return Topology.from_edges(nodes, list(combinations(range(nodes), 2)) or np.zeros((0, 2), dtype=int))


def path(nodes: int, cut: int | None = None) -> Topology:
    """Directed edges from each node to the next, but none to the node `cut`."""
    starts = np.array([at for at in range(nodes - 1) if at + 1 != cut], dtype=int)
    return Topology.from_edges(nodes, np.stack([starts, starts + 1], axis=1), directed=True)


def undirected(matrix: np.ndarray) -> Topology:
    """Ports of a node stand in the order of its neighbours. Loops are left out: no output depends on them."""
    return Topology.from_edges(len(matrix), np.argwhere(np.triu(matrix != 0, k=1)))


def directed(matrix: np.ndarray) -> Topology:
    return Topology.from_edges(len(matrix), np.argwhere(matrix != 0), directed=True)


def at_ports(topology: Topology, matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix[topology.port_node, topology.port_far])


# The tasks.


def sort(play: Player, sample: Sample) -> Outputs:
    (key,), bits = fixed_point(sample["key"])
    return {"pred": play("order", complete(len(key)), {"B": bits}, key=key).pointers("pred")}


def minimum(play: Player, sample: Sample) -> Outputs:
    (key,), bits = fixed_point(sample["key"])
    return {"min": play("order", no_edges(len(key)), {"B": bits, "rounds": 1}, key=key).nodes["last"]}


def quickselect(play: Player, sample: Sample) -> Outputs:
    (key,), bits = fixed_point(sample["key"])
    lets = {"B": bits, "rounds": len(key) // 2 + 1}
    return {"median": play("order", no_edges(len(key)), lets, key=key).nodes["last"]}


def binary_search(play: Player, sample: Sample) -> Outputs:
    (key, target), bits = fixed_point(sample["key"], np.ravel(sample["target"]))
    nodes = len(key)
    ends = {"first": flag(nodes, 0), "last": flag(nodes, -1)}
    return {"return": play("binary-search", path(nodes), {"B": bits}, key=key, target=target, **ends).nodes["found"]}


def maximum_subarray(play: Player, sample: Sample) -> Outputs:
    (key,), bits = fixed_point(sample["key"])
    done = play("maximum-subarray", path(len(key)), {"B": bits}, key=key, first=flag(len(key), 0))
    return {"start": done.nodes["low_end"], "end": done.nodes["high_end"]}


def activity_selector(play: Player, sample: Sample) -> Outputs:
    (start, finish), bits = fixed_point(sample["s"], sample["f"])
    return {
        "selected": play("activity-selector", no_edges(len(start)), {"B": bits}, s=start, f=finish).nodes["selected"]
    }


def task_scheduling(play: Player, sample: Sample) -> Outputs:
    (weight,), bits = fixed_point(sample["w"])
    deadline = sample["d"].astype(int)
    done = play("task-scheduling", no_edges(len(weight)), {"B": bits}, deadline=deadline, weight=weight)
    return {"selected": done.nodes["selected"]}


def string_matcher(play: Player, sample: Sample) -> Outputs:
    """Without a match dm-clrs names the head of the pattern."""
    is_text, letter = sample["string"] == 0, np.argmax(sample["key"], axis=-1) + 1
    nodes, head = len(is_text), int(np.argmin(is_text))
    inputs = {"letter": letter, "text": is_text.astype(int), "first": flag(nodes, 0), "head": flag(nodes, head)}
    found = play("string-matcher", path(nodes, cut=head), {}, **inputs).nodes["match"]
    return {"match": found if found.any() else flag(nodes, head)}


def bfs(play: Player, sample: Sample) -> Outputs:
    source = sample["s"].astype(int)
    return {"pi": play("bfs", undirected(sample["A"]), {}, source=source).pointers("parent")}


def depth_first(play: Player, sample: Sample) -> Result:
    nodes, topology = len(sample["A"]), complete(len(sample["A"]))
    inputs = {
        "first": flag(nodes, 0),
        "final": flag(nodes, -1),
        "edge": (at_ports(topology, sample["A"]) != 0).astype(int),
        "follows": (topology.port_far == topology.port_node + 1).astype(int),
    }
    return play("depth-first", topology, {}, **inputs)


def dfs(play: Player, sample: Sample) -> Outputs:
    return {"pi": depth_first(play, sample).pointers("pi")}


def topological_sort(play: Player, sample: Sample) -> Outputs:
    done = depth_first(play, sample)
    return {"topo": done.pointers("topo"), "topo_head": done.nodes["topo_head"]}


def strongly_connected_components(play: Player, sample: Sample) -> Outputs:
    return {"scc_id": depth_first(play, sample).pointers("scc")}


def articulation_points(play: Player, sample: Sample) -> Outputs:
    order = np.arange(1, len(sample["A"]) + 1)
    return {"is_cut": play("articulation-points", undirected(sample["A"]), {}, order=order).nodes["cut"]}


def bridges(play: Player, sample: Sample) -> Outputs:
    order = np.arange(1, len(sample["A"]) + 1)
    return {"is_bridge": play("bridges", undirected(sample["A"]), {}, order=order).matrix("bridge")}


def grown(play: Player, topology: Topology, matrix: np.ndarray, source: np.ndarray, add: int) -> Result:
    """The tree of shortest paths from the source (add=1), or the lightest one (add=0)."""
    (weight,), bits = fixed_point(at_ports(topology, matrix))
    inputs = {"weight": weight, "source": source.astype(int), "add": np.array([add])}
    return play("spanning-tree", topology, {"B": bits}, **inputs)


def shortest_paths(play: Player, sample: Sample) -> Outputs:
    matrix = sample["A"] * (1 - np.eye(len(sample["A"])))
    return {"pi": grown(play, directed(matrix), matrix, sample["s"], add=1).sources("tree")}


def mst_prim(play: Player, sample: Sample) -> Outputs:
    return {"pi": grown(play, undirected(sample["A"]), sample["A"], sample["s"], add=0).sources("tree")}


def mst_kruskal(play: Player, sample: Sample) -> Outputs:
    """A forest. Edges heavier than all others, of different weights, make one tree of it, and are taken out again."""
    nodes, matrix = len(sample["A"]), sample["A"].copy()
    heavier = 2.0 ** np.ceil(np.log2(matrix.max(initial=1.0) + 1.0))
    for at in range(nodes - 1):
        if matrix[at, at + 1] == 0:
            matrix[at, at + 1] = matrix[at + 1, at] = heavier + at
    found = grown(play, undirected(matrix), matrix, flag(nodes, 0), add=0).matrix("tree")
    return {"in_mst": found * (sample["A"] != 0)}


def floyd_warshall(play: Player, sample: Sample) -> Outputs:
    """A run for each source. Where a node has a loop, a copy of the node tells the shortest way back to it."""
    matrix = sample["A"]
    nodes = len(matrix)
    found = np.zeros((nodes, nodes), dtype=int)
    for source in range(nodes):
        loop = matrix[source, source] != 0
        wider = np.zeros((nodes + 1, nodes + 1))
        wider[:nodes, :nodes] = matrix * (1 - np.eye(nodes))
        if loop:
            wider[:nodes, nodes] = matrix[:, source]
        before = grown(play, directed(wider), wider, flag(nodes + 1, source), add=1).sources("tree")
        reached = before[:nodes] != np.arange(nodes)
        found[source] = np.where(reached, before[:nodes], source)
        if loop:
            found[source, source] = before[nodes]
    return {"Pi": found}


TASKS: Mapping[str, Callable[[Player, Sample], Outputs]] = {
    "activity_selector": activity_selector,
    "articulation_points": articulation_points,
    "bellman_ford": shortest_paths,
    "bfs": bfs,
    "binary_search": binary_search,
    "bridges": bridges,
    "bubble_sort": sort,
    "dag_shortest_paths": shortest_paths,
    "dfs": dfs,
    "dijkstra": shortest_paths,
    "find_maximum_subarray_kadane": maximum_subarray,
    "floyd_warshall": floyd_warshall,
    "heapsort": sort,
    "insertion_sort": sort,
    "kmp_matcher": string_matcher,
    "minimum": minimum,
    "mst_kruskal": mst_kruskal,
    "mst_prim": mst_prim,
    "naive_string_matcher": string_matcher,
    "quickselect": quickselect,
    "quicksort": sort,
    "strongly_connected_components": strongly_connected_components,
    "task_scheduling": task_scheduling,
    "topological_sort": topological_sort,
}
