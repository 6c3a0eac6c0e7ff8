"""Weights drawn on a device: by member alone, standard normal, and in pairs for the zero-output start."""

import numpy as np
import pytest
import torch

from bitwright import addition
from bitwright.networks.descent import NetworkShape
from bitwright.theory.encoding.training_set import TrainingSet
from paper.device_members import draw, train_members
from paper.training import Plan, Recipe

SHAPE = NetworkShape(6, 4_000, 5)
CPU = torch.device("cpu")


def test_a_member_depends_on_its_number_and_seed_alone() -> None:
    one = draw(torch, CPU, SHAPE, Recipe(4_000, 7, start="random"), 3)
    torch.randn(10)
    again = draw(torch, CPU, SHAPE, Recipe(4_000, 7, start="random"), 3)
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    for recipe, member in ((Recipe(4_000, 7, start="random"), 4), (Recipe(4_000, 8, start="random"), 3)):
        assert not torch.equal(one[0], draw(torch, CPU, SHAPE, recipe, member)[0])


def test_moments() -> None:
    """24,000 and 20,000 normals: mean within 6/sqrt(20,000), variance within 6 sqrt(2/20,000)."""
    for layer in draw(torch, CPU, SHAPE, Recipe(4_000, 1, start="random"), 0):
        assert abs(float(layer.mean())) < 0.043
        assert float(layer.var()) == pytest.approx(1, abs=0.06)


def test_a_zero_start_is_the_zero_function() -> None:
    first, last = draw(torch, CPU, SHAPE, Recipe(4_000, 1, start="zero"), 0)
    assert (first.shape, last.shape) == ((4_000, 6), (5, 4_000))
    assert float((last.double() @ first.double().relu()).abs().max()) < 1e-10


@pytest.mark.parametrize("start", ["zero", "random"])
def test_members_trained_together_and_apart(start: str) -> None:
    """With more than 64 examples, for which there are no fused kernels."""
    program = addition(17).program
    labels = torch.tensor(TrainingSet(program).labels().toarray().T, dtype=torch.float32)
    recipe = Recipe(1024, 5, start=start, plan=Plan(1e-3, descent="momentum"))  # type: ignore[arg-type]
    shape = NetworkShape(68, 1024, 51)
    together, _, histories = train_members(shape, recipe, [0, 1, 2], labels)
    alone, _, _ = train_members(shape, recipe, [1], labels)
    assert together[1].numpy() == pytest.approx(alone[0].numpy(), abs=1e-4)
    assert all(history.error[-1] <= 1e-3 for history in histories)
    assert not np.allclose(together[0], together[1])
