"""One network for the cells of all node programs makes every step of the rules, on every graph."""

from random import Random

import pytest
from cases import for_each
from graph_programs import EXAMPLES, inputs_of, random_edges, random_program
from long import LONG

from bitwright import Network
from bitwright.networks import Recipe
from bitwright.proofs.width import suggested_width
from bitwright.rules import GraphAlgorithm, Topology, parse_node_program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import train_on_pattern
from bitwright.verbs.run import run


def trained(pattern: Pattern) -> Network:
    cells = train_on_pattern(pattern, Recipe(suggested_width(pattern), 0))
    assert cells.proved
    return cells


@pytest.fixture(scope="module")
def network() -> Network:
    return trained(Pattern.of(kind for program in EXAMPLES.values() for kind in program.kinds))


def algorithms(name: str, count: int) -> list[GraphAlgorithm]:
    rng, found = Random(name), list[GraphAlgorithm]()
    program = EXAMPLES[name]
    degree = program.schema().degree
    while len(found) < count:
        nodes = rng.randint(1, 12)
        edges = random_edges(rng, nodes)
        if degree is not None:
            edges = [(v, (v + k) % nodes) for k in range(1, degree // 2 + 1) for v in range(nodes)]
        if "simple" in program.schema().requires:
            edges = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
        topology = Topology.from_edges(nodes, edges)
        found.append(program.on(topology, inputs_of(program, topology, rng)))
    return found


@for_each("name", EXAMPLES)
def test_every_cell_of_every_step_says_what_the_rules_say(name: str, network: Network) -> None:
    for algorithm in algorithms(name, 6 if LONG else 2):
        rules = run(algorithm, record=True)
        cells = run(algorithm, network=network, record=True)
        assert cells.trace == rules.trace
        assert (cells.nodes, cells.halted) == (rules.nodes, rules.halted)
        assert cells.margin is None or cells.margin > 0


@for_each("seed", range(8))
def test_a_network_of_a_random_program_serves_every_graph(seed: int) -> None:
    rng = Random(seed)
    program = parse_node_program(random_program(rng, directed=False))
    cells = trained(Pattern.of(program.kinds))
    for nodes in (1, 2, 5):
        algorithm = program.on(Topology.from_edges(nodes, random_edges(rng, nodes)))
        rules = run(algorithm, record=True)
        assert run(algorithm, network=cells, record=True).trace == rules.trace
