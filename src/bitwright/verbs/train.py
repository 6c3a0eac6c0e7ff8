"""Trains a small integer network, for the cells of programs or for the whole state of one program."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import warn

from bitwright.common.bits import whole_number
from bitwright.common.errors import BitwrightWarning, InputError, counted, listing, option
from bitwright.common.files.executions import Executions
from bitwright.common.files.storage import check_output as check_output
from bitwright.networks import FloatNetwork, History, Recipe
from bitwright.networks import train as descend
from bitwright.networks.descent import expected_steps
from bitwright.networks.integer import WEIGHT_BITS
from bitwright.networks.train import ExecutionSet
from bitwright.proofs.width import suggested_width
from bitwright.rules import Algorithm, Program
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.runs.progress import Progress
from bitwright.verbs.cells import SEEDS, check_divides, train_on_pattern, train_smallest
from bitwright.verbs.executions import TOLERANCE, WIDER, Sample, cell_set, unseen, unseen_kinds
from bitwright.verbs.network import Network
from bitwright.verbs.open import check_tile, is_node_program, of_bits, subject
from bitwright.verbs.progress import Teller, teller
from bitwright.verbs.sizes import SizesAsked, at_size, in_sizes, missing_size

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

    Trainable: TypeAlias = Algorithm | Program | NodeProgram

_MOST_SEEDS = 1_000


@dataclass(frozen=True, eq=False)
class _Task:
    """A training task: on the templates of a pattern, or on executions instead."""

    programs: Sequence[Algorithm]
    pattern: Pattern
    runs: Algorithm | None  # the algorithm, for a network of its whole state; None for cells
    executions: ExecutionSet | None
    recipe: Recipe
    tell: Teller

    def descend(self, program: Program, recipe: Recipe) -> tuple[FloatNetwork, History]:
        """Runs gradient descent, with its progress."""
        learnt = self.executions
        most = expected_steps(recipe.tolerance) if learnt is None else learnt.steps(recipe.tolerance)
        with self.tell.working("training") as told:
            return descend(program, recipe, lambda step, _: told(min(step, most), most), learnt)


def train(
    what: Trainable | Sequence[Trainable],
    *,
    sizes: SizesAsked | None = None,
    tile: Tile = 1,
    executions: str | PathLike[str] | Executions | Sample | None = None,
    width: int | None = None,
    seed: int = 0,
    seeds: int | None = None,
    padding: int | None = None,
    tolerance: float | None = None,
    weight_bits: int = 8,
    device: str | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Network:
    """Trains a small integer network by full-batch gradient descent; raises TrainingError if training stalls.

    The network computes the cells of these programs, and runs every program made of these kinds of cells, at any size.
    It is checked in every local state; if any is wrong, training is repeated with the next of `seeds` seeds.

    >>> from bitwright import addition, multiplication, run
    >>> network = train(multiplication(6), sizes="1..8")
    >>> network.proved, run(multiplication(20), multiplicand=719483, multiplier=483719, network=network).value
    (True, 348027597277)
    >>> train(addition(4), tile="all", width=512).sentence
    'the whole state, 16 examples; width 512, 14,528 bytes of weights'

    Args:
        what: a program, or a list of programs.
        sizes: train on the kinds of cells of all these sizes, such as "1..64", "l=1..64" or range(1, 65).
        tile: the number of neighbouring cells treated as one; "all" for the whole state of one program, at one size.
        executions: learn from "runs", random "states", a .npz file or the result of `executions` instead of
            templates; a `Sample` also sets their number.
        width: hidden units; by default, the smallest of 32, 64, ... at which the network is proved with a margin of 0.1
            or more or, if there is none, the width that the width law suggests.
        seed: the first random seed of the initial weights.
        seeds: the number of seeds to try until every local state is correct; 10 by default.
        padding: the number of examples that never match, added to the training set.
        tolerance: training ends once every output is this close to its label; 0.001 by default, 0.01 for executions.
        weight_bits: the number of bits per integer weight, from 2 to 8.
        device: "cpu", or "cuda" to train with PyTorch on a GPU.
        progress: True for lines on standard error, or a function that takes the work done and the total.
    """
    tries = whole_number(SEEDS if seeds is None else seeds, option("seeds"), 1, _MOST_SEEDS)
    begin, tell = time.perf_counter(), teller(progress)
    sample = executions if isinstance(executions, Sample | None) else Sample(executions)
    if sample is not None and padding:
        raise InputError(
            f"{option('padding')} adds to templates and cannot be used with {option('executions')}; leave it out"
        )
    several = list(what) if isinstance(what, list | tuple) else [what]
    programs, pattern = _programs(several, sizes, check_tile(tile), tell)
    first, runs = programs[0], None if pattern.whole is None else programs[0]
    if tolerance is None:
        tolerance = Recipe.tolerance if sample is None else TOLERANCE
    recipe = Recipe(2 if width is None else width, seed, padding or 0, tolerance, "cpu" if device is None else device)
    if width is None:
        with tell.working("choosing a width"):
            more = WIDER if sample is not None and runs is None else 1
            recipe = replace(recipe, width=more * suggested_width(pattern, runs, recipe.padding))
    learnt = None if sample is None else cell_set(pattern, programs, sample, tile)
    task = _Task(programs, pattern, runs, learnt, recipe, tell)
    if learnt is not None:
        _tell_learnt(task, learnt)
    smallest = learnt is None and width is None and not recipe.padding
    with tell.working("training on the local states"):
        found = (train_smallest if smallest else train_on_pattern)(
            pattern,
            recipe,
            weight_bits=weight_bits,
            seeds=tries,
            descend=task.descend,
            executions=learnt,
            runs=runs,
        )
    problem = _advice(found, learnt)
    if problem is not None:
        warn(problem, BitwrightWarning, stacklevel=2)
    assert found.training is not None
    training = replace(found.training, seconds=time.perf_counter() - begin, problem=problem)
    if sizes is None and tile == 1 and (progress is True or hasattr(progress, "note")):
        _tell_missing_size(task)
    return replace(found, name=first.name, training=training)


def _programs(
    several: Sequence[Any], sizes: SizesAsked | None, tile: Tile, tell: Teller
) -> tuple[Sequence[Algorithm], Pattern]:
    """Returns the programs at all their sizes, and the pattern of their cells or of the whole state."""
    if not several:
        raise InputError("give at least one program to train on")
    subjects = [subject(one) for one in several]
    first, *others = map(of_bits, subjects)
    if tile == "all":
        if others:
            raise InputError(
                f"a network of the whole state needs one program, got {len(subjects)} programs; train cells"
            )
        if sizes is not None:
            raise InputError(f"{option('sizes')} works only with networks of cells, not of the whole state")
        if is_node_program(subjects[0]):
            raise InputError(f"{first.name} is a node program and needs a network of cells, not of the whole state")
        return [first], pattern_of([first.program], tile)
    if sizes is None:
        check_divides(first, tile)
    with tell.working("looking for kinds of cells"):
        programs = [*in_sizes([first], sizes).programs, *(at for one in others for at in in_sizes([one]).programs)]
    return programs, pattern_of([one.program for one in programs], tile)


def _tell_missing_size(task: _Task) -> None:
    """Reports a size at which the program has other kinds of cells."""
    with task.tell.working("looking at other sizes"):
        missing = missing_size(task.programs[0], task.pattern)
    if missing is not None:
        task.tell.note(
            f"{at_size(task.programs[0].name, missing)} has other kinds of cells, which this network does not run; "
            f"{option('sizes')} all includes them in training"
        )


def _tell_learnt(task: _Task, learnt: ExecutionSet) -> None:
    """Reports what the executions show and do not show, and how long training takes."""
    found, pattern, program = learnt.learnt_from, task.pattern, task.pattern.program
    whole = pattern.whole is not None
    shown = f"{found.examples:,} of {counted(pattern.local_states, 'local state')} occur in"
    if whole:
        shown = f"{counted(found.examples, 'different state')} of"
    task.tell.note(f"{shown} {found.states:,} {_of(learnt)}")
    low, high = learnt.kernel
    steps = learnt.steps(task.recipe.tolerance)
    task.tell.note(f"their kernel has condition number {high / low:,.0f}, so training takes about {steps:,} steps")
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


def _advice(found: Network, executions: ExecutionSet | None) -> str | None:
    """Returns a line of advice for a network with wrong local states; None if it is correct or was not checked.

    A wider network does not help with templates that the executions never show.
    """
    if found.tables is None or not found.tables.wrong or found.training is None or found.program is None:
        return None
    most, seeds = WEIGHT_BITS[-1], found.training.seeds
    advice = "use a wider network"
    if found.weights.weight_bits < most:
        advice += f", or weights of up to {most} bits"
    after = "" if seeds == 1 else f" after {seeds} seeds"
    head = f"{found.tables.wrong:,} of {counted(found.tables.states, 'local state')} are wrong{after}"
    if executions is None:
        return f"{head}; {advice}"
    never, program = unseen(executions), found.program
    if not never:
        return f"{head}; {advice}, or more executions"
    texts = listing([f"'{program.template_text(template)}'" for template in never], 2)
    return (
        f"{head}; the executions never match {counted(len(never), 'template')} ({texts}); use random states "
        f"({option('executions')} states)"
    )
