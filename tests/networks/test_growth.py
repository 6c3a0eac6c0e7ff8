"""The one loop by which ensembles grow: in order, no further than asked, and on from what is stored."""

from __future__ import annotations

from collections.abc import Generator

import pytest

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
