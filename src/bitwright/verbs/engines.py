"""Makes an engine from its settings, and trains networks for it if none are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import InputError, check_choice, option, suggestion
from bitwright.engines.make import ENGINES, make_engine, network_engine
from bitwright.engines.protocol import Engine as Engine
from bitwright.networks import FloatNetwork
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.theory.decisions import training_size
from bitwright.theory.rounding import check_rounding
from bitwright.verbs.open import check_tile

if TYPE_CHECKING:
    from bitwright.engines.cells import Decider
    from bitwright.networks import AnyNetwork, Recipe
    from bitwright.verbs.network import Network
    from bitwright.verbs.progress import Teller

# The engines that each setting applies to.
_LIMITS = ("limit", "kernel", "sampled", "network")
_OF = {
    "rounding": _LIMITS,
    "padding": _LIMITS,
    "networks": ("sampled", "network"),
    "seed": ("sampled", "network"),
    "width": ("network",),
    "device": ("network",),
    "compiled": ("templates", *_LIMITS),
    "evaluate": _LIMITS,
    "tile": _LIMITS,
}
SETTINGS = tuple(_OF)


class EngineSettings(TypedDict, total=False):
    """The settings of an `EngineChoice`, by name."""

    rounding: str | None
    padding: int | None
    networks: int | None
    seed: int | None
    width: int | None
    device: str | None
    compiled: bool | None
    tile: Tile | None
    evaluate: bool | None


_OF_TRAINING = ("width", "networks", "seed", "padding", "tile")  # fixed by training
_OF_WHOLE = ("padding", "device")  # for networks of the whole state only
_RANGES: dict[str, tuple[int | None, int | None]] = {
    "padding": (0, MAX_EXAMPLES),
    "networks": (1, 10**9),
    "seed": (0, 2**63),
    "width": (None, None),
}


def check_options(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raises InputError for an unknown option."""
    for name in given:
        if name not in known:
            raise InputError(f"{what} has no option '{name}'{suggestion(name, known)}; there are {', '.join(known)}")


