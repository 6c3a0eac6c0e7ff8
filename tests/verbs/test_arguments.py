"""Wrong arguments of Python callers: one library error with a sentence, never a traceback, and nothing ignored."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from cases import for_each
from facts import missing

import bitwright as bw
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.theory.closed_form import weights
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.verbs.check import check

PLAIN = "bits x; block x; when x=1 write x; input x; steps 1".replace("; ", "\n")
LARGE = "let l = 3; bits x; block x; when x=1 write x for i in 1..l, j in 1..l; input x; steps 1".replace("; ", "\n")
FLOOD = "bits x; block x; when x=1 write x far.x; input source = x".replace("; ", "\n")
MAXIMUM = "bits a b; block a b; when a=1 write a; input a b; output m = a; steps 1; ensure m == max(a, b)"


@cache
def small() -> bw.Algorithm:
    return bw.addition(2)


@cache
def trained() -> Any:
    return bw.train(small(), tile="all", width=256)


def machine() -> Any:
    return machine_v(Shape(8, 5, DIALECTS["plain"]))


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
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no rows": (lambda: bw.infer(states(rows=0)), "executions states"),
    "no rows at a size": (lambda: bw.infer({2: states(2), 3: states(3, 0)}), "executions states"),
    "order of text": (lambda: bw.permutation(cast(Any, "21")), "3 1 2 '21'"),
    "order of floats": (lambda: bw.permutation(cast(Any, [2.0, 1.0])), "position integer"),
    "extent of text": (builder("3"), "'x' '3'"),
    "name of a number": (builder(3, name=3), "name str 3"),
    "many bits": (builder(10**9), "'x' 1,000,000,000 10,000,000"),
    "many bits together": (two_fields, "10,000,001 10,000,000"),
    "let of a number": (sized(let=3), "'l' 3"),
    "another line": (sized(lines="when y=1 write y"), "y=1"),
    "lines of a number": (sized(lines=3), "lines str 3"),
    "size of text": (lambda: bw.infer(cast(Any, {"2": states(2), 3: states(3)})), "1 100,000 '2'"),
    "given twice": (runs({"p": 1, "q": 1}, p=2), "given dictionary"),
    "given twice to a name": (lambda: bw.run(small(), {"p": 1, "q": 1}, p=2), "input given"),
    "states of runs": (lambda: bw.executions(small(), "runs", states=5, runs=5), "runs states"),
    "names twice": (lambda: bw.Executions(BOOL, BOOL, ("x", "x")), "bits named"),
    "no names": (lambda: bw.Executions(BOOL, BOOL, cast(Any, None)), "tuple None"),
    "no graph": (lambda: bw.run(bw.parse(FLOOD), graph="", source="1"), "graph empty"),
    "no table": (lambda: bw.run(bw.parse(FLOOD), "", graph="path:3"), "inputs empty"),
    "given twice to a graph": (
        lambda: bw.run(bw.parse(FLOOD), {"source": "1"}, graph="path:3", source="0"),
        "source given",
    ),
    "no source": (lambda: bw.executions(small(), ""), "execution empty"),
    "no name of a network": (lambda: adder().save(""), "network empty"),
    "no name of a trace": (lambda: bw.run(small(), p=1, q=1, record=True).save_trace(""), "name empty"),
    "no name of executions": (lambda: bw.Executions.load(""), "execution empty"),
    "no name to export": (lambda: bw.export(adder(), "", small()), "write empty"),
    "no name to open": (lambda: bw.open(""), "program empty"),
    "the name of a program": (lambda: bw.run(cast(Any, "addition")), "Algorithm Program str open"),
    "no name to check": (lambda: check(""), "program empty"),
    "the name of a network": (runs(p=1, q=1, network="adder.safetensors"), "network str Network.load"),
    "no network to load": (lambda: bw.Network.load(""), "network empty"),
    "no executions": (lambda: cast(Any, bw.infer)(""), "executions str"),
    "sizes of none": (lambda: bw.certify(bw.parse(PLAIN), sizes="1..8"), "1..8"),
    "rules too large": (lambda: bw.parse(LARGE, l=6_000), "30,000,000"),
    "a function": (lambda: bw.parse(MAXIMUM.replace("; ", "\n")), "'max'"),
    "a float array": (runs(p=np.array([1.5]), q=1), "array integers"),
}


WRONG |= {
    "a list": (lambda: bw.certify(small(), [trained()]), "give network"),  # type: ignore[arg-type]
    "workers": (lambda: bw.certify(small(), trained(), workers=-1), "workers number"),
    "resume": (lambda: bw.certify(bw.addition(4), adder(), resume=3), "file resume"),  # type: ignore[arg-type]
    "domain": (lambda: bw.certify(small(), trained(), domain="all"), "'all'"),
    "other cells": (lambda: bw.certify(bw.permutation([2, 1]), adder()), "cell like"),
    "bits": (lambda: bw.train(small(), weight_bits=9), "2 8 9"),
    "tile": (lambda: bw.train(small(), tile=1.5), "1.5"),  # type: ignore[arg-type]
    "tile size": (lambda: bw.train(small(), tile=17), "1 16 17"),
    "seeds": (lambda: bw.train(small(), seeds=0), "1 1,000 0"),
    "several": (lambda: bw.train([small(), small()], tile="all"), "network programs"),
    "width": (lambda: bw.train(small(), width="128"), "width integer"),
    "engine": (lambda: bw.run(small(), p=1, q=1, engine=3), "engine name"),  # type: ignore[arg-type]
    "network": (lambda: bw.run(small(), p=1, q=1, network=3), "give network int"),  # type: ignore[arg-type]
    "save": (lambda: adder().save(None), "network NoneType"),
    "cells of": (lambda: adder().engine(cast(Any, "addition")), "Algorithm Program"),
    "a machine": (
        lambda: bw.train(machine()),  # type: ignore[arg-type]
        "what.program",
    ),
    "a number to train": (lambda: bw.train(3), "Algorithm Program"),  # type: ignore[arg-type]
    "cells in a list": (lambda: bw.run(small(), p=1, q=1, network=cast(Any, [adder(), adder()])), "give one"),
    "proof of a part": (lambda: bw.certify(small(), adder().weights), "another program"),
    "certify a file": (lambda: bw.certify(small(), cast(Any, "adder.safetensors")), "network str Network.load"),
    "a rounding": (lambda: bw.certify(small(), cast(Any, "sign")), "'sign'"),
    "sizes of whole states": (lambda: bw.certify(small(), trained(), sizes="1..4"), "leave cells"),
    "padding of a network": (lambda: bw.certify(small(), trained(), padding=3), "padding network"),
    "domain of the limit": (lambda: bw.certify(small(), domain="runs"), "domain network"),
    "load": (lambda: bw.Network.load(3), "network Path"),  # type: ignore[arg-type]
    "no file": (lambda: bw.Network.load("nowhere.safetensors"), "network nowhere"),
    "no weights": (lambda: bw.Network(small(), None), "Network Algorithm"),  # type: ignore[arg-type]
    "other pattern": (
        lambda: bw.Network(trained().weights, adder().pattern),
        "another program",
    ),
    "settings": (lambda: bw.run(small(), p=1, q=1, network=adder(), width=3), "settings already"),
}


def with_option(**option: Any) -> Callable[[], object]:
    return lambda: bw.train(small(), tile="all", **{"width": 64, **option})


NAN = float("nan")
# Numbers that training cannot use, and devices that it would not use.
WRONG |= {
    f"train {name}={value!r}": (with_option(**{name: value}), problem)
    for name, values, problem in (
        ("width", (0, -2), "the width must be between 1"),
        ("seed", (-1, 2**63 + 1), "the seed must be between 0"),
        ("padding", (-1,), "the padding must be between 0"),
        ("padding", (1.5, NAN, "1"), "the padding must be an integer"),
        ("tolerance", (0, -1, NAN, 0.5, "x"), "the tolerance must be between 0 and 0.5"),
        ("device", ("gpu", "", 3), "there is no device"),
    )
    for value in values
}
WRONG |= {
    "no drawn networks": (lambda: make_engine("sampled", small().program, networks=0), "networks must be between"),
    "NaN networks": (
        lambda: make_engine("sampled", small().program, networks=NAN),  # type: ignore[arg-type]
        "networks must be an integer",
    ),
    "drawn seed": (lambda: make_engine("sampled", small().program, seed=-1), "the seed must be between 0"),
    "NaN examples": (lambda: weights(2, NAN), "the number of examples must be between"),  # type: ignore[arg-type]
    "NaN padding": (lambda: TrainingSet(small().program, NAN), "the padding must be an integer"),  # type: ignore[arg-type]
    "no hidden units": (
        lambda: replace(trained().weights, first=trained().weights.first[:0], last=trained().weights.last[:, :0]),
        "at least 1 hidden unit",
    ),
}


ONES = {"p": 1, "q": 1}
# Runs and proofs of the limit.
RUNS: dict[str, tuple[Callable[[], object], str]] = {
    "limit": (lambda: bw.run(small(), ONES, steps="x"), "'x'"),  # type: ignore[arg-type]
    "limit 2.5": (lambda: bw.run(small(), ONES, steps=2.5), "limit integer"),  # type: ignore[arg-type]
    "inputs": (lambda: bw.run(small(), [1, 2]), "'p' NUMBER 'q'"),  # type: ignore[arg-type]
    "one input": (lambda: bw.run(small(), 5), "inputs given"),  # type: ignore[arg-type]
    "input names": (lambda: bw.run(small(), {1: 2}), "name input"),  # type: ignore[dict-item]
    "states": (lambda: bw.run(small(), states=[[True]]), "states NumPy"),  # type: ignore[arg-type]
    "numbers": (lambda: bw.run(small(), states=np.ones((1, 6))), "64"),  # type: ignore[arg-type]
    "batch": (lambda: bw.run(small(), states=np.ones((1, 6), bool), steps="x"), "limit must"),  # type: ignore[arg-type]
    "threads": (lambda: bw.run(small(), states=np.ones((1, 6), bool), workers="x"), "workers integer"),  # type: ignore[arg-type]
    "no threads": (lambda: bw.run(small(), states=np.ones((1, 6), bool), workers=0), "workers 1 0"),
    "padding": (lambda: bw.run(small(), ONES, engine="limit", padding="x"), "padding integer"),
    "less": (lambda: bw.run(small(), ONES, engine="limit", padding=-1), "0 -1"),
    "networks": (lambda: bw.run(small(), ONES, engine="sampled", networks="x"), "networks integer"),
    "seed": (lambda: bw.run(small(), ONES, engine="sampled", seed=1.5), "must integer"),
    "tile of a run": (lambda: bw.run(small(), ONES, engine="limit", tile="yes"), "1 16 yes"),
    "rounding": (lambda: bw.run(small(), ONES, engine="limit", rounding=5), "'5'"),
    "random": (lambda: bw.validate(small(), random="x"), "random integer"),  # type: ignore[arg-type]
    "workers": (lambda: bw.validate(small(), workers=3.5), "workers number"),  # type: ignore[arg-type]
    "resume": (lambda: bw.validate(small(), resume=5), "file resume"),  # type: ignore[arg-type]
    "validate": (lambda: bw.validate(small(), steps="x"), "limit integer"),  # type: ignore[arg-type]
    "certify": (lambda: bw.certify(small(), padding="x"), "padding integer"),  # type: ignore[arg-type]
    "rule": (lambda: bw.certify(small(), rounding=5), "'5'"),  # type: ignore[arg-type]
    "delta": (lambda: bw.size(small(), "x"), "0 1"),  # type: ignore[arg-type]
    "templates": (lambda: bw.run(small(), ONES, rounding="sign"), "rounding templates"),
    "no padding": (lambda: bw.run(small(), ONES, padding=3), "padding templates"),
    "misspelt": (lambda: bw.run(small(), ONES, roundng="sign"), "'roundng' 'rounding'"),
    "misspelt engine": (lambda: bw.run(small(), p=1, q=1, engin="limit"), "'engin' 'engine'"),
    "no input": (lambda: bw.run(small(), p=1, q=1, zzz=1), "'zzz'"),
    "batch setting": (
        lambda: bw.run(small(), states=np.ones((1, 6), bool), engine="limit", roundng="sign"),
        "'roundng' 'rounding'",
    ),
    "validate setting": (lambda: bw.validate(small(), widht=3), "'widht' 'width'"),
    "certificate": (lambda: bw.certify(small()).save(None), "certificate file"),  # type: ignore[arg-type]
    "no certificate": (lambda: bw.Certificate.load(None), "certificate file"),  # type: ignore[arg-type]
    "proof": (lambda: bw.certify(small(), adder()).save(3), "certificate file"),  # type: ignore[arg-type]
}


def made(**parts: Any) -> bw.Algorithm:
    return bw.Algorithm("made", parts.pop("program", small().program), **parts)


def bits() -> Any:
    return bw.Builder().bits("x", 2)


# Algorithms that are put together by hand.
MADE: dict[str, tuple[Callable[[], object], str]] = {
    "names": (lambda: made(inputs=("x",)), "'x' x[:]"),
    "bits": (lambda: made(inputs=(bits()[:],)), "'x'"),
    "a number": (lambda: made(outputs=3), "outputs 3"),
    "a text": (lambda: made(inputs="x"), "'x'"),
    "a builder": (lambda: made(program=bw.Builder()), "Builder.build"),
    "steps": (lambda: made(steps="3"), "'3'"),
}


WRONG |= {f"run: {name}": case for name, case in RUNS.items()} | {f"made: {name}": case for name, case in MADE.items()}


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


def test_a_file_of_torch_is_to_be_loaded_first(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "m.pt"
    torch.save(torch.nn.Linear(2, 2).state_dict(), file)
    with pytest.raises(bw.InputError, match=r"m\.pt.*ONNX"):
        bw.Network.load(file)


def test_integers_of_other_libraries_are_inputs() -> None:
    import torch

    assert bw.run(small(), p=torch.arange(4), q=torch.tensor(1)).outputs["sum"].tolist() == [1, 2, 3, 4]
    assert bw.run(small(), p=torch.tensor(3), q=2).value == 5
    assert bw.run(bw.addition(4), p=torch.tensor([9, 3]), q=2).outputs["sum"].tolist() == [11, 5]
    for none in ([], np.array([])):
        assert bw.run(small(), p=none, q=1).outputs["sum"].tolist() == []
    with pytest.raises(bw.InputError, match=r"array.*integers"):
        bw.run(small(), p=torch.ones(2), q=1)


def test_what_the_hints_name_works() -> None:
    assert bw.train(machine().program).proved
    for one in (bw.Word("p", (0, 1)), [bw.Word("p", (0, 1))]):  # a list will do, and one alone
        assert made(inputs=one).inputs == (bw.Word("p", (0, 1)),)
