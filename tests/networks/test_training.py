"""Training: NumPy against PyTorch, the tolerance, and failures that say so."""

import numpy as np
import pytest
from cases import for_each

from bitwright import InputError, addition
from bitwright.networks import Recipe, TrainingError, train
from bitwright.networks.descent import (
    NetworkShape,
    Schedule,
    balanced_schedule,
    expected_steps,
    initial_weights,
    nesterov_schedule,
)
from bitwright.networks.train import descend
from bitwright.rules.pattern import Pattern
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.verbs.executions import Sample, cell_set

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
SHAPE = NetworkShape(8, 512, 6)  # addition of 2 bits


def labels() -> np.ndarray:
    return np.asarray(TrainingSet(addition(2).program).labels().toarray().T, dtype=np.float32)


def test_the_start_depends_on_the_seed_alone_and_is_zero_everywhere() -> None:
    one, same, other = (initial_weights(SHAPE, seed) for seed in (3, 3, 4))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert not any((a == b).all() for a, b in zip(one, other, strict=True))
    first, last = one
    x = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    assert np.abs(np.maximum(x @ first.T, 0) @ last.T).max() < 1e-3
    assert abs(first.std() - 1) < 0.1


@for_each("executions", [False, True])
def test_pytorch_does_what_numpy_does(executions: bool) -> None:
    y, inputs, schedule = labels(), None, balanced_schedule(SHAPE)
    if executions:
        pattern = Pattern.of_state(addition(2).program)
        found = cell_set(pattern, [addition(2)], Sample("states", states=60), "all")
        y = np.ascontiguousarray(found.set.labels().T, dtype=np.float32)
        inputs, schedule = found.set.inputs().astype(np.float32), nesterov_schedule(*found.kernel)
    ours = initial_weights(SHAPE, 5)
    theirs = [torch.from_numpy(layer.copy()) for layer in ours]
    x = None if inputs is None else torch.from_numpy(inputs)
    history = descend(*ours, y, schedule, 1e-2, inputs)
    other = descend(*theirs, torch.from_numpy(y), schedule, 1e-2, x)
    assert history.steps == other.steps
    for one, two in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, two.numpy(), atol=2e-4)


def test_training_reaches_its_tolerance_in_about_as_many_steps_as_expected() -> None:
    program = addition(4).program
    network, history = train(program, Recipe(2048, tolerance=1e-4))
    outputs = np.maximum(network.first, 0).T @ network.last.T / np.sqrt(program.templates * 2048)
    assert np.abs(outputs - TrainingSet(program).labels().toarray()).max() <= 1.1e-4
    assert history.error[-1] <= 1e-4 < history.error[-2]
    assert history.loss[0] > 100 * history.loss[-1]
    assert network.origin.error == history.error[-1]
    assert history.steps <= 4 * expected_steps(1e-4)


def test_divergence_and_stalling_are_errors() -> None:
    with pytest.raises(TrainingError, match="diverged after"):
        descend(*initial_weights(SHAPE, 0), labels(), Schedule(1e4, 200), 1e-3)
    with pytest.raises(TrainingError, match=r"stalled.*2"):
        descend(*initial_weights(SHAPE, 0), labels(), Schedule(1e-3, 2), 1e-3)


@for_each(
    ("recipe", "message"),
    [
        (lambda: Recipe(0), "width must be between 1 and"),
        (lambda: Recipe(7), "width must be even, got 7"),
        (lambda: Recipe(8, device="cuda:99x"), "no device"),
        (lambda: Recipe(8, tolerance=0), "tolerance must be between 0 and 0.5"),
        (lambda: Recipe(8, padding=-1), "padding must be between 0"),
        (lambda: Recipe(256, seed=-1), "the seed must be between"),
        (lambda: Recipe(256, seed=0.5), "the seed must be an integer"),
    ],
)
def test_impossible_recipes(recipe: object, message: str) -> None:
    assert callable(recipe)
    with pytest.raises(InputError, match=message):
        train(addition(2).program, recipe())


def test_without_pytorch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.networks.descent.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'bitwright\[train\]'"):
        train(addition(2).program, Recipe(8, device="cuda"))
