"""Networks: weights that nothing changes any more, and a digest of all that decides what they do."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from bitwright import InputError, addition
from bitwright.networks import IntegerNetwork, Recipe, quantize, train
from bitwright.networks.network import LearntFrom


@pytest.fixture(scope="module")
def network() -> IntegerNetwork:
    return quantize(train(addition(2).program, Recipe(256))[0], addition(2).program)[0]


def test_weights_cannot_be_changed_in_place(network: IntegerNetwork) -> None:
    for again in (network, copy.copy(network), copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        for weights in (again.first, again.last, again.thresholds):
            with pytest.raises(ValueError, match="read-only"):
                weights[0, 0] = 7
            with pytest.raises(ValueError, match="WRITEABLE"):
                weights.flags.writeable = True


def test_the_digest_tells_networks_apart_by_anything_that_decides_what_they_do(network: IntegerNetwork) -> None:
    assert len(network.digest) == 64
    assert copy.deepcopy(network).digest == replace(network).digest == network.digest
    others = {network.digest}
    for name in ("first", "last", "thresholds"):
        weights = getattr(network, name).copy()
        weights[-1, -1] ^= 1  # the last bit of the last weight
        others.add(replace(network, **{name: weights}).digest)
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
        ({"first": [[1.0]]}, "first must be a matrix of int8, got list"),
        ({"first": np.ones(3, np.int8)}, r"first must be .* got int8 of shape \(3,\)"),
        ({"last": np.ones((6, 256), np.float16)}, "last must be a matrix of int8, got float16"),
        ({"last": np.ones((6, 255), np.int8)}, "the same width and type"),
    ],
)
def test_weights_that_make_no_network(network: IntegerNetwork, change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(network, **change)
