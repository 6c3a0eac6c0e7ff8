"""The decisions of the limit as a proved table over (n, c, m).

If m of a bit's c writers match in a state with n matches, the bit has the mean w0 c + (w1 - w0) m. The mean grows with
m because w1 - w0 = beta(n)/(2 pi - 1) and beta(n) >= (pi - 1)/sqrt(n) > 0. A rounding is therefore one integer for each
n and c: how many writers must match for the bit to become 1. Calibrated rounding puts its threshold between m = 0 and
m = 1. Under `sign` the mean is above 0 exactly if m (K + 2 pi - 1) > c rho(n), where rho(n) = n - (2 pi - 1)/beta(n).
For m = 1 this is Assumption 5.1; for m = 0 it never holds, since rho >= 0. The integer is
floor(c rho(n)/(K + 2 pi - 1)) + 1. Since rho(n) grows with n (theory.md, Decisions), interval arithmetic has to prove
only both ends of every range of n with the same integer.

This module also determines how many examples a state can match (n), and how that is known.
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

CLOSE = 1e-9  # interval arithmetic decides ties closer than this (relative); doubles are accurate to 1e-13 here


def rho(n: ArrayLike) -> FloatArray:
    """Returns n - (2 pi - 1)/beta(n) for n >= 1; exactly 0 at n = 1, and less than n everywhere."""
    n = np.asarray(n, dtype=np.float64)
    return np.where(n <= 1, 0.0, n - (2 * pi - 1) / beta(np.maximum(n, 1)))


def matches_needed(
    n_max: int, writers: IntArray, examples: int, close: float = CLOSE
) -> IntArray:  # (n_max + 1, len(writers))
    """Returns how many of c writers must match for a mean above 0, floor(c rho(n)/(K + 2 pi - 1)) + 1, by n and c.

    Interval arithmetic decides quotients within `close` of an integer, which doubles cannot decide.
    """
    quotient = np.multiply.outer(rho(np.arange(n_max + 1)), writers) / (examples + 2 * pi - 1)
    needed = np.floor(quotient).astype(np.int64) + 1
    nearest = np.rint(quotient)
    ties = (np.abs(quotient - nearest) <= close * np.maximum(nearest, 1)) & (nearest >= 1)
    for n, at in np.argwhere(ties).tolist():
        below = int(nearest[n, at])  # the mean may be above 0 with this many matches
        # A mean of exactly 0 would round to 0.
        needed[n, at] = below if mean_is_positive(examples, n, int(writers[at]), below) else below + 1
    return needed


def mean_is_positive(examples: int, n: int, writers: int, matches: int) -> bool | None:
    """Proves whether c w0 + m (w1 - w0) > 0; returns None if no precision distinguishes it from 0."""
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
    """Decides which triples set a bit: m >= needed[n, index of c in `writers`]."""

    rounding: Rounding | None  # None for the rules themselves, where one match is enough
    examples: int
    writers: IntArray  # the distinct numbers of writers, ascending, without 0
    n_max: int

    @cached_property
    def fails_from(self) -> int | None:
        """The smallest n at which a bit may need more than one match; the need grows with the number of writers."""
        if self.rounding != "sign" or not len(self.writers):
            return None
        beyond = np.flatnonzero(self._proved_column(int(self.writers[-1])) > 1)
        return int(beyond[0]) if len(beyond) else None

    @cached_property
    def needed(self) -> IntArray:  # (n_max + 1, len(writers))
        """The number of matches that a bit needs, by n and number of writers."""
        if self.rounding != "sign":
            return np.ones((self.n_max + 1, len(self.writers)), dtype=np.int64)
        columns = [self._proved_column(c) for c in self.writers.tolist()]
        return np.stack(columns, axis=1) if columns else np.ones((self.n_max + 1, 0), dtype=np.int64)

    def sets(self, triple: Triple) -> bool:
        """Returns whether a bit becomes 1 in this situation."""
        n, c, m = triple
        return bool(m >= self.needed[n, np.searchsorted(self.writers, c)])

    def margin(self, triples: Iterable[Triple]) -> tuple[float, Triple] | None:
        """Returns the smallest distance from the threshold, rounded down, and its triple; None if there is no margin.

        calibrated: |zhat - 1/2|, and zhat = m; sign: |mu|. As in `round_outputs`, n = 0 does not count, nor does n = 1
        under `sign`, where every mean is exactly 0 or 1.
        """
        at_stake = sorted(t for t in triples if t[0] > (self.rounding == "sign"))
        if not at_stake or self.rounding is None:
            return None
        if self.rounding == "calibrated":
            return min((abs(m - 0.5), (n, c, m)) for n, c, m in at_stake)
        from bitwright.theory.intervals import enclose, lower_bound, precision  # imported only for proofs

        with precision():
            return min(
                (max(0.0, lower_bound(abs(_mean(enclose(n, self.examples), c, m)))), (n, c, m)) for n, c, m in at_stake
            )

    def _proved_column(self, c: int) -> IntArray:  # (n_max + 1,)
        """Returns the matches a bit with c writers needs under `sign`, by n."""
        column = matches_needed(self.n_max, np.array([c]), self.examples)[:, 0]
        changes = np.flatnonzero(np.diff(column[1:])) + 2  # each n at which a new range begins
        for first, last in zip([1, *changes.tolist()], [*(changes - 1).tolist(), self.n_max], strict=True):
            least = int(column[first])
            self._prove(first, c, least - 1, above=False)
            self._prove(last, c, least, above=True)
        return column

    def _prove(self, n: int, c: int, m: int, above: bool) -> None:
        """Raises BitwrightError unless the mean is proved to be on this side of 0."""
        if mean_is_positive(self.examples, n, c, m) is not above:
            raise BitwrightError(f"cannot prove the decision at n = {n:,}, K = {self.examples:,}; please report this")


def decide(program: Program, examples: int, rounding: Rounding | None) -> Decisions:
    """Returns the decisions for every possible n of a program's states, by the rules if `rounding` is None."""
    n_max = len(np.unique(program.template_block))  # at most one match in each block with templates
    return Decisions(rounding, examples, np.unique(program.writers[program.writers > 0]), n_max)


