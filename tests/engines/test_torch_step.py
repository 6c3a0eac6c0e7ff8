"""A proved network as a PyTorch module: the same bits as the engine, in batches, steps and odd surroundings."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bitwright import Algorithm, InputError, Network, addition, multiplication, parse, train

torch = pytest.importorskip("torch")


def states_of(algorithm: Algorithm, count: int = 60) -> np.ndarray:
    return np.random.default_rng(0).random((count, algorithm.program.bits)) < 0.4


def stepped(network: Network, algorithm: Algorithm, states: np.ndarray, steps: int) -> np.ndarray:
    batch = network.engine(algorithm).begin(states)
    for _ in range(steps):
        batch.step()
    return batch.states()


@pytest.fixture(scope="module")
def adder() -> Network:
    return train(addition(4))


def test_states_follow_as_in_the_engine(adder: Network) -> None:
    whole = train(addition(2), tile="all", width=256)
    product = train(multiplication(3))
    for network, algorithm in ((adder, addition(9)), (product, multiplication(5)), (whole, addition(2))):
        states, module = states_of(algorithm), network.to_torch(algorithm)
        for steps in (0, 1, 3):
            wanted = stepped(network, algorithm, states, steps)
            np.testing.assert_array_equal(module(torch.tensor(states), steps=steps).numpy(), wanted)


def test_a_wrong_network_is_wrong_in_the_same_bits(adder: Network) -> None:
    algorithm, rng, held = addition(5), np.random.default_rng(0), adder.weights
    states, program = states_of(algorithm), adder.program
    for template in range(program.templates):  # weights that mean nothing, and thresholds 1 below a sum
        first, last = (rng.integers(-127, 128, array.shape).astype(np.int8) for array in (held.first, held.last))
        sums = last.astype(np.int64) @ np.maximum(first[:, template].astype(np.int64), 0)
        thresholds = np.array(
            [[sums[program.writers == count][0] - 1 for count in held.writers]] * len(held.thresholds)
        )
        wrong = replace(adder, weights=replace(held, first=first, last=last, thresholds=thresholds))
        found = wrong.to_torch(algorithm)(torch.tensor(states), steps=2).numpy()
        np.testing.assert_array_equal(found, stepped(wrong, algorithm, states, 2))
        assert (found != stepped(adder, algorithm, states, 2)).any()


def test_neither_half_nor_autocast_nor_shape_nor_type_changes_a_bit(adder: Network) -> None:
    algorithm = addition(6)
    states = states_of(algorithm)
    wanted, module = stepped(adder, algorithm, states, 1), adder.to_torch(algorithm)
    assert not list(module.parameters())  # nothing for an optimizer
    again = pickle.loads(pickle.dumps(module)).half()
    for kind in (torch.bool, torch.float16, torch.float32, torch.int64):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = again(torch.tensor(states.reshape(3, 20, -1)).to(kind))
        assert (found.dtype, found.shape) == (kind, (3, 20, states.shape[1]))
        np.testing.assert_array_equal(found.reshape(60, -1).bool().numpy(), wanted)


def test_bits_of_a_block_in_another_order_are_looked_at_in_that_of_the_cell() -> None:
    text = "bits a b c d\nblock a b\nblock d c\ncell a b\ncell c d\nwhen a=1 b=0 write c\nwhen c=1 d=0 write a b\n"
    algorithm = parse(text + "input a b c d\noutput a b c d\nsteps 3\n")
    network = train(algorithm)
    states = np.array([[n >> bit & 1 for bit in range(4)] for n in range(16)], dtype=bool)
    found = network.to_torch(algorithm)(torch.tensor(states), steps=1).numpy()
    np.testing.assert_array_equal(found, stepped(network, algorithm, states, 1))


def test_what_is_no_state_is_refused(adder: Network) -> None:
    module = adder.to_torch(addition(3))
    for given, why in (
        (torch.zeros(2, 8), "a state must have 9 bits, got a tensor of shape"),
        (torch.full((2, 9), 0.5), "a tensor of 0 and 1, got other numbers"),
    ):
        with pytest.raises(InputError, match=why):
            module(given)
    steps: Any
    for steps in (-1, 1.5, True):
        with pytest.raises(InputError, match=r"integer.*0"):
            module(torch.zeros(9), steps=steps)
    with pytest.raises(InputError, match="no cell like"):
        adder.to_torch(multiplication(3))
