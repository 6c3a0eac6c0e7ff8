"""Makes the engine that a user describes, and trains its networks if none are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.bits import shorten, whole_number
from bitwright.engines.make import check_engine, make_engine
from bitwright.engines.protocol import Engine as Engine
from bitwright.errors import InputError, option
from bitwright.program import Algorithm, Program
from bitwright.theory.ranges import training_size
from bitwright.theory.rounding import check_rounding

if TYPE_CHECKING:
    from bitwright.api.telling import Teller
    from bitwright.engines.cells.deciders import Decider
    from bitwright.networks import AnyNetwork, FloatNetwork, Recipe
    from bitwright.program.pattern import Pattern

# The settings that only some engines have.
_OF = {
    "rounding": ("limit", "kernel", "sampled", "network"),
    "padding": ("limit", "kernel", "sampled", "network"),
    "networks": ("sampled", "network"),
    "seed": ("sampled", "network"),
    "width": ("network",),
    "files": ("network",),
    "device": ("network",),
    "precision": ("network",),
    "whole": ("network",),
    "evaluate": ("limit", "kernel", "sampled", "network"),
    "cells": ("limit", "kernel", "sampled", "network"),
    "tile": ("limit", "kernel", "sampled", "network"),
}
_SAID_BY_FILES = ("width", "networks", "seed", "padding", "tile")  # a network file says how it was trained
MOST_TILE = 16  # neighbouring cells that are taken as one
SETTINGS = (
    *("rounding", "padding", "networks", "seed", "width", "device", "precision", "compiled", "whole", "evaluate"),
    *("cells", "tile"),
)


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
    precision: str = "float32"
    compiled: bool = True  # whether rules and limit may use compiled loops
    whole: bool = False  # whether networks are trained on the whole state, as in the paper, where none are given
    cells: bool = False  # whether steps are made cell by cell; networks without files do so where nothing forbids it
    tile: int = 1  # how many neighbouring cells are taken as one
    evaluate: bool = False  # whether what decides for cells is evaluated in every cell of every step

    def checked(self) -> EngineChoice:
        """Returns the choice; raises InputError if its settings do not go together."""
        check_engine(self.name)
        check_rounding(self.rounding)
        for name in ("padding", "networks", "seed", "width", "tile"):
            if (value := getattr(self, name)) is not None:
                whole_number(value, _spelt(name))
        for name in ("cells", "whole", "evaluate", "compiled"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{_spelt(name)} is True or False, got {shorten(repr(getattr(self, name)))}")
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
        self._check_cells(given)
        return self

    def _check_cells(self, given: Sequence[str]) -> None:
        if not 1 <= self.tile <= MOST_TILE:
            raise InputError(f"{_spelt('tile')} is an integer from 1 to {MOST_TILE}, got {shorten(self.tile)}")
        for name in ("tile", "evaluate"):
            if name in given and not self.by_cells and not self.files:
                raise InputError(f"{_spelt(name)} goes with cells; add {_spelt('cells')}, or leave it out")
        if not self.cells or not self.runs_trained:
            return
        if self.rounding != "calibrated":
            raise InputError(
                f"networks of cells have calibrated rounding; leave out {_spelt('rounding')} {self.rounding}"
            )
        for name in ("whole", "padding", "device", "precision"):
            if name in given:
                raise InputError(f"{_spelt(name)} does not go with networks of cells; leave out one of them")

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
    def by_cells(self) -> bool:
        """Whether steps are made cell by cell: if asked for, or if networks are trained now and no setting asks for
        the whole state."""
        plain = EngineChoice(self.name, seed=self.seed, compiled=self.compiled, tile=self.tile, evaluate=self.evaluate)
        return self.cells or (self.trains and self == plain)

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
    pattern = _cells_of(algorithm, choice, trained is not None)
    networks: Sequence[AnyNetwork] = trained or ()
    if choice.runs_trained and trained is None:
        networks = _networks(algorithm, choice, pattern, train)
    if pattern is not None:
        from bitwright.engines.cells.engine import CellEngine

        by = networks if choice.runs_trained else _cell_limit(pattern, choice)
        rounding, tile = check_rounding(choice.rounding), None if choice.files else choice.tile
        return CellEngine(algorithm.program, pattern, by, rounding, choice.evaluate, choice.compiled, tile)
    return make_engine(
        choice.name,
        algorithm.program,
        rounding=choice.rounding,
        examples=None if choice.name == "templates" or choice.runs_trained else choice.examples(algorithm),
        networks=choice.networks,
        seed=choice.seed,
        trained=networks,
        device=choice.device,
        precision=choice.precision,
        compiled=choice.compiled,
    )


def _cells_of(algorithm: Algorithm, choice: EngineChoice, given: bool) -> Pattern | None:
    """The kinds of cells that a choice goes by; None for the whole state.

    Raises InputError if it contradicts its files; networks that are `given` are looked at in their place.
    """
    from bitwright.api.cells import pattern_in, pattern_of

    if given or not choice.files:
        by_cells = choice.cells if given else choice.by_cells
        return pattern_of([algorithm.program], choice.tile) if by_cells else None
    pattern = pattern_in(choice.files[0])
    if pattern is None:
        for name in ("cells", "evaluate"):
            if getattr(choice, name):
                raise InputError(
                    f"{name} goes with networks of cells; the one in {choice.files[0]} is of a whole state"
                )
    elif choice.whole:
        raise InputError("whole asks for a network of the whole state; this file is of cells, leave one of them out")
    elif (choice.device, choice.precision) != ("cpu", "float32"):
        raise InputError("networks of cells run on the CPU, in integers; leave out device and precision")
    return pattern


def _networks(
    algorithm: Algorithm, choice: EngineChoice, pattern: Pattern | None, train: Trainer | None
) -> list[AnyNetwork]:
    """Networks from files, or trained now; the cache keeps these unless the caller brings a trainer.

    A single network of cells is quantized and proved; several are averaged as they are.
    """
    from bitwright.api.cells import members_of, train_on_pattern, train_smallest
    from bitwright.networks import Recipe, load_any_network
    from bitwright.networks.cache import cached_network, network_files
    from bitwright.proofs.width import suggested_cells_width

    program = algorithm.program if pattern is None else pattern.program
    if choice.files:
        return [load_any_network(file, program) for path in choice.files for file in network_files(path)]
    make: Trainer = train or (lambda program, recipe: cached_network(program, recipe)[0])
    if pattern is None:
        return [make(program, recipe) for recipe in recipes(algorithm, choice)]
    recipe = Recipe(choice.width or suggested_cells_width(pattern), choice.seed)
    if choice.networks > 1:
        return [make(program, one) for one in members_of(recipe, choice.networks)]
    fit = train_smallest if choice.width is None else train_on_pattern
    return [fit(pattern, recipe, make=make).network]


def _cell_limit(pattern: Pattern, choice: EngineChoice) -> Decider:
    """The limit of networks of a pattern, with the padding asked for; a declared one is for the whole state."""
    from bitwright.engines.cells import deciders

    rounding, examples = check_rounding(choice.rounding), pattern.program.templates + (choice.padding or 0)
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


def recipes(algorithm: Algorithm, choice: EngineChoice) -> list[Recipe]:
    """How each network of a choice is trained."""
    from bitwright.networks import Recipe
    from bitwright.proofs.width import suggested_width

    padding = choice.examples(algorithm) - algorithm.program.templates
    width = suggested_width(algorithm, padding) if choice.width is None else choice.width
    common = Recipe(width, choice.seed, padding=padding)
    if choice.device != "cpu":
        common = replace(common, trainer="torch", device=choice.device)
    return [replace(common, member=member) for member in range(choice.networks)]


def choice_of(options: Mapping[str, object]) -> EngineChoice:
    """A choice from options of the same names; None stands for the default."""
    given = {name: value for name, value in options.items() if value is not None}
    if "engine" in given:
        given["name"] = given.pop("engine")
    return EngineChoice(**given)  # type: ignore[arg-type]
