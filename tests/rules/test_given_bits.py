"""What is given to an Algorithm in Python: bits by name, by reference and by number, and all that is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import for_each
from facts import missing

from bitwright import addition, parse, run
from bitwright.common.errors import InputError
from bitwright.rules import Algorithm, Builder, Topology, Word, parse_node_program, span, word
from bitwright.rules.graph.node_program import NodeProgram

LENGTH = 4


def adder() -> tuple[Builder, dict[str, Any]]:
    """p + q with a carry; a carry at the start adds 1."""
    b = Builder()
    p, q, c = b.bits("p", LENGTH), b.bits("q", LENGTH), b.bits("c", LENGTH + 1)
    i = span(1, LENGTH)
    b.block(p[i], q[i], c[i])
    b.block(c[LENGTH + 1])
    for one in range(8):
        bits = [one >> k & 1 for k in range(3)]
        written = [*([p[i]] * (sum(bits) % 2)), *([c[i + 1]] * (sum(bits) > 1))]
        if written:
            b.when(p[i] == bits[0], q[i] == bits[1], c[i] == bits[2]).write(*written)
    b.when(c[LENGTH + 1] == 1).write(c[LENGTH + 1])
    return b, {"p": p, "q": q, "c": c}


def made(start: Any = (), **more: Any) -> Algorithm:
    b, bits = adder()
    words = (word(bits["p"][:]), word(bits["q"][:]))
    out = (word(bits["c"][LENGTH + 1], bits["p"][:], name="sum"),)
    given = start(bits) if callable(start) else start
    return Algorithm("adder", b.build(), words, out, start=given, **{"steps": LENGTH, **more})


@pytest.mark.parametrize(
    "start",
    [
        *(("c[1]",), ["c[1]"], "c[1]", lambda bits: (bits["c"][1],), lambda bits: bits["c"][1]),
        *((2 * LENGTH,), (np.int64(2 * LENGTH),)),
    ],
)
def test_a_bit_at_the_start_is_named_referred_to_or_numbered(start: Any) -> None:
    algorithm = made(start)
    assert algorithm.start == (2 * LENGTH,)
    assert {type(bit) for bit in algorithm.start} == {int}
    assert run(algorithm, p=1, q=2).outputs == {"sum": 4}
    assert parse(algorithm.text()).same_as(algorithm)


def test_an_array_stands_for_all_its_bits() -> None:
    b, bits = adder()
    p, q, c = (bits[name] for name in "pqc")
    algorithm = Algorithm("adder", b.build(), (Word("p", p), Word("q", q)), (Word("sum", p),), steps=LENGTH)
    assert (algorithm.inputs, algorithm(p=3, q=4)) == (made().inputs, 7)
    assert replace(algorithm, inputs=[p, q], outputs=p).inputs == algorithm.inputs
    assert made(lambda bits: bits["c"]).start == made([f"c[{i}]" for i in range(1, LENGTH + 2)]).start
    assert replace(algorithm, outputs=(Word("all", (c, "p[1]")),)).outputs[0].bits == (*range(8, 13), 0)


def other_builder(_: Any) -> tuple[Any]:
    b = Builder()
    return (b.bits("other", 3)[1],)


@for_each(
    ("start", "message"),
    [
        ((-1,), "-1 0 12"),
        ((8, 99), "bit 99"),
        (("c[1]", -1), "-1"),
        ((True,), "start takes"),
        (8, "'carry' 8"),
        (("c[9]",), "'c[9]' c[5]"),
        (("d",), "'d'"),
        (lambda bits: (bits["c"][7],), "c[7] c[5]"),
        (other_builder, "other[1]"),
        ((8, 8), "c[1]"),
        (("c[1]", 8), "c[1]"),
        (("p[2]",), "p[2]"),
    ],
)
def test_what_is_no_start_is_refused(start: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        made(start)
    assert missing(str(refusal.value), message) == []


@for_each(
    ("given", "message"),
    [
        ({"halt": -1}, "-1"),
        ({"halt": 12}, "halt bit 12"),
        ({"halt": True}, "takes bits"),
        ({"halt": "fixedpoint"}, "'fixedpoint'"),
        ({"halt": "p"}, "'p' 1"),
        ({"steps": True}, "steps integer"),
        ({"steps": -1}, "steps 0"),
        ({"inputs": (Word("p", (-1,)),)}, "'p' -1"),
        ({"inputs": (Word("p", (0, 0)),)}, "p[1]"),
        ({"outputs": (Word("p", ()),)}, "'p'"),
        ({"outputs": (Word("p", 3),)}, "'p'"),  # type: ignore[arg-type]
        ({"outputs": (Word(3, (0,)),)}, "3"),  # type: ignore[arg-type]
        ({"outputs": (Word("p", (0,), signed=3),)}, "'p'"),  # type: ignore[arg-type]
        ({"name": 5}, "name algorithm"),
    ],
)
def test_other_parts_are_looked_at_too(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        replace(addition(4), **given)
    assert missing(str(refusal.value), message) == []


FLOOD = "let l = 2\nbits x[l]\nblock x[*]\nwhen x[*]=1 write far.x[1]\ninput source = x[1]\n"


@pytest.mark.parametrize("lets", [{"l": True}, {"k": 3}, {"nodes": 3}])
def test_a_node_program_takes_its_own_numbers_alone(lets: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"value of let l must|has no line 'let"):
        NodeProgram("flood", parse_node_program(FLOOD).rules, lets)


@pytest.mark.parametrize(("nodes", "edges"), [(True, []), (2.5, []), (2, [(0.7, 1)]), (3, [(0, 1, 2)]), (2, [0, 1])])
def test_a_topology_has_pairs_of_integers(nodes: Any, edges: Any) -> None:
    with pytest.raises(InputError, match=r"nodes must be an integer|edges must be pairs of nodes"):
        Topology.from_edges(nodes, edges)
