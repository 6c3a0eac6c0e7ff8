"""Refusals: one printable line, whatever they quote, here and when they come from another process."""

import pickle

import pytest

from bitwright.common.errors import BitwrightError, InputError, Problem, ProgramError

HOSTILE = "two\nlines, \x1b[31mred\x1b[0m, \u2028 and \u202e back"


@pytest.mark.parametrize("kind", [BitwrightError, InputError])
def test_a_message_is_one_printable_line(kind: type[BitwrightError]) -> None:
    assert str(kind(f"there is no {HOSTILE}")) == "there is no two?lines, ?[31mred?[0m, ? and ? back"
    assert str(kind("é ² 中 are fine")) == "é ² 中 are fine"


def test_a_summary_of_problems_is_one_printable_line() -> None:
    error = ProgramError([Problem(1, 2, HOSTILE), Problem(3, 1, "more")], f"{HOSTILE}.bw")
    assert str(error).isprintable()


@pytest.mark.parametrize(
    "error", [InputError("no"), ProgramError([Problem(1, 2, "x"), Problem(0, 0, "y", "file.py:7")], "a.bw")]
)
def test_errors_come_whole_out_of_another_process(error: BitwrightError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
