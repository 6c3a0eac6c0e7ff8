"""Warnings: what can never happen is found, and what can happen is never called impossible."""

import random
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from facts import missing
from long import LONG

from bitwright import Algorithm, Builder, Word, addition, multiplication, parse
from bitwright.rules.text.lint import lint, possible

EXAMPLES = Path(__file__).parents[2] / "examples"


def warnings(text: str) -> list[str]:
    return [str(problem) for problem in lint(text, parse(text))]


@for_each(
    ("text", "found"),
    [
        (
            "bits p q\nblock p\nblock q\nwhen p=1 write p\nwhen q=1 write p\ninput p\noutput p",
            ["5:1: never matches: q can never be on"],
        ),
        (  # one rule waits for the other
            "bits p a b\nblock p\nblock a\nblock b\nwhen p=1 write p\n when a=1 write b\nwhen b=1 write a\ninput p",
            ["6:2: never matches 1 other a"],
        ),
        ("bits a b\nblock a b\nwhen a=1 b=1 write a", ["3:1: never matches a, b"]),
        ("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a", []),
        ("bits a b\nblock a\nblock b\nwhen a=0 write b\nwhen b=1 write a", []),  # it begins all by itself
        ("bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p\noutput r = q", ["6:1: output 'r' 0 first step"]),
        ("bits p q\nblock p q\nwhen p=1 write p\ninput p q\noutput p", []),  # q = 1 keeps the rule from matching
        ("bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p\nsteps 0\noutput q", []),
        (  # a row at the edge is no mistake of the rule
            "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=1 write x[i+1] for i in 1..2\nstart x[2]",
            [],
        ),
        ("bits p q r\nblock p\nblock q r\nwhen p=1 write p\nwhen q!=r write p\ninput p", ["5:1: never matches q, r"]),
        (  # a chain is told once, by what could start it; that may stand further down
            "bits p a b\nblock p\nblock a\nblock b\nwhen p=1 write p\nwhen b=1 write p\nwhen a=1 write b\ninput p",
            ["7:1: never matches 1 other a"],
        ),
        (
            "bits p q[3] r\nblock p\nblock q[*]\nblock r\nwhen p=1 write p\ninput p\noutput p",
            ["1:8: 'q' unused", "1:13: 'r' unused"],
        ),
        ("bits p q\nblock p\nblock q\nwhen p=1 write p\ninput p", []),  # without 'output' each is one
        ("bits p q[2]\nblock p\nblock q[*]\nwhen p=1 write p q[1]\ninput p\noutput p", []),  # q[2] is spare
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    given = warnings(text)
    assert len(given) == len(found), given
    assert [missing(one, facts) for one, facts in zip(given, found, strict=True)] == [[]] * len(found)


@for_each("path", sorted(EXAMPLES.glob("*.bw")) + sorted(EXAMPLES.glob("cookbook/*.bw")))
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
