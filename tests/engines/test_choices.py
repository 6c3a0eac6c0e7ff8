"""What a choice says about an engine by its name is what the engine says of itself."""

import pytest

import bitwright
from bitwright import InputError, Network, addition
from bitwright.engines.make import ENGINES
from bitwright.networks import FloatNetwork, Plan, Recipe, train
from bitwright.verbs.engines import EngineChoice, choose_engine

ADDER = addition(2)


@pytest.fixture(scope="module")
def network() -> FloatNetwork:
    return train(ADDER.program, Recipe(512, plan=Plan(descent="momentum")))[0]


@pytest.mark.parametrize("name", ENGINES)
def test_a_choice_and_its_engine_agree(name: str, network: FloatNetwork) -> None:
    choice = EngineChoice(name)
    engine = choose_engine(ADDER, choice, [Network(network, None)] if choice.runs_trained else ())
    assert engine.name == name
    assert choice.has_networks == (engine.networks is not None) == (engine.seed is not None)
    assert choice.runs_trained == bool(engine.digests)
    assert engine.closed_form == (name in ("templates", "limit"))
    done = bitwright.run(ADDER, {"p": 1, "q": 1}, engine=engine)
    assert (done.networks, done.closed_form) == (engine.networks, engine.closed_form)


def test_only_one_engine_trains() -> None:
    assert [name for name in ENGINES if EngineChoice(name).runs_trained] == ["network"]


def test_a_network_is_used_or_refused_but_never_left_out(network: FloatNetwork) -> None:
    assert bitwright.validate(ADDER, network=network).task.engine.name == "network"
    assert bitwright.validate(ADDER).task.engine.name == "limit"
    assert bitwright.run(ADDER, {"p": 1, "q": 1}, network=network).engine == "network"
    for ask in (bitwright.validate, lambda *a, **k: bitwright.run(a[0], {"p": 1, "q": 1}, **k)):
        with pytest.raises(InputError, match=r"engine.*network"):
            ask(ADDER, engine="limit", network=network)
