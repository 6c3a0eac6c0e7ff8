"""A contradiction and its witness: a state that turned a bit on, and a few states that exclude every possible cause.

The fewest states form a minimum hitting set, found by branching on a set that is not yet hit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.inference import Elimination, Rows, pack_rows
from bitwright.rules.layout import IntArray
from bitwright.runs.observers import Progress

_TRIED = 32  # contradictions whose witnesses are compared
_LOOKS = 3_000  # budget of the search for a shorter witness


@dataclass(frozen=True)
class Contradiction:
    """Data that no rules with these blocks explain. States are numbered from 0, in the order of the data."""

    bit: int
    state: int  # after it the bit is on
    cleared_by: tuple[int, ...]  # states after which the bit is off, which together cover all blocks of that state
    shortest: bool  # whether no witness of this bit and state is shorter, proved
    states: int  # number of states in the data with a contradiction
    suspect: int | None  # the only state whose removal resolves this bit's contradictions
    only_suspect: bool  # whether there is exactly one such state
    blocks: tuple[tuple[int, ...], ...]  # the blocks involved


def find_contradiction(elimination: Elimination) -> Contradiction | None:
    """The contradiction with the shortest witness among those compared; None if the data are consistent."""
    wrong = elimination.unexplained
    if not wrong.any():
        return None
    best: tuple[int, int, int, list[int]] | None = None
    for state, bit in np.argwhere(wrong)[:_TRIED].tolist():
        cover, zeros = _cover(elimination, state, bit)
        found = zeros[cover_greedily(cover)]
        if best is None or len(found) < best[0]:
            best = (len(found), state, bit, found.tolist())
    assert best is not None
    _, state, bit, cleared = best
    cleared, shortest = _shorter(elimination, state, bit, cleared)
    suspects = _suspects(elimination, bit)
    return Contradiction(
        bit,
        state,
        tuple(sorted(cleared)),
        shortest,
        int(wrong.any(axis=1).sum()),
        suspects[0] if suspects else None,
        len(suspects) == 1,
        tuple(tuple(block.bits.tolist()) for block in elimination.blocks),
    )


def _cover(elimination: Elimination, state: int, bit: int) -> tuple[BoolArray, IntArray]:  # (zeros, blocks), (zeros,)
    """Which states without the bit share which blocks with this state."""
    zeros = np.flatnonzero(~elimination.evidence.executions.after[:, bit])
    shared = [block.of_state[zeros] == block.of_state[state] for block in elimination.blocks]
    cover = np.stack(shared, axis=1)
    _, first = np.unique(cover, axis=0, return_index=True)  # the earliest of states that share the same blocks
    first.sort()
    return cover[first], zeros[first]


def _shorter(elimination: Elimination, state: int, bit: int, known: list[int]) -> tuple[list[int], bool]:
    """The shortest witness of a contradiction, and whether the search was exhaustive."""
    cover, zeros = _cover(elimination, state, bit)
    try:
        for found in hitting_sets(cover, len(known) - 1, SearchBudget(_LOOKS)):
            if found:
                return zeros[list(found[0])].tolist(), True
    except SearchLimitError:
        return known, False
    return known, True


def _suspects(elimination: Elimination, bit: int) -> list[int]:
    """The single states whose removal resolves all contradictions of this bit."""
    on = elimination.evidence.executions.after[:, bit]
    unexplained = np.flatnonzero(elimination.unexplained[:, bit])
    suspects = set(unexplained.tolist()) if len(unexplained) == 1 else set[int]()
    explained: dict[int, set[int]] = {}  # by state without the bit: contradictions that it alone causes
    zeros = np.flatnonzero(~on)
    for block in elimination.blocks:
        times = np.bincount(block.of_state[zeros], minlength=len(block.configs))
        once = np.flatnonzero(times == 1)
        clearer = dict.fromkeys(once.tolist(), -1)
        for zero in zeros[np.isin(block.of_state[zeros], once)].tolist():
            clearer[int(block.of_state[zero])] = zero
        for state in unexplained[np.isin(block.of_state[unexplained], once)].tolist():
            explained.setdefault(clearer[int(block.of_state[state])], set()).add(state)
    suspects |= {zero for zero, states in explained.items() if len(states) == len(unexplained)}
    return sorted(suspects)


class SearchLimitError(Exception):
    """The search exceeded its budget of looks."""


_TELL = 1_000  # steps between progress reports


class SearchBudget:
    """The remaining steps of a search."""

    def __init__(self, looks: int, progress: Progress | None = None) -> None:
        self.left = self.all = looks
        self._progress, self._told = progress, looks

    def spend(self, looks: int = 1) -> None:
        """Spends that many steps; raises SearchLimitError if fewer remain."""
        if self.left < looks:
            raise SearchLimitError
        self.left -= looks
        if self._progress and self._told - self.left >= _TELL:
            self._told = self.left
            self._progress(self.all - self.left, self.all)


def hitting_sets(member: BoolArray, most: int, budget: SearchBudget) -> Iterator[list[tuple[int, ...]]]:
    """For sizes 0, 1, ... `most`: the minimal sets of that size that hit all given sets.

    `member[e, s]` is whether element e is in set s. Each step branches on the smallest set that is not hit.
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
    """A small set of elements that hits all sets, chosen greedily; every set must be nonempty."""
    unmet, chosen = np.ones(member.shape[1], dtype=bool), list[int]()
    while unmet.any():
        rare = np.flatnonzero(unmet)[np.argmin(member[:, unmet].sum(axis=0))]  # the set with the fewest elements first
        ways = np.flatnonzero(member[:, rare])
        best = int(ways[np.argmax(member[ways][:, unmet].sum(axis=1))])
        chosen.append(best)
        unmet &= ~member[best]
    return chosen
