"""How many examples a state can match, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.errors import InputError
from bitwright.program import Algorithm, Program


@dataclass(frozen=True)
class Range:
    """How large n can get, and how that is known.

    blocks: one match a block, proved. declared: the algorithm says so, an assumption. reachable: the largest n met in
    running the inputs named in `scope`.
    """

    n_max: int
    source: str
    scope: str


def blocks_range(program: Program) -> Range:
    """n <= the number of blocks that have templates: true of every state whatever."""
    count = len(np.unique(program.template_block))
    return Range(count, "blocks", "every state: at most one match in each block that has templates")


def declared_range(algorithm: Algorithm) -> Range:
    """The algorithm's own word."""
    if algorithm.matches is None:
        raise InputError(f"{algorithm.name} declares no bound on its matches; use --n blocks, or add a 'matches' line")
    blocks = blocks_range(algorithm.program).n_max
    return Range(min(algorithm.matches, blocks), "declared", "assumed: declared by the algorithm, not proved")
