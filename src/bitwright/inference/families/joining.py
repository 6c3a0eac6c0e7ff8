"""Finds all smallest choices of bits that are read together, from the states of all sizes.

Bits are joined in the same way at every position and size: x[i] with y[i+c], or a single bit with a bit at a fixed
position. Additional joins never explain less, so every choice that explains all states contains a smallest one. If a
bit was turned on and single bits do not explain it, it demands a *shape*: bits that are read together at every
position. Branching on the demand with the fewest shapes finds all smallest choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.files.executions import Executions
from bitwright.inference import Evidence, Rows, unpack_rows
from bitwright.inference.families.lines import Array, Line, LineBounds, Place, at
from bitwright.inference.find_blocks import MAX_FOUND
from bitwright.rules import Layout
from bitwright.rules.layout import IntArray
from bitwright.runs.progress import Progress

Lines = tuple[Line, ...]  # one per dimension
Join = tuple[int, int, Lines | None, Lines | Place]  # two arrays; the lines of two bits, or None and distances
Shape = frozenset[Join]
Partition = frozenset[tuple[int, ...]]  # blocks at the largest size
_ROWS = 500  # states of each size in the first search
_MOST_SHAPES = 20_000
_MOST_NODES = 2_000
_MOST_FOUND = 20


@dataclass(frozen=True)
class JoinedBlocks:
    """A choice of joins, with the resulting blocks at every size."""

    joins: Shape
    blocks: Mapping[int, Sequence[Sequence[int]]]
    most: int  # size of the largest block of the class, at least two bits
    unique: bool  # whether no other smallest choice of the class explains the states

    @property
    def at_one_place(self) -> bool:
        """Whether all bits of a block have the same index."""
        return all(line is None and not any(far) for _, _, line, far in self.joins)


def join_blocks(
    arrays: Sequence[Array],
    layouts: Mapping[int, Layout],
    executions: Mapping[int, Executions],
    bounds: LineBounds,
    progress: Progress | None = None,
) -> Iterator[JoinedBlocks]:
    """Yields the smallest choices that explain all states of all sizes, small blocks first."""
    sides = [_Side(arrays, layouts[size], size, one) for size, one in executions.items()]
    search = _JoinSearch(arrays, bounds, sides, progress)
    for most in range(2, MAX_FOUND + 1):
        if not search.allow(most):
            return
        rows = _ROWS
        while True:
            for side in sides:
                side.look(rows)
            found, complete = search.smallest(most)
            every = rows >= max(len(side.evidence.before) for side in sides)
            kept = [joins for joins in found if every or not any(side.unexplained(joins) for side in sides)]
            if every or len(kept) > 1 or (complete and len(found) == len(kept) <= 1):
                break
            rows *= 8
        for joins in sorted(kept, key=_awkwardness):
            blocks = {side.size: [list(block) for block in sorted(side.blocks(joins))] for side in sides}
            yield JoinedBlocks(joins, blocks, most, complete and len(kept) == 1)


def larger_blocks(
    arrays: Sequence[Array], layouts: Mapping[int, Layout], bounds: LineBounds, joins: Shape, most: int
) -> Iterator[dict[int, list[list[int]]]]:
    """Yields every maximal way of merging blocks up to `most` bits."""
    bits = {size: [array.bits(layout) for array in arrays] for size, layout in layouts.items()}
    last = max(bits)
    owner = {bit: number for number, array in enumerate(bits[last]) for bit in array.ravel().tolist()}
    pairs = [join for shape in shapes_of(arrays, bounds, 2) for join in shape]
    start = partition(bits[last], last, joins)
    seen = {start}

    def grow(joins: Shape, touched: set[int]) -> Iterator[dict[int, list[list[int]]]]:
        for join in pairs:
            if touched and not touched & {join[0], join[1]}:
                continue
            merged = {size: partition(arrays, size, joins | {join}) for size, arrays in bits.items()}
            if merged[last] in seen or max(len(block) for blocks in merged.values() for block in blocks) > most:
                continue
            seen.add(merged[last])
            grown = {owner[bit] for block in merged[last] - start for bit in block}
            lists = {size: [list(block) for block in sorted(blocks)] for size, blocks in merged.items()}
            yield from list(grow(joins | {join}, grown)) or [lists]

    yield from grow(joins, set())


def _awkwardness(joins: Shape) -> tuple[int, int, list[str]]:
    """Returns a sort key: fewest joins first, then joins at the same position."""
    far = sum(abs(step) for *_, line, steps in joins if line is None for step in steps)  # type: ignore[arg-type,misc]
    return len(joins), far, sorted(map(str, joins))


def shapes_of(arrays: Sequence[Array], bounds: LineBounds, bits: int) -> Iterator[Shape]:
    """Yields shapes of `bits` bits: x[i] y[i+c] z[i+d] at every position, or single bits with these at a fixed one."""
    near = range(-bounds.offset, bounds.offset + 1)
    fixed = [[cell for cell in array.cells(bounds) if all(one.fixed for one in cell)] for array in arrays]
    lows = [[tuple(one.low for one in cell) for cell in cells] for cells in fixed]
    growing = [number for number, array in enumerate(arrays) if array.grows]
    still = [(n, low) for n, array in enumerate(arrays) if not array.grows for low in lows[n]]
    for count in range(bits + 1):  # the number of single bits
        for singles in combinations(still, count):
            chain: list[Join] = [(m, n, one, other) for (m, one), (n, other) in pairwise(singles)]
            if count == bits:
                yield frozenset[Join](chain)
                continue
            for first, *others in combinations(growing, bits - count):
                wide = len(arrays[first].dimensions)
                if any(len(arrays[n].dimensions) != wide for n in others):
                    continue
                steps = sorted(product(near, repeat=wide), key=lambda far: sum(map(abs, far)))
                ties = [(m, first, one, line) for m, one in singles[:1] for line in lows[first]]
                for far in product(steps, repeat=len(others)):
                    shape: list[Join] = [*chain, *((first, n, None, c) for n, c in zip(others, far, strict=True))]
                    yield from (frozenset[Join]([*shape, tie]) for tie in ties) if singles else [frozenset[Join](shape)]


def together(arrays: Sequence[Array], groups: Iterable[Sequence[int]]) -> Shape:
    """Returns the joins of arrays that are read together at every position, by group."""
    return frozenset(
        (one, other, None, tuple(0 for _ in arrays[one].dimensions))
        for group in groups
        for one, other in pairwise(group)
    )


def partition(bits: Sequence[IntArray], size: int, joins: Iterable[Join]) -> Partition:
    """Returns the blocks of these joins at a size; `bits` are the bits of every array."""
    joined = joined_bits(bits, size, joins)
    inside = {bit for block in joined for bit in block}
    return frozenset([*joined, *((bit,) for own in bits for bit in own.ravel().tolist() if bit not in inside)])


def joined_bits(bits: Sequence[IntArray], size: int, joins: Iterable[Join]) -> set[tuple[int, ...]]:
    """Returns the blocks of these joins that have at least two bits."""
    block: dict[int, tuple[int, ...]] = {}
    for m, n, line, far in joins:
        pairs = _fixed(bits[m], bits[n], size, line, far) if line is not None else _along(bits[m], bits[n], far)  # type: ignore[arg-type]
        for one, other in pairs:
            mine, theirs = block.get(one, (one,)), block.get(other, (other,))
            if mine != theirs:
                merged = (*mine, *theirs)
                block.update(dict.fromkeys(merged, merged))
    return {tuple(sorted(those)) for those in set(block.values())}


def _fixed(one: IntArray, other: IntArray, size: int, first: Lines, second: Lines) -> Iterator[tuple[int, int]]:
    """Yields the bits at two fixed positions, if the arrays are long enough."""
    places = [tuple(at(line, size) - 1 for line in lines) for lines in (first, second)]
    inside = [
        0 <= k < n
        for own, place in zip((one, other), places, strict=True)
        for k, n in zip(place, own.shape, strict=True)
    ]
    if all(inside):
        yield int(one[places[0]]), int(other[places[1]])


def _along(one: IntArray, other: IntArray, far: Place) -> Iterator[tuple[int, int]]:
    """Yields the bits at all positions, paired with the bits at this distance."""
    first, second = [], []
    for step, n, m in zip(far, one.shape, other.shape, strict=True):
        low, high = max(0, -step), min(n, m - step)
        first.append(slice(low, max(low, high)))
        second.append(slice(low + step, max(low, high) + step))
    return zip(one[tuple(first)].ravel().tolist(), other[tuple(second)].ravel().tolist(), strict=True)


class _JoinSearch:
    def __init__(
        self,
        arrays: Sequence[Array],
        bounds: LineBounds,
        sides: Sequence[_Side],
        progress: Progress | None,
    ) -> None:
        self.arrays, self.bounds, self.sides = arrays, bounds, sides
        self.progress = progress
        self.shapes: list[Shape] = []  # of at least two bits, smallest first

    def allow(self, most: int) -> bool:
        """Adds shapes of `most` bits; returns False if there are too many."""
        self.shapes += islice(shapes_of(self.arrays, self.bounds, most), _MOST_SHAPES)
        return len(self.shapes) < _MOST_SHAPES

    def smallest(self, most: int) -> tuple[list[Shape], bool]:
        """Returns all smallest choices with blocks of at most `most` bits, and whether the search was complete."""
        covers = [(shape, self._cover(shape, most)) for shape in self.shapes]
        useful = [(shape, cover) for shape, cover in covers if cover is not None and cover.any()]
        met = np.array([cover for _, cover in useful]) if useful else np.zeros((0, self.demands), dtype=bool)
        found: dict[Partition, Shape] = {}
        seen: set[Partition] = set()
        waiting: list[Shape] = [frozenset()]
        while waiting and len(seen) < _MOST_NODES and len(found) < _MOST_FOUND:
            joins = waiting.pop()
            made = self._cover(joins, most)
            partition = self.sides[-1].blocks(joins)
            if made is None or partition in seen or any(_finer(other, partition) for other in found):
                continue
            seen.add(partition)
            if self.progress:
                self.progress(len(seen), _MOST_NODES)
            if made.all():
                found = {other: kept for other, kept in found.items() if not _finer(partition, other)}
                found[partition] = joins
                continue
            ways = met[:, ~made]
            if not ways.any(axis=0).all():
                continue  # no shape meets some demand
            demand = int(np.argmin(ways.sum(axis=0)))
            needed = [useful[k][0] for k in np.flatnonzero(ways[:, demand]).tolist()]
            least = [shape for shape in needed if not any(other < shape for other in needed)]
            waiting += [joins | shape for shape in reversed(least)]
        return list(found.values()), not waiting

    @property
    def demands(self) -> int:
        return sum(len(side.on) for side in self.sides)

    def _cover(self, joins: Shape, most: int) -> BoolArray | None:
        """Returns which demands these joins meet; None if a block has too many bits."""
        parts = [side.met(joins, most) for side in self.sides]
        return None if any(part is None for part in parts) else np.concatenate(parts)  # type: ignore[arg-type]


def _finer(one: Partition, other: Partition) -> bool:
    """Returns whether every block of the first partition is contained in a block of the second."""
    of = {bit: number for number, block in enumerate(other) for bit in block}
    return all(len({of[bit] for bit in block}) == 1 for block in one)


class _Side:
    """The states of one size, with a cache of the possible writes of blocks."""

    def __init__(self, arrays: Sequence[Array], layout: Layout, size: int, executions: Executions) -> None:
        self.size = size
        self.bits = [array.bits(layout) for array in arrays]
        self.evidence = Evidence(executions)
        self._shown = 0

    def look(self, rows: int) -> None:
        """Uses the first `rows` states; bits that are not explained by single bits become demands."""
        if rows == self._shown:
            return
        self._shown = rows
        all_of = self.evidence.executions
        self.some = Evidence(Executions(all_of.before[:rows], all_of.after[:rows], all_of.names))
        left = unpack_rows(self.some.after & ~_explained(self.some, self.blocks(())), self.some.bits)
        self.states, self.on = np.nonzero(left)
        self._kept: dict[tuple[int, ...], BoolArray] = {}

    def met(self, joins: Shape, most: int) -> BoolArray | None:
        """Returns which demands the blocks of these joins meet; None if a block has too many bits."""
        met: BoolArray = np.zeros(len(self.on), dtype=bool)
        for block in joined_bits(self.bits, self.size, joins):
            if len(block) > most:
                return None
            if block not in self._kept:
                self._kept[block] = _meets(self.some, block, self.states, self.on)
            met |= self._kept[block]
        return met

    def unexplained(self, joins: Shape) -> bool:
        """Returns whether some bit was turned on that no block can have written, in any state."""
        return bool((self.evidence.after & ~_explained(self.evidence, self.blocks(joins))).any())

    def blocks(self, joins: Iterable[Join]) -> Partition:
        """Returns the blocks of these joins."""
        return partition(self.bits, self.size, joins)


def _explained(evidence: Evidence, blocks: Partition) -> Rows:
    explained = np.zeros_like(evidence.after)
    for block in blocks:
        explained |= evidence.block(block).candidates
    return explained


def _meets(evidence: Evidence, block: Sequence[int], states: IntArray, bits: IntArray) -> BoolArray:
    """Returns, for pairs of a state and a bit, whether the configuration of the block may have written the bit."""
    seen = evidence.block(block)
    words = seen.open[seen.of_state[states], bits >> 6]
    return np.asarray(words >> (bits & 63).astype(np.uint64) & np.uint64(1), dtype=bool)
