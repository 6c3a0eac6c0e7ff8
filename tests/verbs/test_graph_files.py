"""Files of graphs against networkx's own readers, and what is refused in them."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from long import seeds

from bitwright.common.errors import InputError
from bitwright.graphs.files import NamedGraph, from_networkx, read_graph

NAMES = ["a", "Zürich", "東京", "x-1", "🙂", "ns:7", "b", "0", "né", "_", "q.r", "42"]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def random_graph(seed: int, kind: type = nx.Graph) -> Any:
    """Names of all sorts, isolated nodes, loops, edges in no order, and weights on some of them."""
    rng = np.random.default_rng(seed)
    graph = kind()
    names = [*rng.permutation(NAMES)[: rng.integers(1, len(NAMES))].tolist()]
    graph.add_nodes_from(names)
    for _ in range(rng.integers(0, 3 * len(names))):
        weight = {"weight": int(rng.integers(0, 99))} if rng.random() < 0.7 else {}
        graph.add_edge(*rng.choice(names, 2).tolist(), **weight)
    return graph


def neighbours(graph: NamedGraph) -> dict[str, list[str]]:
    """Names of the neighbours of each node in the order of its ports; a loop once, as networkx has it."""
    found: dict[str, list[str]] = {name: [] for name in graph.names}
    loops = set()
    topology = graph.topology
    for one, far, edge in zip(topology.port_node, topology.port_far, topology.port_edge, strict=True):
        if one == far and not topology.directed:
            if edge in loops:
                continue
            loops.add(edge)
        found[graph.names[one]].append(graph.names[far])
    return found


def adjacency(graph: Any) -> dict[str, list[str]]:
    if graph.is_multigraph():
        return {str(n): [str(v) for v, keys in there.items() for _ in keys] for n, there in graph.adjacency()}
    return {str(n): list(map(str, there)) for n, there in graph.adjacency()}


def weights(graph: NamedGraph) -> dict[frozenset[str] | tuple[str, ...], str]:
    ends = graph.topology.edge_ends.tolist()
    pair: Any = tuple if graph.topology.directed else frozenset
    found = graph.edge_values.get("weight", {})
    return {pair([graph.names[end] for end in ends[edge]]): str(value) for edge, value in found.items()}


def weights_of(graph: Any) -> dict[frozenset[str] | tuple[str, ...], str]:
    pair: Any = tuple if graph.is_directed() else frozenset
    return {pair([str(u), str(v)]): str(w) for u, v, w in graph.edges(data="weight") if w is not None}


def check_ports(graph: NamedGraph) -> None:
    """What a Topology promises of its ports."""
    t = graph.topology
    assert (np.diff(t.port_node) >= 0).all()
    if t.opposite is not None:
        assert (t.opposite[t.opposite] == np.arange(t.ports)).all()
        assert (t.opposite != np.arange(t.ports)).all()
        assert (t.port_node[t.opposite] == t.port_far).all()
        assert (t.port_edge[t.opposite] == t.port_edge).all()
        assert np.bincount(t.port_edge, minlength=t.edges).tolist() == [2] * t.edges


@for_each("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@for_each("seed", seeds(12, of=60))
def test_from_networkx_and_back(seed: int, kind: type) -> None:
    source = random_graph(seed, kind)
    graph = from_networkx(source)
    check_ports(graph)
    assert graph.names == tuple(source)
    assert neighbours(graph) == adjacency(source)
    assert graph.topology.edges == source.number_of_edges()
    ends = [tuple(graph.names[end] for end in pair) for pair in graph.topology.edge_ends.tolist()]
    assert ends == list(source.edges())
    records = [about for *_, about in source.edges(data=True)]
    found = graph.edge_values.get("weight", {})
    assert [found.get(edge) for edge in range(len(records))] == [about.get("weight") for about in records]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([(1, "1")]), "two nodes are named '1': 1 and '1'; rename one of them"),
        (nx.Graph(), "a graph needs at least one node"),
        ([(1, 2)], "the graph must be a networkx graph, got 'list'"),
    ],
)
def test_refused_networkx(graph: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_networkx(graph)
    assert str(caught.value) == message


@for_each("directed", [False, True])
@for_each("seed", seeds(10, of=40))
def test_edge_lists(seed: int, directed: bool, tmp_path: Path) -> None:
    source = random_graph(seed, nx.DiGraph if directed else nx.Graph)
    source.remove_nodes_from(list(nx.isolates(source)))
    if not len(source):
        return
    kind = nx.DiGraph if directed else nx.Graph
    for suffix, data in ((".edgelist", ["weight"]), (".txt", False), (".edges", ["weight"])):
        path = tmp_path / f"graph{suffix}"
        nx.write_edgelist(source, path, data=data)
        known = nx.read_edgelist(path, create_using=kind, data=False)
        graph = read_graph(path, directed=directed)
        check_ports(graph)
        assert graph.names == tuple(known)
        assert neighbours(graph) == adjacency(known)
        assert weights(graph) == (weights_of(source) if data else {})


def test_columns_comments_quotes_and_isolated_nodes(tmp_path: Path) -> None:
    lines = (
        "# a comment",
        ' # a "comment"',
        "",
        '"Paris, # 1 Texas",b c,3,',
        'C#,b c,,"a ""b"""',
        "alone,,,",
        '"last" # of all',
        "",
    )
    text = "\r\n".join(("\ufeffsource,target,weight,colour", *lines))
    graph = read_graph(written(tmp_path, "graph.csv", text))
    assert graph.names == ("Paris, # 1 Texas", "b c", "C#", "alone", "last")
    assert neighbours(graph)["b c"] == ["Paris, # 1 Texas", "C#"]
    assert graph.edge_values == {"weight": {0: "3"}, "colour": {1: 'a "b"'}}
    tabs = read_graph(written(tmp_path, "graph.tsv", "From\tTo\tw\na b\tc\t1\n"))
    assert tabs.names == ("a b", "c")
    assert tabs.edge_values == {"w": {0: "1"}}
    plain = read_graph(written(tmp_path, "graph.txt", '# all\na b 3 # the "first"\n  \nc\nC#\td {}\n'))
    assert plain.names == ("a", "b", "c", "C#", "d")
    assert plain.edge_values == {"weight": {0: "3"}}
    commas = read_graph(written(tmp_path, "graph.edges", "a,b,7\nb,c\n"))
    assert commas.names == ("a", "b", "c")
    assert commas.topology.port_far.tolist() == [1, 0, 2, 1]
