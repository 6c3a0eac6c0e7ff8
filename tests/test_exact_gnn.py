"""Messages of several bits, depth of depth-first search, and adjacency matrices, against networkx."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import bitwright
from bitwright import NodeProgram, parse, run
from bitwright.verbs.graphs import open_graph

FOLDER = Path(__file__).parent.parent / "examples"
FLOOD = parse("graph directed\nbits x\nblock x\nwhen x=1 write x far.x\ninput source = x\n", "flood")


def opened(name: str, **lets: int) -> NodeProgram:
    found: Any = bitwright.open(FOLDER / name, **lets)
    return found  # type: ignore[no-any-return]


def graphs(count: int) -> list[nx.Graph]:
    return [nx.gnp_random_graph(nodes, 2.2 / nodes, seed=nodes) for nodes in range(1, count + 1)]


def test_depth_first_search_gives_parents_and_depths() -> None:
    program = opened("exact_gnn/dfs.bw")
    for graph in graphs(20):
        done = run(program, graph=graph, source=0)
        tree = nx.dfs_tree(graph, 0)
        depth = nx.single_source_shortest_path_length(tree, 0)
        assert {node: found["depth"] for node, found in done.nodes.items()} == {v: depth.get(v) for v in graph}
        assert {(up, node) for node, found in done.nodes.items() for up in found["parent"]} == set(tree.edges)


def test_messages_arrive_where_they_can() -> None:
    program = opened("exact_gnn/flooding.bw", l=10)
    for graph in graphs(12):
        message = {node: 677 * (node == 0) for node in graph}
        done = run(program, graph=graph, source=0, message=message)
        reached = nx.node_connected_component(graph, 0)
        assert {node: got["message"] for node, got in done.nodes.items()} == {
            v: 677 if v in reached else None for v in graph
        }


@pytest.mark.parametrize("made", [np.asarray, csr_array])
def test_a_symmetric_matrix_is_an_undirected_graph(made: Any) -> None:
    matrix = np.array([[0, 3, 0, 0], [3, 0, 5, 0], [0, 5, 0, 0], [0, 0, 0, 0]])
    graph = open_graph(made(matrix))
    assert not graph.topology.directed
    assert graph.edge_values["weight"] == {0: 3, 1: 5}
    done = run(opened("graphs/shortest-paths.bw"), graph=made(matrix), source=0)
    assert {node: got["distance"] for node, got in done.nodes.items()} == {0: 0, 1: 3, 2: 8, 3: None}
