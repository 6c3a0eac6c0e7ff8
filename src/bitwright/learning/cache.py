"""Networks trained on the spot are kept in the user's cache folder, so that the next run finds them."""

from __future__ import annotations

import os
from pathlib import Path

from bitwright.errors import InputError
from bitwright.learning.network import Network
from bitwright.learning.store import load_network, save_network
from bitwright.learning.train import Recipe, train
from bitwright.program import Program

_PER_EXAMPLE = 100  # hidden units for each example; see docs/learning.md for what this rests on
_LEAST, _MOST = 2_048, 1 << 20


def suggested_width(examples: int) -> int:
    """A width at which one network ran every program we tried exactly: a power of two above 100 K. Not proved."""
    width = _LEAST
    while width < min(_PER_EXAMPLE * examples, _MOST):
        width *= 2
    return width


def cached_network(program: Program, recipe: Recipe) -> tuple[Network, bool]:
    """The network of this recipe: from the cache, or trained now and kept. Also says whether it was trained now."""
    plan = recipe.plan
    kind = f"{recipe.start}-{plan.parametrization}-{'momentum' if plan.momentum else 'plain'}-{plan.tolerance:g}"
    name = f"{program.id[:24]}-{recipe.width}-{recipe.seed}-{recipe.member}-{recipe.padding}-{kind}.safetensors"
    path = cache_folder() / "networks" / name
    if path.exists():
        try:
            network = load_network(path, program)
            if is_as_asked(network, recipe):
                return network, False
        except InputError:
            pass  # damaged or of another version: train it again
    network, _ = train(program, recipe)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_network(network, program, path)
    except (OSError, InputError):
        pass  # a cache that cannot be written is no reason to fail
    return network, True


def is_as_asked(network: Network, recipe: Recipe) -> bool:
    """Whether a stored network is the one that this recipe gives."""
    found, plan = network.origin, recipe.plan
    return (
        (network.shape.width, found.seed, found.member, found.start)
        == (recipe.width, recipe.seed, recipe.member, recipe.start)
        and (found.padding, found.tolerance, found.momentum) == (recipe.padding, plan.tolerance, plan.momentum)
        and found.parametrization == plan.parametrization
        and network.first.dtype == recipe.precision
    )


def cache_folder() -> Path:
    """Where this user's caches are."""
    root = os.environ.get("BITWRIGHT_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(root) / "bitwright" if root else Path.home() / ".cache" / "bitwright"
