"""Finds the smallest blocks that explain executions; bits that are read together must share a block.

Blocks that explain the data still explain it after some of them are joined, so the search starts with every bit in a
separate block. A state is unexplained if a bit is on afterwards although the write is cleared for every configuration.
Such a state needs a block whose configuration in that state does not occur in any state after which the bit is off. The
smallest suitable sets of bits are the minimal sets that, for each of those other states, contain a bit in which the two
states differ; the blocks of these bits are joined. Several possible sets are tried in turn; if none works, no blocks
explain the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.files.executions import Executions
from bitwright.inference import Evidence, Rows, pack_rows, unpack_rows
from bitwright.rules.layout import IntArray
from bitwright.runs.observers import Progress

MAX_FOUND = 6  # most bits of a block in the search
_LOOKS = 400_000  # search budget in steps; a join costs _JOIN steps, and every bit may be joined twice
_JOIN = 2_000
_COMPARED = 6  # unexplained states of a bit that are compared, to find a state with a single solution
_CACHED = 1 << 28  # most bytes of cached candidates

Block = tuple[int, ...]
Blocks = frozenset[Block]


@dataclass(frozen=True)
class FoundBlocks:
    """The blocks of a search, none of which can be split, or None and whether that is proved."""

    blocks: list[list[int]] | None
    gave_up: bool = False  # the search ended without a result
    others: list[list[int]] = field(default_factory=list)  # alternatives to some of these blocks
    unexplained: tuple[int, int] | None = None  # a state and a bit that no blocks explain

    @property
    def unique(self) -> bool:
        """Whether the search found no alternative."""
        return self.blocks is not None and not self.others


def find_blocks(
    executions: Executions, most: int = MAX_FOUND, looks: int | None = None, progress: Progress | None = None
) -> FoundBlocks:
    """Returns the smallest blocks, of at most `most` bits, that explain executions; `progress` receives the steps."""
    looks = _LOOKS + 2 * _JOIN * len(executions.names) if looks is None else looks
    search = _Search(executions, most, SearchBudget(looks, progress))
    start = frozenset((bit,) for bit in range(len(executions.names)))
    try:
        solution = search.solve(start)
    except SearchLimitError:
        return FoundBlocks(None, gave_up=True)
    if solution is None:
        return FoundBlocks(None, unexplained=search.dead_end)
    blocks = search.split(solution)
    others = [list(other) for other in sorted(search.others) if not any(set(other) <= set(block) for block in blocks)]
    return FoundBlocks(sorted(map(list, blocks)), others=others)


@dataclass(frozen=True)
class _Choice:
    """A state that needs a block, and the smallest joins that provide it."""

    state: int
    bit: int
    size: int  # number of bits that require it
    ways: list[Block]


class _Search:
    def __init__(self, executions: Executions, most: int, budget: SearchBudget) -> None:
        self.most, self.budget, self._first = most, budget, _first_rows(executions)
        before, after = executions.before[self._first], executions.after[self._first]
        self.evidence = Evidence(Executions(before, after, executions.names, executions.program_id))
        self.others: set[Block] = set()
        self.dead_end: tuple[int, int] | None = None
        self._ways: dict[tuple[int, int], tuple[list[list[Block]], Iterator[list[Block]]]] = {}
        self._cache: dict[Block, Rows] = {}
        self._most_cached = max(1, _CACHED // max(1, self.evidence.after.nbytes))

    def solve(self, blocks: Blocks) -> Blocks | None:
        """Joins as few blocks as possible to explain the data; returns None if that is impossible."""
        self.budget.spend(_JOIN)
        choices = self._choices(blocks)
        if not choices:
            return None if choices is None else blocks
        unique = [choice for choice in choices if len(choice.ways) == 1]
        if len(unique) > 1:  # apply all unique solutions at once
            joined = blocks
            for choice in unique:
                joined = _join(joined, choice.ways[0])
            solution = self.solve(joined) if max(map(len, joined)) <= self.most else None
            if solution is not None:
                return solution
        choice = min(choices, key=lambda choice: (len(choice.ways), len(choice.ways[0])))
        for size in range(choice.size, self.most + 1):
            ways = self._joining(blocks, choice.state, choice.bit, size)
            for way in ways:
                solution = self.solve(_join(blocks, way))
                if solution is not None:
                    self.others.update(other for other in ways if other != way)
                    return solution
        return None

    def _choices(self, blocks: Blocks) -> list[_Choice] | None:
        """Finds the unexplained state with the fewest solutions for every bit; None if a state has no solution."""
        unexplained = self._unexplained(blocks)
        choices: list[_Choice] = []
        for bit in np.flatnonzero(unexplained.any(axis=0)).tolist():
            states = np.flatnonzero(unexplained[:, bit])
            best: _Choice | None = None
            for state in states[np.linspace(0, len(states) - 1, min(_COMPARED, len(states))).astype(int)].tolist():
                choice = self._smallest(blocks, state, bit)
                if choice is None:
                    self.dead_end = self.dead_end or (int(self._first[state]), bit)
                    return None
                if best is None or (len(choice.ways), choice.size) < (len(best.ways), best.size):
                    best = choice
                if len(best.ways) == 1:
                    break
            assert best is not None
            choices.append(best)
        return choices

    def _smallest(self, blocks: Blocks, state: int, bit: int) -> _Choice | None:
        for size in range(self.most + 1):
            ways = self._joining(blocks, state, bit, size)
            if ways:
                return _Choice(state, bit, size, ways)
        return None

    def _joining(self, blocks: Blocks, state: int, bit: int, size: int) -> list[Block]:
        """Returns the joined blocks that sets of `size` bits require, smallest first."""
        of = {member: block for block in blocks for member in block}
        joined = {
            tuple(sorted(bit for block in {of[member] for member in way} for bit in block))
            for way in self._read_together(state, bit, size)
        }
        return sorted((block for block in joined if len(block) <= self.most), key=lambda block: (len(block), block))

    def _read_together(self, state: int, bit: int, size: int) -> list[Block]:
        """Returns sets of `size` bits whose values in this state do not occur in any state that leaves the bit off."""
        by_size, sizes = self._ways.get((state, bit)) or ([], self._sets(state, bit))
        self._ways[state, bit] = by_size, sizes
        while len(by_size) <= size:
            by_size.append(next(sizes))
        return by_size[size]

    def _sets(self, state: int, bit: int) -> Iterator[list[Block]]:
        zeros = ~self.evidence.executions.after[:, bit]
        differ = (self.evidence.before[zeros] != self.evidence.before[state]).T  # (k, zeros)
        return hitting_sets(np.ascontiguousarray(differ), self.most, self.budget)

    def _unexplained(self, blocks: Blocks) -> BoolArray:  # (N, k)
        some = np.zeros_like(self.evidence.after)
        for block in blocks:
            some |= self._candidates(block)
        return unpack_rows(self.evidence.after & ~some, self.evidence.bits)

    def _candidates(self, block: Block) -> Rows:
        candidates = self._cache.get(block)
        if candidates is None:
            candidates = self.evidence.block(block).candidates
            if len(self._cache) < self._most_cached:
                self._cache[block] = candidates
        return candidates

    def split(self, blocks: Blocks) -> Blocks:
        """Splits blocks as long as the parts still explain the data."""
        for block in sorted(blocks, key=lambda block: (-len(block), block)):
            for chosen in range(1, 1 << len(block) - 1):
                left = tuple(bit for place, bit in enumerate(block) if chosen >> place & 1)
                right = tuple(bit for bit in block if bit not in left)
                finer = (blocks - {block}) | {left, right}
                if not self._unexplained(finer).any():
                    return self.split(finer)
        return blocks


def _join(blocks: Blocks, way: Block) -> Blocks:
    """Merges the blocks of these bits."""
    touched = {block for block in blocks if set(block) & set(way)}
    return (blocks - touched) | {tuple(sorted(bit for block in touched for bit in block))}


def _first_rows(executions: Executions) -> IntArray:
    """Returns the index of the first of each group of equal executions."""
    both = np.packbits(np.concatenate([executions.before, executions.after], axis=1), axis=1)
    return np.sort(np.unique(both, axis=0, return_index=True)[1])


# Hitting sets.


class SearchLimitError(Exception):
    """Raised when a search exceeds its budget."""


_REPORTED = 1_000  # steps between progress reports


class SearchBudget:
    """The remaining steps of a search."""

    def __init__(self, looks: int, progress: Progress | None = None) -> None:
        self.left = self.all = looks
        self._progress, self._last = progress, looks

    def spend(self, looks: int = 1) -> None:
        """Spends steps; raises SearchLimitError if fewer remain."""
        if self.left < looks:
            raise SearchLimitError
        self.left -= looks
        if self._progress and self._last - self.left >= _REPORTED:
            self._last = self.left
            self._progress(self.all - self.left, self.all)


def hitting_sets(member: BoolArray, most: int, budget: SearchBudget) -> Iterator[list[tuple[int, ...]]]:
    """Yields, for each size from 0 to `most`, the minimal sets of that size that hit all given sets.

    `member[e, s]` is true if element e is in set s. Each step branches on the smallest set that is not hit.
    """
    member = member[:, np.argsort(member.sum(axis=0), kind="stable")]  # small sets first
    words = pack_rows(member)
    start = pack_rows(np.ones((1, member.shape[1]), dtype=bool))[0]
    smaller: list[frozenset[int]] = []
    for size in range(most + 1):
        hitting = sorted({tuple(sorted(chosen)) for chosen in _branch(member, words, start, size, (), set(), budget)})
        fresh = [chosen for chosen in hitting if not any(subset <= set(chosen) for subset in smaller)]
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
