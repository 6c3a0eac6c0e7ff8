"""Makes an engine from its settings, and trains a network for it if necessary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict
from warnings import catch_warnings

from bitwright.common.bits import whole_number
from bitwright.common.errors import BitwrightWarning, InputError, check_choice, option, suggestion
from bitwright.engines.make import UNTRAINED, make_engine
from bitwright.engines.protocol import Engine as Engine
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern
from bitwright.theory.decisions import training_size
from bitwright.theory.rounding import ROUNDINGS, check_rounding
from bitwright.verbs.open import check_tile

if TYPE_CHECKING:
    from bitwright.verbs.network import Network
    from bitwright.verbs.progress import Teller

ENGINES = (*UNTRAINED, "network")
# The engines that each setting applies to.
_OF = {
    "rounding": ("limit", "sampled"),
    "padding": ("limit", "sampled", "network"),
    "networks": ("sampled",),
    "seed": ("sampled", "network"),
    "width": ("network",),
    "device": ("network",),
    "tile": ("network",),
}
SETTINGS = tuple(_OF)


class EngineSettings(TypedDict, total=False):
    """The settings of an engine. Missing settings are derived from the program or the engine."""

    rounding: str | None
    padding: int | None  # the number of examples that never match
    networks: int | None  # the number of sampled networks to average
    seed: int | None
    width: int | None  # of a network trained now
    device: str | None
    tile: Tile | None  # of a network trained now: the number of neighbouring cells treated as one


_RANGES: dict[str, tuple[int | None, int | None]] = {
    "padding": (0, MAX_EXAMPLES),
    "networks": (1, 10**9),
    "seed": (0, 2**63),
    "width": (None, None),
}


def examples_of(algorithm: Algorithm) -> dict[str, int]:
    """Returns K for each rounding."""
    return {rounding: training_size(algorithm, rounding) for rounding in ROUNDINGS}


def check_options(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raises InputError for an unknown option."""
    for name in given:
        if name not in known:
            raise InputError(f"{what} has no option '{name}'{suggestion(name, known)}; there are {', '.join(known)}")


def engine_for(
    algorithm: Algorithm,
    engine: str | Engine | None,
    network: Any,
    settings: Mapping[str, Any],
    tell: Teller | None = None,
    default: str = "templates",
) -> Engine:
    """Returns the given engine, or makes one from a name, a network and settings.

    >>> from bitwright import addition, run
    >>> engine = engine_for(addition(10), "sampled", None, {"networks": 50, "seed": 1})
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    from bitwright.verbs.progress import teller

    given = {name: value for name, value in settings.items() if value is not None}
    check_options(given, SETTINGS, "an engine")
    if not isinstance(engine, str | None):
        if not hasattr(engine, "begin"):
            raise InputError(f"engine must be a name, such as 'limit', or an Engine, got a {type(engine).__name__}")
        if given or network is not None:
            raise InputError("an Engine already has its settings; leave out the others")
        return engine
    name = engine or ("network" if network is not None else default)
    _check(name, given, network)
    if network is not None:
        from bitwright.verbs.network import Network, as_network

        network = as_network(network)
        if not isinstance(network, Network):
            from bitwright.verbs.models import model_engine

            if given:
                raise InputError(f"{option(next(iter(given)))} cannot be used with your own network; leave it out")
            return model_engine(algorithm, network)
    tell = tell or teller(None)
    with tell.working("preparing the engine"):
        if name != "network":
            how = {one: given[one] for one in ("networks", "seed") if one in given}
            rounding = check_rounding(given.get("rounding", "calibrated"))
            examples = None if name == "templates" else training_size(algorithm, rounding, given.get("padding"))
            return make_engine(name, algorithm.program, rounding=rounding, examples=examples, **how)
        if network is None:
            tell.note("training a network for this run")
            network = _trained_now(algorithm, given, tell)
        return network_engine(algorithm.program, network, given.get("device", "cpu"))


def _check(name: str, given: dict[str, Any], network: object) -> None:
    """Raises InputError if settings conflict with the engine, with each other or with a network."""
    check_choice("engine", name, ENGINES)
    if check_rounding(given.get("rounding", "calibrated")) == "sign" and name == "network":
        raise InputError(
            f"{option('rounding')} sign cannot be used with a network, because the limit is exactly 0 where one "
            "example matches, so that chance would decide; leave it out"
        )
    if name not in _OF["rounding"] and given.get("rounding") == "calibrated":
        del given["rounding"]  # the default
    for setting, (least, most) in _RANGES.items():
        if setting in given:
            whole_number(given[setting], option(setting), least, most)
    if "tile" in given:
        check_tile(given["tile"])
    for setting in [*given, *["network"] * (network is not None)]:
        if name not in (engines := _OF.get(setting, ("network",))):
            raise InputError(f"{option(setting)} works only with {option('engine')} {' or '.join(engines)}, got {name}")
    if network is not None and (both := [option(one) for one in given if one != "device"]):
        raise InputError(f"a trained network already has its settings; leave out {' and '.join(both)}")


def network_engine(program: Program, network: Network, device: str = "cpu") -> Engine:
    """Returns the engine that runs a program with a network."""
    if device == "cpu":
        from bitwright.engines.cells.engine import CellEngine

        return CellEngine(program, network.pattern or Pattern.of_state(program), network.weights)
    if network.cells:
        raise InputError(f"{option('device')} works only with networks of the whole state; leave out {device}")
    from bitwright.engines.integer import IntegerDeviceEngine

    return IntegerDeviceEngine(program, network.weights, device)


def _trained_now(algorithm: Algorithm, given: Mapping[str, Any], tell: Teller) -> Network:
    """Trains a network for the program's cells or its whole state."""
    from bitwright.verbs.train import train

    how: dict[str, Any] = {"tile": 1, **given}
    if how["tile"] == "all":
        how["padding"] = training_size(algorithm, "calibrated", given.get("padding")) - algorithm.program.templates
    for name in ("padding", "device"):
        if how["tile"] != "all" and how.get(name) not in (None, 0, "cpu"):
            raise InputError(f"{option(name)} works only with networks of the whole state; add {option('tile')} all")
    with tell.working("training") as told, catch_warnings(action="ignore", category=BitwrightWarning):
        return train(algorithm, progress=told, **how)  # the run reports wrong states
