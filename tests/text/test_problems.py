"""The list of problems: each once, in the order of the text, and never without end."""

import pytest

from bitwright.common.scanner import MAX_PROBLEMS, GiveUpError, Problems, Token, TooManyProblemsError

HERE = Token("name", "x", 2, 5)


def test_a_problem_is_noted_once_and_all_of_them_are_raised_together() -> None:
    problems = Problems()
    assert not problems
    problems.at(HERE, "wrong")
    problems.at(HERE, "wrong")
    problems.note(1, 1, "first")
    assert isinstance(problems.stop(HERE._replace(line=3), "last"), GiveUpError)
    assert problems
    assert [str(one) for one in problems.error("f").problems] == ["1:1: first", "2:5: wrong", "3:5: last"]
    assert str(problems.error("f")) == "f:1:1: first (and 2 more problems)"


def test_a_text_of_nothing_but_problems_is_given_up() -> None:
    problems = Problems()
    for line in range(MAX_PROBLEMS):
        problems.note(line + 1, 1, "wrong")
    with pytest.raises(TooManyProblemsError):
        problems.note(9_999, 1, "wrong")
    assert "more than 1,000 problems" in str(problems.error("").problems[-2:])


def test_hints_are_for_close_names_and_end_after_a_while() -> None:
    problems = Problems()
    assert problems.hint("lop", ["loop", "n"]) == "; did you mean 'loop'?"
    assert problems.hint("zzz", ["loop"]) == ""
    assert [problems.hint("lop", ["loop"]) for _ in range(60)][-1] == ""
