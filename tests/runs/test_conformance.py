"""Engine x program x (a batch, one run, a recorded one): Python's own answer, and the same run each time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG
from programs import CASES, Case

from bitwright import run
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Program
from bitwright.theory.ensemble import calibrated_size, sign_size
from bitwright.theory.proof import smallest_examples
from bitwright.verbs.engines import ENGINES

Settings = Callable[[Program], dict[str, Any]]


def _by_sign(program: Program, more: int = 0) -> dict[str, Any]:
    return {"rounding": "sign", "padding": smallest_examples(program) + more - program.templates}


def _enough(program: Program) -> dict[str, Any]:
    """An ensemble that is wrong with probability at most 1e-9: the false-alarm rate of each of these tests."""
    return {"networks": calibrated_size(program, 1e-9, "inputs").networks or 1, "seed": 1}


def _enough_for_sign(program: Program) -> dict[str, Any]:
    settings = _by_sign(program, 10)
    size = sign_size(program, 1e-9, "inputs", printed=False, examples=program.templates + settings["padding"])
    return {**settings, "networks": size.networks or 1, "seed": 1}


@dataclass(frozen=True)
class Way:
    """An engine, its settings for a program, and how many inputs and steps it is fast enough for."""

    name: str
    settings: Settings
    most: int
    steps: int = 10_000

    @property
    def engine(self) -> str:
        return self.name.split(",")[0]


MANY, FEW = (1024, 12) if LONG else (256, 4)
WAYS = [
    Way("templates", lambda _: {}, MANY),
    Way("limit", lambda _: {}, MANY),
    Way("limit, sign", _by_sign, MANY),
    Way("sampled", _enough, 3, 200),
    Way("sampled, sign", _enough_for_sign, 3, 200),
    Way("network", lambda program: {"tile": "all", "width": 4_096 if program.templates < 100 else 16_384}, 6, 100),
    Way("network, cells", lambda _: {}, FEW),
]
TRAINED = 1000 if LONG else 100  # templates of the largest program for whose whole state a network is trained


def test_every_engine_is_in_the_table() -> None:
    assert {way.engine for way in WAYS} == set(ENGINES)


@for_each("way", WAYS)
@for_each("case", CASES)
def test_a_batch_one_run_and_a_record_give_the_answer_of_python(case: Case, way: Way) -> None:
    algorithm, settings = case.algorithm, way.settings(case.algorithm.program)
    examples = algorithm.program.templates + settings.get("padding", 0)
    how = {"engine": way.engine, "steps": min(algorithm.steps or way.steps, way.steps), **settings}
    if way.name == "network" and examples > TRAINED:
        return
    inputs = case.inputs(most=way.most)[: way.most]
    batch = run(algorithm, states=case.states(inputs), margins=way.name != "templates", **how)
    if not batch.halted.all():  # compare as far as it went
        assert (batch.states == run(algorithm, states=case.states(inputs), steps=how["steps"]).states).all()
    for at, values in enumerate(inputs):
        assert not batch.halted[at] or algorithm.read(batch.states[at]) == case.meaning(**values), values
    for at in {0, len(inputs) // 2} if way.most > 3 else {len(inputs) - 1}:
        one = run(algorithm, inputs[at], **how)
        record = run(algorithm, inputs[at], record=True, **how)
        assert (one.state == batch.states[at]).all()
        assert (record.state == one.state).all()
        assert (one.steps, one.halted) == (record.steps, record.halted) == (batch.steps[at], batch.halted[at])
        if one.margin is not None and batch.margin is not None:
            assert (
                one.margin
                == record.margin
                == pytest.approx(batch.margin[at], rel=1e-5 if way.engine == "network" else 1e-9)
            )
        states = record.trace.states()
        assert len(states) == record.trace.steps + 1 <= one.steps + 1
        rules = RuleEngine(algorithm.program).begin(states[:-1]) if len(states) > 1 else None
        if rules is not None:
            rules.step()
            assert np.array_equal(rules.states(), states[1:])
