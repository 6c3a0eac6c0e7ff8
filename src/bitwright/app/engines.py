"""From what a person says about an engine to the engine; networks are trained here, where none are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.bits import shorten
from bitwright.engines.make import make_engine
from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.program import Algorithm, Program
from bitwright.theory.ranges import training_size
from bitwright.theory.rounding import check_rounding

if TYPE_CHECKING:
    from bitwright.networks import AnyNetwork, Network, Recipe

# The settings that only some engines have.
_OF = {
    "networks": ("sampled", "network"),
    "seed": ("sampled", "network"),
    "width": ("network",),
    "files": ("network",),
    "device": ("network",),
    "precision": ("network",),
    "whole": ("network",),
    "evaluate": ("network",),
}
_SAID_BY_FILES = ("width", "networks", "seed", "padding")  # a network file says how it was trained
PYTHON = {"files": "network"}  # what settings are called, where it is not their name


@dataclass(frozen=True)
class EngineChoice:
    """An engine as a person describes it. What is left out is what the algorithm, or the engine, needs.

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
    evaluate: bool = False  # whether networks of cells are evaluated in every cell of every step

    def checked(self, spell: Callable[[str], str] = lambda name: PYTHON.get(name, name)) -> EngineChoice:
        """The same choice; raises InputError where settings do not go together. `spell` names them to the person."""
        check_rounding(self.rounding)
        default = EngineChoice()
        given = [name for name in (*_OF, "padding") if getattr(self, name) != getattr(default, name)]
        for name in given:
            engines = _OF.get(name, (self.name,))
            if self.name not in engines:
                raise InputError(f"{spell(name)} goes with {spell('engine')} {' or '.join(engines)}, not {self.name}")
        if self.files and (both := [spell(name) for name in _SAID_BY_FILES if name in given]):
            raise InputError(f"a network file says how it was trained; leave out {' and '.join(both)}")
        if not 1 <= self.networks <= 10**9:
            raise InputError(f"an ensemble has between 1 and 10^9 networks, got {shorten(self.networks)}")
        if not 0 <= self.seed <= 2**63:
            raise InputError(f"the seed must lie between 0 and 2^63, got {shorten(self.seed)}")
        return self

    @property
    def has_networks(self) -> bool:
        """Whether networks of a seed make its steps, drawn or trained."""
        return self.name in _OF["seed"]

    @property
    def runs_trained(self) -> bool:
        """Whether it runs trained networks, which files may hold."""
        return self.name in _OF["files"]

    @property
    def trains(self) -> bool:
        """Whether networks must be trained for it."""
        return self.runs_trained and not self.files

    @property
    def by_cells(self) -> bool:
        """Whether one small network is trained for all cells, because nothing asks for one of the whole state."""
        plain = EngineChoice(self.name, seed=self.seed, compiled=self.compiled, evaluate=self.evaluate)
        return self.trains and self == plain

    @property
    def solves(self) -> bool:
        """Whether it solves for all examples at once, in time that grows with the cube of their number."""
        return self.name == "kernel"

    def examples(self, algorithm: Algorithm) -> int:
        """K, the same for every verb."""
        return training_size(algorithm, self.rounding, self.padding)


Trainer = Callable[["Program", "Recipe"], "Network"]


def choose_engine(
    algorithm: Algorithm,
    choice: EngineChoice,
    trained: Sequence[AnyNetwork] | None = None,
    train: Trainer | None = None,
) -> Engine:
    """The engine of a choice; `network` takes these networks, or those that `find_networks` finds.

    >>> from bitwright import addition, run
    >>> engine = choose_engine(addition(10), EngineChoice("sampled", networks=50, seed=1))
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    choice = choice.checked()
    if trained is not None and not choice.runs_trained:
        raise InputError(f"trained networks go with the engine network, not {choice.name}; leave out one of them")
    networks: Sequence[AnyNetwork] = trained or ()
    if choice.runs_trained and trained is None:
        if (engine := _cell_engine(algorithm, choice, train)) is not None:
            return engine
        networks = find_networks(algorithm, choice, train)
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


def _cell_engine(algorithm: Algorithm, choice: EngineChoice, train: Trainer | None) -> Engine | None:
    """The engine for a network of cells, from its file or trained now; None where the choice is of another network."""
    from bitwright.app.cells import load_cells, pattern_in, pattern_of, train_on_pattern
    from bitwright.checking.width import suggested_cells_width
    from bitwright.engines.cells.engine import CellEngine
    from bitwright.networks import Plan, Recipe
    from bitwright.networks.cache import cached_network

    networks: Sequence[AnyNetwork]
    if choice.files:
        pattern = pattern_in(choice.files[0])
        if pattern is None:
            if choice.evaluate:
                raise InputError("evaluate goes with networks of cells; this one is of the whole state, and always is")
            return None
        if choice.whole:
            raise InputError(
                "whole asks for a network of the whole state; this file is of cells, leave one of them out"
            )
        if (choice.device, choice.precision) != ("cpu", "float32"):
            raise InputError("networks of cells run on the CPU, in whole numbers; leave out device and precision")
        networks = load_cells(choice.files, pattern)
    elif choice.by_cells:
        pattern = pattern_of([algorithm.program])
        recipe = Recipe(suggested_cells_width(pattern), choice.seed, plan=Plan(momentum=True))
        make: Trainer = train or (lambda program, recipe: cached_network(program, recipe)[0])
        networks = [train_on_pattern(pattern, recipe, make=make).network]
    elif choice.evaluate:
        raise InputError("evaluate goes with networks of cells; leave out what asks for one of the whole state")
    else:
        return None
    rounding = check_rounding(choice.rounding)
    return CellEngine(algorithm.program, pattern, networks, rounding, choice.evaluate, choice.compiled)


def find_networks(algorithm: Algorithm, choice: EngineChoice, train: Trainer | None = None) -> list[AnyNetwork]:
    """Trained networks from files, or such as are trained now; without a trainer of the caller's they are kept."""
    from bitwright.networks import load_any_network
    from bitwright.networks.cache import cached_network
    from bitwright.networks.members import network_files

    program = algorithm.program
    if choice.files:
        return [load_any_network(file, program) for path in choice.files for file in network_files(path)]
    make: Trainer = train or (lambda program, recipe: cached_network(program, recipe)[0])
    return [make(program, recipe) for recipe in recipes(algorithm, choice)]


def recipes(algorithm: Algorithm, choice: EngineChoice) -> list[Recipe]:
    """How each network of a choice is trained."""
    from bitwright.checking.width import suggested_width
    from bitwright.networks import Plan, Recipe

    padding = choice.examples(algorithm) - algorithm.program.templates
    width = suggested_width(algorithm, padding) if choice.width is None else choice.width
    common = Recipe(width, choice.seed, plan=Plan(momentum=True), padding=padding)
    if choice.device != "cpu":
        common = replace(common, trainer="torch", device=choice.device)
    return [replace(common, member=member) for member in range(choice.networks)]


def choice_of(options: Mapping[str, object]) -> EngineChoice:
    """A choice from options that carry its names; None stands for what is left out."""
    given = {name: value for name, value in options.items() if value is not None}
    if "engine" in given:
        given["name"] = given.pop("engine")
    return EngineChoice(**given)  # type: ignore[arg-type]
