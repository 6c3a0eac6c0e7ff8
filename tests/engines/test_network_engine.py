"""The engine `network`: outputs that are no numbers are never rounded, and rounding uses the limit of the networks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import for_each

from bitwright import InputError, Program, addition, run
from bitwright.common.bits import BoolArray
from bitwright.engines.cells.network import check_networks
from bitwright.engines.make import network_engine
from bitwright.engines.protocol import Engine
from bitwright.networks import FloatNetwork, Plan, Recipe, train
from bitwright.theory.closed_form import weights

Make = Callable[[Program, list[FloatNetwork]], Engine]


def on_torch(precision: str) -> Make:
    def make(program: Program, networks: list[FloatNetwork]) -> Engine:
        pytest.importorskip("torch")
        from paper.torch_network import TorchNetworkEngine

        return TorchNetworkEngine(program, networks, dtype=precision)

    return make


def in_numpy(program: Program, networks: list[FloatNetwork]) -> Engine:
    return network_engine(program, networks, "calibrated")


ADDITION = addition(3)
ENGINES: dict[str, Make] = {"numpy": in_numpy} | {p: on_torch(p) for p in ("float32", "bfloat16", "float16")}


@pytest.fixture(scope="module")
def network() -> FloatNetwork:
    return train(ADDITION.program, Recipe(1024, plan=Plan(descent="momentum")))[0]


def larger(network: FloatNetwork, factor: float) -> FloatNetwork:
    """The same function times factor^2."""
    return replace(network, first=network.first * np.float32(factor), last=network.last * np.float32(factor))


@pytest.mark.parametrize("name", list(ENGINES))
def test_outputs_that_are_not_finite_are_noticed(network: FloatNetwork, name: str) -> None:
    """float16 ends at 65,504: weights as large overflow there, and in float32 at 3e38."""
    factor = 1e5 if name == "float16" else 1e25
    engine = ENGINES[name](ADDITION.program, [larger(network, factor)])
    with pytest.raises(InputError, match=r"outputs.*finite"):
        run(ADDITION, p=3, q=5, engine=engine)
    states = np.zeros((70, ADDITION.program.bits), dtype=bool)
    states[3:] = ADDITION.state({"p": 3, "q": 5})
    with pytest.raises(InputError, match=r"outputs.*finite"):
        run(ADDITION, states=states, engine=engine)


@for_each("name", list(ENGINES)[1:])
@for_each("what", ["states", "bit", "unchanged", "margin"])
def test_nothing_is_handed_out_after_one_step_that_was_not_finite(network: FloatNetwork, name: str, what: str) -> None:
    """Later steps may well be finite again: a state without matches has no outputs to overflow."""
    factor = 1e3 if name == "float16" else 1e25  # the weights fit, the outputs do not
    engine = ENGINES[name](ADDITION.program, [larger(network, factor)])
    batch = engine.begin(ADDITION.state({"p": 3, "q": 5})[None])
    batch.step()
    nothing = np.zeros((1, ADDITION.program.bits), dtype=bool)
    batch.load(nothing)
    batch.step()
    with pytest.raises(InputError, match=r"outputs.*finite"):
        getattr(batch, what)(*([0] if what == "bit" else []))
    alone = engine.begin(nothing)
    alone.step()
    assert not alone.states().any()


@pytest.mark.parametrize(("parametrization", "kind"), [("ntk", "ntk"), ("standard", "last-layer")])
def test_the_limit_by_which_outputs_are_rounded(parametrization: str, kind: str) -> None:
    """Outputs that are just the mean of one limit have its margin of 1/2 under it, and not under the other."""
    plan = Plan(descent="momentum", parametrization=parametrization)  # type: ignore[arg-type]
    program = ADDITION.program
    network = train(program, Recipe(256, plan=plan))[0]
    assert network.origin.scale == kind
    w = weights(np.arange(program.blocks + 1), check_networks(program, [network]), kind)  # type: ignore[arg-type]
    engine = network_engine(program, [network], "calibrated")
    states = np.random.default_rng(0).random((50, program.bits)) < 0.5
    found = np.array([[t in program.match(state) for t in range(program.templates)] for state in states])
    labels = np.array([[bit in program.writes(t) for bit in range(program.bits)] for t in range(program.templates)])

    def mean(matched: BoolArray, n: Any) -> Any:
        return w.unmatched[n][:, None] * labels.sum(axis=0) + w.gap[n][:, None] * (matched.astype(int) @ labels)

    engine.decider.outputs = mean  # type: ignore[attr-defined]
    batch = engine.begin(states)
    batch.step()
    assert (batch.states() == (found.astype(int) @ labels > 0)).all()
    np.testing.assert_allclose(batch.margin()[found.any(axis=1)], 0.5, atol=1e-9)


def test_floats_are_refused_on_a_device(network: FloatNetwork) -> None:
    with pytest.raises(InputError, match=r"floating-point.*CPU"):
        network_engine(ADDITION.program, [network], device="cuda")
