"""Every engine gives Python's own answer on every program of the shared table."""

from __future__ import annotations

import pytest
from programs import CASES, Case

from bitwright.execution import ENGINES, run, run_batch

FEW = 3  # inputs run one by one; the others go through in a batch


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_engine_gives_the_answer_of_python(case: Case, engine: str) -> None:
    inputs = case.inputs(most=1024)
    done = run_batch(case.algorithm, case.states(inputs), engine=engine)
    assert done.halted.all()
    for values, state in zip(inputs, done.states, strict=True):
        assert case.algorithm.read(state) == case.meaning(**values), values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_single_runs_equal_batched_ones(case: Case, engine: str) -> None:
    inputs = case.inputs(most=40, seed=2)
    together = run_batch(case.algorithm, case.states(inputs), engine=engine)
    for at in range(0, len(inputs), max(1, len(inputs) // FEW)):
        alone = run(case.algorithm, inputs[at], engine=engine)
        assert alone.outputs == case.meaning(**inputs[at])
        assert (alone.state == together.states[at]).all()
        assert (alone.steps, alone.halted) == (together.steps[at], together.halted[at])
