"""Training with signs of life: how far gradient descent is, and about how long the rest takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.cli.progress import StepProgress, working

if TYPE_CHECKING:
    from collections.abc import Callable

    from bitwright.networks import History, Network, Recipe
    from bitwright.networks.executions import ExecutionSet
    from bitwright.program import Program


def train_shown(program: Program, recipe: Recipe, executions: ExecutionSet | None = None) -> tuple[Network, History]:
    """A network of this recipe, on templates or executions."""
    from bitwright.networks import train

    with working("training") as progress:
        return train(program, recipe, _steps(program, recipe, executions, progress), executions)


def cached_shown(program: Program, recipe: Recipe) -> Network:
    """A network of this recipe, from the cache or trained now and kept."""
    from bitwright.networks.cache import cached_network

    with working("training") as progress:
        return cached_network(program, recipe, _steps(program, recipe, None, progress))[0]


def _steps(
    program: Program, recipe: Recipe, executions: ExecutionSet | None, progress: StepProgress
) -> Callable[[int, float], None]:
    """Steps of gradient descent, of so many as the spectrum of the kernel lets expect."""
    from bitwright.networks.start import NetworkShape

    shape = NetworkShape(program.templates + recipe.padding, recipe.width, program.bits)
    ends = None if executions is None else executions.spectrum(recipe.plan, shape)
    most = recipe.plan.expected_steps(shape.inputs, ends)
    return lambda step, _: progress(min(step, most), most)
