"""Node programs on graphs: values that enter and leave, and graphs that a program is not for."""

from typing import Any

import numpy as np
import pytest
from cases import for_each
from facts import missing

from bitwright import run
from bitwright.common.errors import InputError
from bitwright.rules import NodeProgram, Topology, parse_node_program

PATH = Topology.from_edges(3, [(0, 1), (1, 2)])


def program(*lines: str, rules: str = "when a=1 write a") -> NodeProgram:
    head = ["bits a b r[3]", "port bits e s[3]", "whole bits d k[2]", "block a b", "block e", "block d"]
    blocks = ["block r[i] for i in 1..3", "block s[i] for i in 1..3", "block k[i] for i in 1..2"]
    return parse_node_program("\n".join([*head, *blocks, rules, *lines]), "tried")


def names_on(made: NodeProgram, topology: Topology = PATH, **values: Any) -> set[str]:
    algorithm = made.on(topology, {name: np.array(given) for name, given in values.items()})
    return {algorithm.program.layout.name_of(bit) for bit in algorithm.start}


# What is on at the start.


@for_each(
    ("line", "values", "on"),
    [
        ("input v = r", [5, 0, 2], {"r[1,1]", "r[1,3]", "r[3,2]"}),
        ("input v = r[1] r[3]", [1, 2, 0], {"r[1,3]", "r[2,1]"}),
        ("input signed v = r", [-1, 3, -4], {"r[1,1]", "r[1,2]", "r[1,3]", "r[2,1]", "r[2,2]", "r[3,3]"}),
        ("input v = not r", [7, 6, 0], {"r[2,1]", "r[3,1]", "r[3,2]", "r[3,3]"}),
        ("input v = place r", [1, 3, 2], {"r[1,1]", "r[2,3]", "r[3,2]"}),
        ("input v = s", [1, 0, 0, 2], {"s[1,1]", "s[4,2]"}),
        ("input v = k", [2], {"k[2]"}),
        ("input v = a, b", [0, 1, 0], {"a[2]", "b[2]"}),
        ("input v = a, far.b", [1, 0, 0], {"a[1]", "b[2]"}),
        ("input v = a, all.e", [0, 1, 0], {"a[2]", "e[2]", "e[3]"}),
        ("input v = a, far.e", [0, 1, 0], {"a[2]", "e[1]", "e[4]"}),
        ("input v = a, far.all.e", [1, 0, 0], {"a[1]", "e[2]", "e[3]"}),
        ("input v = a, next.s[2] d", [0, 1, 0], {"a[2]", "s[2,2]", "d"}),
        ("input v = e, a far.a all.s[1]", [0, 1, 0, 0], {"e[2]", "a[2]", "a[1]", "s[2,1]", "s[3,1]"}),
        ("input v = d, every.a every.e", [1], {"d", "a[1]", "a[2]", "a[3]", "e[1]", "e[2]", "e[3]", "e[4]"}),
        ("start a r[2] e d\ninput v = b", [0, 0, 0], {"a[1]", "a[2]", "a[3]", "r[1,2]", "r[2,2]", "r[3,2]"}
         | {"e[1]", "e[2]", "e[3]", "e[4]", "d"}),
    ],
)  # fmt: skip
def test_inputs_set_their_bits(line: str, values: list[int], on: set[str]) -> None:
    assert names_on(program(line), v=values) == on


