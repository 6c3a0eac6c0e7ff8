"""Training: one small integer network for the cells of programs, or networks of the whole state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload
from warnings import warn

from bitwright.common.bits import whole_number
from bitwright.common.errors import BitwrightWarning, InputError, counted, listing, option
from bitwright.common.files.executions import Executions
from bitwright.common.files.storage import as_path, check_output
from bitwright.common.workers import Workers
from bitwright.networks import FloatNetwork, Recipe
from bitwright.networks import train as descend
from bitwright.networks.cache import network_files
from bitwright.networks.cache import train_members as fill
from bitwright.networks.descent import Descent, NetworkShape, Parametrization, Start, check_device
from bitwright.networks.store import read_about
from bitwright.networks.train import ExecutionSet
from bitwright.proofs.width import suggested_width
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern
from bitwright.runs.progress import Progress
from bitwright.verbs.cells import (
    SEEDS,
    TrainedCells,
    check_divides,
    pattern_of,
    train_on_pattern,
    train_smallest,
)
from bitwright.verbs.engines import check_options
from bitwright.verbs.executions import TOLERANCE, WIDER, Sample, cell_set, unseen, unseen_kinds
from bitwright.verbs.network import Network, Training, load_networks, wider
from bitwright.verbs.open import check_tile, of_bits, subject
from bitwright.verbs.progress import Teller, teller
from bitwright.verbs.reports import Summary
from bitwright.verbs.sizes import SizesAsked, at_size, in_sizes, missing_size

Trainable = Algorithm | Program | NodeProgram
_MOST_NETWORKS, _MOST_SEEDS = 10**6, 1_000
_OPTIONS = ("sizes", "tile", "executions", "recipe", "networks", "integer", "weight_bits", "seeds", "folder", "workers")
_MAY_BE_NONE = ("width", "tolerance", "padding", "descent")  # which then have their defaults
_OF_PLAN = ("tolerance", "descent", "parametrization", "rate", "most_steps")


class RecipeSettings(TypedDict, total=False):
    """The settings of a `Recipe`, by name."""

    width: int | None
    seed: int
    member: int
    start: Start
    padding: int | None
    tolerance: float | None
    descent: Descent | None
    parametrization: Parametrization
    rate: float | None
    most_steps: int | None
    trainer: str
    device: str
    precision: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Members(Summary):
    """Several networks in a folder, whose outputs are averaged in a run."""

    folder: Path

    def load(self) -> list[Network]:
        """All networks of the folder."""
        return load_networks(self.folder)


@dataclass(frozen=True, eq=False)
class _Task:
    """A training task: on the templates of a program or of a pattern, or on executions in their place."""

    name: str
    programs: tuple[Algorithm, ...]  # as they were given
    pattern: Pattern
    executions: ExecutionSet | None
    recipe: Recipe
    smallest: bool  # whether narrower networks are tried first
    tell: Teller

    @property
    def program(self) -> Program:
        return self.pattern.program

    @property
    def runs(self) -> Algorithm | None:
        """The algorithm whose whole state it is of; None for cells."""
        return None if self.pattern.whole is None else self.programs[0]


@overload
def train(
    what: Trainable | Sequence[Trainable],
    *,
    sizes: SizesAsked | None = None,
    tile: Tile = 1,
    executions: str | PathLike[str] | Executions | Sample | None = None,
    recipe: Recipe | None = None,
    networks: int = 1,
    integer: bool = True,
    weight_bits: int = 8,
    seeds: int | None = None,
    progress: Teller | Progress | bool | None = None,
    **settings: Unpack[RecipeSettings],
) -> Network: ...
@overload
def train(
    what: Trainable | Sequence[Trainable],
    *,
    sizes: SizesAsked | None = None,
    tile: Tile = 1,
    recipe: Recipe | None = None,
    networks: int = 1,
    folder: str | PathLike[str],
    workers: str | int = 1,
    progress: Teller | Progress | bool | None = None,
    **settings: Unpack[RecipeSettings],
) -> Members: ...
def train(
    what: Trainable | Sequence[Trainable],
    *,
    sizes: SizesAsked | None = None,
    tile: Tile = 1,
    executions: str | PathLike[str] | Executions | Sample | None = None,
    recipe: Recipe | None = None,
    networks: int = 1,
    integer: bool = True,
    weight_bits: int = 8,
    seeds: int | None = None,
    folder: str | PathLike[str] | None = None,
    workers: str | int = 1,
    progress: Teller | Progress | bool | None = None,
    **settings: Unpack[RecipeSettings],
) -> Network | Members:
    """A network trained by full-batch gradient descent; raises TrainingError where that stalls.

    By default it is one small integer network for the cells of these programs: it runs every program with cells of
    these kinds, in any size. Every local state is tried, and if one is wrong the next of `seeds` seeds is taken.

    >>> from bitwright import addition, multiplication, run
    >>> network = train(multiplication(6), sizes="1..8")
    >>> network.proved, run(multiplication(20), multiplicand=719483, multiplier=483719, network=network).value
    (True, 348027597277)
    >>> train(addition(4), tile="all", width=512, integer=False).sentence
    'the whole state, 16 examples; width 512, 57,344 bytes of float32 weights'

    With a `folder` it trains float networks into it, one file each, which a run averages. Networks already there are
    kept, so an interrupted training continues.

    >>> members = train(addition(2), folder="adders", networks=3, tile="all", width=512)
    >>> run(addition(2), p=3, q=2, network=members.load()).value
    5

    Args:
        what: a program, or a list of programs.
        sizes: train on the kinds of cells of all these sizes, such as "1..64", "l=1..64" or range(1, 65).
        tile: how many neighbouring cells are taken as one; "all" for the whole state of one program, in one size.
        executions: learn from "runs", from random "states", from a .npz file or from what `executions` returns, and
            never see a template alone; a `Sample` gives their number.
        recipe: the settings below as one value.
        networks: how many to train; without a folder they become one integer network, side by side.
        integer: quantize to integers; otherwise the network has floats.
        weight_bits: bits of an integer weight, from 2 to 8.
        seeds: how many seeds to try until every local state is right; 10 by default.
        folder: keep several float networks apart, in this folder.
        workers: how many processes share the training of the networks in a folder; "all" or "ray".
        progress: True for lines on standard error, or a function that takes the work done and the total.
        width: hidden units; by default the smallest of 32, 64, ... that is proved with a margin of 0.1 or more, and for
            the whole state what the width law suggests.
        seed, member: which initial weights are drawn; members of an ensemble have one seed.
        padding: examples that are never matched, added to the training set.
        start: the outputs at the beginning are "zero", or "random" as in the paper.
        tolerance: training ends once every output is this close to its label; 0.001, for executions 0.01.
        descent: "balanced" steps, the default; "momentum", the default for executions; "plain", as in the theorem.
        rate, most_steps: of the descent; by default they follow from the spectrum of the kernel.
        parametrization: "ntk", or "standard", in which layers have other shares of a step.
        trainer: "numpy", or "torch" on a `device` such as "cuda".
        precision: "float32" or "float64".
    """
    whole_number(networks, option("networks"), 1, _MOST_NETWORKS)
    tries = whole_number(SEEDS if seeds is None else seeds, option("seeds"), 1, _MOST_SEEDS)
    begin, tell = time.perf_counter(), teller(progress)
    several = list(what) if isinstance(what, list | tuple) else [what]
    if folder is not None:
        if executions is not None or weight_bits != 8 or seeds is not None:
            raise InputError("networks in a folder are floats that learn from templates, each with its own seed")
        place = as_path(folder, "a folder")
        if place.suffix == ".safetensors":
            raise InputError(f"{networks:,} networks go into a folder, got the file name {place}")
        who = Workers.parse(str(workers), str(settings.get("device") or "cpu"))
        task = _task(several, sizes, tile, None, recipe, tell, settings)
        with tell.working("networks") as told:
            files = fill(task.program, task.recipe, networks, place, who, told)
        return _members(task, files, place, time.perf_counter() - begin)
    if not integer and weight_bits != 8:
        raise InputError(f"{option('weight_bits')} goes with {option('integer')}")
    if networks > 1 and not integer:
        raise InputError(f"{networks:,} networks go into a folder, or become one with {option('integer')}")
    task = _task(several, sizes, tile, executions, recipe, tell, settings)
    network = _train(task, networks, integer, weight_bits, tries, begin)
    if integer and sizes is None and tile == 1 and (progress is True or hasattr(progress, "note")):
        with tell.working("looking at other sizes"):
            missing = missing_size(task.programs[0], task.pattern)
        if missing is not None:
            tell.note(
                f"{at_size(task.name, missing)} has cells of other kinds, which this network does not run; "
                f"{option('sizes')} all trains one on those too"
            )
    return network


def _members(task: _Task, files: Sequence[Path], folder: Path, seconds: float) -> Members:
    """The report on networks trained into a folder."""
    recipe, plan, all_files = task.recipe, task.recipe.plan, network_files(folder)
    headline = f"{len(files):,} networks of width {recipe.width:,}, in {seconds:.2f} s"
    if len(all_files) > len(files):
        headline += f"; {folder} holds {len(all_files):,} networks, and all of them will be averaged"
    data = {
        "folder": str(folder),
        "networks": len(files),
        "name": task.name,
        "program_id": task.program.id,
        "examples": task.program.templates + recipe.padding,
        **{name: getattr(recipe, name) for name in ("padding", "width", "seed", "start")},
        **{name: getattr(plan, name) for name in ("parametrization", "descent", "tolerance")},
        "trainer": f"{recipe.trainer} on {recipe.device}",
        "kernel": recipe.kernel,
        "digests": [read_about(file).digest for file in files],
        "seconds": round(seconds, 3),
    }
    return Members(headline=headline, data=data, folder=folder)


def check_outputs(output: Path, kept: Path | None = None, workers: str | int = 1) -> None:
    """Raises InputError for a file that cannot be written, or that holds weights to keep.

    One file has one network, which `workers` cannot share.
    """
    if Workers.parse(str(workers)).kind != "serial":
        raise InputError(
            f"{option('workers')} share out several networks in a folder: {option('networks')} with {option('float')}"
        )
    check_output(output, ".safetensors")
    if kept is not None and any(
        output.exists() and file.exists() and output.samefile(file) for file in network_files(kept)
    ):
        raise InputError(f"{output} holds the trained weights, which quantizing would destroy; choose another file")


def _task(
    several: Sequence[Any],
    sizes: SizesAsked | None,
    tile: Tile,
    executions: Any,
    recipe: Recipe | None,
    tell: Teller,
    settings: RecipeSettings,
) -> _Task:
    """The training task; raises InputError for options that do not go together."""
    check_options(settings, (*_OPTIONS, *RecipeSettings.__annotations__), "train")
    if not several:
        raise InputError("give at least one program to train on")
    tile = check_tile(tile)
    sample = executions if isinstance(executions, Sample | None) else Sample(executions)
    named = {name: value for name, value in settings.items() if value is not None or name not in _MAY_BE_NONE}
    if sample is not None:
        if settings.get("padding") or (recipe is not None and recipe.padding):
            raise InputError(f"{option('padding')} is for templates; leave it out with {option('executions')}")
        if recipe is None:
            named = {"tolerance": TOLERANCE, "descent": "momentum"} | named
    subjects = [subject(one) for one in several]
    first, *others = map(of_bits, subjects)
    if tile == "all":
        if others:
            raise InputError("one network serves several programs by their cells; name one for the whole state")
        if sizes is not None:
            raise InputError(f"{option('sizes')} goes with networks of cells, not of the whole state")
        if isinstance(subjects[0], NodeProgram):
            raise InputError(f"{first.name} is a node program, whose networks are of cells, not of the whole state")
        programs = [first]
    else:
        if sizes is None:
            check_divides(first, tile)
        with tell.working("looking for kinds of cells"):
            programs = [*in_sizes([first], sizes).programs, *(at for one in others for at in in_sizes([one]).programs)]
    pattern = pattern_of([one.program for one in programs], tile)
    runs = None if pattern.whole is None else first
    wider = WIDER if sample is not None and runs is None else 1
    with tell.working("choosing a width"):
        made = _make_recipe(lambda padding: wider * suggested_width(pattern, runs, padding), named, recipe)
    learnt = None if sample is None else cell_set(pattern, programs, sample, tile)
    smallest = learnt is None and recipe is None and settings.get("width") is None and not made.padding
    task = _Task(first.name, (first, *others), pattern, learnt, made, smallest, tell)
    if learnt is not None:
        _tell_learnt(task, learnt)
    return task


def _make_recipe(width: Callable[[int], int], settings: dict[str, Any], given: Recipe | None) -> Recipe:
    """The recipe with these settings; `width` gives the default width for a padding."""
    if not isinstance(given, Recipe | None):
        raise InputError(f"recipe is a Recipe, got a {type(given).__name__}; give single settings by their names")
    plan = {name: settings.pop(name) for name in _OF_PLAN if name in settings}
    made = replace(given or Recipe(settings.get("width", 2)), **settings)
    made = replace(made, plan=replace(made.plan, **plan))
    if given is None and "width" not in settings:
        made = replace(made, width=width(made.padding))
    if made.trainer == "torch":
        check_device(made.device)
    return made


def _tell_learnt(task: _Task, learnt: ExecutionSet) -> None:
    """Reports how much the executions show, how long learning takes, and what they never show."""
    found, pattern, program, plan = learnt.learnt_from, task.pattern, task.program, task.recipe.plan
    whole = pattern.whole is not None
    shown = f"{found.examples:,} of {counted(pattern.local_states, 'local state')} occur in"
    if whole:
        shown = f"{counted(found.examples, 'different state')} of"
    task.tell.note(f"{shown} {found.states:,} {_of(learnt)}")
    ends = learnt.spectrum(plan, NetworkShape(program.templates, task.recipe.width, program.bits))
    steps = plan.expected_steps(learnt.set.examples, ends)
    task.tell.note(f"the kernel of these has condition number {ends[1] / ends[0]:,.0f}: about {steps:,} steps")
    if not whole and (kinds := unseen_kinds(pattern, learnt)):
        numbers = listing([str(kind + 1) for kind in kinds], 8)
        never = "never occurs" if len(kinds) == 1 else "never occur"
        task.tell.note(f"{counted(len(kinds), 'kind')} of cells {never} in the data, number {numbers}")
    if whole and (templates := unseen(learnt)):
        texts = listing([f"'{program.template_text(template)}'" for template in templates], 2)
        never = counted(len(templates), "template")
        task.tell.note(f"these states never match {never}, which cannot be learnt: {texts}")


def _of(executions: ExecutionSet) -> str:
    learnt = executions.learnt_from
    if learnt.source == "runs":
        return "states of runs" if learnt.runs is None else f"states of {counted(learnt.runs, 'run')}"
    return "random states" if learnt.source == "states" else "states of the file"


def _train_one(task: _Task, recipe: Recipe, losses: dict[str, float]) -> FloatNetwork:
    """One network of this recipe; `losses` gets its last loss, by its digest."""
    shape = NetworkShape(task.program.templates + recipe.padding, recipe.width, task.program.bits)
    ends = None if task.executions is None else task.executions.spectrum(recipe.plan, shape)
    most = recipe.plan.expected_steps(shape.inputs, ends)
    with task.tell.working("training") as told:
        network, history = descend(task.program, recipe, lambda step, _: told(min(step, most), most), task.executions)
    losses[network.digest] = history.loss[-1]
    return network


def _train(task: _Task, networks: int, integer: bool, weight_bits: int, seeds: int, begin: float) -> Network:
    """Trains, and unless floats are asked for quantizes and tries all local states, if these are few."""
    losses: dict[str, float] = {}
    if not integer:
        weights = _train_one(task, task.recipe, losses)
        training = Training(time.perf_counter() - begin, losses[weights.digest], executions=task.executions)
        return Network(weights, task.pattern, task.runs, task.name, training)
    with task.tell.working("training on the local states"):
        found = (train_smallest if task.smallest else train_on_pattern)(
            task.pattern,
            task.recipe,
            weight_bits=weight_bits,
            seeds=seeds,
            make=lambda _, recipe: _train_one(task, recipe, losses),
            executions=task.executions,
            networks=networks,
            runs=task.runs,
        )
    loss, seconds = max(losses[one.digest] for one in found.trained), time.perf_counter() - begin
    problem = _advice(found, task.executions) if found.tables is not None and not found.proved else None
    if problem is not None:
        warn(problem, BitwrightWarning, stacklevel=3)
    training = Training(seconds, loss, found.trained, found.cost, found.seeds, task.executions, problem)
    return Network(found.network, task.pattern, task.runs, task.name, training)


def _advice(found: TrainedCells, executions: ExecutionSet | None) -> str:
    """Advice for a network that gets local states wrong, in one line.

    If some templates were never shown, a wider network would not learn them either.
    """
    assert found.tables is not None
    advice = wider(found.network.weight_bits)
    after = "" if found.seeds == 1 else f" after {found.seeds} seeds"
    head = f"{found.tables.wrong:,} of {counted(found.tables.states, 'local state')} come out wrong{after}"
    if executions is None:
        return f"{head}; {advice}"
    never, program = unseen(executions), found.pattern.program
    if not never:
        return f"{head}; {advice}, or show it more executions"
    texts = listing([f"'{program.template_text(template)}'" for template in never], 2)
    return (
        f"{head}; the executions never showed {counted(len(never), 'template')} ({texts}): learn from random states "
        f"({option('executions')} states)"
    )