@dataclass(frozen=True)
class EngineChoice:
    """The settings of an engine. Defaults follow from the algorithm or the engine.

    >>> EngineChoice("limit", rounding="sign").checked().name
    'limit'
    """

    name: str = "templates"
    rounding: str = "calibrated"
    padding: int | None = None  # examples that are never matched; None: those that the algorithm declares for `sign`
    networks: int = 1
    seed: int = 0
    width: int | None = None  # of the networks to train
    device: str = "cpu"
    compiled: bool = True  # whether rules and limit may use compiled loops
    tile: Tile | None = None  # how many neighbouring cells are taken as one; None: 1 for networks trained now, else all
    evaluate: bool = False  # whether what decides for cells is evaluated in every cell of every step

    def checked(self, trained: bool = False) -> EngineChoice:
        """The same choice; raises InputError if its settings conflict with each other or with `trained` networks."""
        check_choice("engine", self.name, ENGINES)
        check_rounding(self.rounding)
        for name, (least, most) in _RANGES.items():
            if (value := getattr(self, name)) is not None:
                whole_number(value, option(name), least, most)
        for name in ("evaluate", "compiled"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{option(name)} is True or False, got {shorten(repr(getattr(self, name)))}")
        if self.tile is not None:
            check_tile(self.tile)
        given = [name for name in _OF if getattr(self, name) != getattr(EngineChoice(), name)]
        for name in [*given, *["network"] * trained]:
            if self.name not in (engines := _OF.get(name, ("network",))):
                raise InputError(f"{option(name)} goes with {option('engine')} {' or '.join(engines)}, not {self.name}")
        if trained and (both := [option(name) for name in _OF_TRAINING if name in given]):
            raise InputError(f"a trained network has its settings already; leave out {' and '.join(both)}")
        return self

    @property
    def has_networks(self) -> bool:
        """Whether its networks depend on a seed, sampled or trained."""
        return self.name in _OF["seed"]

    @property
    def runs_trained(self) -> bool:
        """Whether it runs trained networks, loaded or trained now."""
        return self.name in _OF["width"]

    @property
    def cells(self) -> Tile:
        """The number of neighbouring cells taken as one; by default the whole state, or 1 for networks trained now."""
        return self.tile or (1 if self.runs_trained else "all")

    def examples(self, algorithm: Algorithm) -> int:
        """K, the same for every verb."""
        return training_size(algorithm, self.rounding, self.padding)


Trainer = Callable[["Program", "Recipe"], "FloatNetwork"]


def engine_for(
    algorithm: Algorithm,
    engine: str | Engine | None,
    network: Any,
    settings: Mapping[str, Any],
    tell: Teller | None = None,
    default: str = "templates",
) -> Engine:
    """The given engine object, or an engine made from a name, networks and settings."""
    from bitwright.verbs.progress import teller

    settings = {name: value for name, value in settings.items() if value is not None}
    check_options(settings, SETTINGS, "an engine")
    if not isinstance(engine, str | None):
        if not hasattr(engine, "begin"):
            raise InputError(f"an engine is a name, such as 'limit', or an Engine, got a {type(engine).__name__}")
        if settings or network is not None:
            raise InputError("an engine that is given whole has its settings already; leave them out")
        return engine
    choice = EngineChoice(engine or ("network" if network is not None else default), **settings)
    tell = teller(None) if tell is None else tell
    if network is not None:
        from bitwright.verbs.network import Network, as_networks

        network = as_networks(network)
        if not all(isinstance(one, Network) for one in network):
            from bitwright.verbs.models import model_engine

            if len(network) > 1:
                raise InputError("a network that was made elsewhere runs a program alone, not in a list")
            return model_engine(algorithm, network[0], choice.checked(trained=True))
    elif choice.checked().runs_trained:
        one = choice.networks == 1
        what, them = ("a network", "one") if one else (f"{choice.networks:,} networks", "them")
        tell.note(f"training {what} on the spot, unless an earlier run has left {them} in the cache")
    with tell.working("preparing the engine"):
        return choose_engine(algorithm, choice, network or (), trainer(tell))


def choose_engine(
    algorithm: Algorithm,
    choice: EngineChoice,
    networks: Sequence[Network] = (),
    train: Trainer | None = None,
) -> Engine:
    """The engine for these settings; the engine "network" averages the given networks, or trains its own.

    >>> from bitwright import addition, run
    >>> engine = choose_engine(addition(10), EngineChoice("sampled", networks=50, seed=1))
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    choice, program = choice.checked(trained=bool(networks)), algorithm.program
    if choice.name == "templates" or (choice.cells == "all" and not choice.runs_trained and not choice.evaluate):
        K = None if choice.name == "templates" else choice.examples(algorithm)
        how: dict[str, Any] = {"networks": choice.networks, "seed": choice.seed, "compiled": choice.compiled}
        return make_engine(choice.name, program, rounding=choice.rounding, examples=K, **how)
    pattern = _pattern_of_all(networks) or (
        Pattern.of_state(program) if networks else pattern_of([program], choice.cells)
    )
    rounding = check_rounding(choice.rounding)
    if choice.runs_trained and pattern.whole is None:
        averaged = bool(networks) and all(isinstance(one.weights, FloatNetwork) for one in networks)
        for name in (*_OF_WHOLE, *["rounding"] * (not averaged)):
            if (value := getattr(choice, name)) != getattr(EngineChoice(), name):
                cure = "" if networks else f", or add {option('tile')} all"
                raise InputError(
                    f"{option(name)} goes with networks of the whole state; one of cells has its settings already, and "
                    f"calibrated rounding; leave out {option(name)} {value}{cure}"
                )
    by: Any = [one.weights for one in networks]
    if not networks:
        by = _trained(algorithm, choice, pattern, train) if choice.runs_trained else _limit(algorithm, pattern, choice)
    if choice.device != "cpu":
        if not networks:
            from bitwright.networks import quantize

            by = [quantize(by, program)[0]]
        return network_engine(program, by, rounding, choice.device)
    from bitwright.engines.cells.engine import CellEngine

    return CellEngine(
        program, pattern, by, rounding, choice.evaluate, choice.compiled, None if networks else choice.cells
    )


def _pattern_of_all(networks: Sequence[Network]) -> Pattern | None:
    """The pattern of these networks of cells; None for networks of a whole state."""
    patterns = {None if one.pattern is None else one.pattern.program.id: one for one in networks}
    if len(networks) > 1 and any(one.cells for one in networks):
        if any(one.integer for one in networks):
            raise InputError("one network of cells runs a program: give it by itself, not in a list")
        if len(patterns) > 1:
            raise InputError("networks of cells are averaged only if all are of the same kinds of cells")
    return next((one.pattern for one in networks if one.cells), None)


def _trained(
    algorithm: Algorithm, choice: EngineChoice, pattern: Pattern, train: Trainer | None
) -> Sequence[AnyNetwork]:
    """Networks trained now, and kept in the cache unless the caller passes a trainer.

    A single network of cells is quantized and proved; others are averaged as they are.
    """
    from bitwright.networks import Recipe
    from bitwright.networks.cache import cached_network
    from bitwright.proofs.width import suggested_width
    from bitwright.verbs.cells import members_of, train_on_pattern, train_smallest

    make: Trainer = train or (lambda program, recipe: cached_network(program, recipe)[0])
    runs = None if pattern.whole is None else algorithm
    padding = 0 if runs is None else choice.examples(algorithm) - algorithm.program.templates
    recipe = Recipe(choice.width or suggested_width(pattern, runs, padding), choice.seed, padding=padding)
    if choice.device != "cpu":
        recipe = replace(recipe, trainer="torch", device=choice.device)
    if choice.networks > 1 or pattern.whole is not None:
        return [make(pattern.program, one) for one in members_of(recipe, choice.networks)]
    fit = train_smallest if choice.width is None else train_on_pattern
    return [fit(pattern, recipe, make=make).network]


def _limit(algorithm: Algorithm, pattern: Pattern, choice: EngineChoice) -> Decider:
    """The limit of networks of a pattern; padding declared by the program applies to the whole state only."""
    from bitwright.engines import cells

    rounding, examples = check_rounding(choice.rounding), pattern.program.templates + (choice.padding or 0)
    if pattern.whole is not None:
        examples = choice.examples(algorithm)
    if choice.name == "limit":
        return cells.LimitDecider(pattern, examples, rounding)
    if choice.name == "kernel":
        return cells.KernelDecider(pattern, examples, rounding)
    from bitwright.engines.sampled import SampledDecider

    return SampledDecider(pattern, examples, rounding, choice.networks, choice.seed)


def trainer(tell: Teller) -> Trainer:
    """A trainer for networks that are not in the cache; it reports the steps of gradient descent."""
    from bitwright.networks.cache import cached_network

    def make(program: Program, recipe: Recipe) -> Any:
        most = recipe.plan.expected_steps(program.templates + recipe.padding, None)
        with tell.working("training") as progress:
            return cached_network(program, recipe, lambda step, _: progress(min(step, most), most))[0]

    return make
