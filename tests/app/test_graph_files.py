"""Files of graphs against networkx's own readers, and what is refused in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from bitwright.app.graph_files import SUFFIXES, NamedGraph, from_networkx, read_graph
from bitwright.errors import InputError
from bitwright.program.text.files import MAX_BYTES

NAMES = ["a", "Zürich", "東京", "x-1", "🙂", "ns:7", "b", "0", "né", "_", "q.r", "42"]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path, **options: Any) -> str:
    """The one line that a file is refused with, without its folder."""
    with pytest.raises(InputError) as caught:
        read_graph(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path.parent}/", "")


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


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(60))
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
    again = graph.to_networkx({"level": list(range(len(source)))})
    assert type(again) is kind
    assert dict(again.nodes(data="level")) == {name: at for at, name in enumerate(source)}
    assert "level" not in source.nodes[graph.names[0]]
    assert adjacency(again) == adjacency(source.copy())


def test_outputs_of_every_place_come_back() -> None:
    graph = from_networkx(nx.path_graph(3))
    values = {"level": [0, None, 2], "parent": [None, True, None, False], "done": [True]}
    found = graph.to_networkx(values, {"parent": "port", "done": "graph"})
    assert dict(found.nodes(data=True)) == {
        0: {"level": 0, "parent": []},
        1: {"parent": [(0, True)]},
        2: {"level": 2, "parent": [(1, False)]},
    }
    assert found.graph == {"done": True}


def test_nodes_that_are_no_text() -> None:
    grid = from_networkx(nx.grid_2d_graph(2, 2))
    assert grid.names == ("(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)")
    assert grid.number((1, 0)) == 2


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([(1, "1")]), "two nodes are called '1': 1 and '1'; give one of them another name"),
        (nx.Graph(), "a graph needs at least one node; this one has none"),
        ([(1, 2)], "a graph must be one of networkx, got 'list'"),
    ],
)
def test_refused_networkx(graph: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_networkx(graph)
    assert str(caught.value) == message


def test_a_graph_that_changed_is_refused() -> None:
    source = nx.path_graph(3)
    graph = from_networkx(source)
    source.add_node(9)
    with pytest.raises(InputError, match=r"^the graph has now 4 nodes; it had 3$"):
        graph.to_networkx({})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(40))
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


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_adjacency_lists(seed: int, directed: bool, tmp_path: Path) -> None:
    source = random_graph(seed, nx.DiGraph if directed else nx.Graph)
    nx.write_adjlist(source, tmp_path / "graph.adjlist")
    known = nx.read_adjlist(tmp_path / "graph.adjlist", create_using=nx.DiGraph if directed else nx.Graph)
    graph = read_graph(tmp_path / "graph.adjlist", directed=directed)
    check_ports(graph)
    assert graph.names == tuple(known)
    assert neighbours(graph) == adjacency(known)
    if not directed:  # every edge at both its ends is the same graph
        both = "\n".join(" ".join((name, *there)) for name, there in known.adjacency())
        again = read_graph(written(tmp_path, "both.adj", both))
        assert {name: set(there) for name, there in neighbours(again).items()} == {
            n: set(d) for n, d in known.adj.items()
        }
        assert again.topology.edges == known.number_of_edges()


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(20))
def test_graphml(seed: int, kind: type, tmp_path: Path) -> None:
    source = random_graph(seed, kind)
    nx.set_node_attributes(source, {name: at for at, name in enumerate(source)}, "id")
    nx.write_graphml_xml(source, tmp_path / "graph.graphml")
    graph = read_graph(tmp_path / "graph.graphml")
    check_ports(graph)
    known = nx.read_graphml(tmp_path / "graph.graphml")
    assert graph.names == tuple(known)
    assert neighbours(graph) == adjacency(known)
    assert graph.topology.directed == source.is_directed()
    assert graph.node_values["id"] == {at: at for at in range(len(source))}
    assert graph.topology.edges == source.number_of_edges()
    if not source.is_multigraph():
        assert weights(graph) == weights_of(source)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("links", ["edges", "links"])
@pytest.mark.parametrize("seed", range(20))
def test_node_link(seed: int, kind: type, links: str, tmp_path: Path) -> None:
    source = random_graph(seed, kind)
    nx.set_node_attributes(source, {name: {"colour": at} for at, name in enumerate(source) if at % 2})
    data = nx.node_link_data(source, edges=links)
    graph = read_graph(written(tmp_path, "graph.json", json.dumps(data)))
    check_ports(graph)
    known = nx.node_link_graph(data, edges=links)
    assert graph.names == tuple(known)
    assert graph.topology.edges == known.number_of_edges()
    assert graph.node_values.get("colour", {}) == {at: at for at in range(len(source)) if at % 2}
    if source.is_multigraph():
        assert {n: sorted(there) for n, there in neighbours(graph).items()} == {
            n: sorted(there) for n, there in adjacency(known).items()
        }
    else:
        assert neighbours(graph) == adjacency(known)
        assert weights(graph) == weights_of(source)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_read_becomes_the_graph_that_networkx_reads(seed: int, tmp_path: Path) -> None:
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        source = random_graph(seed, kind)
        data = nx.node_link_data(source, edges="edges")
        graph = read_graph(written(tmp_path, "graph.json", json.dumps(data))).to_networkx({})
        known = nx.node_link_graph(data, edges="edges")
        assert graph.is_directed() == known.is_directed()
        assert dict(graph.nodes(data=True)) == dict(known.nodes(data=True))
        shown = [sorted(map(repr, g.edges(data=True))) for g in (nx.DiGraph(graph), nx.DiGraph(known))]
        assert shown[0] == shown[1]


def test_tuples_of_networkx_are_lists_in_json(tmp_path: Path) -> None:
    data = nx.node_link_data(nx.grid_2d_graph(2, 3), edges="edges")
    graph = read_graph(written(tmp_path, "grid.json", json.dumps(data)))
    assert graph.names == from_networkx(nx.grid_2d_graph(2, 3)).names


def test_columns_comments_quotes_and_isolated_nodes(tmp_path: Path) -> None:
    text = '\ufeffsource,target,weight,colour\r\n# a comment\r\n\r\n"Paris, Texas",b c,3,\r\nC#,b c,,"a ""b"""\r\nalone,,,\r\nlast\r\n'
    graph = read_graph(written(tmp_path, "graph.csv", text))
    assert graph.names == ("Paris, Texas", "b c", "C#", "alone", "last")
    assert neighbours(graph)["b c"] == ["Paris, Texas", "C#"]
    assert graph.edge_values == {"weight": {0: "3"}, "colour": {1: 'a "b"'}}
    tabs = read_graph(written(tmp_path, "graph.tsv", "From\tTo\tw\na b\tc\t1\n"))
    assert tabs.names == ("a b", "c")
    assert tabs.edge_values == {"w": {0: "1"}}
    plain = read_graph(written(tmp_path, "graph.txt", "# all\na b 3 # the first\n  \nc\nC#\td {}\n"))
    assert plain.names == ("a", "b", "c", "C#", "d")
    assert plain.edge_values == {"weight": {0: "3"}}
    commas = read_graph(written(tmp_path, "graph.edges", "a,b,7\nb,c\n"))
    assert commas.names == ("a", "b", "c")
    assert commas.topology.port_far.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.txt", "a b\nb a c d\n", "g.txt:2: an edge is two nodes and at most one value, found 'b a c d'; name further columns in a .csv"),
        ("g.csv", "a,b\n\nb,a,c,d\n", "g.csv:3: an edge is two nodes and at most one value, found 'b a c d'; name further columns in a first line source,target,..."),
        ("g.txt", "a b {'weight': 3}\n", "g.txt:1: an edge is two nodes and at most one value, found 'a b {'weight': 3}'; write attributes as columns; networkx does with data=['weight']"),
        ("g.csv", "a,b\n,c\n", "g.csv:2: a node has no name; the line is ' c'"),
        ("g.csv", "a,b\n,\n", "g.csv:2: a node has no name; the line is ' '"),
        ("g.csv", "a,b\nc,,3\n", "g.csv:2: a node has no name; the line is 'c  3'"),
        ("g.csv", "source,target,w\na,b\n", "g.csv:2: the header names 3 columns, this line has 2"),
        ("g.csv", "source,target,w,w\na,b\n", "g.csv:1: each column needs a name of its own; the header is 'source target w w'"),
        ("g.csv", 'a,"b\nc,d\n', """g.csv:1: a quote is not closed or a name is too long (unexpected end of data): 'a,"b'"""),
        ("g.txt", "a b\nc d\n#\nb a\n", "g.txt:4: the edge of 'b' and 'a' is there already, in line 1; an edge list has each edge once"),
        ("g.txt", "a a\nx y\ny x\na a", "g.txt:3: the edge of 'y' and 'x' is there already, in line 2; an edge list has each edge once"),
        ("g.txt", "# nothing\n\n", "g.txt has neither edges nor nodes; write an edge as: a b"),
        ("g.csv", "source,target\n", "g.csv has neither edges nor nodes; write an edge as: a b"),
        ("g.txt", " \n", "g.txt is empty; write a graph into it"),
        ("g.adj", "a b\nb a a\n", "g.adj:2: the edge of 'b' and 'a' is listed already there"),
        ("g.adj", "a b\nb a\nc\na b\n", "g.adj:4: the edge of 'a' and 'b' is listed already in line 1"),
        ("g.adj", "a,b,,c\n", "g.adj:1: a node has no name; the line is 'a b  c'"),
        ("g.adj", "#\n", "g.adj has neither edges nor nodes; write an edge as: a b"),
        ("g.png", "a b", f"g.png must end in {', '.join(SUFFIXES[:-1])} or .json, the files of graphs"),
        ("g", "a b", f"g must end in {', '.join(SUFFIXES[:-1])} or .json, the files of graphs"),
    ],
)  # fmt: skip
def test_refused_lists(name: str, text: str, message: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, name, text)) == message


