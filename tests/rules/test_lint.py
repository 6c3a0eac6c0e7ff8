"""Warnings: what can never happen is found, and what can happen is never called impossible."""

import random
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from long import LONG

from bitwright import Algorithm, Builder, Word, addition, multiplication, parse, run
from bitwright.rules.text.lint import lint, possible

EXAMPLES = Path(__file__).parents[2] / "examples"
DEAD = "can never be on, since no input, no start and no rule that can match sets"

UNUSED = "no rule requires or writes it, and it is neither input nor output"


def warnings(text: str) -> list[str]:
    return [str(problem) for problem in lint(text, parse(text))]


@for_each(
    ("text", "found"),
    [
        (
            "bits p q\nblock p\nblock q\nwhen p=1 write p\nwhen q=1 write p\ninput p\noutput p",
            [f"5:1: this rule never matches: q {DEAD} it"],
        ),
        (  # one rule waits for the other
            "bits p a b\nblock p\nblock a\nblock b\nwhen p=1 write p\n when a=1 write b\nwhen b=1 write a\ninput p",
            [f"6:2: this rule and 1 other never match: a, b {DEAD} them"],
        ),
        ("bits a b\nblock a b\nwhen a=1 b=1 write a", [f"3:1: this rule never matches: a, b {DEAD} them"]),
        ("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a", []),
        ("bits a b\nblock a\nblock b\nwhen a=0 write b\nwhen b=1 write a", []),  # it begins all by itself
        (
            "bits p z\nblock p\nblock z\nwhen p=1 write p\ninput p\nhalt when z",
            [f"6:1: this never happens: z {DEAD} it"],
        ),
        (
            "bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p q\noutput p",
            ["5:9: input 'q' is never read: no rule that can match looks at its bits"],
        ),
        (
            "bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p\noutput r = q",
            ["6:1: output 'r' is 0 from the first step on: no rule that can match writes its bits"],
        ),
        ("bits p q\nblock p q\nwhen p=1 write p\ninput p q\noutput p", []),  # q = 1 keeps the rule from matching
        ("bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p\nsteps 0\noutput q", []),
        (  # a row at the edge is no mistake of the rule
            "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=1 write x[i+1] for i in 1..2\nstart x[2]",
            [],
        ),
        (
            "bits p q r\nblock p\nblock q r\nwhen p=1 write p\nwhen q!=r write p\ninput p",
            [f"5:1: this rule never matches: q, r {DEAD} them"],
        ),
        (  # a chain is told once, by what could start it
            "bits p c[9] z\nblock p\nblock c[i] for i in 1..9\nblock z\nwhen p=1 write p\n"
            "when c[i]=1 write c[i+1] for i in 1..8\nwhen c[9]=1 write z\nwhen z=1 write z\ninput p\n"
            "output z\nhalt when z",
            [
                f"6:1: this rule and 2 others never match: c[1] {DEAD} it; "
                "so output 'z' is 0 from the first step on, the halt bit is never on"
            ],
        ),
        (  # two chains are one warning, at the first rule that could begin
            "bits p a b c d\nblock p\nblock a\nblock b\nblock c\nblock d\nwhen p=1 write p\nwhen a=1 write b\n"
            "when c=1 write d\nwhen b=1 write p\nwhen d=1 write p\ninput p",
            [f"8:1: this rule and 3 others never match: a, c {DEAD} them"],
        ),
        (  # the first rule that could start it may stand further down
            "bits p a b\nblock p\nblock a\nblock b\nwhen p=1 write p\nwhen b=1 write p\nwhen a=1 write b\ninput p",
            [f"7:1: this rule and 1 other never match: a {DEAD} it"],
        ),
        (
            "bits p q[3] r\nblock p\nblock q[*]\nblock r\nwhen p=1 write p\ninput p\noutput p",
            [f"1:8: 'q' is unused: {UNUSED}", f"1:13: 'r' is unused: {UNUSED}"],
        ),
        ("bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p", []),  # without 'output' each is one
        ("bits p q[2]\nblock p\nblock q[*]\nwhen p=1 write p q[1]\ninput p\noutput p", []),  # q[2] is spare
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert warnings(text) == found


TWO = "bits x[2] y[2]\nblock x[i] y[i] for i in 1..2\n"
KEPT = TWO + "when x[i]=1 write x[i] for i in 1..2\nwhen y[i]=1 write y[i] for i in 1..2\n"
NOT_NAMED = "since unnamed bits must be 0; add a rule for both, or write"
VANISH = "both become 0 if both are on at the start: this rule is for"


@for_each(
    ("text", "found"),
    [
        (
            KEPT + "input x y",
            [
                f"4:1: x[1] and y[1] {VANISH} x[1]=0, and line 3 for y[1]=0, {NOT_NAMED} x[1]=0 here if that "
                "is intended (and 1 more such pair)"
            ],
        ),
        (
            KEPT + "input x\nstart y[2]",
            [f"4:1: x[2] and y[2] {VANISH} x[2]=0, and line 3 for y[2]=0, {NOT_NAMED} x[2]=0 here if that is intended"],
        ),
        (  # canonical order of bits is not that of the lines
            "bits x y\nblock x y\nwhen y=1 write y\nwhen x=1 write x\ninput x y",
            [f"4:1: y and x {VANISH} y=0, and line 3 for x=0, {NOT_NAMED} y=0 here if that is intended"],
        ),
        (KEPT + "when x[i]=1 y[i]=1 write x[i] y[i] for i in 1..2\ninput x y", []),
        (KEPT + "when x[i]=1 y[i]=1 write nothing for i in 1..2\ninput x y", []),
        (KEPT.replace("write x[i]", "write x[i] y[i]") + "input x", []),  # never both at the start
        (KEPT + "input a = x[1] y[2]", []),  # not in one block
        (KEPT.replace("when y[i]=1", "when y[i]=1 x[i]=0") + "input x y", []),  # the rule knows of x
        ("bits x y z\nblock x y\nblock z\nwhen x=1 y=1 write z\ninput x y\noutput z", []),  # one alone is for nothing
        ("bits x y z\nblock x y z\nwhen x=1 write x\nwhen y=1 write y\ninput x y\nstart z", []),  # never two alone
    ],
)
def test_bits_that_vanish_where_both_are_on(text: str, found: list[str]) -> None:
    assert warnings(text) == found


@for_each("path", sorted(EXAMPLES.glob("*.bw")))
def test_the_examples_are_without_doubt(path: Path) -> None:
    assert warnings(path.read_text()) == []


@pytest.mark.parametrize("algorithm", [addition(6), addition(6, counter=True), multiplication(4)], ids=repr)
def test_shipped_programs_are_without_doubt(algorithm: Algorithm) -> None:
    assert lint(algorithm.text(), algorithm) == []


def random_program(rng: random.Random) -> Algorithm:
    b, count = Builder(), 6
    bits = b.bits("x", count)
    order = rng.sample(range(1, count + 1), count)
    used = set()
    for pair in (order[:2], order[2:4], order[4:]):
        b.block(*(bits[i] for i in pair))
        for values in rng.sample([(0, 0), (0, 1), (1, 0), (1, 1)], rng.randrange(4)):
            b.when(*(bits[i] == value for i, value in zip(pair, values, strict=True))).write(
                *(bits[i] for i in rng.sample(order, rng.randrange(1, 3)))
            )
            used.add(tuple(pair))
    if not used:
        b.when(bits[order[0]] == 1, bits[order[1]] == 0).write(bits[order[0]])
    some = rng.sample(range(count), rng.randrange(4))
    inputs, start = some[: rng.randrange(3)], some[2:]
    words = (Word("v", tuple(inputs)),) if inputs else ()
    return Algorithm("random", b.build(), words, start=tuple(bit for bit in start if bit not in inputs))


def test_whatever_happens_was_possible() -> None:
    """All states that runs of random programs come by, found by running them all."""
    rng, tight = random.Random(8), 0
    for _ in range(400 if LONG else 120):
        algorithm = random_program(rng)
        program = algorithm.program
        bits, templates = possible(algorithm)
        width = sum(len(word.bits) for word in algorithm.inputs)
        seen = {tuple(algorithm.state({"v": value} if width else {})) for value in range(2**width)}
        fresh = set(seen)
        met, matched = np.zeros(program.bits, dtype=bool), np.zeros(program.templates, dtype=bool)
        while fresh:
            following = set()
            for state in fresh:
                met |= np.array(state)
                found = program.match(np.array(state))
                matched[found] = True
                after = np.zeros(program.bits, dtype=bool)
                for template in found:
                    after[program.writes(int(template))] = True
                following.add(tuple(after))
            fresh = following - seen
            seen |= fresh
        assert not (met & ~bits).any()
        assert not (matched & ~templates).any()
        tight += bool((met == bits).all())
    assert tight > 60  # and it is not always "everything"


CARRIED = """let l = 3
bits x[l] c[l+1] s[l]
block x[i] c[i] s[i] for i in 1..l
block c[l+1]
when x[i]=1 c[i]=1 write s[i] c[i+1] for i in 1..l
when x[i]=0 c[i]=1 write c[i+1] for i in 1..l
when s[i]=1 write s[i] for i in 1..l
input x
output s
start c[1]
steps 2*l
"""


def test_an_input_bit_that_no_rule_keeps_on() -> None:
    """x[2] waits for a carry, and is gone when it comes; x[1] is used at once."""
    (found,) = warnings(CARRIED)
    assert found.startswith("5:1: x[2] is on only at the start, since no rule that can match writes it, but this")
    assert found.endswith("keep it, as in 'when x[2]=1 c[2]=0 write x[2]' (and 1 more such bit)")
    results = {run(parse(CARRIED), x=x).value for x in range(8)}
    assert results == {0, 1}  # bits 2 and 3 do nothing
    assert warnings(CARRIED + "when x[i]=1 c[i]=0 write x[i] for i in 1..l\n") == []
    assert warnings(CARRIED.replace("start c[1]", "start c[i] for i in 1..l")) == []
    alone = CARRIED + "when x[i]=1 s[i]=1 write x[i] for i in 1..l\n"  # it keeps x[i] only where it cannot be on
    assert any("x[2] is on only at the start" in one for one in warnings(alone))
