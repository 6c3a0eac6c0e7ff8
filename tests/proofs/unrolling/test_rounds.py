"""Proofs by cut points: every obligation counts, and what takes a proof is recorded for the checker."""

import warnings
from pathlib import Path

import pytest

import bitwright
from bitwright.program.ensure_text import read
from bitwright.proofs.unrolling.polynomials import stronger_equation, weaker_equation
from bitwright.proofs.unrolling.relations import solve
from bitwright.proofs.unrolling.rounds import Rounds, UndecidedError
from bitwright.proofs.unrolling.runs import RunTooLargeError
from bitwright.proofs.unrolling.solver import Prover

TEXT = (Path(__file__).parents[3] / "examples" / "multiplication.bw").read_text()


def rounds(text, l=4):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        algorithm = bitwright.parse(text.replace("let l = 10", f"let l = {l}"))
    return Rounds(algorithm, algorithm.invariants, Prover(conflicts=1_000))


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new)


def test_multiplication_is_proved_without_a_solver():
    for l in (1, 2, 5, 24):
        proof = rounds(TEXT, l)
        said = proof.prove()
        assert f"2 paths of at most {4 * l + 3} steps" in said
        assert not proof.prover.lemmas
    added = {"sum_p": 1, "multiplicand": 1}
    assert proof.found["relations"]["multiplier[1]=1 sum_p"] == added
    assert proof.found["relations"]["multiplier[1]=1 multiplier before"] == {"multiplier'": 2, "": 1}
    assert proof.found["measure"] == {"word": "multiplier", "down": True}


SHIFTED = "when multiplier[i]=1 to_shift_right[i]=1 write multiplier[i-1]      for i in 2..l"
CHECKED = "when multiplier[1]=0 to_shift_right[1]=1 write to_check_lsb"
INVARIANT = "invariant at to_check_lsb: sum_p == 0\n"
WEAKER = {
    "one step too few": changed("steps 4*l^2 + 3*l", "steps 4*l^2 + 3*l - 1"),
    "a sum that does not stay": changed("when sum_p[i]!=sum_q[i]", "when sum_p[i]=0 sum_q[i]=1"),
    "another invariant": changed("ensure product", f"{INVARIANT}ensure product"),
    "another product": changed("ensure product ==", "ensure product + 1 =="),
    "no start": changed("start to_check_lsb", "start to_shift_right[1]"),
    "a multiplier that is kept": changed(
        SHIFTED, f"{SHIFTED}-1\nwhen multiplier[l]=1 to_shift_right[l]=1 write multiplier[l]"
    ),
    "a counter that stops early": changed("when sum_counter[4*l]=1 ", "also when sum_counter[2]=1 "),
    "a sum that is lost in the end": changed(CHECKED, f"{CHECKED} sum_c[1]"),
}


@pytest.mark.parametrize("what", WEAKER)
def test_without_an_obligation_there_is_no_proof(what):
    with pytest.raises((UndecidedError, RunTooLargeError)):
        rounds(WEAKER[what]).prove()


def test_linear_systems_modulo_a_power_of_two():
    rows = [[6, 5, 1], [9, 2, 1], [3, 12, 1], [250, 77, 1]]
    for wanted in ([2, -1, 7], [0, 1, 0], [4, 4, 4]):
        totals = [sum(a * x for a, x in zip(row, wanted, strict=True)) for row in rows]
        found = solve(rows, totals, 8)
        again = [sum(a * x for a, x in zip(row, found, strict=True)) for row in rows]
        assert [(a - b) % 256 for a, b in zip(again, totals, strict=True)] == [0] * 4
    assert solve([[2, 1], [4, 1]], [0, 1], 8) is None  # 2x = 1 has no answer


def test_equations_from_statements():
    of = {"x": (0, 7), "y": (0, 7)}
    assert stronger_equation(read("x == y"), of).exponent == 3
    assert stronger_equation(read("x == 3*y"), of).exponent == 5  # the difference is at least -21
    assert stronger_equation(read("x == y * y mod 2^3"), of).exponent == 3
    assert stronger_equation(read("x == y * y mod 2^2"), of) is None  # x may be 4, and congruent to 0
    assert stronger_equation(read("x < y"), of) is None
    assert weaker_equation(read("x == y * y mod 2^2")).exponent == 2
    assert weaker_equation(read("x // 2 == y")) is None


LOOP = """
let l = 3
bits a b r[l] q[l] s[l] t[l]
block a
block b
block r[i] for i in 1..l
block q[i] for i in 1..l
block s[i] for i in 1..l
block t[i] for i in 1..l
when a=1 write b
when b=1 write a
when r[i]=1 write q[i] for i in 1..l
when q[i]=1 write r[i-1] for i in 2..l
when s[i]=1 write s[i] for i in 1..l
when t[i]=1 write s[i] for i in 1..l
input r
input s
output out = s
start a
steps 2*l + 1
"""
KEPT = "invariant at a: s + 0*r == in.s\nensure out == in.s\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LOOP.replace("s[i]=1 write s[i]", "s[i]=1 write t[i]") + KEPT, "the outputs may change"),
        (
            LOOP.replace("write r[i-1] for i in 2..l", "write r[i] for i in 1..l") + KEPT,
            "no word was shown to run empty",
        ),
        (LOOP + "invariant at a: s + 0*r == in.s + 1\nensure out == (in.s + 1) mod 2^l\n", "keep the invariant"),
        (LOOP + KEPT.replace("ensure out == in.s", "ensure out == in.r"), "was not shown to follow"),
        (LOOP.replace("steps 2*l + 1", "steps 2*l - 1") + KEPT, "no word was shown to run empty"),
        (LOOP.replace("steps 2*l + 1", "steps 9\nhalt when b") + KEPT, "a known number of steps"),
        (LOOP + KEPT.replace("s + 0*r == in.s", "s < 8"), "no equation"),
    ],
    ids=["rest", "measure", "entry", "conclusion", "steps", "halt", "inequality"],
)
def test_each_obligation_is_needed(text, problem):
    """In the first, the output is off in every other state, and so at the end; in the others one obligation fails."""
    with pytest.raises(UndecidedError, match=problem):
        rounds(text).prove()
