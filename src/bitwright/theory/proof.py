"""Proves a certificate for every possible n, in interval arithmetic.

A state has one configuration for each block, independent of the other blocks. For a given bit, a block contributes a
match that writes it, a match that does not, or no match. A block is full if each of its configurations has a template,
so that it always matches; a block always writes a bit if all of its templates write it. Let B blocks have templates, F
of them full; let a full blocks and e other blocks always write the bit. Then:

    every n from F to B occurs;    the least m at n is a + max(0, n - (B - e));
    a least m of 0 can be made 1 if a template of a full block writes the bit, or if n > F.

For the sign rule, doubles only select the situations to enclose: they are accurate to 1e-13 here, and everything
within 1e-9 of the worst is enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import BitwrightError, InputError
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights, weights
from bitwright.theory.decisions import Range, blocks_range, mean_is_positive, rho
from bitwright.theory.intervals import Ball, decimal, enclose, lower_bound, precision

Score = Callable[[IntArray, IntArray, IntArray], FloatArray]  # of n, c, m


@dataclass(frozen=True)
class Situations:
    """Arrays of situations of a bit in a state: n templates match, among them m of the bit's c writers."""

    matches: IntArray  # n
    writers: IntArray  # c
    matching: IntArray  # m
    bits: IntArray

    def where(self, chosen: IntArray | NDArray[np.bool_]) -> Situations:
        """Selects situations."""
        return Situations(self.matches[chosen], self.writers[chosen], self.matching[chosen], self.bits[chosen])


class Feasible:
    """The possible situations of the bits of a program in states with at most `most` matches."""

    def __init__(self, program: Program, most: int) -> None:
        templates = np.bincount(program.template_block, minlength=program.blocks)
        full = templates == np.left_shift(1, np.diff(program.block_start))
        self.program = program
        self.blocks = int(np.count_nonzero(templates))  # B
        self.full = int(np.count_nonzero(full))  # F
        self.first, self.last = max(1, self.full), min(most, self.blocks)  # the range of n with a match

        writing = np.repeat(program.template_block, np.diff(program.write_start))
        pairs, times = np.unique(writing * program.bits + program.write_bits, return_counts=True)
        block, bit = pairs // program.bits, pairs % program.bits
        always, whole = times == templates[block], full[block]
        count = program.bits
        self.always_full = np.bincount(bit[always & whole], minlength=count)  # a, by bit
        self.always_open = np.bincount(bit[always & ~whole], minlength=count)  # e, by bit
        self.chosen_full = np.bincount(bit[~always & whole], minlength=count) > 0
        self.written = np.flatnonzero(program.writers)

    def situations(self) -> Iterator[Situations]:
        """Yields situations of set bits (m >= 1): for every n and every least m, the bit with the most writers.

        The least m of a bit is constant up to n = B - e and grows with n from there. The second part is enumerated
        bit by bit, with at most one entry for each block that always writes a bit.
        """
        bits = self._kinds
        writers, a, e = self.program.writers[bits], self.always_full[bits], self.always_open[bits]
        turn, at_once = self.blocks - e, self.chosen_full[bits] | (a > 0)
        for level in np.unique(np.maximum(a, 1)).tolist():
            at_level = np.maximum(a, 1) == level
            ranges = ((at_level & at_once, self.full, self.full), (at_level, self.full + 1, self.last))
            for chosen, least, most in ranges:
                if not chosen.any():
                    continue
                n = np.arange(least, min(most, self.last, int(turn[chosen].max())) + 1)
                at = self._most_writers(np.flatnonzero(chosen), turn, writers)[n]
                yield Situations(n, writers[at], np.full(len(n), level), bits[at])
        owner = np.repeat(np.arange(len(e)), e)
        growth = np.arange(len(owner)) - np.repeat(np.cumsum(e) - e, e) + 1  # 1 to e for each bit
        n = turn[owner] + growth
        yield Situations(n, writers[owner], a[owner] + growth, bits[owner]).where(n <= self.last)

    @cached_property
    def _kinds(self) -> IntArray:
        """The first bit of each group of written bits with equal numbers of writers and equal kinds of blocks."""
        bits = self.written
        columns = [x[bits] for x in (self.program.writers, self.always_full, self.always_open, self.chosen_full)]
        order = np.lexsort(columns)
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([x[order[1:]] != x[order[:-1]] for x in columns], axis=0)
        return np.sort(bits[order[new]])

    def _most_writers(self, chosen: IntArray, turn: IntArray, writers: IntArray) -> IntArray:  # (B + 1,)
        """Returns, for every n, the chosen bit with the most writers that turns at n or later; the first in a tie."""
        order = chosen[np.lexsort((-chosen, writers[chosen]))]
        best = np.full(self.blocks + 1, -1)
        best[turn[order]] = order  # the last of equal turns remains, which has the most writers
        rank = np.full(len(turn) + 1, -1)
        rank[order] = np.arange(len(order))
        highest = np.maximum.accumulate(rank[best][::-1])[::-1]
        return order[highest]

    def worst(self, score: Score) -> Situations:
        """Returns the set bit with the highest score for every possible n, ascending; the score must grow with c."""
        size = self.last + 1
        high, found = np.full(size, -np.inf), np.zeros((3, size), dtype=np.int64)
        for batch in self.situations():
            points = score(batch.matches, batch.writers, batch.matching)
            order = np.lexsort((points, batch.matches))
            n = batch.matches[order]
            last = order[np.append(n[1:] != n[:-1], True)] if len(n) else order  # the highest of each n
            better = last[points[last] > high[batch.matches[last]]]
            at = batch.matches[better]
            high[at] = points[better]
            found[:, at] = batch.writers[better], batch.matching[better], batch.bits[better]
        n = np.flatnonzero(high > -np.inf)
        return Situations(n, *found[:, n])

    @cached_property
    def least(self) -> Situations:
        """The fewest matches m that set a bit, for every n, and the bit with the most writers among these."""
        share = 1 / (2 * int(self.program.writers.max()) + 2)  # the number of writers only breaks ties in m
        return self.worst(lambda _, writers, matching: np.float64(share) * writers - matching)

    @cached_property
    def tightest(self) -> Situations:
        """The set bit with the largest c/m for every n, for which the sign rule is tightest.

        This is exact, because two such fractions differ by at least one part in c m, more than a double's rounding.
        """
        return self.worst(lambda _, writers, matching: writers / matching)

    def unset(self) -> tuple[IntArray, IntArray]:
        """Returns every n at which a written bit can be unset (m = 0), and the fewest writers of such a bit."""
        never_forced = self.written[self.always_full[self.written] == 0]
        fewest = np.full(self.blocks + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, self.blocks - self.always_open[never_forced], self.program.writers[never_forced])
        fewest = np.minimum.accumulate(fewest[::-1])[::-1]
        n = np.arange(self.first, self.last + 1)
        n = n[fewest[n] < np.iinfo(np.int64).max]
        return n, fewest[n]


