"""Values of inputs: every way to give them says the same, and what is refused names the node and the value."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from facts import missing

from bitwright.common.errors import InputError
from bitwright.graphs.named import NamedGraph, from_networkx
from bitwright.graphs.values import values_for, whole_number
from bitwright.rules.graph.schema import NodeWord, Place


def make_word(name: str, place: Place = "node", width: int = 1, unique: bool = False, signed: bool = False) -> NodeWord:
    return NodeWord(name, place, tuple(range(width)), signed, unique)


SOURCE = make_word("source")
ID = make_word("id", width=6, unique=True)
LABEL = make_word("label", width=4)
WEIGHT = make_word("weight", "port", 4)
COST = make_word("cost", "port", 4)
CUT = make_word("cut", "port")
WAYS = ": give weight=@ATTRIBUTE, weight=*:VALUE or weight=A-B:VALUE,..."
ROUNDS = make_word("rounds", "whole", 5)


def path(**attributes: Any) -> NamedGraph:
    """a - b - c - d, with strange names behind it: "x,y" - "p:q" - "m-n"."""
    graph = nx.Graph([("a", "b"), ("c", "b"), ("c", "d"), ("d", "x,y"), ("x,y", "p:q"), ("p:q", "m-n")])
    nx.set_edge_attributes(graph, {edge: at for at, edge in enumerate(graph.edges)}, "weight")
    for name, values in attributes.items():
        nx.set_node_attributes(graph, values, name)
    return from_networkx(graph)


GRAPH = path()
EDGES = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "x,y"), ("x,y", "p:q"), ("p:q", "m-n"))
NODES = ("a", "b", "c", "d", "x,y", "p:q", "m-n")


def found(word: NodeWord, given: Any, graph: NamedGraph = GRAPH, table: Path | None = None) -> dict[str, int]:
    """The values by node."""
    array = values_for([word], graph, {} if given is None else {word.name: given}, table)[word.name]
    assert array.dtype == np.int64
    return dict(zip(graph.names, array.tolist(), strict=True))


def on(word: NodeWord, given: Any, graph: NamedGraph = GRAPH) -> set[str]:
    values = found(word, given, graph)
    assert set(values.values()) <= {0, 1}
    return {name for name, value in values.items() if value}


def by_edge(word: NodeWord, given: Any, graph: NamedGraph = GRAPH) -> dict[frozenset[str], int]:
    """The values by edge; both of its ports must agree."""
    array = values_for([word], graph, {} if given is None else {word.name: given})[word.name]
    values: dict[frozenset[str], int] = {}
    for one, far, value in zip(graph.topology.port_node, graph.topology.port_far, array.tolist(), strict=True):
        assert values.setdefault(frozenset((graph.names[one], graph.names[far])), value) == value
    return values


def refusal(word: NodeWord, given: Any = None, graph: NamedGraph = GRAPH, table: Path | None = None) -> str:
    with pytest.raises(InputError) as caught:
        found(word, given, graph, table)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize("given", ["c-d:9", {("d", "c"): 9}])
def test_some_edges_get_other_values_than_the_graph_has(given: Any) -> None:
    assert by_edge(WEIGHT, given) == by_edge(WEIGHT, None) | {frozenset("cd"): 9}


def test_an_attribute_of_another_name_has_nothing_beside_it() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1, cost=2)
    graph.add_edge("b", "c", weight=3)
    assert refusal(WEIGHT, "@cost", from_networkx(graph)).startswith("weight of edge 'b'-'c' is missing")


def test_a_value_that_is_too_large_names_what_may_allow_more() -> None:
    with pytest.raises(InputError) as caught:
        values_for([WEIGHT], GRAPH, {"weight": "*:16"}, lets=["B", "l"])
    said = "weight of edge 'a'-'b' must be at most 15 to fit in 4 bits, got 16; a larger B or l may allow more"
    assert str(caught.value) == said


@for_each(
    ("given", "nodes"),
    [
        ("a", {"a"}),
        ("a,c", {"a", "c"}),
        (" a , c ", {"a", "c"}),
        ("x,y", {"x,y"}),
        ("p:q", {"p:q"}),
        ("p:q,m-n", {"p:q", "m-n"}),
        ("p:q:1,a:0", {"p:q"}),
        ("*:1,b:0", set(NODES) - {"b"}),
        ("*", set(NODES)),
        (["a", "d"], {"a", "d"}),
        ({"a", "d"}, {"a", "d"}),
        (("a", "d"), {"a", "d"}),
        (iter(["a"]), {"a"}),
        ([], set()),
        ({"a": True, "b": 0}, {"a"}),
        (np.array(["a", "x,y"]), {"a", "x,y"}),
        (np.array([0, 1, 0, 0, 0, 0, 1]), {"b", "m-n"}),
        ([True, False, False, False, False, False, True], {"a", "m-n"}),
        ("@source", {"c"}),
        (None, {"c"}),
    ],
)
def test_marked_nodes(given: Any, nodes: set[str]) -> None:
    assert on(SOURCE, given, path(source={"c": 1})) == nodes


def test_marked_nodes_that_are_numbers_or_tuples() -> None:
    numbers = from_networkx(nx.path_graph(4))
    assert on(SOURCE, 2, numbers) == {"2"}
    assert on(SOURCE, np.int64(3), numbers) == {"3"}
    assert on(SOURCE, [0, 1], numbers) == {"0", "1"}
    assert on(SOURCE, range(3), numbers) == {"0", "1", "2"}
    grid = from_networkx(nx.grid_2d_graph(2, 2))
    assert on(SOURCE, (0, 1), grid) == {"(0, 1)"}
    assert on(SOURCE, [(0, 1), (1, 1)], grid) == {"(0, 1)", "(1, 1)"}
    assert on(SOURCE, "(0, 1)", grid) == {"(0, 1)"}


@for_each(
    ("given", "values"),
    [
        ("order", range(7)),
        ("a:5,b:6,*:0x3", (5, 6, 3, 3, 3, 3, 3)),
        ("*:0,p:q:8,m-n:7.0", (0, 0, 0, 0, 0, 8, 7)),
        ("@rank", (7, 6, 5, 4, 3, 2, 1)),
        (None, (1, 2, 3, 4, 5, 6, 7)),
        ([1, 1, 2, 3, 5, 8, 13], (1, 1, 2, 3, 5, 8, 13)),
        (np.arange(7, dtype=np.uint8), range(7)),
        (np.arange(7) * 2.0, range(0, 14, 2)),
        (range(7), range(7)),
        ({name: str(at) for at, name in enumerate(NODES)}, range(7)),
    ],
)
def test_numbers_of_nodes(given: Any, values: Any) -> None:
    graph = path(
        rank={name: 7.0 - at for at, name in enumerate(NODES)}, label={name: at + 1 for at, name in enumerate(NODES)}
    )
    assert found(LABEL, given, graph) == dict(zip(NODES, values, strict=True))


def test_names_as_numbers() -> None:
    assert found(ID, "name", from_networkx(nx.Graph([(7, 3), ("12", 3)]))) == {"7": 7, "3": 3, "12": 12}
    assert refusal(ID, "name") == "id of node 'a' must be an integer, got 'a'"


@for_each(
    ("given", "values"),
    [
        ("@weight", range(6)),
        (None, range(6)),
        ("*:7", (7,) * 6),
        ("*:1,a-b:2,c-b:3,m-n-p:q:4", (2, 3, 1, 1, 1, 4)),
        ({edge[::-1]: at for at, edge in enumerate(EDGES)}, range(6)),
    ],
)
def test_numbers_of_edges(given: Any, values: Any) -> None:
    edges = [frozenset(pair) for pair in EDGES]
    assert by_edge(WEIGHT, given) == dict(zip(edges, values, strict=True))


@pytest.mark.parametrize("given", ["a-b,d-c", ("a", "b"), [("a", "b"), ("c", "d")], {("b", "a")}, "*:0,a-b:1"])
def test_marked_edges(given: Any) -> None:
    edges = {edge for edge, value in by_edge(CUT, given).items() if value}
    assert edges - {frozenset("cd")} == {frozenset("ab")}
    assert (frozenset("cd") in edges) == (given in ("a-b,d-c", [("a", "b"), ("c", "d")]))


def test_numbers_of_the_graph() -> None:
    graph = nx.path_graph(2)
    for given in (7, "7", 7.0, np.int32(7)):
        assert values_for([ROUNDS], from_networkx(graph), {"rounds": given})["rounds"].tolist() == [7]
    assert refusal(ROUNDS) == "the program needs rounds: give rounds=NUMBER"
    assert refusal(ROUNDS, 32) == "rounds must be at most 31 to fit in 5 bits, got 32"
    assert refusal(ROUNDS, "a") == "rounds must be an integer, got 'a'"
    assert refusal(ROUNDS, "@a") == "the graph has no attribute 'a'"
    graph.graph["rounds"] = 9
    assert values_for([ROUNDS], from_networkx(graph), {})["rounds"].tolist() == [9]
    assert values_for([ROUNDS], from_networkx(graph), {"rounds": "@rounds"})["rounds"].tolist() == [9]


def test_signed_and_wide_words() -> None:
    word = make_word("x", width=4, signed=True)
    assert found(word, "*:-8,a:7")["a"] == 7
    assert refusal(word, "*:-9") == "x of node 'a' must be at least -8, got -9"
    assert refusal(word, "*:8") == "x of node 'a' must be at most 7 to fit in 4 bits, got 8"
    wide = make_word("x", width=100)
    assert found(wide, f"*:{2**63 - 1}")["a"] == 2**63 - 1
    assert refusal(wide, f"*:{2**63}") == f"x of node 'a' must be at most {2**63 - 1}, got {2**63}"


def test_whole_numbers() -> None:
    for value in (3, 3.0, "3", " 3 ", "3.00", "0b11", np.float32(3), np.uint8(3), "+3"):
        assert whole_number(value) == 3
    for value in (True, np.True_):
        assert whole_number(value) == 1
    for value in (2.5, float("nan"), float("inf"), "2.5", "", "x", "1e3", "nan", None, [3], "9" * 100_000, "٣"):
        assert whole_number(value) is None


@for_each(
    ("word", "given", "message"),
    [
        (SOURCE, None, "source=NODE"),
        (ID, None, "id=order id=@ATTRIBUTE id=NODE:VALUE"),
        (LABEL, None, "label=@ATTRIBUTE label=NODE:VALUE label=*:VALUE"),
        (CUT, None, "cut=@ATTRIBUTE cut=*:VALUE cut=A-B"),
        (SOURCE, "", "source=NODE"),
        (SOURCE, "a,", "'a,' source=NODE"),
        (SOURCE, "e", "'e'"),
        (SOURCE, "m_n", "'m_n' 'm-n'"),
        (SOURCE, ["a", "e"], "'e'"),
        (SOURCE, 3, "'3'"),
        (SOURCE, "a,a", "'a'"),
        (SOURCE, "*,*", "source twice"),
        (SOURCE, "a:2", "'a' 2 1"),
        (SOURCE, "@none", "'none'"),
        (SOURCE, [True], "1 7"),
        (SOURCE, np.zeros((7, 1)), "2"),
        (ID, "a:70,*:1", "'a' 70 6 63"),
        (ID, [70, 1, 2, 3, 4, 5, 6], "'a' 70 6 63"),
        (ID, [0, 1, 2, 3, -1, 5, 6], "'x,y' -1 0"),
        (ID, [0, 1, 2, 3, 2.5, 5, 6], "'x,y' 2.5"),
        (ID, [1, 2], "2 7"),
        (ID, "a:1", "'b' 5 id=order id=@ATTRIBUTE id=NODE:VALUE"),
        (
            ID,
            {name: None if name == "d" else at for at, name in enumerate(NODES)},
            "'d' id=order id=@ATTRIBUTE id=NODE:VALUE",
        ),
        (ID, "a", "'a' id=order id=@ATTRIBUTE id=NODE:VALUE"),
        (ID, 3, "3 id=order id=@ATTRIBUTE id=NODE:VALUE"),
        (ID, "a:x,*:1", "'a' 'x'"),
        (ID, {"a": 1, "z": 2}, "'z'"),
        (LABEL, "@weight", "'weight'"),
        (WEIGHT, "@wight", "'wight' 'weight'"),
        (WEIGHT, "*:16", "'a' 'b' 16 4 15"),
        (COST, "a-b:3", "cost of edge 'b'-'c' and 4 more is missing" + WAYS.replace("weight", "cost")),
        (COST, "@cost", "'cost'"),
        (WEIGHT, "a-c:3", "'a' 'c'"),
        (WEIGHT, "a-z:3", "'z'"),
        (WEIGHT, "a:3", "weight takes edges, but 'a' is not an edge" + WAYS),
        (WEIGHT, {"ab": 3}, "'ab'"),
        (WEIGHT, {("a", "b", 0): 3}, "'a' 'b' 0"),
        (WEIGHT, {("a", "b"): 3, ("b", "a"): 4}, "'a' 'b'"),
        (WEIGHT, [1, 2], "2 12"),
        (WEIGHT, "order", "weight has no value in 'order'" + WAYS),
    ],
)
def test_refused_values(word: NodeWord, given: Any, message: str) -> None:
    assert missing(refusal(word, given), message) == []


def test_unknown_inputs() -> None:
    for words, name, message in (
        ([SOURCE, ID], "sorce", "flood has no input 'sorce'; did you mean 'source'?"),
        ([SOURCE, ID], "x", "flood has no input 'x'; its inputs are source, id"),
        ([], "x", "flood has no input 'x'; it has no inputs"),
    ):
        with pytest.raises(InputError) as caught:
            values_for(words, GRAPH, {name: "a"}, program="flood")
        assert str(caught.value) == message
    with pytest.raises(InputError, match="source=NODE"):
        values_for([SOURCE], GRAPH, {}, program="flood")


def table(folder: Path, text: str, name: str = "values.csv") -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


ROWS = 'node,id,label\n"x,y",4,5\na,0,1\nb,1,1\nc,2,\nd,3,1\np:q,5,6\nm-n,6,7\n'
HALF = "node,half\n" + "".join(f'"{name}",{1 - at % 2}\n' for at, name in enumerate(NODES))


def test_a_table(tmp_path: Path) -> None:
    file = table(tmp_path, ROWS, "rows.csv")
    assert found(ID, None, table=file) == dict(zip(NODES, range(7), strict=True))
    assert found(SOURCE, "@half", path(half={"a": 0}), table(tmp_path, HALF))["a"] == 1
    assert found(ID, "order", table=file)["m-n"] == 6  # what is given comes first
    assert found(ID, None, path(id={"a": 9}), file)["a"] == 0  # and the table before the graph
    tabs = table(tmp_path, "n\tsource\na\t1\nb\t\n", "values.tsv")
    assert on_table(tabs) == {"a": 1, "b": 0}


def on_table(file: Path) -> dict[str, int]:
    return found(SOURCE, None, from_networkx(nx.Graph([("a", "b")])), file)


@for_each(
    ("text", "message"),
    [
        (ROWS, "'c' label=@ATTRIBUTE label=NODE:VALUE label=*:VALUE"),
        (ROWS + "zz,1,1\n", "values.csv:9 'zz'"),
        (ROWS + "b,1,1\n", "values.csv:9 'b' 4"),
        (ROWS.replace("b,1,1\n", ""), "values.csv 'b'"),
        ("node,label\n", "values.csv 'a' 'b' 'c' 'd' 'x,y' 2"),
        (ROWS + "# good\nb,1\n", "values.csv:10 3 2 'b,1'"),
        (ROWS + '"b,1,1\n', "values.csv:9 '\"b,1,1'"),
        ("node\na\n", "values.csv:1 'node'"),
        ("", "values.csv"),
        ("a\0", "values.csv .csv"),
    ],
)
def test_refused_tables(text: str, message: str, tmp_path: Path) -> None:
    assert missing(refusal(LABEL, None, GRAPH, table(tmp_path, text)), message) == []
