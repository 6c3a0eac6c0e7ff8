"""Decisions of the limit as a table over (n, c, m), proved.

A bit with c writers, m of which match in a state with n matches, has the mean w0 c + (w1 - w0) m. It grows with m, for
w1 - w0 = beta(n)/(2 pi - 1) and beta(n) >= (pi - 1)/sqrt(n) > 0; so a rounding is one integer for each n and c:
how many writers must match for the bit to become 1. Calibrated rounding puts its threshold between m = 0 and m = 1.
Under `sign` the number is floor(c rho(n)/(K + 2 pi - 1)) + 1, and rho(n) grows with n (theory.md, Decisions); so it is
enough to prove, in interval arithmetic, both ends of every range of n in which the number stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bitwright.errors import BitwrightError
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.rounding import Rounding
from bitwright.theory.signs import matches_needed

if TYPE_CHECKING:
    from bitwright.theory.intervals import Ball, Enclosure

Triple = tuple[int, int, int]  # n, writers c, matches m
_PRECISIONS = (128, 512, 2048)


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
        """Raises BitwrightError unless it is certain, at one of the precisions, on which side of 0 the mean lies."""
        from bitwright.theory.intervals import enclose, precision

        for bits in _PRECISIONS:
            with precision(bits):
                mean = _mean(enclose(n, self.examples), c, m)
                if mean > 0 if above else mean <= 0:
                    return
                if mean <= 0 if above else mean > 0:
                    break
        raise BitwrightError(
            f"the decision at n = {n:,}, K = {self.examples:,} could not be proved; please report this"
        )


def decide(program: Program, examples: int, rounding: Rounding | None) -> Decisions:
    """The decisions for every n that a state of this program can have; without a rounding, those of the rules."""
    n_max = len(np.unique(program.template_block))  # at most one match in each block that has templates
    return Decisions(rounding, examples, np.unique(program.writers[program.writers > 0]), n_max)


def _mean(e: Enclosure, writers: int, matches: int) -> Ball:
    return e.unmatched * writers + e.gap * matches
