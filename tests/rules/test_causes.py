"""The cause of a problem comes first, and what only follows from another problem is not listed: in every reader."""

from collections.abc import Callable

import pytest
from cases import for_each

from bitwright import ProgramError
from bitwright.common.errors import Problem
from bitwright.machines import assemble
from bitwright.machines.subleq import assemble_sq


def problems(read: Callable[[], object]) -> list[str]:
    with pytest.raises(ProgramError) as refused:
        read()
    found = [str(problem) for problem in refused.value.problems]
    more = f" (and {len(found) - 1} more problem{'s' * (len(found) > 2)})" if len(found) > 1 else ""
    assert str(refused.value).endswith(found[0] + more)
    return found


@for_each(
    ("text", "messages"),
    [
        ("jmp loop\nloop: subleq x ?", ["2:16: unexpected character '?'"]),
        ("sub n, n\n.const n, ]3", ["2:11: unexpected character ']'"]),
        ("sub n, n\n.const n, m", ["2:11: unknown constant 'm'; give it a value with .const"]),
        ("foo 1\n.macro foo a ?\n sub a, a\n.end", ["2:14: unexpected character '?'"]),
        ("?", ["1:1: unexpected character '?'"]),
        (".macro f a ?\n sub a, a\n.end\nsub u, Z", ["1:12: unexpected character '?'", "4:5: 'u' is not defined"]),
    ],
)
def test_subleq(text: str, messages: list[str]) -> None:
    assert problems(lambda: assemble_sq(text)) == messages


@pytest.mark.parametrize(
    "text", ["jmp loop\nloop: sub ? x", "? sub x y", ".in ?x\n.out x\nsub x y", ".macro f a ?\nsub a a\n.end\nf x"]
)
def test_sbn(text: str) -> None:
    (message,) = problems(lambda: assemble(text, "p"))
    assert "unexpected character '?'" in message


def test_what_concerns_all_of_a_program_stands_last() -> None:
    error = ProgramError([Problem(0, 0, "a"), Problem(7, 1, "b"), Problem(0, 0, "c", "x.py:3")], "f.bw")
    assert [problem.message for problem in error.problems] == ["c", "b", "a"]
    assert str(error) == "f.bw: x.py:3: c (and 2 more problems)"
