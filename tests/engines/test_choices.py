"""What an engine says of itself, which settings go with which engine, and networks trained on the spot."""

import pickle

import pytest
from cases import for_each

import bitwright
from bitwright import InputError, Network, addition, multiplication, run, train, validate
from bitwright.engines.make import UNTRAINED
from bitwright.verbs.engines import engine_for

ADDER = addition(2)


@pytest.fixture(scope="module")
def network() -> Network:
    return train(ADDER, tile="all")


@pytest.mark.parametrize("name", [*UNTRAINED, "network"])
def test_an_engine_is_what_was_asked_for_also_in_another_process(name: str) -> None:
    for engine in (made := engine_for(ADDER, name, None, {}), pickle.loads(pickle.dumps(made))):
        assert engine.name == name
        assert (engine.networks is not None) == (engine.seed is not None) == (name in ("sampled", "network"))
        assert bool(engine.digests) == (name == "network")
        done = run(ADDER, {"p": 1, "q": 1}, engine=engine)
        assert (done.value, done.networks, done.closed_form) == (2, engine.networks, name in ("templates", "limit"))


def test_a_network_is_used_or_refused_but_never_left_out(network: Network) -> None:
    assert validate(ADDER, network=network).task.engine.name == "network"
    assert validate(ADDER).task.engine.name == "limit"
    assert run(ADDER, {"p": 1, "q": 1}, network=network).engine == "network"
    for ask in (validate, lambda *a, **k: run(a[0], {"p": 1, "q": 1}, **k)):
        with pytest.raises(InputError, match=r"engine.*network"):
            ask(ADDER, engine="limit", network=network)
    with pytest.raises(InputError, match="give one network, got a list"):
        run(ADDER, p=1, q=1, network=[network])


def test_networks_trained_on_the_spot() -> None:
    """The smallest network of cells by default; with tile="all" one of the whole state, with the program's padding."""
    cells, whole = (engine_for(addition(3), "network", None, how) for how in ({}, {"tile": "all", "padding": 3}))
    assert (cells.cell_facts["width"], cells.cell_facts["proved"], cells.examples) == (32, True, 8)
    assert (whole.cell_facts["tile"], whole.cell_facts["proved"], whole.examples) == ("all", True, 15)
    again = engine_for(addition(3), "network", None, {})
    assert again.digests == cells.digests


@for_each(
    ("settings", "message"),
    [
        ({"engine": "templates", "tile": 1}, "tile works only with engine network, got templates"),
        ({"engine": "limit", "tile": 1}, "tile works only with engine network, got limit"),
        ({"engine": "limit", "networks": 3}, "networks works only with engine sampled, got limit"),
        ({"engine": "network", "networks": 3}, "networks works only with engine sampled, got network"),
        ({"engine": "network", "tile": -1}, "tile must be between 1 and 16"),
        ({"engine": "network", "padding": 3}, "padding works only with networks of the whole state"),
        ({"engine": "network", "device": "cuda"}, "device works only with networks of the whole state"),
        ({"engine": "network", "rounding": "sign"}, "rounding sign cannot be used with a network"),
        ({"engine": "kernel"}, "there is no engine 'kernel'"),
    ],
)
def test_what_does_not_go_together(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bitwright.run(multiplication(3), {"multiplicand": 1, "multiplier": 2}, **settings)  # type: ignore[arg-type]
