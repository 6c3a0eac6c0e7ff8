"""How many examples a state can match, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.errors import InputError
from bitwright.program import Algorithm, Program
from bitwright.program.pattern import Pattern

SOURCES = ("blocks", "declared", "reachable")


@dataclass(frozen=True)
class Range:
    """How large n can get, and how that is known.

    blocks: one match a block, proved. declared: the algorithm says so, an assumption. reachable: the largest n met in
    running the inputs named in `scope`.
    """

    n_max: int
    source: str
    scope: str
    covers: str = "every state"  # what a verdict for this range speaks of

    @property
    def assumption(self) -> str | None:
        """What is taken on trust, if anything is."""
        return f"n <= {self.n_max:,}" if self.source == "declared" else None


def blocks_range(program: Program) -> Range:
    """n <= the number of blocks that have templates: true of every state whatever."""
    count = len(np.unique(program.template_block))
    return Range(count, "blocks", "every state: at most one match in each block that has templates")


def cells_range(pattern: Pattern) -> Range:
    """n of one cell alone: at most one match in each of its blocks."""
    scope = "every local state: at most one match in each block of one cell"
    most = max(len(kind.blocks) for kind in pattern.kinds)
    return Range(most, "cells", scope, "every local state of every kind of cells")


def declared_range(algorithm: Algorithm) -> Range:
    """The algorithm's own word; where that says no less than its blocks do, nothing is assumed."""
    if algorithm.matches is None:
        raise InputError(
            f"{algorithm.name} declares no bound on its matches; take n from its blocks, or add a 'matches' line"
        )
    proved = blocks_range(algorithm.program)
    if algorithm.matches >= proved.n_max:
        return proved
    covers = f"every state with n <= {algorithm.matches:,}"
    return Range(algorithm.matches, "declared", "assumed: declared by the algorithm, not proved", covers)


def training_size(algorithm: Algorithm, rounding: str, padding: int | None = None) -> int:
    """K: the templates and the padding asked for, or what the algorithm declares for the sign rule."""
    templates = algorithm.program.templates
    if padding is not None:
        return templates + padding
    return max(templates, algorithm.examples or 0) if rounding == "sign" else templates
