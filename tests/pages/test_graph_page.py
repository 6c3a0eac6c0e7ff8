"""Pages of runs on graphs: complete, safe, laid out well, and refused where they would be too large."""

import numpy as np
import pytest
from cases import for_each
from graph_runs import EDGES, NAMES, glider, one, program, searched, torus
from page_data import opened

from bitwright import InputError, addition, run
from bitwright.engines.make import make_engine
from bitwright.pages import graph as page_module
from bitwright.pages import graph_page
from bitwright.pages.graph import view as view_module
from bitwright.pages.graph.view import GraphView
from bitwright.pages.layout import edge_bends, graph_layout
from bitwright.pages.text import heading_of, order_lines
from bitwright.rules import Topology, parse_node_program

# Layout.


def path_lengths(nodes: int, edges: list[tuple[int, int]]) -> np.ndarray:
    far = np.full((nodes, nodes), np.inf)
    np.fill_diagonal(far, 0)
    for a, b in edges:
        far[a, b] = far[b, a] = 1
    for middle in range(nodes):
        far = np.minimum(far, far[:, middle : middle + 1] + far[middle])
    return far


def test_distances_on_paper_follow_those_in_the_graph() -> None:
    edges = [(i, (i + 1) % 12) for i in range(12)] + [(0, 12), (12, 13)]
    places = graph_layout(Topology.from_edges(14, edges)).places
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    upper = np.triu_indices(14, 1)
    assert np.corrcoef(apart[upper], path_lengths(14, edges)[upper])[0, 1] > 0.97
    assert apart[upper].min() > 0.5


def test_parts_stand_side_by_side() -> None:
    edges = [(part * 5 + i, part * 5 + (i + 1) % 5) for part in range(4) for i in range(5)]
    places = graph_layout(Topology.from_edges(23, edges)).places  # and three nodes alone
    boxes = [places[part * 5 : part * 5 + 5] for part in range(4)] + [places[[20 + i]] for i in range(3)]
    for i, one_box in enumerate(boxes):
        for other in boxes[:i]:
            apart = np.maximum(one_box.min(axis=0) - other.max(axis=0), other.min(axis=0) - one_box.max(axis=0))
            assert apart.max() > 0.5


def test_large_graphs_are_laid_out_too() -> None:
    side = 30  # a grid whose names say nothing: more nodes than are compared pair by pair
    edges = [(i, i + 1) for i in range(side * side) if (i + 1) % side] + [
        (i, i + side) for i in range(side * (side - 1))
    ]
    layout = graph_layout(Topology.from_edges(side * side, edges))
    lengths = np.linalg.norm(layout.places[[a for a, _ in edges]] - layout.places[[b for _, b in edges]], axis=1)
    assert not layout.grid
    assert 0.4 < np.quantile(lengths, 0.05) < np.quantile(lengths, 0.95) < 1.6
    corners = layout.places[[0, side - 1, side * (side - 1), side * side - 1]]
    assert np.linalg.norm(corners[0] - corners[3]) > side * 0.8


