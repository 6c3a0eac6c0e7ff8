"""The scanner: tokens at their places, whatever the kinds of a language are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitwright.common.scanner import MAX_LINE, GiveUpError, Problems, Scanner, Token, opening_comment, unix_lines

WORDS = Scanner(
    {"comment": ";.*", "name": "[a-z]+", "number": "[0-9]+", "other": r"[^ \t\r\f]"},
    {"other": lambda text: (0, f"no {text}")},
)


def test_tokens_have_their_kind_line_and_column() -> None:
    assert WORDS.tokens("  ab 12c\t; d", 7, Problems()) == [
        Token("name", "ab", 7, 3),
        Token("number", "12", 7, 6),
        Token("name", "c", 7, 8),
        Token("end", "", 7, 10),
    ]
    assert WORDS.tokens("ab \r", 1, Problems())[-1] == Token("end", "", 1, 5)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ab ?c !", "3:4: no ?"),
        ("a" * (MAX_LINE + 1), "3:1: a line may have at most 10,000 characters, got 10,001; split it"),
    ],
)
def test_a_line_that_cannot_be_read_is_given_up_with_one_problem(text: str, problem: str) -> None:
    problems = Problems()
    with pytest.raises(GiveUpError):
        WORDS.tokens(text, 3, problems)
    assert [str(found) for found in problems.error("").problems] == [problem]


@given(st.text("ab1; \t?", max_size=30))
def test_tokens_and_the_space_between_them_are_the_line(text: str) -> None:
    try:
        *tokens, end = WORDS.tokens(text, 1, Problems())
    except GiveUpError:
        assert "?" in text.partition(";")[0]
        return
    assert all(text[token.column - 1 :].startswith(token.text) for token in tokens)
    assert "".join(token.text for token in tokens) == "".join(text.partition(";")[0].split())
    assert end.column - 1 == len(text.partition(";")[0])


def test_a_local_name_differs_from_expansion_to_expansion() -> None:
    token = Token("name", "@x", 1, 1)
    assert len({token.key, token._replace(scope=1).key, token._replace(scope=2).key}) == 3


def test_comments_at_the_top_are_the_description() -> None:
    assert opening_comment("; adds\n;;  two\n\n; not this", ";") == "adds two"
    assert opening_comment("x ; adds", ";") == ""
    assert unix_lines("a\r\nb\rc\n") == "a\nb\nc\n"