def _mean(e: Enclosure, writers: int, matches: int) -> Ball:
    return e.unmatched * writers + e.gap * matches


SOURCES = ("blocks", "declared", "reachable")


@dataclass(frozen=True)
class Range:
    """A bound on n, and its source.

    blocks: proved, at most one match for each block. declared: assumed, as declared by the algorithm. reachable: the
    largest n observed in runs of the inputs in `scope`.
    """

    n_max: int
    source: str
    scope: str
    covers: str = "every state"  # the states that a verdict for this range covers

    @property
    def assumption(self) -> str | None:
        """The unproved assumption, if any."""
        return f"n <= {self.n_max:,}" if self.source == "declared" else None


def blocks_range(program: Program) -> Range:
    """Returns the bound of the blocks with templates, which applies to every state."""
    count = len(np.unique(program.template_block))
    return Range(count, "blocks", "every state: at most one match in each block that has templates")


def cells_range(pattern: Pattern) -> Range:
    """Returns the range of n for a single cell: at most one match in each of its blocks."""
    scope = "every local state: at most one match in each block of one cell"
    most = max(len(kind.blocks) for kind in pattern.kinds)
    return Range(most, "cells", scope, "every local state of every kind of cells")


def deciding_kinds(pattern: Pattern) -> list[int]:
    """Returns the kinds with ports; other kinds have nothing to decide."""
    kinds = [number for number, kind in enumerate(pattern.kinds) if kind.ports]
    if not kinds:
        raise InputError("no cell of this program writes anything, so there is nothing to decide")
    return kinds


def declared_range(algorithm: Algorithm) -> Range:
    """Returns the declared range, or the range from the blocks if it is at most as large."""
    if algorithm.matches is None:
        raise InputError(
            f"{algorithm.name} declares no bound on its matches; use the bound of its blocks, or add a 'matches' line"
        )
    proved = blocks_range(algorithm.program)
    if algorithm.matches >= proved.n_max:
        return proved
    covers = f"every state with n <= {algorithm.matches:,}"
    return Range(algorithm.matches, "declared", "assumed: declared by the algorithm, not proved", covers)


def check_examples(program: Program, examples: int | None) -> int:
    """Returns K, by default one example per template; raises InputError for too few or too many examples."""
    K = program.templates if examples is None else whole_number(examples, "the number of examples")
    if program.templates > K:
        raise InputError(
            f"a training set needs at least one example for each of the {program.templates:,} templates, got {K:,}"
        )
    if K > MAX_EXAMPLES:
        raise InputError(f"a training set must have at most {MAX_EXAMPLES:,} examples, got {shorten(K)}")
    return K


def training_size(algorithm: Algorithm, rounding: str, padding: int | None = None) -> int:
    """Returns K: the templates plus padding or, for the sign rule, the number that the algorithm declares."""
    templates = algorithm.program.templates
    if padding is not None:
        return templates + padding
    return max(templates, algorithm.examples or 0) if rounding == "sign" else templates
