"""One rule file for all sizes: `--let`, and `lets` in Python."""

import json
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, call
from cases import for_each
from programs import EXAMPLES

import bitwright
from bitwright import InputError, ProgramError, multiplication, parse
from bitwright.rules import load, parse_node_program

SUBTRACTION, GRAY = EXAMPLES / "subtraction.bw", EXAMPLES / "gray.bw"


# In Python.


def test_a_number_takes_the_value_that_is_given() -> None:
    written = Path(SUBTRACTION).read_text()
    assert load(SUBTRACTION, {"l": 16}).same_as(parse(written.replace("let l = 10", "let l = 16")))
    assert load(SUBTRACTION, {"l": 10}).same_as(load(SUBTRACTION))
    assert load(SUBTRACTION, {}).same_as(load(SUBTRACTION))
    assert load(EXAMPLES / "multiplication.bw", {"l": 7}).same_as(multiplication(7))
    assert bitwright.open(SUBTRACTION, l=3).program.bits == 9


def test_numbers_computed_from_it_follow_unless_they_are_given_too() -> None:
    text = "let l = 2\nlet n = 3*l\nbits p[l] q[n]\nblock p[*]\nblock q[i] for i in 1..n\nwhen p[1]=1 write q[n]"
    sizes = [parse(text, **lets).program.bits for lets in ({}, {"l": 4}, {"n": 1}, {"l": 4, "n": 1})]
    assert sizes == [8, 16, 3, 5]


def test_the_kinds_of_cells_stay_but_the_program_is_another() -> None:
    small, large = (load(SUBTRACTION, {"l": l}).program for l in (5, 50))
    assert small.id != large.id
    assert small.kinds.kinds == large.kinds.kinds


@pytest.mark.parametrize(
    ("lets", "message"),
    [
        ({"n": 3}, "subtraction has no line 'let n'; it defines l"),
        ({"l": 2**31}, "the value of let l must be an integer below 2^31, got 2147483648"),
        ({"l": -(2**31)}, "the value of let l must be an integer below 2^31, got -2147483648"),
        ({"l": True}, "the value of let l must be an integer below 2^31, got True"),
        ({"l": 3.0}, "the value of let l must be an integer below 2^31, got 3.0"),
    ],
)
def test_what_is_no_number_of_the_file_is_refused(lets: dict[str, int], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        load(SUBTRACTION, lets)
    assert str(refusal.value) == message


@for_each("value", [10**20, -(10**20), 2**31])
@for_each("parse_it", [parse, parse_node_program])
def test_a_value_that_no_number_has_is_refused_before_other_problems(parse_it: Any, value: int) -> None:
    with pytest.raises(InputError, match=r"2\^31"):
        parse_it(
            "let l = 3\nbits a[l]\nblock a[1\nwhen a[1]=1 wrte a[2]\n",
            "bad",
            **({"l": value} if parse_it is parse else {"lets": {"l": value}}),
        )


def test_a_size_that_cannot_be_is_a_problem_where_it_shows() -> None:
    with pytest.raises(ProgramError) as refusal:
        load(SUBTRACTION, {"l": 0})
    assert str(refusal.value.problems[0]) == "3:6: a dimension of 'a' must be at least 1, got 0"


# On the command line.


def test_every_verb_that_takes_a_file_takes_it(capsys: Captured, tmp_path: Path) -> None:
    network = tmp_path / "gray.safetensors"
    for command in (
        *(
            "run {} --let l=20 x=1000000",
            "certify {} --let l=3",
            "validate {} --let l=3 --engine limit",
            "size {} --let l=3",
        ),
        *("trace {} --let l=3 x=5", "show {} --let l=3", "check {} --let l=3", "export {} --let l=3 -o {}.npz"),
        *("train --tile all {} --let l=2 -o {} --width 256", "run {} --let l=2 x=3 --network {}"),
    ):
        code, out, err = call(capsys, command.format(GRAY, tmp_path / "x" if ".npz" in command else network))
        assert code == 0, (command, out, err)
    assert json.loads(call(capsys, "show", GRAY, "--let", "l=3", "--json")[1])["bits"] == 12
