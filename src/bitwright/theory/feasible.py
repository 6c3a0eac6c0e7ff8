"""Which situations can occur: how many matches n a state can have, and how many of them, m, write a bit.

A state chooses one configuration of each block, and blocks choose independently of each other. For one bit a block
offers a match that writes it, a match that does not, or no match. A block is full if every configuration of it has a
template, so that it always matches; a block always writes a bit if all of its templates do. So, with F full blocks
among the B that have templates, a of which always write the bit, and e others that always write it:

    every n from F to B occurs;    the least m at n is a + max(0, n - (B - e));
    a least m of 0 can be made 1 if a template of a full block writes the bit, or if n > F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray

Score = Callable[[IntArray, IntArray, IntArray], FloatArray]  # of n, c, m


@dataclass(frozen=True)
class Situations:
    """Bits in states: n templates match, m of the c that write the bit among them; entry by entry."""

    matches: IntArray  # n
    writers: IntArray  # c
    matching: IntArray  # m
    bits: IntArray

    def where(self, chosen: IntArray | NDArray[np.bool_]) -> Situations:
        """Some of them."""
        return Situations(self.matches[chosen], self.writers[chosen], self.matching[chosen], self.bits[chosen])


class Feasible:
    """The situations of a program's bits in states with at most `most` matches."""

    def __init__(self, program: Program, most: int) -> None:
        templates = np.bincount(program.template_block, minlength=program.blocks)
        full = templates == np.left_shift(1, np.diff(program.block_start))
        self.program = program
        self.blocks = int(np.count_nonzero(templates))  # B
        self.full = int(np.count_nonzero(full))  # F
        self.first, self.last = max(1, self.full), min(most, self.blocks)  # n, where there is a match at all

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
        """Of bits that are set (m >= 1): at every n and for every least m the bit with most writers.

        Up to n = B - e the least m of a bit stays as it is, from there on it grows with n. The second part is written
        out bit by bit; that is at most one entry for each block that always writes a bit.
        """
        bits = self._kinds
        writers, a, e = self.program.writers[bits], self.always_full[bits], self.always_open[bits]
        turn, at_once = self.blocks - e, self.chosen_full[bits] | (a > 0)
        for level in np.unique(np.maximum(a, 1)).tolist():
            mine = np.maximum(a, 1) == level
            for chosen, least, most in ((mine & at_once, self.full, self.full), (mine, self.full + 1, self.last)):
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
        """One written bit, the first, for all that have the same writers and blocks of the same kinds."""
        bits = self.written
        columns = [x[bits] for x in (self.program.writers, self.always_full, self.always_open, self.chosen_full)]
        order = np.lexsort(columns)
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([x[order[1:]] != x[order[:-1]] for x in columns], axis=0)
        return np.sort(bits[order[new]])

    def _most_writers(self, chosen: IntArray, turn: IntArray, writers: IntArray) -> IntArray:  # (B + 1,)
        """For every n, which of the chosen bits that turn at n or later has most writers; the first of equals."""
        order = chosen[np.lexsort((-chosen, writers[chosen]))]
        best = np.full(self.blocks + 1, -1)
        best[turn[order]] = order  # of equal turns the last one stays: the most writers
        rank = np.full(len(turn) + 1, -1)
        rank[order] = np.arange(len(order))
        highest = np.maximum.accumulate(rank[best][::-1])[::-1]
        return order[highest]

    def worst(self, score: Score) -> Situations:
        """For every n that occurs the set bit of the highest score, n ascending; the score must grow with c."""
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
        """For every n the fewest matches m that set a bit, and of the bits with that few one with most writers."""
        share = 1 / (2 * int(self.program.writers.max()) + 2)  # writers decide between equal m alone
        return self.worst(lambda _, writers, matching: np.float64(share) * writers - matching)

    @cached_property
    def tightest(self) -> Situations:
        """For every n the set bit for which the sign rule is tightest, the one with the largest c/m.

        Exact: two such fractions differ by a part in c m or more, and that is more than a double's rounding.
        """
        return self.worst(lambda _, writers, matching: writers / matching)

    def unset(self) -> tuple[IntArray, IntArray]:
        """Every n at which some written bit can be unset (m = 0), and the fewest writers of such a bit."""
        never_forced = self.written[self.always_full[self.written] == 0]
        fewest = np.full(self.blocks + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, self.blocks - self.always_open[never_forced], self.program.writers[never_forced])
        fewest = np.minimum.accumulate(fewest[::-1])[::-1]
        n = np.arange(self.first, self.last + 1)
        n = n[fewest[n] < np.iinfo(np.int64).max]
        return n, fewest[n]
