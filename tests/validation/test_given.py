"""Oracles as a Python program hands them over: any callable, or the name of a function in a file."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cases import for_each
from programs import EXAMPLES

from bitwright import InputError, addition, parse, validate
from bitwright.machines.programs import open_program
from bitwright.validation import Function

SMALL = addition(2)


def plus(p: int, q: int) -> int:
    return p + q


class Added:
    """Callable, and with state: what a notebook may hold."""

    def __init__(self, more: int = 0) -> None:
        self.more = more

    def __call__(self, p: int, q: int) -> dict[str, int]:
        return {"sum": p + q + self.more}


@for_each(
    ("oracle", "name"),
    [
        (plus, "plus"),
        (lambda p, q: p + q, "<lambda>"),
        (lambda **both: {"sum": both["p"] + both["q"]}, "<lambda>"),
        (partial(lambda p, q, more: p + q + more, more=0), "<lambda>"),
        (Added(), "Added"),
    ],
)
def test_any_callable_is_an_oracle(oracle: Any, name: str) -> None:
    done = validate(SMALL, oracle=oracle)
    assert (done.verdict, done.tally.inputs) == ("exact", 16)
    assert done.task.oracle is not None
    assert done.task.oracle.name == name
    assert f"0 wrong by {name}" in str(done)


def test_none_is_a_run_that_never_ends() -> None:
    text = "bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write x\ninput x\noutput y\nhalt at fixed point"
    done = validate(parse(text), oracle=lambda x: None if x else 0, steps=50)
    assert (done.verdict, done.tally.endless) == ("exact", 1)


def test_what_an_oracle_raises_is_said_and_kept() -> None:
    with pytest.raises(InputError, match=r"p=0.*q=0") as caught:
        validate(SMALL, oracle=lambda p, q: p // (q - q))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(InputError, match=r"p=0.*q=0.*'p'"):
        validate(SMALL, oracle=lambda a, b: a + b)


@pytest.mark.parametrize("more", [{"workers": 2}, {"workers": "ray"}, {"resume": "kept"}])
def test_a_callable_stays_in_its_process(more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"oracle=?.*MODULE:FUNCTION"):
        validate(SMALL, oracle=plus, **more)
    assert not list(tmp_path.iterdir())


def test_ensure_lines_of_the_bits_of_a_signed_number() -> None:
    """In two's complement: with the top bit set the number is below 0, as the run and a line of the whole say."""
    text = "bits x[3] y[3]\nblock x[i] for i in 1..3\nblock y[i] for i in 1..3\nwhen x[i]=1 write y[i] for i in 1..3\n"
    text += "input x\noutput signed y\nsteps 1\n"
    lines = ("y[i] == x[i] for i in 1..3", "y == x - 8 * x[3]")
    for some in (lines, lines[:1]):
        done = validate(parse(text + "".join(f"ensure {line}\n" for line in some)))
        assert (done.verdict, done.to_dict()["oracle"]) == ("exact", "its ensure lines")


@for_each(
    ("lines", "verdict", "judge"),
    [
        (["y == x"], "exact", "its ensure lines"),
        (["x > 3 => y == x", "x <= 3 => y == x"], "exact", "its ensure lines"),
        (["x > 3 => y == x"], "not decided", "its ensure lines"),
        (["y[i] == x[i] for i in 2..3"], "not decided", "its ensure lines"),
        (["y >= 0"], "exact", "the rules"),
        (["y == y"], "exact", "the rules"),
    ],
)
def test_lines_that_leave_an_output_open_do_not_judge_it(lines: list[str], verdict: str, judge: str) -> None:
    text = "bits x[3] y[3]\nblock x[i] for i in 1..3\nblock y[i] for i in 1..3\nwhen x[i]=1 write y[i] for i in 1..3\n"
    text += "input x\noutput y\nsteps 1\n"
    done = validate(parse(text + "".join(f"ensure {line}\n" for line in lines)))
    assert (done.verdict, done.to_dict()["oracle"]) == (verdict, judge)


def test_a_module_without_a_text_in_the_folder_is_imported_as_it_is(tmp_path: Path) -> None:
    assert Function.named("builtins:pow", str(tmp_path), ("sum",)).load() is pow


def test_sbn_code_has_the_plain_interpreter() -> None:
    code = open_program(str(EXAMPLES / "sbn" / "gcd.sbn"))
    assert validate(code, random=3).to_dict()["oracle"] == "the plain interpreter"
