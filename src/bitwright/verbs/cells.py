"""Training of networks of cells on the pattern of programs, and quantization by samples of local states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.engines.cells.network import are_few
from bitwright.engines.cells.trained import TrainedCells as TrainedCells
from bitwright.engines.cells.trained import as_algorithm as as_algorithm
from bitwright.networks import IntegerNetwork, TrainingError, train
from bitwright.networks.quantize import Cost, local_sample, quantize
from bitwright.proofs.width import run_matches
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern
from bitwright.rules.pattern import pattern_of as pattern_of

if TYPE_CHECKING:
    from bitwright.networks import FloatNetwork, Recipe
    from bitwright.networks.train import ExecutionSet

_MET = 512  # states of runs in a sample
_NARROWEST, _CLEAR_MARGIN = 32, 0.1  # where the search for a small network begins and what ends it
SEEDS = 10  # tried in turn until a network is right in every local state


def check_divides(algorithm: Algorithm, tile: int) -> None:
    """Raises InputError for a tile that does not divide the length of some chain of cells."""
    cells = algorithm.program.cells
    for family, size in enumerate(cells.families.sizes.tolist()):
        if size > 1 and size % tile:
            raise InputError(
                f"a tile of {tile} does not divide the {size:,} cells of '{cells.families.labels[family]}'; "
                "give another size, or several, which include the remainders"
            )


def train_on_pattern(
    pattern: Pattern,
    recipe: Recipe,
    weight_bits: int = 8,
    seeds: int = SEEDS,
    make: Callable[[Program, Recipe], FloatNetwork] | None = None,
    executions: ExecutionSet | None = None,
    networks: int = 1,
    runs: Algorithm | None = None,
) -> TrainedCells:
    """Trains on a pattern, quantizes, and tries every local state; if one is wrong, tries the next seed.

    With `executions` it trains on these instead of the pattern's templates, and quantizes by them alone. Several
    `networks` become one, side by side. `runs` is the algorithm whose whole state it is of.
    """
    make = make or (lambda program, recipe: train(program, recipe, executions=executions)[0])
    best: TrainedCells | None = None
    problem: TrainingError | None = None
    for tried in range(seeds):
        try:
            trained = tuple(make(pattern.program, one) for one in members_of(recipe, networks, tried))
        except TrainingError as error:  # small widths sometimes stall
            problem = error
            continue
        network, cost = quantized(trained, pattern, weight_bits, executions, runs)
        found = TrainedCells(pattern, network, trained, cost, tried + 1)
        if found.proved or found.tables is None:
            return found
        if best is None or best.tables is None or found.tables.wrong < best.tables.wrong:
            best = found
    if best is None:
        raise problem or InputError("no network could be trained")
    return replace(best, seeds=seeds)


def train_smallest(pattern: Pattern, recipe: Recipe, **how: Any) -> TrainedCells:
    """Trains at widths 32, 64, ... until every local state is proved with a margin of at least 0.1.

    The recipe's own width, from the width law, comes next, with all its seeds and any margin; if training stalls there,
    twice and four times that width.
    """
    width = _NARROWEST
    while width < recipe.width and are_few(pattern, recipe.width):
        with suppress(TrainingError):  # small widths sometimes stall
            found = train_on_pattern(pattern, replace(recipe, width=width), **{**how, "seeds": 1})
            if found.proved and found.tables is not None and found.tables.margin >= _CLEAR_MARGIN:
                return found
        width *= 2
    for _ in range(2):  # the width law is an estimate, and training may still stall there
        with suppress(TrainingError):
            return train_on_pattern(pattern, recipe, **how)
        recipe = replace(recipe, width=2 * recipe.width)
    return train_on_pattern(pattern, recipe, **how)


def members_of(recipe: Recipe, networks: int, later: int = 0) -> list[Recipe]:
    """The recipe of each of several networks, with a later seed."""
    return [replace(recipe, seed=recipe.seed + later, member=recipe.member + member) for member in range(networks)]


def quantized(
    networks: Sequence[FloatNetwork],
    pattern: Pattern,
    weight_bits: int = 8,
    executions: ExecutionSet | None = None,
    runs: Algorithm | None = None,
) -> tuple[IntegerNetwork, Cost]:
    """The integer network that combines these, and the cost of quantizing.

    Scales are chosen by local states. Of the whole state of an algorithm also those that its `runs` meet count, and
    these alone if the trained weights are wrong elsewhere. A network that learnt from executions is quantized by them.
    """
    program = pattern.program
    if executions is not None:
        return quantize(networks, program, weight_bits, executions.sample)
    found = quantize(networks, program, weight_bits, local_sample(pattern))
    if found[1].margin_before > 0 or pattern.whole is None or runs is None:
        return found
    met = run_matches(runs, _MET, 0)
    return quantize(networks, program, weight_bits, (met, np.ones((len(met), program.bits), dtype=bool)))
