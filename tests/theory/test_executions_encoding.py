"""States of executions as a training set: encoded as ever, each once, and contradictions refused."""

import numpy as np
import pytest

from bitwright import InputError, addition
from bitwright.runs.successors import executions_of_inputs, random_executions
from bitwright.theory.encoding.training_set import StateSet, TrainingSet, check_labels

PROGRAM = addition(3).program


def test_states_are_encoded_as_the_training_set_of_templates_encodes_them() -> None:
    made = random_executions(PROGRAM, 200, seed=1)
    found = StateSet.of_states(PROGRAM, made.before, made.after)
    encoded = TrainingSet(PROGRAM).encode(made.before)
    rows = {row.tobytes(): after for row, after in zip(encoded, made.after, strict=True) if row.any()}
    assert found.examples == len(rows)
    for row, following in zip(found.inputs(), found.following, strict=True):
        assert (rows[row.tobytes()] == following).all()


@pytest.mark.parametrize("labels", ["plain", "scaled"])
def test_labels(labels: str) -> None:
    made = executions_of_inputs(addition(3), 5)
    found = StateSet.of_states(PROGRAM, made.before, made.after, check_labels(labels))
    root = np.sqrt(found.matches)[:, None] if labels == "scaled" else 1
    assert np.allclose(found.labels() * root, found.following)


def test_repeated_states_count_once() -> None:
    made = executions_of_inputs(addition(3), 5)
    once = StateSet.of_states(PROGRAM, made.before, made.after)
    twice = StateSet.of_states(PROGRAM, np.tile(made.before, (2, 1)), np.tile(made.after, (2, 1)))
    assert once.sha256 == twice.sha256


def test_two_successors_are_a_contradiction() -> None:
    made = random_executions(PROGRAM, 3, seed=1)
    before, after = np.tile(made.before, (2, 1)), np.tile(made.after, (2, 1))
    after[4, 2] ^= True
    name = PROGRAM.layout.names[2]
    with pytest.raises(
        InputError, match=r"states 2 and 5 match the same templates with different successors: " + name[0]
    ):
        StateSet.of_states(PROGRAM, before, after)


def test_states_that_match_nothing() -> None:
    nothing = np.zeros((2, PROGRAM.bits), dtype=bool)
    with pytest.raises(InputError, match=r"matches.*template"):
        StateSet.of_states(PROGRAM, nothing, nothing)
    after = nothing.copy()
    after[1, 0] = True
    with pytest.raises(InputError, match=r"2.*p\[1\]"):
        StateSet.of_states(PROGRAM, nothing, after)