def test_a_directed_list_may_have_both_directions(tmp_path: Path) -> None:
    path = written(tmp_path, "g.txt", "a b\nb a\n")
    assert read_graph(path, directed=True).topology.edges == 2
    path = written(tmp_path, "again.txt", "a b\nb a\na b\n")
    assert "again.txt:3: the edge of 'a' and 'b' is there already, in line 1" in refusal(path, directed=True)


NOT = "g.json is not node-link data of a graph: "


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "it holds a list and no object"),
        ('{"nodes": [', "it may be truncated or damaged"),
        ('{"nodes": [], "nodes": []}', "it has 'nodes' twice"),
        ('{"nodes": [{"id": NaN}], "edges": []}', "NaN is no number"),
        ('{"nodes": ' + "[" * 500 + "]" * 500 + ', "edges": []}', "it is nested more than 32 deep"),
        ('{"nodes": ' + "[" * 500_000 + "]" * 500_000 + "}", "it is nested more than 32 deep"),
        ('{"edges": []}', "it has no list of nodes"),
        ('{"nodes": []}', "it has no list of edges or links"),
        ('{"nodes": [], "edges": []}', "it has no nodes"),
        ('{"nodes": ["a"], "edges": []}', "node 1 is no object with a 'id'"),
        ('{"nodes": [{"id": null}], "edges": []}', "the id of node 1 must be text or a number, got None"),
        ('{"nodes": [{"id": ""}], "edges": []}', "the id of node 1 is empty"),
        ('{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}', "node 2 has the id '1', as node 1 has"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "edge 1 is no object with a 'target'"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "the target of edge 1 is '2', which is no node"),
        ('{"nodes": [{"id": 1}], "edges": [], "directed": 1}', "directed must be true or false, got 1"),
        (
            '{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 1}, {"source": 1, "target": 1}]}',
            "edges 1 and 2 are both of '1' and '1'; write \"multigraph\": true if that is meant",
        ),
    ],
)  # fmt: skip
def test_refused_json(text: str, reason: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "g.json", text)) == NOT + reason


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefghi", "bcdefghij", strict=True))
    + f']>{HEAD}<graph><node id="&j;"/></graph></graphml>'
)


