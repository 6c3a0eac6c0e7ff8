"""Training of one integer network, with the curve of its error, for a page that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bitwright.common.errors import InputError, option
from bitwright.networks import FloatNetwork as FloatNetwork
from bitwright.networks import Plan as Plan
from bitwright.networks import Recipe, train
from bitwright.networks.store import network_bytes
from bitwright.proofs.exhaustion.certificate import covered_by_cells
from bitwright.proofs.width import suggested_width
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import check_divides, pattern_of, train_on_pattern, train_smallest
from bitwright.verbs.network import Network
from bitwright.verbs.sizes import check_tile

if TYPE_CHECKING:
    from bitwright.machines.programs import SubleqProgram

MOST_POINTS = 400  # of the curve of an error; neighbours are left out beyond it
Curve = list[tuple[int, float]]  # steps of a training, and the largest error
Report = Callable[[int, int, Curve], None]  # steps made, how many there may be, and the curve so far
Trainer = Callable[[Program, Recipe], tuple[FloatNetwork, Curve]]


def watched(program: Program, recipe: Recipe, report: Report) -> tuple[FloatNetwork, Curve]:
    """Trains a network and reports the curve of its error."""
    most, curve = recipe.plan.expected_steps(program.templates + recipe.padding), Curve()

    def step(number: int, error: float) -> None:
        curve.append(_point(number, error))
        if len(curve) > MOST_POINTS:
            del curve[1::2]
        report(min(number, most), most, curve)

    network, history = train(program, recipe, step)
    every = -(-len(history.error) // MOST_POINTS)
    return network, [_point(at, error) for at, error in enumerate(history.error) if at % every == 0]


def _point(step: int, error: float) -> tuple[int, float]:
    return step, float(f"{error:.4g}")


def cells_of(what: Algorithm | NodeProgram | SubleqProgram, tile: object = 1) -> tuple[Pattern, str]:
    """The pattern of a program's cells, and what a network that is correct on them runs, in words.

    Args:
        what: the program.
        tile: the number of neighbouring cells taken as one, or "all" for the whole state.
    """
    tile = check_tile(tile)
    if isinstance(what, Algorithm):
        if tile == "all":
            return pattern_of([what.program], tile), "every choice in every block"
        check_divides(what, tile)
        return pattern_of([what.program], tile), covered_by_cells()
    if tile != 1:
        raise InputError(f"networks of machine V and of node programs have single cells; {option('tile')} must be 1")
    if isinstance(what, NodeProgram):
        return Pattern.of(what.kinds), covered_by_cells(None, what.graphs)
    return pattern_of([what.machine.program]), "every image of such a machine"


def make_network(
    pattern: Pattern, runs: Algorithm | None, width: int | None, most: int, seed: int, train: Trainer
) -> tuple[Network, Curve]:
    """Trains a network of cells, or of the whole state of `runs`, and quantizes it; returns it with its error's curve.

    Without a `width` it is the smallest that suffices, up to what the width law suggests, or `most`.
    """
    curves: dict[tuple[int, int], Curve] = {}

    def make(program: Program, recipe: Recipe) -> FloatNetwork:
        network, curves[recipe.seed, recipe.width] = train(program, recipe)
        return network

    fit = train_on_pattern if width else train_smallest
    weights = fit(
        pattern, Recipe(width or min(suggested_width(pattern, runs), most), seed), make=make, runs=runs
    ).network
    return Network(weights, pattern, runs), curves[weights.origin.seed, weights.shape.width]


def network_file(network: Network) -> bytes:
    """The .safetensors file of a network."""
    assert network.program is not None
    return network_bytes(network.weights, network.program)
