"""Ensembles on a CUDA device: the same members in any batch, the limit's numbers, and memory that runs out."""

from dataclasses import replace

import numpy as np
import pytest

from bitwright import permutation
from bitwright.common.errors import InputError
from bitwright.runs.successors import random_starts
from bitwright.theory.closed_form import variance, weights
from bitwright.theory.encoding.training_set import TrainingSet
from paper.training import Plan, Recipe

torch = pytest.importorskip("torch")
outputs_on_device = pytest.importorskip("paper.device_members").outputs_on_device
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
ALGORITHM = permutation([7, 3, 1, 2, 5, 4, 6, 10, 9, 8])
RECIPE = Recipe(20_000, 1, start="random", plan=Plan(1e-4, "momentum"), device="cuda")


STATES = random_starts(ALGORITHM, 100, 0, ones=2)


@pytest.mark.parametrize(("parametrization", "kind"), [("ntk", "ntk"), ("standard", "last-layer")])
def test_the_limit_s_mean_and_variance(parametrization: str, kind: str) -> None:
    """Over states and bits, of 2,048 networks with two of ten examples matched."""
    recipe = replace(RECIPE, plan=replace(RECIPE.plan, parametrization=parametrization))
    outputs = outputs_on_device(ALGORITHM.program, recipe, range(2_048), STATES).astype(np.float64)
    examples = TrainingSet(ALGORITHM.program)
    w, sigma = weights(2, 10, kind), np.sqrt(variance(2, 10, kind))
    wanted = w.unmatched + w.gap * (examples.matches(STATES)[0] @ examples.labels()).toarray()
    error = np.sqrt(((outputs.mean(axis=0) - wanted) ** 2).mean())
    assert outputs.var(axis=0, ddof=1).mean() / sigma**2 == pytest.approx(1, abs=0.03)
    assert error < 1.3 * sigma / np.sqrt(2_048) + 1e-3


def test_batches_do_not_matter() -> None:
    together = outputs_on_device(ALGORITHM.program, RECIPE, range(6), STATES)
    alone = outputs_on_device(ALGORITHM.program, RECIPE, [4], STATES)
    assert np.array_equal(together[4], alone[0])


def test_less_memory_means_smaller_batches_and_then_an_error() -> None:
    expected = outputs_on_device(ALGORITHM.program, RECIPE, range(64), STATES)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.cuda.set_per_process_memory_fraction(120e6 / total)
        assert np.array_equal(outputs_on_device(ALGORITHM.program, RECIPE, range(64), STATES), expected)
        torch.cuda.empty_cache()
        with pytest.raises(InputError, match="does not fit the"):
            outputs_on_device(ALGORITHM.program, replace(RECIPE, width=2_000_000), [0], STATES)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
