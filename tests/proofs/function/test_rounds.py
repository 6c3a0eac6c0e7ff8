"""Loops with an invariant at a bit, proved at every size; what is broken or goes on differently is not proved."""

import re

import pytest
from long import LONG

from bitwright import run
from bitwright.proofs.function.prove import prove_function
from bitwright.proofs.function.shapes import AtSize, NoShapeError, SplitError
from bitwright.proofs.kinds import prove_kinds
from bitwright.rules import parse
from tests.proofs.function.cases import EXAMPLES
from tests.proofs.function.mutants import check_mutants, check_not_proved

TEXT = (EXAMPLES / "multiplication.bw").read_text()


def test_multiplication_is_proved_at_every_size() -> None:
    proof = prove_function(TEXT, name="multiplication")
    assert (proof.verdict, str(proof.sizes)) == ("proved", "l>=1")
    assert proof.method == "1,255 windows; cut at to_check_lsb, 2 paths"
    (adder,) = proof.certificate["phases"]
    assert adder["program"]["ensures"][0] == "sum_p == (1 * in.sum_p + 1 * in.sum_q) % 2^(2 * l)"


def shifted(by: int) -> str:
    """The text in which l stands for l - by."""
    head, *rest = TEXT.split("\n", 2)
    assert rest[0] == "let l = 10"
    return "\n".join([head, rest[0], re.sub(r"\bl\b", f"(l+{by})", rest[1])])


@pytest.mark.parametrize("by", [1, 2])
def test_the_smallest_size_is_where_the_text_begins(by: int) -> None:
    proof = prove_function(shifted(by))
    assert (proof.verdict, str(proof.sizes)) == ("proved", f"l>={1 - by}")
    assert prove_kinds(shifted(by)).about == proof.sizes


@pytest.mark.parametrize("by", [1, 2])
@pytest.mark.usefixtures("no_runs")
def test_what_is_wrong_at_the_smallest_size_alone_is_not_proved(by: int) -> None:
    """At the smallest size 1 * 1 gives 0."""
    copy = "when multiplicand[1]=1 to_copy_to_sum_q[1]=1 write multiplicand[1] sum_q[1] sum_counter[1]"
    without = copy.replace("sum_q[1] ", "")
    text = shifted(by).replace(copy, f"{copy} for i in 1..1 if l > {1 - by}\n{without} for i in 1..1 if l = {1 - by}")
    assert run(parse(text, lets={"l": 1 - by}), multiplicand=1, multiplier=1).outputs["product"] == 0
    assert run(parse(text, lets={"l": 2 - by}), multiplicand=1, multiplier=1).outputs["product"] == 1
    assert prove_function(text).verdict == "not decided"


CHANGES = {
    "another product": ("product == multiplicand * multiplier", "product == multiplicand * multiplier + 1"),
    "another invariant": ("invariant at to_check_lsb: sum_p +", "invariant at to_check_lsb: 2 * sum_p +"),
    "no multiplicand": ("+ multiplicand * multiplier == in.", "== in."),
    "a step too few": ("steps 4*l^2 + 3*l", "steps 4*l^2 + 3*l - 1"),
    "steps that fall short at large sizes": ("steps 4*l^2 + 3*l", "steps 3*l^2 + 99*l"),
    "a short counter": ("sum_counter[4*l]=1 ", "sum_counter[3*l]=1 "),
    "a shorter product": ("output product = sum_p", "output product = sum_p[1..l]"),
    "the upper half of a number": ("multiplicand = multiplicand[1..l]", "multiplicand = multiplicand[2..l]"),
    "a rule from position 7 on": ("write sum_c[i]   for i in 1..2*l", "write sum_c[i]   for i in 1..2*l if i != 7"),
    "a rule far from both ends": ("write sum_c[i]   for i in 1..2*l", "write sum_c[i]   for i in 1..2*l if i != 40"),
    "a second bit at the start": ("start to_check_lsb", "start to_check_lsb sum_p[1]"),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.usefixtures("no_runs")
def test_what_was_changed_is_not_proved(what: str) -> None:
    check_not_proved(TEXT, *CHANGES[what])


@pytest.mark.usefixtures("no_runs")
def test_mutants_that_are_proved_are_right() -> None:
    check_mutants(TEXT, 18 if LONG else 54, 8 if LONG else 3)


def test_shapes_are_what_they_say() -> None:
    at = AtSize(parse(TEXT, lets={"l": 4}))
    word = at.word("multiplier", "multiplier")
    assert at.bits("multiplier", ("up", "multiplier")) == [0, *word[:3]]
    assert at.bits("multiplier", ("down", "multiplier")) == [*word[1:], 0]
    for shape in (("off", ""), ("on", ""), ("word", "multiplier"), ("up", "multiplier"), ("first", ""), ("last", "")):
        bits = {"to_shift_right": at.bits("to_shift_right", shape)}
        assert at.recognised(bits, ["to_shift_right"]) == {"to_shift_right": shape}
    with pytest.raises(SplitError):
        at.recognised({"to_shift_left": [word[0]] * 8}, ["to_shift_left"])
    with pytest.raises(NoShapeError):
        at.recognised({"to_shift_left": [word[1]] * 8}, ["to_shift_left"])
    free = at.anything("to_shift_left")  # what nothing is known of has no shape
    with pytest.raises(NoShapeError):
        at.recognised({"sum_p": free}, ["sum_p"])
