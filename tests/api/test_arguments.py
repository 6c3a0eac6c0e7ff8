"""Wrong arguments of Python callers: one library error with a sentence, never a traceback, and nothing ignored."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from cases import for_each
from facts import missing

import bitwright as bw
from bitwright.api.check import check

PLAIN = "bits x; block x; when x=1 write x; input x; steps 1".replace("; ", "\n")
LARGE = "let l = 3; bits x; block x; when x=1 write x for i in 1..l, j in 1..l; input x; steps 1".replace("; ", "\n")
FLOOD = "bits x; block x; when x=1 write x far.x; input source = x".replace("; ", "\n")
MAXIMUM = "bits a b; block a b; when a=1 write a; input a b; output m = a; steps 1; ensure m == max(a, b)"


@cache
def small() -> bw.Algorithm:
    return bw.addition(2)


@cache
def adder() -> Any:
    return bw.train(small())


def states(l: int = 2, rows: int = 40) -> bw.Executions:
    found = bw.executions(bw.addition(l), "states", states=40)
    return bw.Executions(found.before[:rows], found.after[:rows], found.names)


def builder(*shape: Any, name: Any = "x") -> Callable[[], object]:
    return lambda: bw.Builder().bits(name, *shape)


def sized(**options: Any) -> Callable[[], object]:
    return lambda: bw.infer({2: states(2), 3: states(3)}, **options)


def two_fields() -> object:
    b = bw.Builder()
    b.bits("x", 9_999_999)
    return b.bits("y", 2)


def runs(*values: Any, **named: Any) -> Callable[[], object]:
    return lambda: cast(Any, bw.run)(small(), *values, **named)


BOOL = np.zeros((1, 2), dtype=bool)
SECONDS = "seconds is a number above 0 and below a million, got"
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "state of a number": (lambda: bw.certify(small(), adder(), state=cast(Any, 3)), "state str 3"),
    "no rows": (lambda: bw.infer(states(rows=0)), "executions states"),
    "no rows at a size": (lambda: bw.infer({2: states(2), 3: states(3, 0)}), "size 3 states"),
    "order of text": (lambda: bw.permutation(cast(Any, "21")), "3 1 2 '21'"),
    "order of floats": (lambda: bw.permutation(cast(Any, [2.0, 1.0])), "position integer"),
    "extent of text": (builder("3"), "'x' '3'"),
    "name of a number": (builder(3, name=3), "name str 3"),
    "many bits": (builder(10**9), "'x' 1,000,000,000 10,000,000"),
    "many bits together": (two_fields, "10,000,001 10,000,000"),
    "let of a number": (sized(let=3), "'l' 3"),
    "offsets of text": (sized(offsets="a"), "'a'"),
    "coefficients": (sized(coefficients=9), "coefficients 1 8 9"),
    "seconds at sizes": (sized(seconds="x"), f"{SECONDS} 'x'"),
    "negative seconds at sizes": (sized(seconds=-1), f"{SECONDS} -1"),
    "seconds": (lambda: cast(Any, bw.infer)(states(), seconds="x"), "seconds executions"),
    "another line": (sized(lines="when y=1 write y"), "y=1"),
    "lines of a number": (sized(lines=3), "lines str 3"),
    "size of text": (lambda: bw.infer(cast(Any, {"2": states(2), 3: states(3)})), "1 100,000 '2'"),
    "given twice": (runs({"p": 1, "q": 1}, p=2), "given dictionary"),
    "given twice to a name": (lambda: bw.run("addition", {"p": 1, "q": 1}, p=2), "input given"),
    "states of runs": (lambda: bw.executions(small(), "runs", states=5, runs=5), "runs states"),
    "width of text": (lambda: bw.Recipe(width=cast(Any, "a")), "'a'"),
    "no width": (lambda: bw.Recipe(width=0), "width 1"),
    "names twice": (lambda: bw.Executions(BOOL, BOOL, ("x", "x")), "bits called"),
    "no names": (lambda: bw.Executions(BOOL, BOOL, cast(Any, None)), "tuple None"),
    "no graph": (lambda: bw.run(bw.parse(FLOOD), graph="", source="1"), "graph empty"),
    "no table": (lambda: bw.run(bw.parse(FLOOD), "", graph="path:3"), "inputs empty"),
    "given twice to graphs": (
        lambda: bw.run(bw.parse(FLOOD), [{"source": "1"}], graph=["path:3"], source="0"),
        "source given",
    ),
    "no source": (lambda: bw.executions(small(), ""), "executions empty"),
    "no name of a network": (lambda: adder().save(""), "network empty"),
    "no name of a trace": (lambda: bw.run(small(), p=1, q=1, record=True).save_trace(""), "name empty"),
    "no name of executions": (lambda: bw.Executions.load(""), "executions empty"),
    "no name to export": (lambda: bw.export(adder(), "", small()), "write empty"),
    "no name to run": (lambda: bw.run(""), "program empty"),
    "no name to check": (lambda: check(""), "program empty"),
    "no network": (lambda: bw.certify(small(), ""), "network empty"),
    "no network to run": (runs(p=1, q=1, network=""), "network empty"),
    "no network to load": (lambda: bw.Network.load(""), "network empty"),
    "no executions": (lambda: bw.infer(""), "executions empty"),
    "sizes of none": (lambda: bw.certify(bw.parse(PLAIN), sizes="1..8"), "1..8"),
    "rules too large": (lambda: bw.parse(LARGE, l=6_000), "30,000,000"),
    "a function": (lambda: bw.parse(MAXIMUM.replace("; ", "\n")), "'max'"),
    "a float array": (runs(p=np.array([1.5]), q=1), "array integers"),
}


@for_each("name", WRONG)
def test_a_wrong_argument_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, problem = WRONG[name]
    with pytest.raises(bw.BitwrightError) as caught:
        call()
    assert missing(str(caught.value), problem) == []
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for call in (lambda: bw.executions(small(), folder), lambda: bw.executions(small(), str(folder))):
        with pytest.raises(bw.InputError, match=r"\.npz"):
            call()
    with pytest.raises(bw.InputError, match=r"folder.*file"):
        bw.infer(folder)


def test_a_file_of_torch_is_to_be_loaded_first(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "m.pt"
    torch.save(torch.nn.Linear(2, 2).state_dict(), file)
    for call in (lambda: bw.certify(small(), file), lambda: bw.Network.load(file)):
        with pytest.raises(bw.InputError, match=r"m\.pt.*ONNX"):
            call()


def test_lines_may_be_one_text() -> None:
    several = sized(lines=["input p", "output c[l] p"])
    assert str(several()) == str(sized(lines="input p\noutput c[l] p\n")())


def test_integers_of_other_libraries_are_inputs() -> None:
    import torch

    assert bw.run(small(), p=torch.arange(4), q=torch.tensor(1)).outputs["sum"].tolist() == [1, 2, 3, 4]
    assert bw.run(small(), p=torch.tensor(3), q=2).value == 5
    assert bw.run("addition", p=torch.tensor([9, 3]), q=2).outputs["sum"].tolist() == [11, 5]
    for none in ([], np.array([])):
        assert bw.run(small(), p=none, q=1).outputs["sum"].tolist() == []
    with pytest.raises(bw.InputError, match=r"array.*integers"):
        bw.run(small(), p=torch.ones(2), q=1)
