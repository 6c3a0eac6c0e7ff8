"""Loops as theorems: every program that is proved by rounds gets its files, and Rocq refuses what is wrong in them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from long import LONG

from bitwright import parse
from bitwright.api.export.rocq.fitting import FITTED, AffineIndex, Item, NotAffineError, Segment, fitted
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.printed import IMPORTS, matches, rules_text
from bitwright.api.export.rocq.rounds import rounds_files
from bitwright.api.export.rocq.writing import Written, makefile_text, project_text, rocq_files, theory_files
from bitwright.networks import load_any_network
from bitwright.networks.store import read_about
from bitwright.program import Algorithm
from bitwright.program.pattern import pattern_of, read_pattern
from bitwright.proofs.function.prove import proof_by_rounds
from tests.rocq.test_rocq import NETWORKS, ROOT, coqc, needs_coq

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
    algorithm = parse(text)
    sized = sizes_of(algorithm)
    pattern = pattern_of(one.program for one in sized.values())
    families = fitted(lambda l: listed(sizes_of(algorithm, l)[l].program, pattern))
    files, least = rounds_files("Loop", algorithm, families, sized, proof_by_rounds(algorithm))
    assert least == 1
    return files, rules_text(families)


def sizes_of(algorithm: Algorithm, *sizes: int) -> dict[int, Algorithm]:
    assert algorithm.sizing is not None
    return {l: algorithm.sizing.at(l=l) for l in sizes or FITTED}


@pytest.mark.parametrize(
    ("text", "line", "steps"),
    [
        (TEXT, "product l s = (multiplicand * multiplier)", "4 * l * l + 3 * l"),
        (ADDED, "product l s = (added + (multiplicand * multiplier))", "4 * l * l + 3 * l"),
        (WIDE, "product l s = (added + (multiplicand * multiplier))", "4 * l * l + 5 * l"),
    ],
    ids=["product", "added", "wide"],
)
def test_a_loop_becomes_files(text: str, line: str, steps: str) -> None:
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
    algorithm = parse(TEXT)
    proof = proof_by_rounds(algorithm)
    for way in proof.ways:
        way.states[-1] = {**way.states[-1], "multiplier": ("up", "multiplier")}
    sized = sizes_of(algorithm)
    pattern = pattern_of(one.program for one in sized.values())
    families = replace(fitted(lambda l: listed(sizes_of(algorithm, l)[l].program, pattern)), least=1)
    with pytest.raises(NotAffineError, match="multiplier loses its highest bits"):
        rounds_files("Loop", algorithm, families, sized, proof)


def test_rules_that_share_a_bit_are_named() -> None:
    first, last, i = AffineIndex(0, 0, 1), AffineIndex(0, 1, 0), AffineIndex(1, 0, 0)
    rule = Segment((True,), ((Item("x", i),), (Item("y", first), Item("x", AffineIndex(2, 0, 0)))), first, last, False)
    with pytest.raises(NotAffineError, match="rules at many places write one bit of y"):
        matches(rule, rule.items[1][0])
    with pytest.raises(NotAffineError, match="a rule writes x in steps of 2"):
        matches(rule, rule.items[1][1])


def put(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


KEEPER = """
let l = 4
bits x[l] right[l] y[l] z[l] left[l] go
block x[i] right[i] for i in 1..l
block z[i] left[i]  for i in 1..l
block y[i]          for i in 1..l
block go
when go=1 write right[*] left[*]
when x[1]=0 right[1]=1 write go
when x[1]=1 right[1]=1 write go
when x[i]=1 right[i]=0 write x[i]   for i in 1..l
when x[i]=1 right[i]=1 write x[i-1] for i in 2..l
when z[i]=1 left[i]=0  write z[i]   for i in 1..l
when z[i]=1 left[i]=1  write z[i+1] for i in 1..l-1
when y[i]=1 write y[i] for i in 1..l
input x y z
output kept = y
start go
steps 2*l
ensure kept == y
invariant at go: y + x - x + z - z == in.y
"""  # a loop without a phase: x is halved and z doubled until x is 0, and y stays


@needs_coq
def test_rocq_takes_a_loop_and_refuses_others(tmp_path: Path) -> None:
    """All but phases: what a step makes of bits and of shapes, the algebra, the rounds, the rest and the end."""
    files, rules = files_of(KEEPER)
    head = f"{IMPORTS}From Bitwright Require Import Rules Words Rounds.\n"
    opened = "Import ListNotations.\nLocal Open Scope string_scope. Local Open Scope list_scope.\n"
    text = files["Loop/Function.v"].replace("Require Net Families", "Require Families")
    nexts, cut, loop = text.partition("(** This network")[0].partition("\n(** The cut state")
    own = f"{head}From Loop Require Families.\nFrom Loop Require Import Nexts.\n{opened}Local Open Scope nat_scope.\n"
    loop = f"{own}{cut}{loop}Print Assumptions rules_compute.\n"
    parts = {"Loop/Families.v": head + opened + rules, "Loop/Nexts.v": nexts, "Loop/Rest.v": loop}
    theory = theory_files(("Rules", "Words", "Rounds"))
    put(tmp_path, theory | parts | {"_CoqProject": "-Q theory Bitwright\n-Q Loop Loop\n"})
    done = coqc(tmp_path, *theory, *parts)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Closed under the global context\n"
    for right, wrong in (
        ('holds s "right" l on', 'holds s "right" l off'),  # another state after a step
        ("<= 2 * l /", "<= l /"),  # too few steps for a round
        ("kept l s = y", "kept l s = x"),  # another line
    ):
        assert right in loop
        put(tmp_path, {"Loop/Rest.v": loop.replace(right, wrong)})
        assert coqc(tmp_path, "Loop/Rest.v").returncode == 1, wrong


def written(text: str) -> Written:
    """A program of the kinds of the network that multiplies."""
    file = next(one for one in NETWORKS if one.stem == "Multiplication")
    about = read_about(file)
    pattern = read_pattern(about.bits, about.examples)
    assert pattern is not None
    return rocq_files("Loop", load_any_network(file, pattern.program), pattern, parse(text), file)


@needs_coq
@pytest.mark.skipif(not LONG, reason="for make test-long: it takes minutes")
@pytest.mark.parametrize("text", [ADDED, WIDE], ids=["added", "wide"])
def test_a_loop_becomes_a_theorem(text: str, tmp_path: Path) -> None:
    found = written(text)
    assert found.left == []
    files = theory_files(found.theory) | found.files
    put(tmp_path, files | {"_CoqProject": project_text(list(files)), "Makefile": makefile_text(list(files))})
    done = coqc(tmp_path, *files)
    assert done.returncode == 0, done.stderr
    function = tmp_path / "Loop/Function.v"
    right = function.read_text()
    function.write_text(right.replace("added + (multiplicand *", "added + (multiplier *"))
    assert function.read_text() != right
    assert coqc(tmp_path, "Loop/Function.v").returncode == 1
