"""A node program on a graph makes the steps of the model, and its cells are of the node program's kinds."""

from dataclasses import replace
from random import Random

import numpy as np
from cases import for_each
from graph_model import Graph, Model
from graph_programs import EXAMPLES, Edges, inputs_of, random_edges, random_program
from long import LONG, seeds

from bitwright import run
from bitwright.common.errors import InputError
from bitwright.rules import GraphAlgorithm, NodeProgram, Topology, parse_node_program

SPECIAL: tuple[tuple[int, Edges], ...] = (
    (1, []),
    (1, [(0, 0)]),
    (1, [(0, 0), (0, 0)]),
    (3, []),
    (2, [(0, 1), (0, 1), (1, 0)]),
    (3, [(0, 0), (0, 1), (1, 1), (1, 0)]),
)


def graphs(rng: Random, count: int) -> list[tuple[int, Edges]]:
    return [*SPECIAL, *((nodes := rng.randint(1, 6), random_edges(rng, nodes)) for _ in range(count))]


def compare(program: NodeProgram, algorithm: GraphAlgorithm, graph: Graph) -> None:
    """Every step of a run is that of the model."""
    topology = algorithm.topology
    model = Model(program.text(topology.nodes, topology.ports), graph)
    layout = algorithm.program.layout
    assert sorted(model.named(frozenset(model.every()))) == sorted(layout.names)
    found = run(algorithm, record=True)
    state = model.unnamed(layout.name_of(bit) for bit in algorithm.start)
    for step in range(found.steps + 1):
        assert {layout.names[bit] for bit in np.flatnonzero(found.trace.state(step))} == model.named(state), step
        state = model.step(state)
    assert algorithm.program.kinds.kinds == program.schema(topology.nodes, topology.ports).program.kinds.kinds
    assert set(algorithm.program.kinds.kinds) <= set(program.kinds)


@for_each("name", EXAMPLES)
def test_the_examples_make_the_steps_of_the_model(name: str) -> None:
    rng = Random(name)
    program = EXAMPLES[name]
    schema = program.schema()
    tried = 0
    for nodes, edges in graphs(rng, 25 if LONG else 4):
        for directed in (False, True) if "directed" in schema.requires else (False,):
            topology = Topology.from_edges(nodes, edges, directed)
            try:
                algorithm = program.on(topology, inputs_of(program, topology, rng))
            except InputError:  # not a graph for this program
                continue
            compare(program, algorithm, Graph.of(nodes, edges, directed))
            tried += 1
    assert tried > 1 or schema.degree is not None


@for_each("seed", seeds(12, of=60))
def test_random_node_programs_make_the_steps_of_the_model(seed: int) -> None:
    rng = Random(seed)
    directed = seed % 4 == 0
    program = parse_node_program(random_program(rng, directed))
    for nodes, edges in graphs(rng, 4):
        topology = Topology.from_edges(nodes, edges, directed)
        algorithm = program.on(topology)
        on = rng.sample(range(algorithm.program.bits), algorithm.program.bits // 2)
        compare(program, replace(algorithm, start=tuple(on)), Graph.of(nodes, edges, directed))


@for_each("seed", seeds(12, of=60))
def test_canonical_text_is_the_same_program_on_every_graph(seed: int) -> None:
    rng = Random(seed)
    program = parse_node_program(random_program(rng, directed=False))
    again = parse_node_program(program.text())
    assert again.text() == program.text()
    topology = Topology.from_edges(4, random_edges(rng, 4))
    mine, theirs = program.on(topology), again.on(topology)
    assert mine.same_as(theirs)


def test_ports_may_stand_in_any_order() -> None:
    """Whether a graph is given by its edges or by its ports, the far ends stay together."""
    rng = Random(3)
    program = EXAMPLES["dfs"]
    for _ in range(20):
        nodes = rng.randint(2, 6)
        edges = sorted({(u, v) for u, v in random_edges(rng, nodes) if u < v})
        topology = Topology.from_edges(nodes, edges)
        order = [port for v in range(nodes) for port in shuffled(rng, topology, v)]
        arranged = topology.arranged(np.array(order, dtype=np.int64))
        place = {old: new for new, old in enumerate(order)}
        graph = Graph(
            [
                [
                    (
                        int(topology.port_far[port]),
                        place[int(topology.opposite[port])] - int(topology.first_port[topology.port_far[port]]),
                    )  # type: ignore[index]
                    for port in order[topology.first_port[v] : topology.first_port[v + 1]]
                ]
                for v in range(nodes)
            ]
        )
        compare(program, program.on(arranged, inputs_of(program, arranged, rng)), graph)


def shuffled(rng: Random, topology: Topology, node: int) -> list[int]:
    own = list(range(topology.first_port[node], topology.first_port[node + 1]))
    rng.shuffle(own)
    return own


@for_each("name", EXAMPLES)
def test_the_kinds_of_an_example_are_those_of_graphs_of_every_size(name: str) -> None:
    """Sizes enter by their digits alone, and these numbers of nodes have every number of digits that one can have."""
    program = EXAMPLES[name]
    for nodes in [*range(1, 10), *(1 << digits for digits in range(4, 27, 1 if LONG else 3))]:
        for ports in (0, 2 * nodes):
            assert set(program.schema(nodes, ports).program.kinds.kinds) <= set(program.kinds), nodes
