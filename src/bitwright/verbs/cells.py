"""Trains integer networks on the pattern of programs: gradient descent, quantization, and a check of local states."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bitwright.common.errors import InputError
from bitwright.engines.cells.network import are_few
from bitwright.networks import FloatNetwork, IntegerNetwork, Recipe, TrainingError, train
from bitwright.networks.quantize import Cost, local_sample, quantize
from bitwright.proofs.width import run_matches
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.network import Network, Training

if TYPE_CHECKING:
    from bitwright.networks import History
    from bitwright.networks.train import ExecutionSet

    Descend: TypeAlias = Callable[[Program, Recipe], tuple[FloatNetwork, History]]
_MET = 512  # states of runs in a sample
_NARROWEST, _CLEAR_MARGIN = 32, 0.1  # the first width of the search for a small network, and the margin that ends it
SEEDS = 10  # tried in turn until a network is correct in every local state


def check_divides(algorithm: Algorithm, tile: int) -> None:
    """Raises InputError for a tile that does not divide the length of some chain of cells."""
    cells = algorithm.program.cells
    for family, size in enumerate(cells.families.sizes.tolist()):
        if size > 1 and size % tile:
            raise InputError(
                f"a tile of {tile} does not divide the {size:,} cells of '{cells.families.labels[family]}'; "
                "choose another size, or give several sizes, which then include the remainders"
            )


def train_on_pattern(
    pattern: Pattern,
    recipe: Recipe,
    weight_bits: int = 8,
    seeds: int = SEEDS,
    descend: Descend | None = None,
    executions: ExecutionSet | None = None,
    runs: Algorithm | None = None,
) -> Network:
    """Trains on a pattern, quantizes, and checks every local state; if one is wrong, tries the next seed.

    If `executions` are given, training and quantization use only them, not the pattern's templates. `runs` is the
    algorithm, for a network of its whole state.
    """
    descend = descend or (lambda program, recipe: train(program, recipe, executions=executions))
    best: Network | None = None
    problem: TrainingError | None = None
    for tried in range(seeds):
        try:
            trained, history = descend(pattern.program, replace(recipe, seed=recipe.seed + tried))
        except TrainingError as error:  # small widths sometimes stall
            problem = error
            continue
        weights, cost = quantized(trained, pattern, weight_bits, executions, runs)
        found = Network(weights, pattern, runs, training=Training(cost, history.loss[-1], tried + 1))
        if found.tables is None or not found.tables.wrong:
            return found
        if best is None or best.tables is None or found.tables.wrong < best.tables.wrong:
            best = found
    if best is None or best.training is None:
        raise problem or InputError("no network could be trained")
    return replace(best, training=replace(best.training, seeds=seeds))


def train_smallest(pattern: Pattern, recipe: Recipe, **how: Any) -> Network:
    """Trains at widths 32, 64, ... until every local state is proved with a margin of at least 0.1.

    If none suffices, trains at the recipe's width, from the width law, with all its seeds and any margin. If training
    stalls there, doubles the width up to twice.
    """
    width = _NARROWEST
    while width < recipe.width and are_few(pattern, recipe.width):
        with suppress(TrainingError):  # small widths sometimes stall
            found = train_on_pattern(pattern, replace(recipe, width=width), **{**how, "seeds": 1})
            if found.tables is not None and not found.tables.wrong and found.tables.margin >= _CLEAR_MARGIN:
                return found
        width *= 2
    for _ in range(2):  # the width law is an estimate, so training may still stall
        with suppress(TrainingError):
            return train_on_pattern(pattern, recipe, **how)
        recipe = replace(recipe, width=2 * recipe.width)
    return train_on_pattern(pattern, recipe, **how)


def quantized(
    trained: FloatNetwork,
    pattern: Pattern,
    weight_bits: int = 8,
    executions: ExecutionSet | None = None,
    runs: Algorithm | None = None,
) -> tuple[IntegerNetwork, Cost]:
    """Quantizes trained weights; returns the integer network and the cost of quantizing.

    Scales are chosen using local states. If the trained weights of a whole state are wrong in some of them, states that
    its `runs` visit are used instead. A network that learnt from executions is quantized using them.
    """
    program = pattern.program
    if executions is not None:
        return quantize(trained, program, weight_bits, executions.sample)
    found = quantize(trained, program, weight_bits, local_sample(pattern))
    if found[1].margin_before > 0 or pattern.whole is None or runs is None:
        return found
    met = run_matches(runs, _MET, 0)
    return quantize(trained, program, weight_bits, (met, np.ones((len(met), program.bits), dtype=bool)))