@for_each(
    ("line", "values", "message"),
    [
        ("input v = r", {}, "v=NUMBER"),
        ("input v = r", {"w": [0]}, "'w'"),
        ("input v = r", {"v": [1, 2]}, "3 2"),
        ("input v = r", {"v": [0, 8, 0]}, "'b' 8 0 7"),
        ("input v = r", {"v": [0, 0, -1]}, "'c' -1 0 7"),
        ("input signed v = r", {"v": [0, 4, 0]}, "'b' 4 -4 3"),
        ("input v = place r", {"v": [1, 0, 3]}, "'b' 0 1 3"),
        ("input positive v = r", {"v": [1, 0, 3]}, "'b' 0 1 7"),
        ("input v = s", {"v": [0, 0, 9, 0]}, "9 0 7"),
        ("input unique v = r", {"v": [5, 2, 5]}, "'a' 'c' 5"),
        ("input v = r", {"v": [0.5, 1, 2]}, "64"),
        ("input v = r", {"v": [2**70, 0, 0]}, f"v of node 'a' must be between 0 and 7, got {2**70}"),
    ],
)
def test_values_that_do_not_fit_are_refused(line: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        program(line).on(PATH, {name: np.array(given) for name, given in values.items()}, names="abc")
    assert missing(str(refusal.value), message) == []


def test_wide_numbers_enter_and_leave() -> None:
    made = parse_node_program("bits r[80]\nblock r[i] for i in 1..80\nwhen r[1]=1 write r[1]\ninput v = r\noutput r")
    values = [2**79 + 1, 5, 2**64 - 1]
    algorithm = made.on(PATH, {"v": np.array(values, dtype=object)})
    assert algorithm.read_places(algorithm.state({})) == {"r": values}


# What nodes and ports put out.


@for_each(
    ("line", "given", "place", "found"),
    [
        ("output r", [5, 0, 7], "node", {"r": [5, 0, 7]}),
        ("output signed r", [5, 0, 7], "node", {"r": [-3, 0, -1]}),
        ("output v = not r", [5, 0, 7], "node", {"v": [2, 7, 0]}),
        ("output v = place r", [4, 1, 2], "node", {"v": [3, 1, 2]}),
        ("output v = r[1] r[3]", [5, 1, 4], "node", {"v": [3, 2, 1]}),
        ("output r if r[1]", [5, 2, 7], "node", {"r": [5, None, 7]}),
        ("output e", [5, 2, 7], "port", {"e": [0, 0, 0, 0]}),
        ("output r\noutput e", [5, 2, 7], "port", {"e": [0, 0, 0, 0]}),
        ("output d", [5, 2, 7], "node", {}),
    ],
)
def test_outputs_are_read(line: str, given: list[int], place: str, found: dict[str, list[int | None]]) -> None:
    algorithm = program("input v = r", line).on(PATH, {"v": np.array(given)})
    assert algorithm.read_places(algorithm.state({}), place) == found


def test_the_graph_puts_out_what_is_whole() -> None:
    made = program("input v = a", "output k", "halt when d", rules="when a=1 write k[2] d")
    found = run(made.on(PATH, {"v": np.array([0, 0, 1])}))
    assert (found.outputs, found.steps) == ({"k": 2}, 1)


def test_a_run_ends_after_its_steps_or_at_a_fixed_point() -> None:
    blink = "when a=1 write b\nwhen b=1 write a"
    assert run(program("input v = a", "steps 2*nodes+ports", rules=blink).on(PATH, {"v": np.ones(3, int)})).steps == 10
    assert run(program("input v = a").on(PATH, {"v": np.ones(3, int)})).steps <= 1


# Graphs.

TRIANGLE = Topology.from_edges(3, [(0, 1), (1, 2), (2, 0)])
LOOP = Topology.from_edges(2, [(0, 1), (1, 1)])
DOUBLE = Topology.from_edges(2, [(0, 1), (1, 0)])
APART = Topology.from_edges(3, [(0, 1)])
ARROW = Topology.from_edges(2, [(0, 1)], directed=True)


@for_each(
    ("line", "graph", "message"),
    [
        ("", ARROW, "undirected directed"),
        ("graph simple", LOOP, "'b'"),
        ("graph simple", DOUBLE, "'a' 'b'"),
        ("graph connected", APART, "'a' 'c'"),
        ("graph degree 2", APART, "2 'a' 1"),
        ("graph degree nodes", TRIANGLE, "3 'a' 2"),
    ],
)
def test_a_graph_that_a_program_is_not_for_is_refused(line: str, graph: Topology, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        program(line).on(graph, names="abc"[: graph.nodes])
    assert missing(str(refusal.value), message) == []


@for_each(
    ("line", "graph"),
    [
        ("", LOOP),
        ("", DOUBLE),
        ("", APART),
        ("graph simple, connected, degree 2", TRIANGLE),
        ("graph directed", ARROW),
        ("graph directed", TRIANGLE),
        ("graph connected, directed", ARROW),
        ("graph degree 0", Topology.from_edges(1, [])),
        ("graph simple, connected", Topology.from_edges(1, [])),
    ],
)
def test_a_graph_that_a_program_is_for_is_taken(line: str, graph: Topology) -> None:
    assert program(line).on(graph).topology is graph


def test_a_directed_edge_has_no_far_port() -> None:
    made = program("graph directed", rules="when a=1 write far.e")
    assert made.on(TRIANGLE).program.templates == 3
    with pytest.raises(InputError, match=r"directed.*edge"):
        made.on(ARROW)


@for_each("line", ["let l = digits(nodes)", "let l = digits(ports)\nsteps nodes", "let l = 3\nsteps 2*nodes + ports"])
def test_the_schema_is_that_of_the_size(line: str) -> None:
    """It is made once for all sizes at which nothing differs; each is compared with one that is made for it alone."""
    rules = "bits x[l]\nblock x[i] for i in 1..l\nwhen x[i]=1 write far.x[i] for i in 1..l\ninput x"
    made = parse_node_program(f"{line}\n{rules}")
    for nodes in range(1, 20):
        for ports in (2 * nodes, 8 * nodes):
            found, alone = made.schema(nodes, ports), made.rules.schema({}, nodes, ports)
            assert (found.program.id, found.steps, found.inputs) == (alone.program.id, alone.steps, alone.inputs)
    assert (made.schema(9) is made.schema(15)) == ("nodes" not in line.replace("digits(nodes)", ""))