@for_each(
    ("names", "grid"),
    [
        (["0.0", "0.1", "1.0", "1.1"], True),
        (["(3, 7)", "(3, 8)", "(4, 7)", "(4, 8)"], True),
        (["0.0", "0.1", "1.0", "x"], False),
        (["0.0", "0.1", "1.0", "900.900"], False),  # mostly holes
        (["0.0", "00.0", "1.0", "1.1"], False),  # two at one place
        (["a", "b", "c", "d"], False),
    ],
)
def test_names_of_rows_and_columns_make_a_grid(names: list[str], grid: bool) -> None:
    layout = graph_layout(Topology.from_edges(4, [(0, 1), (2, 3)]), names)
    assert layout.grid == grid
    if grid:
        np.testing.assert_array_equal(layout.places, [[0, 0], [1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    ("nodes", "edges"), [(1, []), (1, [(0, 0)]), (2, [(0, 1), (1, 0)]), (3, []), (2, [(0, 1)] * 3)]
)
def test_small_and_odd_graphs_have_finite_places(nodes: int, edges: list[tuple[int, int]]) -> None:
    layout = graph_layout(Topology.from_edges(nodes, edges))
    assert np.isfinite(layout.places).all()
    assert len(np.unique(layout.places, axis=0)) == nodes


def test_no_two_edges_coincide() -> None:
    graph = Topology.from_edges(3, [(0, 1), (1, 0), (0, 1), (1, 2), (2, 2), (2, 2)])
    assert sorted(edge_bends(graph)[:3].tolist()) == [-1, 0, 1]
    assert edge_bends(graph)[3:].tolist() == [0, 0, 1]


# Values.


@pytest.mark.parametrize("name", ["bfs", "dfs", "flooding", "bipartite"])
def test_values_are_those_of_the_run(name: str) -> None:
    done = searched(name)
    view = GraphView(done)
    for place in ("node", "port"):
        expected = view.algorithm.read_places(done.state, place)
        choices = {choice.name: choice for choice in (*view.colours, *view.marks) if choice.group == "outputs"}
        for output, values in expected.items():
            found, has = view.values(choices[output], done.steps)
            assert [int(v) if h else None for v, h in zip(found.tolist(), has.tolist(), strict=True)] == values


def test_flags_together_tell_every_set() -> None:
    graph, names = torus(4, 5)
    wire = np.ones(20, dtype=np.int64)
    head, tail = one(20, 7), one(20, 6)
    on = program("wireworld", generations=2).on(graph, {"wire": wire, "head": head, "tail": tail}, names)
    view = GraphView(run(on, record=True))
    together = view.colours[0]
    assert (together.sort, together.flags) == ("set", ("wire", "head", "tail"))
    values, _ = view.values(together, view.trace.steps)
    expected = view.algorithm.read_places(view.run.state)
    assert values.tolist() == [
        w + 2 * h + 4 * t
        for w, h, t in zip(expected["wire"], expected["head"], expected["tail"], strict=True)  # type: ignore[operator]
    ]
    assert set(values.astype(int).tolist()) <= set(view.sets(together))


# The page as text.


def test_the_page_holds_the_run_and_the_graph() -> None:
    done = searched()
    facts, arrays = opened(graph_page(done))
    np.testing.assert_array_equal(arrays["states"], done.trace.packed)
    graph = GraphView(done).topology
    for name in ("port_node", "port_far", "port_edge", "opposite"):
        np.testing.assert_array_equal(arrays[name], getattr(graph, name))
    assert facts["names"] == list(NAMES)
    assert (facts["steps"], facts["nodes"], facts["edges"], facts["grid"]) == (done.steps, 10, 10, False)
    colours = {choice["name"]: choice for choice in facts["colours"] if choice["group"] == "outputs"}
    levels = [node["level"] for node in done.nodes.values() if node["level"] is not None]
    assert colours["level"]["range"] == [0, max(levels)]
    assert facts["marks"][facts["mark"]]["name"] == "parent"
    assert not arrays["wrong"].any()


def test_steps_that_differ_from_the_rules_are_counted() -> None:
    on = searched().algorithm
    engine = make_engine("sampled", on.program, networks=1, seed=1)
    done = run(on, engine=engine, record=True, steps=4)
    _, arrays = opened(graph_page(done))
    expected = []
    for step in range(done.steps):
        written = np.zeros(on.program.bits, dtype=bool)
        for template in done.trace.matches(step).tolist():
            written[on.program.writes(template)] = True
        expected.append(int(np.count_nonzero(written != done.trace.state(step + 1))))
    assert any(expected)
    assert arrays["wrong"].tolist() == expected


# Refusals.


def test_what_cannot_be_drawn_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="not recorded"):
        graph_page(run(searched().algorithm))
    with pytest.raises(InputError, match="does not run on a graph"):
        graph_page(run(addition(3), p=1, q=2, record=True))
    large = Topology.from_edges(view_module.MAX_NODES + 1, [(0, 1)])
    done = run(program("flooding").on(large, {"source": one(large.nodes, 0)}), record=True)
    with pytest.raises(InputError, match=r"at most 5,000 nodes can be drawn, this has 5,001; take a smaller one"):
        graph_page(done)
    monkeypatch.setattr(view_module, "MAX_EDGES", 9)
    with pytest.raises(InputError, match="at most 9 edges can be drawn, this has 10; take a smaller one"):
        graph_page(searched())
    monkeypatch.undo()
    monkeypatch.setattr(view_module, "MAX_STEPS", 3)
    with pytest.raises(InputError, match=r"at most 3 steps can be drawn, this run has \d+; let it run for fewer steps"):
        graph_page(searched())
    monkeypatch.undo()
    monkeypatch.setattr(page_module, "MAX_PAGE", 1000)
    with pytest.raises(InputError, match="fewer steps"):
        graph_page(searched())


def test_a_program_without_bits_of_nodes_has_pictures_too() -> None:
    lamp = parse_node_program("whole bits a\nblock a\nwhen a=1 write a\nstart a\nsteps 2")
    done = run(lamp.on(Topology.from_edges(2, [(0, 1)])), record=True)
    facts, _ = opened(graph_page(done))
    assert (facts["colours"], facts["colour"], facts["marks"], facts["mark"]) == ([], -1, [], -1)


def test_before_the_first_step_the_inputs_are_shown() -> None:
    done = glider()
    view = GraphView(done)
    alive = view.colours[0]
    given = done.trace.state(0)[view.wiring.bits(view.schema.inputs[0].bits[0], np.arange(view.topology.nodes))]
    assert given.sum() == 5
    np.testing.assert_array_equal(view.values(alive, 0)[0] > 0, given)
    assert view.values(alive, 1)[0].sum() == 5  # and the bits of the output from then on
    facts, _ = opened(graph_page(done))
    assert facts["colours"][0]["first"]["bits"] == list(view.schema.inputs[0].bits)


def test_sets_of_flags_begin_with_their_inputs_too() -> None:
    graph, _ = torus(4, 4)
    given = {name: one(16, at) for name, at in (("wire", 5), ("head", 5), ("tail", 6))}
    done = run(program("wireworld").on(graph, {**given, "wire": given["wire"] + given["tail"]}), record=True)
    view = GraphView(done)
    together = view.colours[0]
    assert together.name == "wire, head, tail"
    shades = view.values(together, 0)[0].astype(int).tolist()
    assert [shades[node] for node in (5, 6, 7)] == [0b011, 0b101, 0]


def test_text_traces_name_nodes_and_ports() -> None:
    names = ("Paris", "Rome", "Oslo")
    algorithm = program("bfs").on(Topology.from_edges(3, [(0, 1), (1, 2)]), {"source": one(3, 0)}, names=names)
    assert heading_of(algorithm, "level[2]") == "level[Rome]"
    assert heading_of(algorithm, "busy") == "busy"
    assert heading_of(algorithm, "rest[2]") == "rest[2]"  # of the whole graph
    assert list(order_lines(algorithm)) == [
        "nodes, from the left: Oslo, Rome, Paris",
        "ports, from the left: Oslo>Rome, Rome>Oslo, Rome>Paris, Paris>Rome",
    ]


def test_what_nodes_were_given_is_marked_where_no_output_shows_it() -> None:
    """The source of a search is; what was alive at first is what the colours show."""
    search = run(program("bfs").on(Topology.from_edges(10, EDGES), {"source": one(10, 3) + one(10, 7)}), record=True)
    assert GraphView(search).given == [("source", [3, 7])]
    facts, _ = opened(graph_page(search))
    assert facts["given"] == [["source", [3, 7]]]
    assert GraphView(glider()).given == []
