"""The one loop by which ensembles grow: members come in blocks, are added up in order, and end when they are enough.

Who adds them up decides what is kept; since blocks come in order, it does not depend on workers or interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sized
from contextlib import closing
from typing import Protocol, TypeVar

Block = TypeVar("Block", bound=Sized)  # its length is the number of its members


class StoredBlocks(Protocol[Block]):
    """Blocks that were kept, and a place for more."""

    def known(self) -> Iterator[Block]:
        """Those that are there, in order."""

    def append(self, block: Block, /) -> None:
        """Keeps one more."""


def grow_members(
    blocks: Callable[[int], Generator[Block]],
    most: int,
    enough: Callable[[Block], bool],
    stored: StoredBlocks[Block] | None = None,
) -> None:
    """Adds members until `enough`, which is given every block in turn, says so or there are `most` (in whole blocks).

    `blocks` gives those from a number on. What is stored comes first, and what is new is added to it.
    """
    number = members = 0

    def done(block: Block) -> bool:
        nonlocal number, members
        number, members = number + 1, members + len(block)
        return enough(block) or members >= most

    finished = False
    for block in stored.known() if stored else ():  # to its end, so that a torn last record is cut off
        finished = finished or done(block)
    if finished:
        return
    with closing(blocks(number)) as coming:
        for block in coming:
            if stored:
                stored.append(block)
            if done(block):
                return
