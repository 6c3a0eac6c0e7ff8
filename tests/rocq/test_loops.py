"""Loops as theorems: every program that is proved by rounds gets its files."""

import re

import pytest
from long import LONG

from bitwright import parse
from bitwright.exports.rocq.families import Item, Segment
from bitwright.exports.rocq.forms import FITTED, ROW, SIZE, NotAffineError
from bitwright.exports.rocq.program import SizedProgram
from bitwright.exports.rocq.rounds import rounds_files
from bitwright.exports.rocq.templates import matches, render
from bitwright.proofs.function.prove import proof_by_rounds
from bitwright.proofs.kinds.affine import Affine
from bitwright.rules.pattern import pattern_of
from tests.rocq.test_written import ROOT, text_of

TEXT = (ROOT / "examples/multiplication.bw").read_text()
ADDED = (
    TEXT.replace("input multiplicand", "input added = sum_p[1..l]\ninput multiplicand", 1)
    .replace("ensure product == ", "ensure product == added + ")
    .replace("== in.multiplicand", "== in.added + in.multiplicand")
)
LONGER = {"2*l": "2*l+1", "2*l-1": "2*l", "4*l": "4*l+2", "4*l-1": "4*l+1"}
WIDE = (  # one more position, so that 2l bits can be added
    re.sub(r"[24]\*l(-1)?(?!\^)", lambda found: LONGER[found[0]], re.sub("(matches|examples) .*\n", "", ADDED))
    .replace("4*l^2 + 3*l", "4*l^2 + 5*l")
    .replace("added = sum_p[1..l]", "added = sum_p[1..2*l]")
)


def files_of(text: str) -> tuple[dict[str, str], str]:
    """What is written of a loop without a network; and its rules alone."""
    program = program_of(text)
    files, least = rounds_files(program, proof_by_rounds(program.algorithm))
    assert least == 1
    return files, render("rules", families=program.families)


def program_of(text: str) -> SizedProgram:
    algorithm = parse(text)
    pattern = pattern_of(algorithm.sizing.at(l=l).program for l in FITTED)
    return SizedProgram("Loop", algorithm, "l", lambda l: algorithm.sizing.at(l=l), pattern)


TIMES = "(multiplicand * multiplier)"
LOOPS = {
    "product": (TEXT, f"product l s = {TIMES}", "4 * l * l + 3 * l"),
    "wide": (WIDE, f"product l s = (added + {TIMES})", "4 * l * l + 5 * l"),
    "added": (ADDED, f"product l s = (added + {TIMES})", "4 * l * l + 3 * l"),
}


@pytest.mark.parametrize("name", LOOPS if LONG else [*LOOPS][:2])
def test_a_loop_becomes_files(name: str) -> None:
    text, line, steps = LOOPS[name]
    files, _ = files_of(text)
    assert list(files) == ["Loop/Phase1.v", "Loop/Function.v"]
    phase, function = files.values()
    assert "Theorem rules_compute" in phase
    assert "network" not in phase
    theorem = function.partition("Theorem network_computes")[2]
    assert line in theorem
    assert f"({steps})%nat (start l" in theorem
    assert not re.search("Admitted|Axiom|admit", phase + function)


def test_a_measure_that_loses_its_highest_bit_is_named() -> None:
    program = program_of(text_of("keeper"))
    proof = proof_by_rounds(program.algorithm)
    for way in proof.ways:
        way.states[-1] = {**way.states[-1], "x": ("up", "x")}
    with pytest.raises(NotAffineError, match=r"loses.*highest"):
        rounds_files(program, proof)


def test_rules_that_share_a_bit_are_named() -> None:
    items = (Item("x", ROW),), (Item("y", Affine.of(1)), Item("x", 2 * ROW))
    rule = Segment((1,), items, 1, Affine.of(1), SIZE)
    with pytest.raises(NotAffineError, match=r"rules.*positions"):
        matches(rule, rule.lists[1][0])
    with pytest.raises(NotAffineError, match=r"writes.*2"):
        matches(rule, rule.lists[1][1])
