"""Training of networks of cells on the pattern of some programs, and samples of their local states."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.engines.cells.engine import TABLED
from bitwright.engines.cells.local import LocalStates, draw_numbers
from bitwright.engines.cells.trained import TrainedCells as TrainedCells
from bitwright.engines.cells.trained import as_algorithm as as_algorithm
from bitwright.engines.cells.trained import load_cells as load_cells
from bitwright.engines.cells.trained import pattern_in as pattern_in
from bitwright.errors import InputError
from bitwright.networks import TrainingError, quantize, train
from bitwright.program import Algorithm, Program
from bitwright.program.pattern import Pattern
from bitwright.program.pattern import pattern_of as pattern_of

if TYPE_CHECKING:
    from bitwright.networks import FloatNetwork, Recipe
    from bitwright.networks.train import ExecutionSet

_NARROWEST, _CLEAR_MARGIN = 32, 0.1  # where the search for a small network begins and what ends it
SEEDS = 10  # that are tried, one after the other, until a network is right in every local state


def check_tile(algorithm: Algorithm, tile: int) -> None:
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
) -> TrainedCells:
    """Trains on a pattern, quantizes, and tries every local state; if one is wrong, it takes the next seed.

    With `executions` it trains on these instead of the pattern's templates, and quantizes by them alone. Several
    `networks` become one, side by side.
    """
    make = make or (lambda program, recipe: train(program, recipe, executions=executions)[0])
    sample = local_sample(pattern) if executions is None else executions.sample
    best: TrainedCells | None = None
    problem: TrainingError | None = None
    for tried in range(seeds):
        try:
            trained = tuple(make(pattern.program, one) for one in members_of(recipe, networks, tried))
        except TrainingError as error:  # small widths sometimes stall
            problem = error
            continue
        network, cost = quantize(trained, pattern.program, weight_bits, sample=sample)
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

    The recipe's own width, from the width law, comes last, with all its seeds and any margin.
    """
    width = _NARROWEST
    while width < recipe.width and pattern.local_states <= TABLED:
        with suppress(TrainingError):  # small widths sometimes stall
            found = train_on_pattern(pattern, replace(recipe, width=width), **{**how, "seeds": 1})
            if found.proved and found.tables is not None and found.tables.margin >= _CLEAR_MARGIN:
                return found
        width *= 2
    return train_on_pattern(pattern, recipe, **how)


def members_of(recipe: Recipe, networks: int, later: int = 0) -> list[Recipe]:
    """The recipe of each of several networks, with a later seed."""
    return [replace(recipe, seed=recipe.seed + later, member=recipe.member + member) for member in range(networks)]


def local_sample(pattern: Pattern, most: int = 1_024) -> tuple[np.ndarray, np.ndarray]:
    """A sample of local states by which to choose the scales of rounding: what each matches, and its ports."""
    rng = np.random.default_rng(0)
    share = max(16, most // len(pattern.kinds))
    matched, own = [], []
    for number, kind in enumerate(pattern.kinds):
        local = LocalStates(kind)
        numbers = np.arange(local.count) if local.count <= share else draw_numbers(rng, local.count, share)
        rows = np.zeros((len(numbers), pattern.program.templates), dtype=bool)
        rows[:, pattern.first_template[number] : pattern.first_template[number + 1]] = local.matched(numbers)
        ports = np.zeros((len(numbers), pattern.program.bits), dtype=bool)
        ports[:, pattern.port_bits(number)] = True
        matched.append(rows)
        own.append(ports)
    return np.concatenate(matched), np.concatenate(own)


def cell_states(pattern: Pattern, most: int, seed: int) -> np.ndarray:  # (states, bits of the pattern)
    """Local states as states of the pattern with all other cells idle: all of them, or `most` at random.

    Raises InputError if an idle cell matches something: then no state of the pattern shows a single cell.
    """
    program = pattern.program
    if matching := program.match(np.zeros(program.bits, dtype=bool)).tolist():
        raise InputError(
            f"a cell with all bits off matches '{program.template_text(matching[0])}', so that cells side by side are "
            "not looked at one by one; run it by the engine network, with cells and several networks"
        )
    total = pattern.local_states
    chosen = np.arange(total) if total <= most else draw_numbers(np.random.default_rng(seed), total, most)
    states = np.zeros((len(chosen), program.bits), dtype=bool)
    first = 0
    for number, kind in enumerate(pattern.kinds):
        rows = np.flatnonzero((chosen >= first) & (chosen < first + kind.local_states))
        matched = LocalStates(kind).matched(chosen[rows] - first)
        for template in range(kind.templates):
            place = int(pattern.first_template[number]) + template
            block = program.block_members(int(program.template_block[place]))
            on = np.array(block)[int(program.template_config[place]) >> np.arange(len(block)) & 1 == 1]
            states[np.ix_(rows[matched[:, template]], on)] = True
        first += kind.local_states
    return states
