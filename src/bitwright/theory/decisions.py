"""Decisions of the limit as a table over (n, c, m), proved.

A bit with c writers, m of which match in a state with n matches, has the mean w0 c + (w1 - w0) m. It grows with m, for
w1 - w0 = beta(n)/(2 pi - 1) and beta(n) >= (pi - 1)/sqrt(n) > 0; so a rounding is one integer for each n and c:
how many writers must match for the bit to become 1. Calibrated rounding puts its threshold between m = 0 and m = 1.
Under `sign` the mean is above 0 exactly if m (K + 2 pi - 1) > c rho(n), rho(n) = n - (2 pi - 1)/beta(n): with m = 1
this is Assumption 5.1, with m = 0 it never holds, since rho >= 0. So the number is floor(c rho(n)/(K + 2 pi - 1)) + 1.
Since rho(n) grows with n (theory.md, Decisions), it is enough to prove, in interval arithmetic, both ends of every
range of n in which the number stays the same.

Here too is how many examples a state can match, n, and how that is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import BitwrightError, InputError
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray, beta
from bitwright.theory.rounding import Rounding

if TYPE_CHECKING:
    from bitwright.theory.intervals import Ball, Enclosure

CLOSE = 1e-9  # closer ties than this, relative, are left to interval arithmetic; doubles are good to 1e-13 here


def rho(n: ArrayLike) -> FloatArray:
    """n - (2 pi - 1)/beta(n) for n >= 1; exactly 0 at n = 1, and below n everywhere."""
    n = np.asarray(n, dtype=np.float64)
    return np.where(n <= 1, 0.0, n - (2 * pi - 1) / beta(np.maximum(n, 1)))


def matches_needed(
    n_max: int, writers: IntArray, examples: int, close: float = CLOSE
) -> IntArray:  # (n_max + 1, len(writers))
    """How many of a bit's c writers must match for a mean above 0: floor(c rho(n)/(K + 2 pi - 1)) + 1, for each n, c.

    Where a double cannot tell on which side of an integer the quotient lies (it is as `close` as this to one),
    interval arithmetic does.
    """
    quotient = np.multiply.outer(rho(np.arange(n_max + 1)), writers) / (examples + 2 * pi - 1)
    needed = np.floor(quotient).astype(np.int64) + 1
    nearest = np.rint(quotient)
    ties = (np.abs(quotient - nearest) <= close * np.maximum(nearest, 1)) & (nearest >= 1)
    for n, at in np.argwhere(ties).tolist():
        below = int(nearest[n, at])  # is the mean above 0 already with this many matches?
        # A mean of exactly 0 would round to 0.
        needed[n, at] = below if mean_is_positive(examples, n, int(writers[at]), below) else below + 1
    return needed


def mean_is_positive(examples: int, n: int, writers: int, matches: int) -> bool | None:
    """Whether c w0 + m (w1 - w0) > 0, proved; None where no precision can tell it from 0."""
    from bitwright.theory.intervals import enclose, precision

    for bits in (128, 512, 2048):
        with precision(bits):
            mean = _mean(enclose(n, examples), writers, matches)
            if mean > 0 or mean <= 0:
                return bool(mean > 0)
    return None


Triple = tuple[int, int, int]  # n, writers c, matches m


@dataclass(frozen=True, eq=False)
class Decisions:
    """Which triples set a bit: those with m >= needed[n, place of c among the `writers`]."""

    rounding: Rounding | None  # None: the rules themselves, where one match is enough
    examples: int
    writers: IntArray  # the different numbers of writers, ascending, without 0
    n_max: int

    @cached_property
    def fails_from(self) -> int | None:
        """The smallest n at which some bit may need more than one match: the more writers, the more are needed."""
        if self.rounding != "sign" or not len(self.writers):
            return None
        beyond = np.flatnonzero(self._proved_column(int(self.writers[-1])) > 1)
        return int(beyond[0]) if len(beyond) else None

    @cached_property
    def needed(self) -> IntArray:  # (n_max + 1, len(writers))
        """How many matches a bit needs, by n and by its number of writers."""
        if self.rounding != "sign":
            return np.ones((self.n_max + 1, len(self.writers)), dtype=np.int64)
        columns = [self._proved_column(c) for c in self.writers.tolist()]
        return np.stack(columns, axis=1) if columns else np.ones((self.n_max + 1, 0), dtype=np.int64)

    def sets(self, triple: Triple) -> bool:
        """Whether a bit in this situation becomes 1."""
        n, c, m = triple
        return bool(m >= self.needed[n, np.searchsorted(self.writers, c)])

    def margin(self, triples: Iterable[Triple]) -> tuple[float, Triple] | None:
        """The smallest distance from the threshold, rounded down, and where; None where no margin is at stake.

        calibrated: |zhat - 1/2|, and zhat = m; sign: |mu|. As in `round_outputs`, n = 0 does not count, nor does n = 1
        under `sign`, where every mean is exactly 0 or 1.
        """
        at_stake = sorted(t for t in triples if t[0] > (self.rounding == "sign"))
        if not at_stake or self.rounding is None:
            return None
        if self.rounding == "calibrated":
            return min((abs(m - 0.5), (n, c, m)) for n, c, m in at_stake)
        from bitwright.theory.intervals import enclose, lower_bound, precision  # where something is to be proved

        with precision():
            return min(
                (max(0.0, lower_bound(abs(_mean(enclose(n, self.examples), c, m)))), (n, c, m)) for n, c, m in at_stake
            )

    def _proved_column(self, c: int) -> IntArray:  # (n_max + 1,)
        """What a bit with c writers needs under `sign`, by n."""
        column = matches_needed(self.n_max, np.array([c]), self.examples)[:, 0]
        changes = np.flatnonzero(np.diff(column[1:])) + 2  # the n at which another range begins
        for first, last in zip([1, *changes.tolist()], [*(changes - 1).tolist(), self.n_max], strict=True):
            least = int(column[first])
            self._prove(first, c, least - 1, above=False)
            self._prove(last, c, least, above=True)
        return column

    def _prove(self, n: int, c: int, m: int, above: bool) -> None:
        """Raises BitwrightError unless it is certain that the mean lies on this side of 0."""
        if mean_is_positive(self.examples, n, c, m) is not above:
            raise BitwrightError(
                f"the decision at n = {n:,}, K = {self.examples:,} could not be proved; please report this"
            )


def decide(program: Program, examples: int, rounding: Rounding | None) -> Decisions:
    """The decisions for every n that a state of this program can have; without a rounding, those of the rules."""
    n_max = len(np.unique(program.template_block))  # at most one match in each block that has templates
    return Decisions(rounding, examples, np.unique(program.writers[program.writers > 0]), n_max)


def _mean(e: Enclosure, writers: int, matches: int) -> Ball:
    return e.unmatched * writers + e.gap * matches


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


def deciding_kinds(pattern: Pattern) -> list[int]:
    """The kinds that have ports: of others there is nothing to decide."""
    found = [number for number, kind in enumerate(pattern.kinds) if kind.ports]
    if not found:
        raise InputError("no cell of this program writes anything, so there is nothing to decide")
    return found


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


def check_examples(program: Program, examples: int | None) -> int:
    """K, by default one example for each template; raises InputError for too few or too many."""
    K = program.templates if examples is None else whole_number(examples, "the number of examples")
    if program.templates > K:
        raise InputError(
            f"a training set has at least the program's {program.templates:,} templates, got {K:,} examples"
        )
    if K > MAX_EXAMPLES:
        raise InputError(f"a training set has at most {MAX_EXAMPLES:,} examples, got {shorten(K)}")
    return K


def training_size(algorithm: Algorithm, rounding: str, padding: int | None = None) -> int:
    """K: the templates and the padding asked for, or what the algorithm declares for the sign rule."""
    templates = algorithm.program.templates
    if padding is not None:
        return templates + padding
    return max(templates, algorithm.examples or 0) if rounding == "sign" else templates
