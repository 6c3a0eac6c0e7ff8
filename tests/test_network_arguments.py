"""Wrong arguments to what Python offers for networks: one InputError with a sentence, never another exception."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import for_each
from facts import missing

import bitwright as bw
from bitwright.engines import make_engine
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.networks import FloatNetwork
from bitwright.theory import weights
from bitwright.theory.encoding.training_set import TrainingSet


@cache
def small() -> bw.Algorithm:
    return bw.addition(2)


@cache
def trained() -> Any:
    return bw.train(small(), tile="all", integer=False, width=256)


@cache
def cells() -> Any:
    return bw.train(small())


def machine() -> Any:
    return machine_v(Shape(8, 5, DIALECTS["plain"]))


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a list": (lambda: bw.certify(small(), [trained()]), "give network"),  # type: ignore[arg-type]
    "workers": (lambda: bw.certify(small(), trained(), workers=-1), "workers number"),
    "resume": (lambda: bw.certify(small(), trained(), resume=3), "file resume"),  # type: ignore[arg-type]
    "domain": (lambda: bw.certify(small(), trained(), domain="all"), "'all'"),
    "other cells": (lambda: bw.certify(bw.permutation([2, 1]), cells()), "cell like"),
    "combine": (lambda: bw.Network.combine([small()]), "networks Algorithm"),  # type: ignore[list-item]
    "nothing": (lambda: bw.Network.combine([]), "trained network"),
    "integers": (lambda: trained().quantize().quantize(), "integers quantized"),
    "bits": (lambda: trained().quantize(8.0), "2 8 8.0"),
    "float bits": (lambda: bw.train(small(), tile="all", integer=False, weight_bits=4), "weight_bits"),
    "tile": (lambda: bw.train(small(), tile=1.5), "1.5"),  # type: ignore[arg-type]
    "tile size": (lambda: bw.train(small(), tile=17), "1 16 17"),
    "seeds": (lambda: bw.train(small(), seeds=0), "1 1,000 0"),
    "several": (lambda: bw.train(small(), small(), tile="all", integer=False), "network programs"),
    "networks": (lambda: bw.train(small(), tile="all", integer=False, networks=2), "2 networks"),
    "width": (lambda: bw.train(small(), width="128"), "width integer"),
    "recipe": (lambda: bw.train(small(), recipe={"width": 4}), "recipe Recipe"),  # type: ignore[arg-type]
    "misspelt": (lambda: bw.train(small(), size="1..4"), "'size' 'sizes'"),
    "engine": (lambda: bw.run(small(), p=1, q=1, engine=3), "engine name"),  # type: ignore[arg-type]
    "network": (lambda: bw.run(small(), p=1, q=1, network=3), "networks paths"),  # type: ignore[arg-type]
    "no networks": (lambda: bw.run(small(), p=1, q=1, network=[]), "least network"),
    "save": (lambda: cells().save(None), "network NoneType"),
    "cells of": (lambda: cells().engine("addition"), "Algorithm Program"),
    "a machine": (
        lambda: bw.train(machine()),  # type: ignore[arg-type]
        "what.program",
    ),
    "a number": (lambda: bw.train(3), "Algorithm Program"),  # type: ignore[arg-type]
    "cells in a list": (lambda: bw.run(small(), p=1, q=1, network=[cells(), cells()]), "give itself"),
    "cells to validate": (lambda: bw.validate(small(), network=[cells(), cells()]), "list"),
    "proof of a part": (lambda: bw.certify(small(), cells().weights), "cells given"),
    "number among": (lambda: bw.run(small(), p=1, q=1, network=[trained(), 3]), "among them"),  # type: ignore[list-item]
    "certify a file": (lambda: bw.certify(small(), "adder.safetensors"), "network adder"),
    "a rounding": (lambda: bw.certify(small(), "sign"), "'sign'"),
    "sizes of whole states": (lambda: bw.certify(small(), trained(), sizes="1..4"), "leave cells"),
    "padding of a network": (lambda: bw.certify(small(), trained(), padding=3), "padding network"),
    "domain of the limit": (lambda: bw.certify(small(), domain="runs"), "domain network"),
    "load": (lambda: bw.Network.load(3), "network Path"),  # type: ignore[arg-type]
    "no file": (lambda: bw.Network.load("nowhere.safetensors"), "network nowhere"),
    "no weights": (lambda: bw.Network(small(), None), "Network Algorithm"),  # type: ignore[arg-type]
    "other pattern": (
        lambda: bw.Network(trained().quantize().weights, cells().pattern),
        "another program",
    ),
    "settings": (lambda: bw.run(small(), p=1, q=1, network=cells(), width=3), "settings already"),
}


def with_option(**option: Any) -> Callable[[], object]:
    return lambda: bw.train(small(), tile="all", integer=False, **{"width": 64, **option})


NAN = float("nan")
# Numbers that training cannot use, and devices that it would not use.
WRONG |= {
    f"train {name}={value!r}": (with_option(**{name: value}), problem)
    for name, values, problem in (
        ("width", (0, -2), "the width must lie between 1"),
        ("seed", (-1, 2**63 + 1), "the seed must lie between 0"),
        ("member", (-1,), "the member must lie between 0"),
        ("padding", (-1,), "the padding must lie between 0"),
        ("padding", (1.5, NAN, "1"), "the padding must be an integer"),
        ("tolerance", (0, -1, NAN, 0.5, "x"), "the tolerance must lie between 0 and 0.5"),
        ("rate", (0, -1, NAN, float("inf"), 1e300, "x"), "the rate must be above 0"),
        ("most_steps", (0, -1), "the number of steps must lie between 1"),
        ("most_steps", (1.5, NAN, "x"), "the number of steps must be an integer"),
        ("descent", ("x", 3, True), "there is no descent"),
        ("device", ("cuda", "cuda:7", "gpu", "", None, 3), "the numpy trainer runs on the cpu"),
    )
    for value in values
}
WRONG |= {
    "no such device": (with_option(trainer="torch", device="gpu"), "there is no device 'gpu'"),
    "no device": (with_option(trainer="torch", device=None), "there is no device 'None'"),
    "rules on a device": (
        lambda: make_engine("templates", small().program, device="cuda"),
        "go with the engine network, not templates",
    ),
    "no drawn networks": (lambda: make_engine("sampled", small().program, networks=0), "networks must lie between"),
    "NaN networks": (
        lambda: make_engine("sampled", small().program, networks=NAN),  # type: ignore[arg-type]
        "networks must be an integer",
    ),
    "drawn seed": (lambda: make_engine("sampled", small().program, seed=-1), "the seed must lie between 0"),
    "NaN examples": (lambda: weights(2, NAN), "the number of examples must be between"),  # type: ignore[arg-type]
    "NaN padding": (lambda: TrainingSet(small().program, NAN), "the padding must be an integer"),  # type: ignore[arg-type]
    "no hidden units": (
        lambda: FloatNetwork(trained().weights.first[:0], trained().weights.last[:, :0], trained().weights.origin),
        "at least 1 hidden unit",
    ),
}


ONES = {"p": 1, "q": 1}
# The same for runs and proofs of the limit.
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
    "proof": (lambda: bw.certify(small(), cells()).save(3), "certificate file"),  # type: ignore[arg-type]
}


def made(**parts: Any) -> bw.Algorithm:
    return bw.Algorithm("made", parts.pop("program", small().program), **parts)


def bits() -> Any:
    return bw.Builder().bits("x", 2)


# The same for algorithms that are put together by hand.
MADE: dict[str, tuple[Callable[[], object], str]] = {
    "names": (lambda: made(inputs=("x",)), "'x' x[:]"),
    "bits": (lambda: made(inputs=(bits()[:],)), "'x'"),
    "a number": (lambda: made(outputs=3), "outputs 3"),
    "a text": (lambda: made(inputs="x"), "'x'"),
    "a builder": (lambda: made(program=bw.Builder()), "Builder.build"),
    "steps": (lambda: made(steps="3"), "'3'"),
}


@for_each("name", MADE)
def test_a_part_of_another_sort_is_named(name: str) -> None:
    call, message = MADE[name]
    with pytest.raises(bw.InputError) as refused:
        call()
    assert missing(str(refused.value), message) == []
    for one in (bw.Word("p", (0, 1)), [bw.Word("p", (0, 1))]):  # a list will do, and one alone
        assert made(inputs=one).inputs == (bw.Word("p", (0, 1)),)


@for_each("name", [*WRONG, *(f"run: {name}" for name in RUNS)])
def test_a_wrong_argument_is_named(name: str) -> None:
    call, message = RUNS[name.removeprefix("run: ")] if name.startswith("run: ") else WRONG[name]
    with pytest.raises(bw.InputError) as refused:
        call()
    assert missing(str(refused.value), message) == []


def test_the_hint_for_a_machine_works() -> None:
    assert bw.train(machine().program).proved