_CLOSE = 1e-9
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Situation:
    """A bit in a state with n matches, m of them among its c writers."""

    n: int
    writers: int
    matching: int
    bit: int


@dataclass(frozen=True)
class Proof:
    """The first failure of the rounding, if any, and the margin."""

    failing: Situation | None
    certainly_fails: bool  # False also if no precision could decide
    margin: float
    margin_enclosure: str
    margin_unset: float | None
    worst: Situation


def prove_calibrated(feasible: Feasible, examples: int, progress: Progress | None, ports: bool = False) -> Proof:
    """Proves w1 - w0 > 0 for every n, so that zhat = m and a bit with m matching writers has margin |m - 1/2| gaps.

    With `ports`, only written bits are read.
    """
    program = feasible.program
    least = {situation.n: situation for situation in _each(feasible.least)}
    some_never_written = not ports and bool((program.writers == 0).any())
    can_be_unset = set(range(feasible.last + 1)) if some_never_written else set(feasible.unset()[0].tolist())
    worst: tuple[Ball, Situation] | None = None
    unset: Ball | None = None
    with precision():
        for n in range(feasible.first, feasible.last + 1):
            half = enclose(n, examples).gap / 2
            _expect(half > 0, n)
            if n in least:
                above = half * (2 * least[n].matching - 1)
                if worst is None or above.lower() < worst[0].lower():
                    worst = above, least[n]
            if n > 1 and n in can_be_unset and (unset is None or half.lower() < unset.lower()):
                unset = half
            _tell(progress, n, feasible.last)
        assert worst is not None
        margin, enclosure = lower_bound(worst[0]), decimal(worst[0])
        margin_unset = None if unset is None else lower_bound(unset)
    return Proof(None, False, margin, enclosure, margin_unset, worst[1])


