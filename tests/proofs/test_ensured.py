"""`validate` takes the `ensure` lines of a program as its oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from bitwright import parse, validate

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAINS = Path(__file__).parent / "function"


@pytest.mark.parametrize("path", [EXAMPLES / "subtraction.bw", EXAMPLES / "gray.bw", CHAINS / "saturating.bw"])
def test_the_lines_are_the_judge(path: Path) -> None:
    found = validate(parse(path.read_text(), l=4))
    assert found.exact
    assert "0 wrong by its ensure lines" in str(found)


def test_what_the_lines_do_not_say_is_found() -> None:
    text = (EXAMPLES / "subtraction.bw").read_text()
    assert not validate(parse(text.replace("a - b) mod", "a - 2*b) mod"), l=3)).exact
    text = (EXAMPLES / "gray.bw").read_text()
    assert not validate(parse(text.replace("gray[l] == x[l]", "gray[l] == x[1]"), l=3)).exact


def test_the_same_numbers_beyond_machine_words() -> None:
    found = validate(parse((EXAMPLES / "subtraction.bw").read_text(), l=70), random=50)
    assert found.exact
