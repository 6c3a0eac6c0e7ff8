"""Node programs on graphs from a page: the same values as the library's, and graphs that nobody should draw."""

from pathlib import Path
from typing import Any

import pytest
from long import LONG

from bitwright import run
from bitwright.pages import graph_page
from bitwright.rules import Topology, parse_node_program
from bitwright.verbs.graphs import on_graph, open_graph

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "graphs"
FLOOD = (EXAMPLES / "flooding.bw").read_text()
TRIANGLE = {"nodes": ["a", "b", "c", "d"], "edges": [[0, 1], [1, 2], [2, 0]]}


def drawn(server: Any, graph: Any) -> dict[str, Any]:
    return dict(server.do("graph", {"source": {"kind": "nodes", "graph": graph}}))


def nodes(name: str, graph: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "nodes", "text": (EXAMPLES / f"{name}.bw").read_text(), "name": name, "graph": graph}


def shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


RUNS = {
    "bfs": ("grid:3x4", {"source": "0.0"}),
    "shortest-paths": ("random:8,12", {"source": "0", "weight": "*:3"}),
    "leader": ("ring:6", {"id": "order"}),
    "dfs": ("random:8,12", {"source": "2"}),
    "life": ("torus:5x5", {"alive": "1.2,2.3,3.1,3.2,3.3"}),
}


@pytest.mark.parametrize(
    ("name", "engine"),
    [(name, "templates") for name in RUNS]
    + [(name, engine) for engine in ("limit", "network") for name in (RUNS if LONG else ("bfs", "life"))],
)
def test_nodes_put_out_what_the_library_says(server: Any, name: str, engine: str) -> None:
    shape, inputs = RUNS[name]
    program = parse_node_program((EXAMPLES / f"{name}.bw").read_text(), name)
    done = run(on_graph(program, open_graph(shape), inputs), engine=engine, record=True)
    job = server.run({"source": nodes(name, {"shape": shape}), "inputs": inputs, "engine": engine})
    assert "result" in job, job
    expected = {str(node): {key: shown(value) for key, value in own.items()} for node, own in done.nodes.items()}
    assert job["result"]["nodes"] == expected
    assert job["result"]["steps"] == done.steps
    page = server.file(job, "trace.html").decode()
    if engine == "templates":
        assert page == graph_page(done)
    assert page.startswith("<!DOCTYPE html>")
    assert server.file(job, "program.bw").decode() == (EXAMPLES / f"{name}.bw").read_text()


def test_a_drawn_graph_is_run_as_it_was_drawn(server: Any) -> None:
    source = {"kind": "nodes", "text": FLOOD, "graph": TRIANGLE}
    about = server.check(source)["about"]
    assert about["machine"] == "4 nodes, 3 edges"
    assert about["inputs"][0] | {"name": "source", "place": "node", "marks": True} == about["inputs"][0]
    job = server.run({"source": source, "inputs": {"source": "b"}})
    assert {node: own["reached"] for node, own in job["result"]["nodes"].items()} == dict(
        zip("abcd", "1110", strict=True)
    )
    directed = {**TRIANGLE, "edges": [[0, 1], [1, 2]], "directed": True}
    job = server.run({"source": {"kind": "nodes", "text": FLOOD, "graph": directed}, "inputs": {"source": "b"}})
    assert {node: own["reached"] for node, own in job["result"]["nodes"].items()} == dict(
        zip("abcd", "0110", strict=True)
    )


def test_a_graph_is_laid_out_for_the_page(server: Any) -> None:
    found = drawn(server, {"shape": "grid:2x3"})["result"]
    assert found["nodes"] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    assert found["places"] == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    ends = open_graph("grid:2x3").topology.edge_ends.tolist()
    assert found["edges"] == ends
    again = drawn(server, {"nodes": found["nodes"], "edges": ends})["result"]
    assert again["edges"] == Topology.from_edges(6, ends).edge_ends.tolist()
    large = drawn(server, {"shape": "path:500"})["result"]
    assert (large["count"], large["nodes"]) == (500, [])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({}, "a graph needs at least one node"),
        ({"shape": "path:0"}, "a graph of this shape must have the form path:100"),
        ({"shape": "knot:7"}, "unknown graph shape 'knot'"),
        ({"shape": "path:999999999999999999"}, "this page takes at most 2,000 nodes"),
        ({"shape": "grid:100x100"}, "this graph has 10,000 nodes; this page takes at most 2,000"),
        ({"shape": "grid:3000x3000"}, "grid:3000x3000 is too large; this page takes at most 2,000 nodes"),
        ({"shape": "complete:1000"}, "this page takes at most 10,000"),
        ({"shape": "random:٣,٣"}, "a graph of this shape"),
        ({"shape": "/etc/passwd"}, "unknown graph shape"),
        ({"shape": "path:3", "nodes": ["a"]}, "its nodes and edges, not both"),
        ({"nodes": ["a", "a"]}, "two nodes are called 'a'"),
        ({"nodes": ["a", "b"], "edges": [[0, 2]]}, "an edge joins two of the 2 nodes"),
        ({"nodes": ["a", "b"], "edges": [[0, -1]]}, "an edge joins two of the 2 nodes"),
        ({"nodes": ["a", "b"], "edges": [[0, 1], [1, 0]]}, "there are two edges between 'b' and 'a'"),
    ],
)
def test_graphs_that_are_none_are_refused_with_one_line(server: Any, graph: dict[str, Any], message: str) -> None:
    assert message in drawn(server, graph)["error"]
    job = server.run({"source": {"kind": "nodes", "text": FLOOD, "graph": graph}, "inputs": {"source": "a"}})
    assert (message in job["error"], "\n" in job["error"]) == (True, False)


@pytest.mark.parametrize(
    "graph",
    [
        {"nodes": ["a b"]},
        {"nodes": ["<script>"]},
        {"nodes": [""]},
        {"nodes": ["x" * 21]},
        {"nodes": ["a"] * 2001},
        {"nodes": ["a"], "edges": [[0]]},
        {"nodes": ["a"], "edges": [[0, 0, 0]]},
        {"nodes": ["a"], "edges": [[0.5, 0]]},
        {"nodes": ["a"], "edges": [[True, 0]]},
        {"nodes": {"a": 1}},
        {"shape": 7},
        {"file": "/etc/passwd"},
    ],
)
def test_what_is_no_graph_at_all_is_not_taken(server: Any, graph: Any) -> None:
    for found in (drawn(server, graph), server.run({"source": {**nodes("bfs", graph)}})):
        assert found["error"].startswith("source.graph.")


def test_inputs_that_do_not_fit_are_refused_before_anything_is_run(server: Any) -> None:
    for text, message in (("z", "the graph has no node 'z'"), ("@x", "have no attribute"), ("", "needs source")):
        job = server.run({"source": {"kind": "nodes", "text": FLOOD, "graph": TRIANGLE}, "inputs": {"source": text}})
        assert message in job["error"]
    job = server.run({"source": {"kind": "nodes", "text": FLOOD, "graph": TRIANGLE}, "inputs": {"speed": "a"}})
    assert "has no input 'speed'" in job["error"]


def test_a_program_that_grows_too_large_on_its_graph_is_refused(server: Any) -> None:
    answer = server.check(nodes("life", {"shape": "torus:40x40"}))
    assert "on this graph; this page takes at most 20,000; take a smaller graph" in answer["problems"][0]["message"]
