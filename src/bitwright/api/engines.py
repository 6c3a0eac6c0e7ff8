"""Makes the engine that a user describes, and trains its networks if none are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.bits import shorten, whole_number
from bitwright.engines.make import check_engine, make_engine, network_engine
from bitwright.engines.protocol import Engine as Engine
from bitwright.errors import InputError, option
from bitwright.program import Algorithm, Program
from bitwright.program.cells import Tile
from bitwright.program.pattern import Pattern
from bitwright.theory.ranges import training_size
from bitwright.theory.rounding import check_rounding

if TYPE_CHECKING:
    from bitwright.api.telling import Teller
    from bitwright.engines.cells.deciders import Decider
    from bitwright.networks import AnyNetwork, FloatNetwork, Recipe

# The settings that only some engines have.
_LIMITS = ("limit", "kernel", "sampled", "network")
_OF = {
    "rounding": _LIMITS,
    "padding": _LIMITS,
    "networks": ("sampled", "network"),
    "seed": ("sampled", "network"),
    "width": ("network",),
    "files": ("network",),
    "device": ("network",),
    "evaluate": _LIMITS,
    "tile": _LIMITS,
}
_SAID_BY_FILES = ("width", "networks", "seed", "padding", "tile")  # a network file says how it was trained
_OF_WHOLE = ("padding", "device")  # go with networks of the whole state alone
MOST_TILE = 16  # neighbouring cells that are taken as one
SETTINGS = (*("rounding", "padding", "networks", "seed", "width", "device", "compiled", "evaluate", "tile"),)


def check_tile(tile: object) -> Tile:
    """How many neighbouring cells are one, or "all"; raises InputError for anything else."""
    if tile == "all":
        return "all"
    if type(tile) is not int or not 1 <= tile <= MOST_TILE:
        raise InputError(
            f"{option('tile')} is an integer from 1 to {MOST_TILE}, or all (the whole state), got {shorten(str(tile))}"
        )
    return tile


@dataclass(frozen=True)
class EngineChoice:
    """An engine as a user describes it. Settings that are left out follow from the algorithm or the engine.

    >>> EngineChoice("limit", rounding="sign").checked().name
    'limit'
    """

    name: str = "templates"
    rounding: str = "calibrated"
    padding: int | None = None  # examples that are never matched; None: those that the algorithm declares for `sign`
    networks: int = 1
    seed: int = 0
    files: tuple[Path, ...] = ()  # trained networks to average
    width: int | None = None  # without files: of the networks to train
    device: str = "cpu"
    compiled: bool = True  # whether rules and limit may use compiled loops
    tile: Tile | None = None  # how many neighbouring cells are taken as one; None: 1 for networks trained now, else all
    evaluate: bool = False  # whether what decides for cells is evaluated in every cell of every step

    def checked(self) -> EngineChoice:
        """Returns the choice; raises InputError if its settings do not go together."""
        check_engine(self.name)
        check_rounding(self.rounding)
        for name in ("padding", "networks", "seed", "width"):
            if (value := getattr(self, name)) is not None:
                whole_number(value, _spelt(name))
        for name in ("evaluate", "compiled"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{_spelt(name)} is True or False, got {shorten(repr(getattr(self, name)))}")
        if self.tile is not None:
            check_tile(self.tile)
        default = EngineChoice()
        given = [name for name in _OF if getattr(self, name) != getattr(default, name)]
        for name in given:
            if self.name not in (engines := _OF[name]):
                raise InputError(f"{_spelt(name)} goes with {_spelt('engine')} {' or '.join(engines)}, not {self.name}")
        if self.files and (both := [_spelt(name) for name in _SAID_BY_FILES if name in given]):
            raise InputError(f"a network file says how it was trained; leave out {' and '.join(both)}")
        if not 1 <= self.networks <= 10**9:
            raise InputError(f"an ensemble has between 1 and 10^9 networks, got {shorten(self.networks)}")
        if self.padding is not None and self.padding < 0:
            raise InputError(f"{_spelt('padding')} is 0 or more, got {shorten(self.padding)}")
        if not 0 <= self.seed <= 2**63:
            raise InputError(f"the seed must lie between 0 and 2^63, got {shorten(self.seed)}")
        return self

    @property
    def has_networks(self) -> bool:
        """Whether it has networks that depend on a seed, drawn or trained."""
        return self.name in _OF["seed"]

    @property
    def runs_trained(self) -> bool:
        """Whether it runs trained networks, from files or trained now."""
        return self.name in _OF["files"]

    @property
    def trains(self) -> bool:
        """Whether networks must be trained for it."""
        return self.runs_trained and not self.files

    @property
    def cells(self) -> Tile:
        """How many neighbouring cells are one: the whole state, but for networks that are trained now."""
        return self.tile or (1 if self.trains else "all")

    @property
    def by_cells(self) -> bool:
        """Whether steps are made cell by cell."""
        return self.cells != "all"

    @property
    def solves(self) -> bool:
        """Whether it solves a dense linear system, in time cubic in the number of examples."""
        return self.name == "kernel"

    def examples(self, algorithm: Algorithm) -> int:
        """K, the same for every verb."""
        return training_size(algorithm, self.rounding, self.padding)


def _spelt(setting: str) -> str:
    return option("network" if setting == "files" else setting)


Trainer = Callable[["Program", "Recipe"], "FloatNetwork"]


def choose_engine(
    algorithm: Algorithm,
    choice: EngineChoice,
    trained: Sequence[AnyNetwork] | None = None,
    train: Trainer | None = None,
) -> Engine:
    """The engine of a choice; `network` takes these networks, or those of its files, or trains some.

    >>> from bitwright import addition, run
    >>> engine = choose_engine(addition(10), EngineChoice("sampled", networks=50, seed=1))
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    choice = choice.checked()
    if trained is not None and not choice.runs_trained:
        raise InputError(f"trained networks go with the engine network, not {choice.name}; leave out one of them")
    if choice.name == "templates" or (choice.cells == "all" and not choice.runs_trained and not choice.evaluate):
        K = None if choice.name == "templates" else choice.examples(algorithm)
        how: dict[str, Any] = {"networks": choice.networks, "seed": choice.seed, "compiled": choice.compiled}
        return make_engine(choice.name, algorithm.program, rounding=choice.rounding, examples=K, **how)
    pattern = _pattern_of(algorithm.program, choice, trained)
    if not choice.runs_trained:
        by: Any = _limit_of(algorithm, pattern, choice)
    else:
        by = trained if trained is not None else _networks(algorithm, choice, pattern, train)
    if choice.device != "cpu":
        if choice.trains:
            from bitwright.networks import quantize

            by = [quantize(by, algorithm.program)[0]]
        return network_engine(algorithm.program, by, check_rounding(choice.rounding), choice.device)
    from bitwright.engines.cells.engine import CellEngine

    tile = None if choice.files else choice.cells
    return CellEngine(
        algorithm.program, pattern, by, check_rounding(choice.rounding), choice.evaluate, choice.compiled, tile
    )


