"""Every engine gives Python's own answer on every program of the shared table, under every rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cases import for_each
from long import LONG
from programs import CASES, Case

from bitwright.api.run import run
from bitwright.engines.make import ENGINES
from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.theory import calibrated_size, sign_size, smallest_examples
from bitwright.theory.predictor import MAX_EXAMPLES


def _enough_networks(program: Program) -> dict[str, Any]:
    """An ensemble that is wrong with probability at most 1e-9: the false-alarm rate of the sampled tests, each."""
    return {"networks": calibrated_size(program, 1e-9, "inputs").networks or 1, "seed": 1}


def _enough_networks_for_sign(program: Program) -> dict[str, Any]:
    K = smallest_examples(program) + 10
    size = sign_size(program, 1e-9, "inputs", printed=False, examples=K)
    return {**_by_sign(program, K), "networks": size.networks or 1, "seed": 1}


def _by_sign(program: Program, examples: int | None = None) -> dict[str, Any]:
    K = smallest_examples(program) if examples is None else examples
    return {"rounding": "sign", "padding": K - program.templates}


@dataclass(frozen=True)
class Way:
    """One way of running: an engine, its settings for a program, and how many inputs it is fast enough for."""

    name: str
    engine: str
    settings: Callable[[Program], dict[str, Any]]
    most: int

    def __str__(self) -> str:
        return self.name


MANY, FEW = (1024, 12) if LONG else (256, 4)
WAYS = [
    Way("templates", "templates", lambda _: {}, MANY),
    Way("limit-calibrated", "limit", lambda _: {}, MANY),
    Way("limit-sign", "limit", _by_sign, MANY),
    Way("kernel-calibrated", "kernel", lambda _: {}, FEW),
    Way("kernel-sign", "kernel", _by_sign, FEW),
    Way("sampled-calibrated", "sampled", _enough_networks, 3),
    Way("sampled-sign", "sampled", _enough_networks_for_sign, 3),
    Way("network-calibrated", "network", lambda p: {"width": 4_096 if p.templates < 100 else 16_384}, 6),
]
TOO_LONG = {"sampled": 200, "kernel": 10_000 if LONG else 30, "network": 100}  # steps that are too many for a test
TRAINED = 1000 if LONG else 100  # templates of the largest program for which a network is trained


def test_every_engine_is_in_the_table() -> None:
    assert {way.engine for way in WAYS} == set(ENGINES)


@for_each("way", WAYS)
@for_each("case", CASES)
def test_the_answer_is_pythons(case: Case, way: Way) -> None:
    inputs = case.inputs(most=way.most)[: way.most]
    states = case.states(inputs)
    enough = case.algorithm.steps or 10_000
    limit = min(enough, TOO_LONG.get(way.engine, enough))
    settings = way.settings(case.algorithm.program)
    examples = case.algorithm.program.templates + settings.get("padding", 0)
    if way.engine == "network" and examples > TRAINED:
        return
    if way.engine == "kernel" and examples > MAX_EXAMPLES:
        with pytest.raises(InputError, match="use the limit engine"):
            run(case.algorithm, states=states, engine=way.engine, steps=limit, **settings)
        return
    done = run(case.algorithm, states=states, engine=way.engine, steps=limit, **settings)
    if limit < enough and not done.halted.all():  # compare as far as it went
        assert (done.states == run(case.algorithm, states=states, steps=limit).states).all()
        return
    assert done.halted.all()
    for values, state in zip(inputs, done.states, strict=True):
        assert case.algorithm.read(state) == case.meaning(**values), values


@for_each("way", [way for way in WAYS if way.most > 12])
@for_each("case", CASES)
def test_single_runs_equal_batched_ones(case: Case, way: Way) -> None:
    inputs = case.inputs(most=40, seed=2)
    settings = way.settings(case.algorithm.program)
    together = run(
        case.algorithm, states=case.states(inputs), engine=way.engine, margins=way.engine != "templates", **settings
    )
    for at in (0, len(inputs) // 2, len(inputs) - 1):
        alone = run(case.algorithm, inputs[at], engine=way.engine, **settings)
        assert alone.outputs == case.meaning(**inputs[at])
        assert (alone.state == together.states[at]).all()
        assert (alone.steps, alone.halted) == (together.steps[at], together.halted[at])
        if together.margin is not None and alone.margin is not None:
            assert alone.margin == pytest.approx(together.margin[at], rel=1e-12)
