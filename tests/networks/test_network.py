"""Networks: weights that nothing changes any more, and a digest of all that decides what they do."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from bitwright import InputError, addition
from bitwright.networks import FloatNetwork, Plan, Recipe, train
from bitwright.networks.network import LearntFrom


@pytest.fixture(scope="module")
def network() -> FloatNetwork:
    return train(addition(2).program, Recipe(256, plan=Plan(descent="momentum")))[0]


def test_weights_cannot_be_changed_in_place(network: FloatNetwork) -> None:
    """Small batches use weights in another order, which are put in order once."""
    for again in (network, copy.copy(network), copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        for weights in (again.first, again.last):
            with pytest.raises(ValueError, match="read-only"):
                weights[0, 0] = 7
            with pytest.raises(ValueError, match="WRITEABLE"):
                weights.flags.writeable = True


def test_small_and_large_batches_use_the_same_weights_whatever_the_caller_does_to_his_own(
    network: FloatNetwork,
) -> None:
    first, last = network.first.copy(), network.last.copy()
    own = FloatNetwork(first, last, network.origin)
    inputs = np.eye(8, dtype=np.float32)
    before = [own(inputs[:2]), own(inputs)]
    first *= 3
    last[:] = 0
    assert own.digest == network.digest
    for then, now in zip(before, [own(inputs[:2]), own(inputs)], strict=True):
        np.testing.assert_array_equal(then, now)
    np.testing.assert_allclose(before[0], before[1][:2], atol=1e-5)
    assert np.abs(before[0]).max() > 0.1


def test_the_digest_tells_networks_apart_by_anything_that_decides_what_they_do(network: FloatNetwork) -> None:
    assert len(network.digest) == 64
    assert copy.deepcopy(network).digest == replace(network).digest == network.digest
    others = {network.digest}
    for name in ("first", "last"):
        weights = getattr(network, name).copy()
        weights.view(np.uint32)[-1, -1] ^= 1  # the last bit of the last weight
        others.add(replace(network, **{name: weights}).digest)
    others.add(replace(network, first=network.first.astype(float), last=network.last.astype(float)).digest)
    learnt = LearntFrom("runs", "scaled", 9, 5, None, 0, "0" * 64)
    others.add(replace(network, origin=replace(network.origin, executions=learnt)).digest)
    for field in fields(network.origin):
        if field.name == "executions":
            continue
        value = getattr(network.origin, field.name)
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else value + "x"
        others.add(replace(network, origin=replace(network.origin, **{field.name: other})).digest)
    assert len(others) == 4 + len(fields(network.origin))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": [[1.0]]}, "first must be a matrix of float32 or float64, got list"),
        ({"first": np.ones(3, np.float32)}, r"first must be .* got float32 of shape \(3,\)"),
        ({"last": np.ones((6, 256), np.float16)}, "last must be a matrix of float32 or float64, got float16"),
        ({"last": np.ones((6, 255), np.float32)}, "the same width and type"),
        ({"last": np.ones((6, 256))}, "the same width and type"),
    ],
)
def test_weights_that_make_no_network(network: FloatNetwork, change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(network, **change)
