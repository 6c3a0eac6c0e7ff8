"""Smallest sets of elements that meet every one of many sets, by branching on a set that is not met yet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.inference.elimination import Rows, pack_rows
from bitwright.running.observers import Progress


class SearchLimitError(Exception):
    """The search exceeded its budget of looks."""


_TELL = 1_000  # looks between two that progress hears of


class SearchBudget:
    """Looks that a search may still take."""

    def __init__(self, looks: int, progress: Progress | None = None) -> None:
        self.left = self.all = looks
        self._progress, self._told = progress, looks

    def spend(self, looks: int = 1) -> None:
        """Spends that many looks; raises SearchLimitError if fewer are left."""
        if self.left < looks:
            raise SearchLimitError
        self.left -= looks
        if self._progress and self._told - self.left >= _TELL:
            self._told = self.left
            self._progress(self.all - self.left, self.all)


def hitting_sets(member: BoolArray, most: int, budget: SearchBudget) -> Iterator[list[tuple[int, ...]]]:
    """For sizes 0, 1, ... `most`: the minimal sets of that many elements that meet all given sets.

    `member[e, s]` says whether element e is in set s. Each look branches on the smallest set that is not met.
    """
    member = member[:, np.argsort(member.sum(axis=0), kind="stable")]  # small sets first
    words = pack_rows(member)
    start = pack_rows(np.ones((1, member.shape[1]), dtype=bool))[0]
    smaller: list[frozenset[int]] = []
    for size in range(most + 1):
        found = sorted({tuple(sorted(chosen)) for chosen in _branch(member, words, start, size, (), set(), budget)})
        fresh = [chosen for chosen in found if not any(known <= set(chosen) for known in smaller)]
        smaller += map(frozenset, fresh)
        yield fresh


def _branch(
    member: BoolArray,
    words: Rows,
    unmet: Rows,
    left: int,
    chosen: tuple[int, ...],
    excluded: set[int],
    budget: SearchBudget,
) -> Iterator[tuple[int, ...]]:
    budget.spend()
    word = int(np.argmax(unmet != 0))
    if not unmet[word]:
        yield chosen
        return
    if not left:
        return
    value = int(unmet[word])
    first = 64 * word + (value & -value).bit_length() - 1
    ways = [int(element) for element in np.flatnonzero(member[:, first]) if element not in excluded]
    if not ways:
        return
    rest = unmet & ~words[ways]
    if left == 1:
        yield from ((*chosen, ways[at]) for at in np.flatnonzero(rest.any(axis=1) == 0).tolist())
        return
    tried = set(excluded)
    for way, unmet_then in zip(ways, rest, strict=True):
        yield from _branch(member, words, unmet_then, left - 1, (*chosen, way), tried, budget)
        tried = {*tried, way}


def cover_greedily(member: BoolArray) -> list[int]:
    """A small set of elements that meets all sets, each choice the element that meets most; all sets can be met."""
    unmet, chosen = np.ones(member.shape[1], dtype=bool), list[int]()
    while unmet.any():
        rare = np.flatnonzero(unmet)[np.argmin(member[:, unmet].sum(axis=0))]  # whose elements are few goes first
        ways = np.flatnonzero(member[:, rare])
        best = int(ways[np.argmax(member[ways][:, unmet].sum(axis=1))])
        chosen.append(best)
        unmet &= ~member[best]
    return chosen
