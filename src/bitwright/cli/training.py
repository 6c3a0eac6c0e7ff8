"""Training on the spot with signs of life."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.cli.progress import working

if TYPE_CHECKING:
    from bitwright.networks import FloatNetwork, Recipe
    from bitwright.program import Program


def cached_shown(program: Program, recipe: Recipe) -> FloatNetwork:
    """A network of this recipe, from the cache or trained now and kept."""
    from bitwright.api.train import training_steps
    from bitwright.networks.cache import cached_network

    with working("training") as progress:
        return cached_network(program, recipe, training_steps(program, recipe, None, progress))[0]
