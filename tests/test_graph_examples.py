"""The node programs in examples/graphs against networkx, and the automata against NumPy."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from graph_programs import EXAMPLES, FOLDER, TEXTS
from long import LONG

from bitwright import run
from bitwright.rules import GraphAlgorithm, Topology, parse_node_program
from bitwright.rules.pattern import Pattern
from bitwright.runs.run import Run


def topology_of(graph: nx.Graph) -> Topology:
    """Nodes are 0 to N-1; the ports of a node stand as networkx has its neighbours."""
    found = Topology.from_edges(len(graph), list(graph.edges), graph.is_directed())
    own = {
        (int(node), int(far)): port
        for port, (node, far) in enumerate(zip(found.port_node, found.port_far, strict=True))
    }
    order = [own[node, far] for node in range(len(graph)) for far in graph.adj[node]]
    return found.arranged(np.array(order, dtype=np.int64))


def small_graphs(most: int) -> Iterator[nx.Graph]:
    """All labelled graphs with up to this many nodes."""
    for nodes in range(1, most + 1):
        pairs = list(combinations(range(nodes), 2))
        for chosen in range(2 ** len(pairs)):
            graph = nx.empty_graph(nodes)
            graph.add_edges_from(pair for at, pair in enumerate(pairs) if chosen >> at & 1)
            yield graph


def random_graphs(count: int, most: int = 30, directed: bool = False) -> Iterator[nx.Graph]:
    for seed in range(count):
        rng = Random(seed)
        nodes = rng.randint(1, most)
        graph = nx.gnp_random_graph(nodes, min(1.0, rng.choice([0.5, 1.5, 3, 8]) / nodes), seed=seed, directed=directed)
        yield relabelled(graph, rng)


def regular_graphs() -> Iterator[nx.Graph]:
    """Long ones, in which counters carry far, and dense ones."""
    for nodes in (2, 9, 16, 33):
        yield nx.path_graph(nodes)
        yield nx.cycle_graph(max(3, nodes))
    yield from (nx.star_graph(12), nx.complete_graph(9), nx.complete_bipartite_graph(4, 5), nx.balanced_tree(2, 4))
    yield nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
    yield nx.disjoint_union(nx.path_graph(17), nx.cycle_graph(5))


def relabelled(graph: nx.Graph, rng: Random) -> nx.Graph:
    """The same graph with its edges in another order, and so its neighbours."""
    found = nx.empty_graph(len(graph), nx.DiGraph if graph.is_directed() else None)
    edges = list(graph.edges)
    rng.shuffle(edges)
    found.add_edges_from(edges)
    return found


@cache
def graphs(directed: bool = False) -> tuple[tuple[nx.Graph, Topology], ...]:
    found = [*random_graphs(100 if LONG else 25, directed=directed)]
    if not directed:
        found += [*regular_graphs(), *small_graphs(4 if LONG else 3)]
    return tuple((graph, topology_of(graph)) for graph in found)


def done(algorithm: GraphAlgorithm) -> Run:
    found = run(algorithm)
    assert found.halted
    return found


def one(nodes: int, *chosen: int) -> np.ndarray:
    found = np.zeros(nodes, dtype=np.int64)
    found[list(chosen)] = 1
    return found


def column(found: Run, name: str) -> list[int | None]:
    return [values[name] for values in found.nodes.values()]


def sources(graph: nx.Graph) -> list[list[int]]:
    """One source, the first; and in larger graphs several."""
    rng = Random(len(graph) + graph.number_of_edges())
    return [[0], rng.sample(range(len(graph)), rng.randint(0, len(graph)))]


@pytest.mark.parametrize("directed", [False, True])
def test_flooding_reaches_what_can_be_reached(directed: bool) -> None:
    for graph, topology in graphs(directed):
        for chosen in sources(graph):
            found = done(EXAMPLES["flooding"].on(topology, {"source": one(len(graph), *chosen)}))
            reached = {v for source in chosen for v in (source, *nx.descendants(graph, source))}
            assert column(found, "reached") == [int(v in reached) for v in graph]


def test_bipartite_finds_two_sides_or_an_odd_circle() -> None:
    for graph, topology in graphs():
        found = done(EXAMPLES["bipartite"].on(topology, {"source": one(len(graph), 0)}))
        component = graph.subgraph(nx.node_connected_component(graph, 0))
        even, odd = column(found, "even"), column(found, "odd")
        assert nx.is_bipartite(component) == (not any(a and b for a, b in zip(even, odd, strict=True)))
        if nx.is_bipartite(component):
            side = nx.bipartite.color(component)
            assert odd == [int(v in side and side[v] != side[0]) for v in graph]


def parents(algorithm: GraphAlgorithm, found: Run) -> dict[int, list[int]]:
    """The far ends of the ports that say parent, by node."""
    topology, ports = algorithm.topology, algorithm.read_places(found.state, "port")["parent"]
    by_node: dict[int, list[int]] = {}
    for node, far, parent in zip(topology.port_node.tolist(), topology.port_far.tolist(), ports, strict=True):
        if parent:
            by_node.setdefault(node, []).append(far)
    return by_node


def test_bfs_gives_levels_and_one_parent_a_level_up() -> None:
    for graph, topology in graphs():
        for chosen in sources(graph):
            algorithm = EXAMPLES["bfs"].on(topology, {"source": one(len(graph), *chosen)})
            found = done(algorithm)
            levels = nx.multi_source_dijkstra_path_length(graph, set(chosen), weight=None) if chosen else {}
            assert column(found, "level") == [levels.get(v) for v in graph]
            tree = parents(algorithm, found)
            assert set(tree) == set(levels) - set(chosen)
            assert all(len(up) == 1 and levels[up[0]] == levels[v] - 1 for v, up in tree.items())


def identifiers(nodes: int) -> np.ndarray:
    return np.array(Random(nodes).sample(range(2 ** nodes.bit_length()), nodes))


def test_components_have_their_largest_identifier() -> None:
    for graph, topology in graphs():
        ids = identifiers(len(graph))
        found = done(EXAMPLES["components"].on(topology, {"id": ids}))
        largest = {v: max(ids[list(part)]) for part in nx.connected_components(graph) for v in part}
        assert column(found, "component") == [largest[v] for v in graph]


def test_the_leader_has_the_smallest_identifier_of_its_component() -> None:
    for graph, topology in graphs():
        ids = identifiers(len(graph))
        found = done(EXAMPLES["leader"].on(topology, {"id": ids}))
        smallest = {v: min(ids[list(part)]) for part in nx.connected_components(graph) for v in part}
        assert column(found, "leader") == [smallest[v] for v in graph]
        assert column(found, "elected") == [int(smallest[v] == ids[v]) for v in graph]


def weighted(graph: nx.Graph, topology: Topology, most: int) -> np.ndarray:
    """Random weights from 1 on, given to the graph as well; for each port."""
    rng = Random(graph.number_of_edges())
    weights = [rng.choice((1, rng.randint(1, most), most)) for _ in range(topology.edges)]
    for (u, v), weight in zip(topology.edge_ends.tolist(), weights, strict=True):
        graph.edges[u, v]["weight"] = weight
    return np.array(weights, dtype=np.int64)[topology.port_edge]


@pytest.mark.parametrize(("name", "bounds"), [("shortest-paths", ("W", 1, 15)), ("shortest-paths-binary", ("B", 1, 4))])
def test_distances_are_those_of_shortest_paths(name: str, bounds: tuple[str, int, int]) -> None:
    let, *values = bounds
    for value in values:
        program = parse_node_program(TEXTS[name], name, {let: value})
        most = program.inputs[1].range[1]
        for graph, topology in graphs()[:: 1 if value > 1 else 3]:
            weights = weighted(graph, topology, most)
            for chosen in sources(graph)[: 2 if len(graph) > 4 else 1]:
                algorithm = program.on(topology, {"source": one(len(graph), *chosen), "weight": weights})
                found = done(algorithm)
                distances = nx.multi_source_dijkstra_path_length(graph, set(chosen)) if chosen else {}
                assert column(found, "distance") == [distances.get(v) for v in graph]
                tree = parents(algorithm, found)
                assert set(tree) == set(distances) - set(chosen)
                for v, [u] in tree.items():
                    assert distances[u] + graph.edges[u, v]["weight"] == distances[v]


def test_dfs_makes_the_tree_of_networkx() -> None:
    for graph, topology in graphs():
        for source in {0, len(graph) - 1}:
            algorithm = EXAMPLES["dfs"].on(topology, {"source": one(len(graph), source)})
            tree = parents(algorithm, done(algorithm))
            assert tree == {v: [u] for u, v in nx.dfs_edges(graph, source)}


def test_the_independent_set_is_independent_and_maximal() -> None:
    for graph, topology in graphs():
        found = done(EXAMPLES["independent-set"].on(topology, {"id": identifiers(len(graph))}))
        chosen = {v for v, is_chosen in enumerate(column(found, "chosen")) if is_chosen}
        assert not any(u in chosen and v in chosen for u, v in graph.edges)
        assert all(v in chosen or any(u in chosen for u in graph[v]) for v in graph)


# Automata.


def torus(rows: int, columns: int) -> Topology:
    """Every cell and its eight neighbours; in small tori some of them are the same, or the cell itself."""
    edges = [
        (row * columns + column, (row + down) % rows * columns + (column + right) % columns)
        for row in range(rows)
        for column in range(columns)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    return Topology.from_edges(rows * columns, edges)


def neighbours(cells: np.ndarray) -> np.ndarray:
    shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
    return np.sum([np.roll(cells, shift, (0, 1)) for shift in shifts], axis=0)


def life(cells: np.ndarray) -> np.ndarray:
    count = neighbours(cells)
    return ((count == 3) | ((cells == 1) & (count == 2))).astype(np.int64)


def wireworld(cells: np.ndarray) -> np.ndarray:
    """0 is empty, 1 wire, 2 a head, 3 a tail."""
    count = neighbours((cells == 2).astype(np.int64))
    return np.where(
        cells == 2, 3, np.where(cells == 3, 1, np.where((cells == 1) & (count > 0) & (count < 3), 2, cells))
    )


def after(step: Callable[[np.ndarray], np.ndarray], cells: np.ndarray, generations: int) -> np.ndarray:
    for _ in range(generations):
        cells = step(cells)
    return cells


def boards(rng: np.random.Generator) -> list[tuple[int, int]]:
    return [(1, 1), (1, 2), (2, 2), (1, 7), (3, 3), *((rng.integers(1, 12), rng.integers(1, 12)) for _ in range(10))]


@pytest.mark.parametrize("generations", [0, 1, 2, 5])
def test_life_is_that_of_numpy(generations: int) -> None:
    program = parse_node_program(TEXTS["life"], "life", {"generations": generations})
    rng = np.random.default_rng(generations)
    for shape in boards(rng):
        cells = (rng.random(shape) < rng.choice([0.2, 0.4, 0.7])).astype(np.int64)
        found = run(program.on(torus(*shape), {"alive": cells.ravel()}))
        assert column(found, "alive") == after(life, cells, generations).ravel().tolist()


@pytest.mark.parametrize("generations", [0, 1, 2, 5])
def test_wireworld_is_that_of_numpy(generations: int) -> None:
    program = parse_node_program(TEXTS["wireworld"], "wireworld", {"generations": generations})
    rng = np.random.default_rng(generations)
    for shape in boards(rng):
        cells = rng.choice(4, p=[0.3, 0.4, 0.15, 0.15], size=shape)
        flat = cells.ravel()
        given = {"wire": flat > 0, "head": flat == 2, "tail": flat == 3}
        found = run(program.on(torus(*shape), given))
        wanted = after(wireworld, cells, generations).ravel()
        assert column(found, "wire") == (wanted > 0).astype(int).tolist()
        assert column(found, "head") == (wanted == 2).astype(int).tolist()
        assert column(found, "tail") == (wanted == 3).astype(int).tolist()


def test_every_example_is_tried_here() -> None:
    tried = {"flooding", "bipartite", "bfs", "components", "leader", "dfs", "independent-set"}
    assert set(EXAMPLES) == tried | {"shortest-paths", "shortest-paths-binary", "life", "wireworld"}


# The pages on them.

DOCS = FOLDER.parents[1] / "docs"
PAGE = (DOCS / "reference" / "graphs.md").read_text()
ROWS = {
    name: cells
    for name, *cells in (re.split(r" \| ", row) for row in re.findall(r"^\| ([a-z-]+ \| .*) \|$", PAGE, re.M))
}


@for_each("name", EXAMPLES)
def test_the_page_counts_right(name: str) -> None:
    program = EXAMPLES[name]
    schema = program.schema()
    first = schema.program.block_bits[schema.program.block_start[schema.program.template_block]]
    counts = [sum(schema.place_of(int(bit)) == place for bit in first) for place in ("node", "port", "whole")]
    while counts[-1] == 0:
        counts.pop()
    largest = int(np.diff(schema.program.block_start).max())
    wanted = [" + ".join(map(str, counts)), largest, len(program.kinds), Pattern.of(program.kinds).local_states]
    assert ROWS[name][1:5] == list(map(str, wanted))