def graphml(body: str) -> str:
    return f'{HEAD}<graph edgedefault="undirected">{body}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "g.graphml has a DOCTYPE, which could define entities; take it out"),
        ("<graphml>", "g.graphml is not the GraphML of a graph: no element found: line 1, column 9"),
        ("hello", "g.graphml is not the GraphML of a graph: syntax error: line 1, column 0"),
        ("<html/>", "g.graphml is not the GraphML of a graph: it has 0 graphs, and one is read"),
        (f"{HEAD}<graph/><graph/></graphml>", "g.graphml is not the GraphML of a graph: it has 2 graphs, and one is read"),
        (graphml('<node id="a"/><node id="a"/>'), "g.graphml is not the GraphML of a graph: it has the node 'a' twice"),
        (graphml("<node/>"), "g.graphml is not the GraphML of a graph: it has a node without an id"),
        (graphml('<node id="a"/><edge source="a"/>'), "g.graphml is not the GraphML of a graph: the target of an edge is None, which is no node"),
        (graphml('<node id="a"/><edge source="a" target="b"/>'), "g.graphml is not the GraphML of a graph: the target of an edge is 'b', which is no node"),
        (graphml('<node id="a"/><edge source="a" target="a" directed="true"/>'), "g.graphml is not the GraphML of a graph: directed=true edge found in undirected graph."),
        (graphml('<node id="a"><data key="k">1</data></node>'), "g.graphml is not the GraphML of a graph: Bad GraphML data: no key k"),
        (f'{HEAD}<key id="k" for="node" attr.name="n" attr.type="int"/><graph><node id="a"><data key="k">x</data></node></graph></graphml>', "g.graphml is not the GraphML of a graph: invalid literal for int() with base 10: 'x'"),
        (graphml(""), "a graph needs at least one node; this one has none"),
        (graphml("&bomb;"), "g.graphml is not the GraphML of a graph: undefined entity: line 1, column 87"),
    ],
)  # fmt: skip
def test_refused_graphml(text: str, message: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "g.graphml", text)) == message


