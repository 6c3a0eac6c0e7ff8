"""Proofs at every length: what is proved holds, what is broken is not proved."""

import json
from dataclasses import replace

import pytest
from long import LONG
from random_programs.every_size import all_runs, is_true

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function.prove import prove_function
from bitwright.rules import parse
from tests.proofs.function.cases import CHAINS, SOME, text_of
from tests.proofs.function.mutants import mutants


@pytest.mark.parametrize("name", CHAINS)
def test_the_chain_programs_are_proved_at_every_length(name: str) -> None:
    proof = prove_function(text_of(name), name=name)
    assert proof.verdict == "proved", proof.tried
    assert str(proof.sizes) == "l>=1"
    assert len(json.dumps(proof.certificate)) < 40_000
    claim = proof.claim()
    assert (claim.about, claim.verdict, claim.sizes) == ("function", "proved", "l>=1")


def right_by_definition(text: str, size: int) -> bool:
    """Runs all inputs by the definition of a step, on sets of names."""
    algorithm = parse(text, lets={"l": size})
    lines, lets = [str(line) for line in algorithm.ensures], algorithm.ensures[0].lets
    return all(is_true(line, run, lets) for run in all_runs(algorithm.text()) for line in lines)


@pytest.mark.parametrize("name", [name for name in SOME if name != "saturating"])
def test_no_broken_program_is_proved(name: str) -> None:
    """A mutant may be right after all, such as addition with a step less; then all inputs of six digits are."""
    refuted = 0
    for what, text in list(mutants(text_of(name)))[:: 1 if LONG else 4]:
        try:
            proof = prove_function(text, name=what)
        except BitwrightError:
            continue  # no program at all
        refuted += proof.verdict == "refuted"
        if proof.verdict == "proved":
            assert all(right_by_definition(text, size) for size in ((1, 2, 3) if name == "adder" else (1, 2, 4, 6))), (
                what
            )
    assert refuted >= (10 if LONG else 3)


@pytest.mark.parametrize("name", ["increment", *["addition", "third"] * LONG])
def test_closure_alone_proves_no_broken_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the runs that refute most of them at once."""
    monkeypatch.setattr("bitwright.proofs.function.prove.wrong_input", lambda *_: None)
    wrong = 0
    for what, text in list(mutants(text_of(name)))[:: 1 if LONG else 30]:
        try:
            proof = prove_function(text, name=what)
        except BitwrightError:
            continue
        assert proof.verdict in ("proved", "not decided")
        if all(right_by_definition(text, size) for size in ((4, 5, 6) if LONG else (4, 5))):
            continue
        wrong += 1
        assert proof.verdict == "not decided", what
    assert wrong >= 1


def test_a_refutation_is_an_input_whose_run_is_wrong() -> None:
    text = text_of("addition").replace("when c[l]=1 write c[l]", "")
    proof = prove_function(text)
    assert proof.verdict == "refuted"
    given = proof.counterexample
    algorithm = parse(text, lets=given["lets"])
    assert algorithm(**given["inputs"]) != given["inputs"]["p"] + given["inputs"]["q"]
    assert "sum == p + q is false" in proof.sentence()


def test_a_line_with_another_number_than_the_text_is_not_that_of_the_text() -> None:
    text = (
        text_of("addition").replace("ensure sum == p + q", "ensure sum == p + q + k").replace("bits", "let k = 0\nbits")
    )
    right = parse(text)
    assert prove_function(right).sentence().startswith("proved at every size l >= 1 with k = 0 (")
    wrong = replace(right, ensures=tuple(line.with_lets({"l": 10, "k": 5}) for line in right.ensures))
    assert prove_function(wrong).verdict == "refuted"


def test_without_a_line_nothing_is_claimed() -> None:
    text = text_of("addition").replace("ensure sum == p + q\n", "")
    assert prove_function(text).claim().verdict == "not stated"


def test_a_run_that_says_no_number_of_steps_is_not_refuted_for_taking_long() -> None:
    text = """
let l = 3
bits x y
bits t[l]
block x y
block t[i] for i in 1..l
when x=1 write y
when y=1 write x
when t[i]=1 write t[i] for i in 1..l
input t
output t
start x
halt at fixed point
ensure t == in.t
"""
    assert prove_function(text).verdict == "not decided"
    assert prove_function(text.replace("halt at fixed point", "steps 4")).verdict == "proved"


def test_what_is_no_chain_is_not_decided_and_says_why() -> None:
    text = """
let l = 4
bits p[l]
block p[i] for i in 1..l
when p[i]=1 write p[l+1-i] for i in 1..l
input p
output p
steps 1
ensure p[l+1-i] == in.p[i] for i in 1..l
"""
    proof = prove_function(text)
    assert proof.verdict == "not decided"
    assert "line 5, column 19" in proof.tried[0]


KEPT = """
let l = 6
bits p[l] f
block p[i] for i in 1..l
block f
when p[i]=1 write p[i] for i in 1..l
when f=1 write f
start f
"""


@pytest.mark.usefixtures("no_runs")
def test_an_output_with_a_part_of_the_middle_is_not_decided() -> None:
    text = f"{KEPT}input x = p[1..l-2]\noutput low = p[1..3]\nsteps 2\nensure low == x"
    assert prove_function(text).verdict == "not decided"


def test_a_remainder_of_a_remainder_is_said_not_to_be_read() -> None:
    proof = prove_function(f"{KEPT}input x = p\noutput y = p\nsteps 2\nensure y == ((x + 1) mod 2^l - 1) mod 2^l")
    assert (proof.verdict, "a remainder of a remainder" in proof.tried[0]) == ("not decided", True)
