"""Modular multiplication and division at every size: what they compute, that it is proved, and attacks on the proof."""

import re
from random import Random

import numpy as np
import pytest
from long import LONG

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function.prove import prove_function
from bitwright.proofs.trials import Inputs, all_inputs, wrong_input
from bitwright.rules import Algorithm, parse
from bitwright.runs.run import run_batch
from tests.proofs.function.cases import EXAMPLES
from tests.proofs.function.mutants import check_mutants, check_not_proved

TEXT = (EXAMPLES / "modular-multiplication.bw").read_text()
DIVISION = (EXAMPLES / "division.bw").read_text()
# the same for an `a` of twice the width
WIDE = TEXT.replace("bits a[l] to_shift[l]", "bits a[2*l] to_shift[2*l]").replace(
    "steps l^2 + 5*l", "steps 2*l^2 + 10*l"
)
WIDE = re.sub(r"for i in 2\.\.l$", "for i in 2..2*l", WIDE, flags=re.M)
WIDE = WIDE.replace("when a[i]=1 write a[i] for i in 1..l\n", "when a[i]=1 write a[i] for i in 1..2*l\n")


def products(algorithm: Algorithm, inputs: list[Inputs]) -> list[int]:
    states = np.array([algorithm.state(values) for values in inputs])
    found: list[int] = run_batch(algorithm, states, workers=1).outputs["product"].tolist()
    return found


@pytest.mark.parametrize("text", [TEXT, WIDE], ids=["l bits", "2*l bits"])
def test_it_is_proved_at_every_size(text: str) -> None:
    proof = prove_function(text)
    assert (proof.verdict, str(proof.sizes)) == ("proved", "l>=1")
    lines = {line for phase in proof.certificate["phases"] for line in phase["program"]["ensures"]}
    assert "d == (1 * in.d + 1 * in.y + -1 * in.e) % 2^(l + 1)" in lines


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6] if LONG else [1, 2, 3, 4])
def test_all_inputs_below_a_modulus_are_those_of_python(size: int) -> None:
    algorithm = parse(TEXT, lets={"l": size})
    inputs = [values for values in all_inputs(algorithm) if values["b"] < values["m"]]
    assert len(inputs) == 2**size * sum(range(2**size))
    assert products(algorithm, inputs) == [v["a"] * v["b"] % v["m"] for v in inputs]


@pytest.mark.parametrize("size", [1, 7, 64, 100])
def test_moduli_at_the_ends_and_operands_of_twice_the_width(size: int) -> None:
    algorithm, wide, random = parse(TEXT, lets={"l": size}), parse(WIDE, lets={"l": size}), Random(1)
    top = 2**size
    moduli = [1, 2, top // 2, top - 1, *(random.randrange(1, top) for _ in range(10))]
    inputs = [
        {"a": a, "b": b % m, "m": m} for m in moduli if 0 < m < top for a in (0, 1, top - 1) for b in (0, 1, m - 1)
    ]
    assert products(algorithm, inputs) == [v["a"] * v["b"] % v["m"] for v in inputs]
    for m in moduli[3:]:  # both operands are too long: one run reduces the first, and one multiplies by it
        a, b = random.getrandbits(2 * size), random.getrandbits(2 * size)
        (rest,) = products(wide, [{"a": b, "b": 1 % m, "m": m}])
        assert products(wide, [{"a": a, "b": rest, "m": m}]) == [a * b % m]


WRONG = {
    "no condition": ("where b < m\n", ""),
    "b may be m": ("where b < m", "where b <= m"),
    "another remainder": ("product == a * b % m", "product == (a * b + 1) % m"),
    "no remainder": ("product == a * b % m", "product == a * b"),
    "a smaller result": ("product == a * b % m", "product + 1 < m"),
    "inputs one bit too long": ("input b = t[1..l]\ninput m = m[1..l]", "input b = t\ninput m = m"),
    "a modulus one bit too long": ("input m = m[1..l]", "input m = m"),
    "a timer that is too short": ("when timer[l+1]=1 write choose", "when timer[l]=1 write choose"),
    "a step too few": ("steps l^2 + 5*l", "steps l^2 + 5*l - 1"),
    "steps that fall short at large sizes": ("steps l^2 + 5*l", "steps 99*l"),
    "another sign": ("when d[l+1]=1 choose_d=1", "when d[l+1]=0 choose_d=1 y[l+1]=1"),
    "an invariant less": ("invariant at to_check: m == in.m\n", ""),
    "no bound on s": ("s < m and t < m", "t < m"),
    "a bound too tight": ("s < m and t < m", "s < m and t + 1 < m"),
    "another congruence": ("(s + a * t) % m ==", "(s + 2 * a * t) % m =="),
    "a congruence modulo another word": (
        "invariant at to_check: (s + a * t) % m",
        "invariant at to_check: (s + a * t) % t",
    ),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.usefixtures("no_runs")
def test_what_was_changed_is_not_proved(what: str) -> None:
    check_not_proved(TEXT, *WRONG[what])


@pytest.mark.usefixtures("no_runs")
def test_mutants_that_are_proved_are_right() -> None:
    check_mutants(TEXT, 31 if LONG else 180, 7)


def test_division_is_proved_at_every_size() -> None:
    proof = prove_function(DIVISION)
    assert (proof.verdict, str(proof.sizes)) == ("proved", "l>=1")
    for size in (1, 2, 3, 4):
        algorithm = parse(DIVISION, lets={"l": size})
        assert wrong_input(algorithm, list(all_inputs(algorithm))) is None


WRONG_DIVISION = {
    "no condition": ("where b > 0\n", ""),
    "a condition that says nothing of 0": ("where b > 0", "where a == a % b"),
    "another quotient": ("quotient == a // b", "quotient == (a + 1) // b"),
    "another remainder": ("remainder == a % b", "remainder == (a + 1) % b"),
    "another sum": ("a == quotient * b + remainder", "a == quotient * b"),
    "not all rounds": ("start to_check n[*]", "start to_check n[1]"),
    "a round that is not counted": ("write n[1] next[*] look", "write n[1] look"),
    "a word that is no longer ones": ("write n[i-1] for i in 2..l", "write n[i-1] for i in 3..l"),
    "another sign": ("write d[l+1] drop_d[*]", "write d[l+1] take_d[*]"),
    "a step too few": ("steps l^2 + 6*l", "steps l^2 + 6*l - 1"),
    "a divisor one bit too long": ("input b = b[1..l]", "input b"),
    "no bound on q": ("invariant at to_check: (q + 1) * (n + 1) <= 2^l\n", ""),
    "another power": ("(n + 1) <= 2^l", "(n + 1) <= 2^(l-1)"),
}


@pytest.mark.parametrize("what", WRONG_DIVISION)
@pytest.mark.usefixtures("no_runs")
def test_a_division_that_was_changed_is_not_proved(what: str) -> None:
    old, new = WRONG_DIVISION[what]
    assert old in DIVISION
    try:
        proof = prove_function(DIVISION.replace(old, new))
    except BitwrightError:
        return  # no program at all
    assert proof.verdict == "not decided"