def test_deep_graphml(tmp_path: Path) -> None:
    deep = graphml("<node id='a'>" + "<data>" * 100_000 + "</data>" * 100_000 + "</node>")
    assert "no key" in refusal(written(tmp_path, "g.graphml", deep))


def test_defaults_of_graphml(tmp_path: Path) -> None:
    keys = (
        '<key id="n" for="node" attr.name="rank" attr.type="int"><default>7</default></key>'
        '<key id="w" for="edge" attr.name="weight" attr.type="long"><default>2</default></key>'
    )
    body = '<node id="a"><data key="n">1</data></node><node id="b"/><edge source="a" target="b"/>'
    graph = read_graph(written(tmp_path, "g.graphml", graphml(body).replace("<graph ", keys + "<graph ")))
    assert graph.node_values == {"rank": {0: 1, 1: 7}}
    assert graph.edge_values == {"weight": {0: 2}}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_hostile_files(suffix: str, tmp_path: Path) -> None:
    name = f"g{suffix}"
    assert refusal(written(tmp_path, name, b"a b\0c")) == f"{name} is a binary file, not {suffix} text"
    assert refusal(written(tmp_path, name, b"\x89PNG\r\n\xff\xfe")) == f"{name} is not UTF-8 text (byte 0 is 0x89)"
    assert refusal(tmp_path / f"none{suffix}") == f"there is no file none{suffix}"
    (tmp_path / f"folder{suffix}").mkdir()
    assert refusal(tmp_path / f"folder{suffix}") == f"folder{suffix} is a folder; give a {suffix} file"
    long = written(tmp_path, name, b"")
    with long.open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    assert refusal(long) == f"{name} is larger than 64 MiB, the most a {suffix} file may have"
    message = refusal(written(tmp_path, name, '"' + "\x1b[31m a b c d " * 10_000))
    assert len(message) < 400


def test_one_huge_line(tmp_path: Path) -> None:
    star = read_graph(written(tmp_path, "star.adj", " ".join(map(str, range(200_000)))))
    assert star.topology.degrees.max() == 199_999
    assert len(refusal(written(tmp_path, "star.txt", " ".join(map(str, range(200_000)))))) < 200
    name = "x" * 1_000_000
    assert read_graph(written(tmp_path, "long.txt", f"{name} y")).names == (name, "y")
    assert len(refusal(written(tmp_path, "long.csv", f'"{name}",y'))) < 200


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
def test_files_that_say_whether_they_are_directed(suffix: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"g{suffix}", "{}")
    assert refusal(path, directed=True) == f"g{suffix} says itself whether it is directed; leave that to it"


def test_without_networkx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert refusal(written(tmp_path, "g.graphml", graphml('<node id="a"/>'))) == (
        "this needs networkx; install it with: pip install 'bitwright[graph]'"
    )
    data = '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}'
    for name, text in (("g.txt", "1 2"), ("g.csv", "1,2"), ("g.adj", "1 2"), ("g.json", data)):
        assert neighbours(read_graph(written(tmp_path, name, text))) == {"1": ["2"], "2": ["1"]}
    with pytest.raises(InputError, match=r"pip install 'bitwright\[graph\]'"):
        read_graph(written(tmp_path, "g.txt", "1 2")).to_networkx({})