def _pattern_of(program: Program, choice: EngineChoice, trained: Sequence[AnyNetwork] | None) -> Pattern:
    """The cells that a choice goes by; raises InputError if its settings, files or networks are of others."""
    from bitwright.api.cells import pattern_in, pattern_of

    if choice.files:
        pattern = pattern_in(choice.files[0], program)
    elif trained and trained[0].origin.program_id == program.id:
        pattern = Pattern.of_state(program)
    else:
        pattern = pattern_of([program], choice.cells)
    if choice.runs_trained and pattern.whole is None:
        default, whole = EngineChoice(), f"{_spelt('tile')} all"
        if choice.rounding != "calibrated":
            raise InputError(
                f"networks of cells have calibrated rounding; leave out {_spelt('rounding')} {choice.rounding}, or add "
                f"{whole}"
            )
        for name in _OF_WHOLE:
            if getattr(choice, name) != getattr(default, name):
                raise InputError(f"{_spelt(name)} goes with networks of the whole state; leave it out, or add {whole}")
    return pattern


def _networks(
    algorithm: Algorithm, choice: EngineChoice, pattern: Pattern, train: Trainer | None
) -> Sequence[AnyNetwork]:
    """Networks from files, or trained now; the cache keeps these unless the caller brings a trainer.

    A single network of cells is quantized and proved; others are averaged as they are.
    """
    from bitwright.api.cells import load_cells, members_of, train_on_pattern, train_smallest
    from bitwright.networks.cache import cached_network

    if choice.files:
        return load_cells(choice.files, pattern)
    make: Trainer = train or (lambda program, recipe: cached_network(program, recipe)[0])
    recipe = recipe_of(algorithm, choice, pattern)
    if choice.networks > 1 or pattern.whole is not None:
        return [make(pattern.program, one) for one in members_of(recipe, choice.networks)]
    fit = train_smallest if choice.width is None else train_on_pattern
    return [fit(pattern, recipe, make=make).network]


def _limit_of(algorithm: Algorithm, pattern: Pattern, choice: EngineChoice) -> Decider:
    """The limit of networks of a pattern, with the padding asked for; a declared one is for the whole state."""
    from bitwright.engines.cells import deciders

    rounding, examples = check_rounding(choice.rounding), pattern.program.templates + (choice.padding or 0)
    if pattern.whole is not None:
        examples = choice.examples(algorithm)
    if choice.name == "limit":
        return deciders.LimitDecider(pattern, examples, rounding)
    if choice.name == "kernel":
        return deciders.KernelDecider(pattern, examples, rounding)
    return deciders.SampledDecider(pattern, examples, rounding, choice.networks, choice.seed)


def trainer(tell: Teller) -> Trainer:
    """A trainer of networks that are not in the cache, which reports the steps of gradient descent."""
    from bitwright.networks.cache import cached_network

    def make(program: Program, recipe: Recipe) -> Any:
        most = recipe.plan.expected_steps(program.templates + recipe.padding, None)
        with tell.working("training") as progress:
            return cached_network(program, recipe, lambda step, _: progress(min(step, most), most))[0]

    return make


def recipe_of(algorithm: Algorithm, choice: EngineChoice, pattern: Pattern) -> Recipe:
    """How the first network of a choice is trained."""
    from bitwright.networks import Recipe
    from bitwright.proofs.width import suggested_width

    runs = None if pattern.whole is None else algorithm
    padding = 0 if runs is None else choice.examples(algorithm) - algorithm.program.templates
    recipe = Recipe(choice.width or suggested_width(pattern, runs, padding), choice.seed, padding=padding)
    return recipe if choice.device == "cpu" else replace(recipe, trainer="torch", device=choice.device)


def choice_of(options: Mapping[str, object]) -> EngineChoice:
    """A choice from options of the same names; None stands for the default."""
    given = {name: value for name, value in options.items() if value is not None}
    if "engine" in given:
        given["name"] = given.pop("engine")
    return EngineChoice(**given)  # type: ignore[arg-type]
