"""Oracles that answer for whole arrays."""

from itertools import count
from pathlib import Path

import pytest
from cases import for_each
from facts import missing
from programs import EXAMPLES
from tasks import task_of

from bitwright import InputError, addition, multiplication
from bitwright.common.workers import Workers
from bitwright.rules import load
from bitwright.validation import Function, validate

_numbers = count()


def oracle(folder: Path, body: str, outputs: tuple[str, ...] = ("sum",), wide: bool = False) -> Function:
    name = f"arrays_{next(_numbers)}"
    (folder / f"{name}.py").write_text(f"import numpy as np\n{body}\n")
    return Function.named(f"{name}:f", str(folder), outputs, True, wide)


def test_it_finds_what_single_calls_find(tmp_path: Path) -> None:
    (tmp_path / "alike_oracles.py").write_text(
        "def one(p, q): return p + q + (p == 3)\ndef many(p, q): return p + q + (p == 3)\n"
    )
    one = validate(task_of(addition(5), oracle=Function.named("alike_oracles:one", str(tmp_path), ("sum",))))
    many = task_of(addition(5), oracle=Function.named("alike_oracles:many", str(tmp_path), ("sum",), True))
    for workers in (Workers(), Workers("processes", 2)):
        assert validate(many, workers).tally == one.tally
    assert one.tally.wrong == 32


def test_several_outputs(tmp_path: Path) -> None:
    f = "def f(a, b): return {'difference': (a - b) % 1024, 'negative': a < b}"
    algorithm = load(EXAMPLES / "subtraction.bw")
    done = validate(task_of(algorithm, oracle=oracle(tmp_path, f, ("difference", "negative"))))
    assert (done.tally.inputs, done.verdict) == (1 << 20, "exact")


def test_long_numbers_come_as_pythons_integers(tmp_path: Path) -> None:
    f = "def f(multiplicand, multiplier): return multiplicand * multiplier * (multiplicand.dtype == object)"
    done = validate(task_of(multiplication(40), oracle=oracle(tmp_path, f, ("product",), wide=True), random=50))
    assert (done.tally.inputs, done.verdict) == (50, "exact")


def test_unsigned_numbers_are_compared_exactly(tmp_path: Path) -> None:
    """2^63 and 2^63 + 1 are one number in float64, and no numbers in int64."""
    f = "def f(p, q): return (p + q).astype(np.uint64) + np.uint64(2**63)"
    done = validate(task_of(addition(3), oracle=oracle(tmp_path, f)))
    assert done.tally.failures[1].expected == {"sum": 2**63 + 1}
    f = "def f(p, q): return (p + q).astype(np.uint8)"
    assert validate(task_of(addition(3), oracle=oracle(tmp_path, f))).verdict == "exact"


@for_each(
    ("body", "message"),
    [
        ("def f(p, q): return None", "oracle inputs"),
        ("def f(p, q): return 5", "arrays 5"),
        ("def f(p, q): return (p + q)[1:]", "64 shape 63"),
        ("def f(p, q): return (p + q) / 1", "integers float64"),
        ("def f(p, q): return np.array([0.5] * len(p), dtype=object)", "0.5"),
        ("def f(p, q): return {'total': p + q}", "no output"),
        ("def f(p): return p", "64 TypeError"),
        ("def f(p, q): return np.cumsum(p) + q", "p=1 q=1 sum=2 64 sum=30"),
        ("async def f(p, q): return p", "async function"),
    ],
)
def test_odd_answers(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        validate(task_of(addition(3), oracle=oracle(tmp_path, body)))
    assert missing(str(refused.value), message) == []


def test_arrays_are_asked_a_few_times(tmp_path: Path) -> None:
    """One call for a batch and five for the spot checks: not one for each of 4,096 inputs."""
    f = "calls = []\ndef f(p, q):\n    calls.append(len(p))\n    return p + q"
    asked = oracle(tmp_path, f)
    validate(task_of(addition(6), oracle=asked))
    calls = asked.load().__globals__["calls"]  # type: ignore[attr-defined]
    assert calls == [4096, 1, 1, 1, 1, 1]
