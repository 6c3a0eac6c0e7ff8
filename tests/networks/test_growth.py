"""The one loop by which ensembles grow: in order, no further than asked, and on from what is stored."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from cases import for_each

from bitwright.networks.ensemble import grow_members

SIZE = 4


class Source:
    """Blocks of the integers, four at a time; it remembers which were made and whether it was closed."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.closed = False

    def blocks(self, first: int) -> Generator[list[int]]:
        try:
            while True:
                self.made.append(first)
                yield list(range(first * SIZE, (first + 1) * SIZE))
                first += 1
        finally:
            self.closed = True


class Stored:
    def __init__(self, blocks: int) -> None:
        self.blocks = [list(range(n * SIZE, (n + 1) * SIZE)) for n in range(blocks)]
        self.read = 0

    def known(self) -> Iterator[list[int]]:
        for block in list(self.blocks):
            self.read += 1
            yield block

    def append(self, block: list[int], /) -> None:
        self.blocks.append(block)


@pytest.mark.parametrize(("most", "blocks"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_as_many_as_asked_in_whole_blocks(most: int, blocks: int) -> None:
    source, seen = Source(), []
    grow_members(source.blocks, most, lambda block: bool(seen.extend(block)))
    assert seen == list(range(blocks * SIZE))
    assert source.made == list(range(blocks))  # none is made in vain
    assert source.closed


def test_it_ends_where_it_is_enough() -> None:
    source, seen = Source(), []

    def add(block: list[int]) -> bool:
        seen.extend(block)
        return 9 in seen

    grow_members(source.blocks, 1_000, add)
    assert seen == list(range(12))
    assert source.closed


@for_each("there", range(6))
def test_what_is_stored_comes_first_and_is_read_to_its_end(there: int) -> None:
    source, stored, seen = Source(), Stored(there), []
    grow_members(source.blocks, 11, lambda block: bool(seen.extend(block)), stored.known(), stored.append)
    assert seen == list(range(12))
    assert source.made == list(range(there, 3))
    assert stored.read == there
    assert stored.blocks == Stored(max(there, 3)).blocks
