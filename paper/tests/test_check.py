"""`python -m paper.check`: what it counts, and that it notices a predictor whose sign is wrong."""

from __future__ import annotations

import pytest

from bitwright import parse
from paper import check

# One of five writers of x matches, with eight bystanders: the sign rule is wrong (13 examples are too few).
CROWDED = """
bits a[5] s[8] x
block a[i] for i in 1..5
block s[i] for i in 1..8
block x
when a[i]=1 write x for i in 1..5
when s[i]=1 write s[i] for i in 1..8
input a s
output x
steps 1
"""


def test_every_input_and_some_by_linear_algebra(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["--bits", "2", "--random", "3", "-q"]) == 0
    counts = [  # inputs 2^l or 4^l; steps 1, 2l and 4l^2 + 3l
        ("closed form, every input", "permutation", 2 + 4, 2 + 4),
        ("closed form, every input", "addition", 4 + 16, 4 * 2 + 16 * 4),
        ("closed form, every input", "multiplication", 4 + 16, 4 * 7 + 16 * 22),
        ("linear algebra", "permutation", 3 + 3, 3 + 3),
        ("linear algebra", "addition", 3 + 3, 3 * 2 + 3 * 4),
        ("linear algebra", "multiplication", 3 + 3, 3 * 7 + 3 * 22),
    ]
    assert capsys.readouterr().out.splitlines() == [
        "EXACT: the NTK predictor with sign rounding, 1 to 2 bits",
        *(f"  {how:24}  {task:14}  {i} inputs, 0 wrong; {e} evaluations, 0 wrong" for how, task, i, e in counts),
    ]


def test_a_wrong_sign_is_noticed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "algorithm_of", lambda _task, _bits: parse(CROWDED))
    assert check.main(["--bits", "1", "-q"]) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("NOT EXACT: ")
    assert all("8192 inputs, 0 wrong" not in line.replace(",", "") for line in lines)
