"""`validate` takes the `ensure` lines of a program as its oracle, and tries each of them after every run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitwright import parse, validate
from bitwright.rules.ensure_text import read
from bitwright.rules.ensures import Runs

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAINS = Path(__file__).parent / "function"


@pytest.mark.parametrize("path", [EXAMPLES / "subtraction.bw", EXAMPLES / "gray.bw", CHAINS / "saturating.bw"])
def test_the_lines_are_the_judge(path: Path) -> None:
    found = validate(parse(path.read_text(), l=4))
    assert found.exact
    assert "0 wrong by its ensure lines" in str(found)


COPY = "let l = 4\nbits x[l] y[l]\nblock x[i] y[i] for i in 1..l\nwhen x[i]=1 write x[i] y[i] for i in 1..l\n"
COPY += "input x\noutput y\nsteps 1\n"


@pytest.mark.parametrize("oracle", [None, lambda x: x, lambda x: {"y": x}])
@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("y == x and y != 3", [3]),
        ("y == x and y[1] == 1 - x[1]", range(16)),
        ("x > 9 => y[i] == 1 for i in 2..4", [10, 11, 12, 13]),
        ("y <= x", []),
    ],
)
def test_a_line_that_gives_no_output_is_tried_beside_any_oracle(line: str, wrong: list[int], oracle: Any) -> None:
    found = validate(parse(f"{COPY}ensure {line}"), oracle, engine="templates")
    assert (found.tally.wrong, found.verdict) == (len(wrong), "not exact" if wrong else "exact")
    assert [failure.inputs["x"] for failure in found.tally.failures] == [*wrong][:10]
    assert [failure["line"] for failure in found.to_dict()["failures"]] == [line] * len([*wrong][:10])
    assert ("but ensure " + line in str(found)) == bool(wrong)


@pytest.mark.parametrize("bits", [1, 8, 31, 61, 62, 63, 200])
def test_lines_on_arrays_say_what_they_say_on_numbers(bits: int) -> None:
    """Products and sums of numbers around the ends of machine words, signed ones too."""
    draw, most = np.random.default_rng(bits), 2**bits - 1
    numbers = [0, 1, most, most // 2, *(int.from_bytes(draw.bytes(25)) & most for _ in range(8))]
    names = {name: [int(draw.choice([-1, 1])) * numbers[k] for k in draw.permutation(12)] for name in "abc"}
    names["c"][:4] = [names["a"][k] * names["b"][k] % 2**bits for k in range(4)]
    kind = np.int64 if bits < 63 else object
    runs = Runs(12, *({n: np.array(names[n], dtype=kind) for n in some} for some in ("ab", "c")))
    for text in (
        "c == a * b mod 2^k",
        "a * b * a >= c * c - 5",
        "(a - b) // 3 == c // 7 or not a < b",
        "a[1] == b[k] => c[1] == 1",
        "(a < b) == (c[1] == 1)",
        "in.a[i] == c[i] for i in 1..k",
        "a + i * 2^k != c for i in 1..3",
    ):
        line = read(text).with_lets({"k": bits})
        wanted = [not line.holds(*({n: names[n][run] for n in some} for some in ("ab", "c"))) for run in range(12)]
        assert runs.broken(line).tolist() == wanted, text
