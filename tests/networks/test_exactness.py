"""One trained network runs whole algorithms without a wrong bit: every 6-bit sum, every 4-bit product.

`make test-long` tries every 8-bit sum and every 6-bit product.
"""

import numpy as np
import pytest
from long import LONG
from programs import all_states
from whole import outputs_of

from bitwright import Algorithm, InputError, addition, multiplication, run
from bitwright.common.bits import BoolArray
from bitwright.engines.make import network_engine
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.networks import Plan, Recipe, train
from bitwright.theory.encoding.training_set import TrainingSet


def one_network(algorithm: Algorithm, width: int) -> Engine:
    network, _ = train(algorithm.program, Recipe(width, seed=0, plan=Plan(descent="momentum")))
    return network_engine(algorithm.program, [network], "calibrated")


def states_of_all_runs(algorithm: Algorithm) -> BoolArray:
    """Every state but the last of every run by the rules, each once; the runs give what Python's integers give."""
    half = len(algorithm.inputs[0].bits)
    met, first = np.zeros((0, -(-algorithm.program.bits // 8)), dtype=np.uint8), 0
    for starts in all_states(algorithm, 1 << 14):
        batch, packed = PackedBatch(RuleEngine(algorithm.program), starts), [met]
        for _ in range(algorithm.steps or 0):
            packed.append(np.packbits(batch.states(), axis=1))
            batch.step()
        for number, state in enumerate(batch.states()[::64]):
            a, b = (first + 64 * number) % 2**half, (first + 64 * number) >> half
            assert list(algorithm.read(state).values()) == [a + b if algorithm.name == "addition" else a * b]
        met, first = np.unique(np.concatenate(packed), axis=0), first + len(starts)
    return np.unpackbits(met, axis=1, count=algorithm.program.bits).astype(bool)


@pytest.mark.parametrize(
    "algorithm", [addition(8 if LONG else 6), multiplication(6 if LONG else 4)], ids=lambda algorithm: algorithm.name
)
def test_every_input_through_one_network(algorithm: Algorithm) -> None:
    """Tested, not proved: seed 0, float32. It steps every state that a run meets as the rules do, and so every run."""
    engine = one_network(algorithm, 4_096)
    states = states_of_all_runs(algorithm)
    for at in range(0, len(states), 2_048):
        part = states[at : at + 2_048]
        flight, truth = engine.begin(part), PackedBatch(RuleEngine(algorithm.program), part)
        flight.step()
        truth.step()
        assert np.array_equal(flight.states(), truth.states())
        assert flight.margin().min() > 0.1


def test_the_network_engine_is_the_formula() -> None:
    algorithm = addition(3)
    network, _ = train(algorithm.program, Recipe(512))
    engine = network_engine(algorithm.program, [network], "calibrated")
    states = np.random.default_rng(0).random((40, 9)) < 0.5
    outputs, n = outputs_of(engine, states)
    x = TrainingSet(algorithm.program).encode(states)
    expected = np.maximum(x @ network.first.T, 0) @ network.last.T / np.sqrt(12 * 512)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    assert n.tolist() == TrainingSet(algorithm.program).matches(states)[1].tolist()


def test_an_ensemble_of_random_starts_is_averaged() -> None:
    program = addition(2).program
    networks = [train(program, Recipe(512, 3, member, start="random"))[0] for member in range(3)]
    engine = network_engine(program, networks, "calibrated")
    states = np.random.default_rng(0).random((10, 6)) < 0.5
    singles = [outputs_of(network_engine(program, [network], "calibrated"), states)[0] for network in networks]
    np.testing.assert_allclose(outputs_of(engine, states)[0], np.mean(singles, axis=0), atol=1e-12)


def test_the_torch_engine_agrees() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from paper.torch_network import TorchNetworkEngine

    algorithm = multiplication(3)
    network, _ = train(algorithm.program, Recipe(8_192, plan=Plan(descent="momentum"), padding=5))
    states = next(all_states(algorithm, 64))
    truth, numpys = run(algorithm, states=states), network_engine(algorithm.program, [network], "calibrated")
    plain = run(algorithm, states=states, engine=numpys, margins=True)
    assert plain.margin is not None
    for dtype in ("float32", "float64", "bfloat16"):
        engine = TorchNetworkEngine(algorithm.program, [network], dtype=dtype)
        done = run(algorithm, states=states, engine=engine, margins=True)
        assert (done.states == truth.states).all()
        tolerance = 0.05 if dtype == "bfloat16" else 1e-3
        np.testing.assert_allclose(done.margin, plain.margin, atol=tolerance)


def test_networks_that_do_not_belong_together() -> None:
    program = addition(2).program
    one = train(program, Recipe(256))[0]
    other = train(program, Recipe(256, plan=Plan(parametrization="standard")))[0]
    foreign = train(addition(3).program, Recipe(256))[0]
    for networks in ([], [one, other], [foreign]):
        with pytest.raises(InputError):
            network_engine(program, networks, "calibrated")
