"""Decisions of the limit as a table over (n, c, m), every entry proved in interval arithmetic.

A bit with c writers, m of which match in a state with n matches, has the mean w0 c + (w1 - w0) m. It grows with m, so
a rounding is one whole number for each n and c: how many writers must match for the bit to become 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from bitwright.errors import BitwrightError
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.intervals import Ball, Enclosure, enclose, lower_bound, precision
from bitwright.theory.rounding import Rounding
from bitwright.theory.signs import matches_needed

Triple = tuple[int, int, int]  # n, writers c, matches m
_PRECISIONS = (128, 512, 2048)


@dataclass(frozen=True)
class Decisions:
    """Which triples round to 1: those with m >= needed[n, place of c among the crowds]."""

    rounding: Rounding
    examples: int
    crowds: IntArray  # the different numbers of writers, ascending, without 0
    needed: IntArray  # (n_max + 1, crowds)

    def sets(self, triple: Triple) -> bool:
        """Whether a bit in this situation becomes 1."""
        n, c, m = triple
        return bool(m >= self.needed[n, np.searchsorted(self.crowds, c)])

    def margin(self, triples: Iterable[Triple]) -> tuple[float, Triple] | None:
        """The smallest distance from the threshold, rounded down, and where; None where no margin is at stake.

        calibrated: |zhat - 1/2|, and zhat = m; sign: |mu|. As in `round_outputs`, n = 0 does not count, nor does n = 1
        under `sign`, where every mean is exactly 0 or 1.
        """
        at_stake = sorted(t for t in triples if t[0] > (self.rounding == "sign"))
        if not at_stake:
            return None
        if self.rounding == "calibrated":
            return min((abs(m - 0.5), (n, c, m)) for n, c, m in at_stake)
        with precision():
            return min(
                (max(0.0, lower_bound(abs(_mean(enclose(n, self.examples), c, m)))), (n, c, m)) for n, c, m in at_stake
            )


def decide(program: Program, examples: int, rounding: Rounding) -> Decisions:
    """The table for every n that a state of this program can have."""
    n_max = len(np.unique(program.template_block))  # at most one match in each block that has templates
    crowds = np.unique(program.writers[program.writers > 0])
    if rounding == "calibrated":
        needed = np.ones((n_max + 1, len(crowds)), dtype=np.int64)
    else:
        needed = matches_needed(n_max, crowds, examples)
    for n in range(1, n_max + 1):
        _proved(n, examples, lambda e: e.gap > 0, lambda e: e.gap <= 0)  # so the mean grows with m
        for c, least in zip(crowds.tolist(), needed[n].tolist(), strict=True):
            if rounding == "sign":
                _settle(n, examples, c, least)
    return Decisions(rounding, examples, crowds, needed)


def _settle(n: int, examples: int, c: int, least: int) -> None:
    """Proves that `least` matches give a mean above 0, and one fewer does not."""
    _proved(n, examples, lambda e: _mean(e, c, least) > 0, lambda e: _mean(e, c, least) <= 0)
    _proved(n, examples, lambda e: _mean(e, c, least - 1) <= 0, lambda e: _mean(e, c, least - 1) > 0)


def _mean(e: Enclosure, writers: int, matches: int) -> Ball:
    return e.unmatched * writers + e.gap * matches


def _proved(n: int, examples: int, claim: Callable[[Enclosure], bool], opposite: Callable[[Enclosure], bool]) -> None:
    """Raises BitwrightError unless `claim` is certain at one of the precisions."""
    for bits in _PRECISIONS:
        with precision(bits):
            e = enclose(n, examples)
            if claim(e):
                return
            if opposite(e):
                break
    raise BitwrightError(f"the decision at n = {n:,}, K = {examples:,} could not be proved; please report this")