def prove_sign(feasible: Feasible, examples: int, progress: Progress | None) -> Proof:
    """Proves c w0 + m (w1 - w0) > 0 >= w0 for every n, with the tightest c and m."""
    failing, certainly = None, False
    with precision():
        for situation in _each(feasible.tightest):
            e = enclose(situation.n, examples)
            _expect(e.unmatched <= 0, situation.n)
            if not e.unmatched * situation.writers + e.gap * situation.matching > 0:
                above = mean_is_positive(examples, situation.n, situation.writers, situation.matching)
                if not above:
                    failing, certainly = situation, above is False
                    break
            _tell(progress, situation.n, feasible.last)
        worst, mean = _lowest_mean(feasible, examples)
        margin, enclosure = lower_bound(mean), decimal(mean)
        n, fewest = feasible.unset()
        at = int(np.searchsorted(n, 2))  # |w0| and the fewest writers grow with n, so the first is the worst
        unset = lower_bound(-int(fewest[at]) * enclose(int(n[at]), examples).unmatched) if at < len(n) else None
    return Proof(failing, certainly, margin, enclosure, unset, worst)


def smallest_examples_within(feasible: Feasible) -> int:
    """Returns the smallest K, no less than templates, with m (K + 2 pi - 1) > c rho(n) in every situation."""
    tightest = feasible.tightest
    needed = tightest.writers * rho(tightest.matches) / tightest.matching
    close = np.flatnonzero(needed >= needed.max() * (1 - _CLOSE))
    with precision():
        least = [
            s.writers * enclose(s.n, 1).rho / s.matching - (2 * Ball.pi() - 1) for s in _each(tightest.where(close))
        ]
        found = max(int(float(ball.upper().floor().upper())) + 1 for ball in least)
    return max(feasible.program.templates, found)


def least_means(feasible: Feasible, examples: int) -> tuple[Situations, FloatArray]:
    """Returns, for every n, the set bit with the smallest mean, and that mean, in doubles."""
    w = weights(np.arange(feasible.last + 1), examples)
    worst = feasible.worst(lambda n, c, m: -(w.unmatched[n] * c + w.gap[n] * m))
    return worst, _means(worst, w)[0]


def _lowest_mean(feasible: Feasible, examples: int) -> tuple[Situation, Ball]:
    """Encloses the smallest mean of any set bit, the lowest among those that doubles cannot distinguish."""
    w = weights(np.arange(feasible.last + 1), examples)
    means, doubt = _means(least_means(feasible, examples)[0], w)
    most = (means + doubt).min()
    best: tuple[Situation, Ball] | None = None
    for batch in feasible.situations():
        means, doubt = _means(batch, w)
        for situation in _each(batch.where(means - doubt <= most)):
            e = enclose(situation.n, examples)
            mean = e.unmatched * situation.writers + e.gap * situation.matching
            if best is None or mean.lower() < best[1].lower():
                best = situation, mean
    assert best is not None
    return best


def _means(found: Situations, w: Weights) -> tuple[FloatArray, FloatArray]:
    """Returns the means, and a bound on their rounding error."""
    below, above = w.unmatched[found.matches] * found.writers, w.gap[found.matches] * found.matching
    return below + above, _CLOSE * (above - below)


def _each(found: Situations) -> Iterator[Situation]:
    columns = (found.matches, found.writers, found.matching, found.bits)
    return (Situation(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def _expect(certain: bool, n: int) -> None:
    """Checks an inequality that theory proves for every n."""
    if not certain:
        raise BitwrightError(f"cannot prove the signs of w0 and w1 - w0 at n = {n:,}; please report this")


def _tell(progress: Progress | None, n: int, last: int) -> None:
    if progress and n % 1024 == 0:
        progress(n, last)


def smallest_examples(program: Program, within: Range | None = None) -> int:
    """Returns the smallest K for which the sign rule is certified, the largest floor(c rho(n)/m - (2 pi - 1)) + 1.

    >>> from bitwright import multiplication
    >>> program = multiplication(10).program
    >>> program.templates, smallest_examples(program)
    (202, 272)
    """
    return smallest_examples_within(check_range(program, within or blocks_range(program)))


def check_range(program: Program, within: Range) -> Feasible:
    """Returns the possible situations in a range of n; raises InputError if no state in it sets a bit."""
    if within.n_max < 1:
        raise InputError(f"n must be at least 1, got {within.n_max:,}")
    feasible = Feasible(program, within.n_max)
    if feasible.last < feasible.first:
        raise InputError(
            f"every state matches at least {feasible.first:,} templates, so none has n <= {within.n_max:,}; "
            "use the range of n from the blocks"
        )
    if not len(feasible.least.matches):
        within_n = f"with n <= {feasible.last:,} " if len(feasible.written) else ""
        raise InputError(f"no state of this program {within_n}sets a bit, so there is nothing to decide")
    return feasible
