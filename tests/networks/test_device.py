"""Ensembles on a CUDA device: the same members in any batch, the limit's numbers, and memory that runs out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bitwright import permutation
from bitwright.errors import InputError
from bitwright.networks import Plan, Recipe
from bitwright.networks.ensemble import EnsembleJudge, Study, compare_with_limit, grow
from bitwright.running.successors import random_starts

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
ALGORITHM = permutation([7, 3, 1, 2, 5, 4, 6, 10, 9, 8])
RECIPE = Recipe(20_000, 1, start="random", plan=Plan(1e-4, "momentum"), trainer="torch", device="cuda")


def study(**changes: object) -> Study:
    return Study(ALGORITHM.program, RECIPE, random_starts(ALGORITHM, 100, 0, ones=2), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("parametrization", ["ntk", "standard"])
def test_the_limit_s_mean_and_variance(parametrization: str) -> None:
    plan = replace(RECIPE.plan, parametrization=parametrization)
    ask = replace(study(block=64), recipe=replace(RECIPE, plan=plan))
    found = grow(ask, 2_048)
    check = compare_with_limit(ask, found, EnsembleJudge.of(ask, "sign").matches)
    assert check.variance_ratio == pytest.approx(1, abs=0.03)  # 2,048 networks
    assert check.mean_error < 1.3 * check.expected_error + 1e-3


def test_batches_do_not_matter() -> None:
    from bitwright.networks.torch_trainer import outputs_on_device

    states = study().states
    together = outputs_on_device(ALGORITHM.program, RECIPE, range(6), states)
    alone = outputs_on_device(ALGORITHM.program, RECIPE, [4], states)
    assert np.array_equal(together[4], alone[0])


def test_less_memory_means_smaller_batches_and_then_an_error() -> None:
    from bitwright.networks.torch_trainer import outputs_on_device

    states = study().states
    expected = outputs_on_device(ALGORITHM.program, RECIPE, range(64), states)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.cuda.set_per_process_memory_fraction(120e6 / total)
        assert np.array_equal(outputs_on_device(ALGORITHM.program, RECIPE, range(64), states), expected)
        torch.cuda.empty_cache()
        with pytest.raises(InputError, match="does not fit the"):
            outputs_on_device(ALGORITHM.program, replace(RECIPE, width=2_000_000), [0], states)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
