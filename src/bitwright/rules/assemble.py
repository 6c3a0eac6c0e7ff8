"""Assembles families of blocks and templates into a Program, and reports every problem.

A family stores all rows of one line of rules as arrays, so that a line with a million rows needs only a few passes over
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import Problem, ProgramError, counted, listing
from bitwright.rules.cells import Cells
from bitwright.rules.families import Families, NumberedRows, Origin, WrittenAt
from bitwright.rules.layout import IntArray, Layout
from bitwright.rules.program import MAX_BLOCK, Program


@dataclass(frozen=True)
class Picks:
    """Bits chosen by the rows of a family: row `rows[j]` chooses bit `bits[j]`."""

    rows: IntArray
    bits: IntArray

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[int]]) -> Picks:
        """Returns the bits of each row."""
        bits = np.array([bit for row in rows for bit in row], dtype=np.int64)
        return cls(np.repeat(np.arange(len(rows)), [len(row) for row in rows]), bits)


@dataclass(frozen=True)
class BitFamily:
    """The blocks or cells of one line, one per row, or of several lines that are listed individually.

    A cell contains the blocks of the bits on its line, in that order.
    """

    count: int
    members: Picks
    origin: Origin


@dataclass(frozen=True)
class RuleFamily:
    """The templates of one line, one per row, or of several lines that are listed individually.

    Rows of one line with the same configuration are merged into one template, which writes all of their bits. Rows of
    an `also` line are also merged with those of earlier lines. Other lines with equal configurations are not merged,
    because that would hide incomplete conditions such as the one in the paper's multiplication.
    """

    count: int
    when: Picks
    values: IntArray  # 0 or 1 for each bit of `when`
    write: Picks
    origin: Origin
    silent: bool | NDArray[np.bool_] = False  # whether it explicitly writes nothing, in total or per row
    also: bool = False  # whether it adds to templates of earlier lines


def assemble(
    layout: Layout,
    blocks: Sequence[BitFamily],
    rules: Sequence[RuleFamily],
    declared: Mapping[str, WrittenAt] | None = None,
    needs_rules: bool = True,
    array_families: Sequence[str] = (),
    cells: Sequence[BitFamily] = (),
    rest_as_cells: bool = False,
) -> Program:
    """Builds a Program from families; raises ProgramError with all problems.

    `declared` gives the position of each declaration. With `rest_as_cells`, each remaining block becomes a cell.
    """
    problems: list[Problem] = []
    if not layout.size:
        problems.append(Problem(0, 0, "a program needs at least one bit"))
    elif not any(rule.count for rule in rules) and needs_rules:
        problems.append(Problem(0, 0, "a program needs at least one template"))
    arranged = _arrange_blocks(layout, blocks, declared or {}, problems)
    template_block, template_config, write_start, write_bits, families = _arrange_templates(
        layout, rules, arranged, problems
    )
    grouped = _arrange_cells(layout, cells, arranged, problems, rest_as_cells) if cells and not problems else None
    if problems:
        raise ProgramError(problems)
    return Program(
        layout=layout,
        block_start=arranged.start,
        block_bits=arranged.bits,
        template_block=template_block,
        template_config=template_config,
        write_start=write_start,
        write_bits=write_bits,
        block_families=arranged.rows.families(arranged.order),
        rule_families=families,
        grouped=grouped,
        array_families=tuple(array_families) or tuple(declaration.name for declaration in layout.fields),
    )


@dataclass(frozen=True)
class _Blocks:
    """Blocks in canonical order: by their first bit, and inside a block by bit number."""

    start: IntArray
    bits: IntArray
    block_of: IntArray  # (k,) -1 for a bit without a block
    position: IntArray  # (k,)
    sound: NDArray[np.bool_]  # (blocks + 1,) whether a block has no problems; the last entry represents "no block"
    rows: NumberedRows
    order: IntArray  # (blocks,) the row of each block


def _arrange_blocks(
    layout: Layout,
    families: Sequence[BitFamily],
    declared: Mapping[str, WrittenAt],
    problems: list[Problem],
) -> _Blocks:
    source = NumberedRows((family.count, family.origin) for family in families)
    bits = _joined([family.members.bits for family in families])
    rows = _numbered([(family.count, family.members.rows) for family in families])
    order = np.lexsort((rows, bits))
    bits, rows = bits[order], rows[order]
    faulty = np.zeros(source.count, dtype=bool)  # rows already reported

    repeated = np.flatnonzero(bits[1:] == bits[:-1]) + 1
    faulty[rows[repeated]] = faulty[rows[repeated - 1]] = True
    for number, which in source.by_family(rows[repeated]):
        at = repeated[which[0]]
        other = source.family(rows[at - 1])
        doubled = np.unique(bits[repeated[which]])
        single = len(doubled) == 1
        names = _first_names([layout.name_of(int(bit)) for bit in doubled[:5]], len(doubled))
        where = "listed twice in one block" if rows[at] == rows[at - 1] else "in two blocks"
        also = "" if other == number else f"; {source.origins[other]} also contains {'it' if single else 'them'}"
        problems.append(source.problem(int(rows[at]), f"{names} {'is' if single else 'are'} {where}{also}"))
    once = np.ones(len(bits), dtype=bool)
    once[repeated] = False
    bits, rows = bits[once], rows[once]

    without_block = _absent(bits, layout.size)
    for declaration in layout.fields:
        bounds = np.searchsorted(without_block, [declaration.offset, declaration.offset + declaration.size])
        absent = without_block[bounds[0] : bounds[1]]
        if len(absent):
            named = _first_names([layout.name_of(int(bit)) for bit in absent[:5]], len(absent))
            are, them = ("is", "it") if len(absent) == 1 else ("are", "them")
            message = f"{named} {are} not in any block; add a 'block' for {them}"
            problems.append(declared.get(declaration.name, WrittenAt("")).problem(message))

    sizes = np.bincount(rows, minlength=source.count)
    large = np.flatnonzero(sizes > MAX_BLOCK)
    faulty[large] = True
    for _, which in source.by_family(large):
        row = int(large[which[0]])
        message = f"a block may have at most {MAX_BLOCK} bits, got {int(sizes[row])}"
        problems.append(source.problem(row, message))

    first_bit = np.full(source.count, layout.size, dtype=np.int64)
    first_bit[rows[::-1]] = bits[::-1]  # bits ascend, so the smallest is assigned last
    by_first_bit = np.argsort(first_bit, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.zeros(source.count, dtype=np.int64)
    rank[by_first_bit] = np.arange(len(by_first_bit))
    block_of = np.full(layout.size, -1, dtype=np.int64)
    block_of[bits] = rank[rows]
    start = np.concatenate(([0], np.cumsum(sizes[by_first_bit])))
    block_bits = bits[np.argsort(rank[rows], kind="stable")]
    position = np.zeros(layout.size, dtype=np.int64)
    position[block_bits] = np.arange(len(block_bits)) - np.repeat(start[:-1], np.diff(start))
    sound = np.append(~faulty[by_first_bit], False)
    return _Blocks(start, block_bits, block_of, position, sound, source, by_first_bit)


def _arrange_cells(
    layout: Layout, families: Sequence[BitFamily], blocks: _Blocks, problems: list[Problem], rest_as_cells: bool
) -> Cells | None:
    """Puts every block into exactly one cell; the blocks and bits of a cell keep the order of their first mention."""
    source = NumberedRows((family.count, family.origin) for family in families)
    rows = _numbered([(family.count, family.members.rows) for family in families])
    bits = _joined([family.members.bits for family in families])
    count = len(blocks.start) - 1
    by_row = np.argsort(rows, kind="stable")
    rows, bits = rows[by_row], bits[by_row]
    owned = blocks.block_of[bits]
    _, firsts = np.unique(rows * count + owned, return_index=True)  # each block once per row, at its first mention
    firsts = np.sort(firsts)
    rows, owned = rows[firsts], owned[firsts]

    def names(block: int) -> str:
        members = blocks.bits[blocks.start[block] : blocks.start[block + 1]]
        return " ".join(layout.name_of(int(bit)) for bit in members)

    order = np.argsort(owned, kind="stable")
    twice = order[1:][owned[order][1:] == owned[order][:-1]]
    for number, which in source.by_family(rows[twice]):
        at = twice[which[0]]
        first = source.family(int(rows[np.flatnonzero(owned == owned[at])[0]]))
        also = "" if first == number else f"; {source.origins[first]} also contains it"
        problems.append(source.problem(int(rows[at]), f"the block {names(int(owned[at]))} is in two cells{also}"))
    absent = _absent(owned, count)
    if len(absent) and not rest_as_cells:
        more = f" (and {counted(len(absent) - 1, 'more block')})" if len(absent) > 1 else ""
        message = f"the block {names(int(absent[0]))} is not in any cell; add a 'cell' for it{more}"
        problems.append(source.origins[0].problem(message))
    if problems:
        return None
    present = np.unique(rows)
    start = np.append(np.searchsorted(rows, present), len(rows))
    named, bit_place = source.families(present), _bit_places(blocks, bits)
    if not len(absent):
        return Cells(start, owned, named, bit_place)
    start = np.concatenate((start, start[-1] + 1 + np.arange(len(absent))))
    alone = blocks.rows.families(blocks.order[absent])
    return Cells(start, np.concatenate((owned, absent)), named.followed_by(alone), bit_place)


def _bit_places(blocks: _Blocks, named: IntArray) -> IntArray | None:
    """Returns the position of each bit in its block, named bits first; None if no position changes."""
    count = len(blocks.block_of)
    turn = np.full(count, len(named), dtype=np.int64)
    turn[named[::-1]] = np.arange(len(named))[::-1]  # the first mention of a bit counts
    order = np.lexsort((blocks.position, turn, blocks.block_of))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count) - blocks.start[blocks.block_of[order]]
    return None if np.array_equal(place, blocks.position) else place


def _arrange_templates(
    layout: Layout, families: Sequence[RuleFamily], blocks: _Blocks, problems: list[Problem]
) -> tuple[IntArray, IntArray, IntArray, IntArray, Families]:
    """Returns blocks, configurations, offsets of writes, writes and families, by block and configuration."""
    source = NumberedRows((family.count, family.origin) for family in families)
    count = source.count
    rows = _numbered([(family.count, family.when.rows) for family in families])
    bits = _joined([family.when.bits for family in families])
    values = _joined([family.values for family in families])
    write_rows = _numbered([(family.count, family.write.rows) for family in families])
    write_bits = _joined([family.write.bits for family in families])

    def report(bad_rows: IntArray, message: Callable[[int], str]) -> None:
        """Reports one problem per family, at its first invalid row."""
        for _, which in source.by_family(bad_rows):
            row = int(bad_rows[which[0]])
            problems.append(source.problem(row, message(row)))

    @cache
    def conditions_by_row() -> tuple[IntArray, IntArray]:
        order = np.argsort(rows, kind="stable")
        return order, np.searchsorted(rows[order], np.arange(count + 1))

    def conditions(row: int) -> list[tuple[str, int]]:
        """Returns the names and values in a row, in source order."""
        order, start = conditions_by_row()
        mine = order[start[row] : start[row + 1]]
        return [
            (layout.name_of(bit), value) for bit, value in zip(bits[mine].tolist(), values[mine].tolist(), strict=True)
        ]

    def named(row: int) -> list[str]:
        return [name for name, _ in conditions(row)]

    silent = _joined([np.broadcast_to(family.silent, family.count).astype(np.int64) for family in families]) > 0
    report(_absent(rows, count), lambda _: "this rule tests no bits")
    without = _absent(write_rows, count)
    report(without[~silent[without]], lambda _: "this rule writes no bits")

    home = np.full(count, -1, dtype=np.int64)
    home[rows[::-1]] = blocks.block_of[bits[::-1]]  # the block of the first bit in each row
    sound = home >= 0
    sound[rows[~blocks.sound[blocks.block_of[bits]]]] = False
    spanning = np.unique(rows[blocks.block_of[bits] != home[rows]])
    report(spanning[sound[spanning]], lambda row: f"'when' spans blocks; {listing(named(row))} must share one block")
    sound[spanning] = False

    order = np.lexsort((bits, rows))
    by_row, by_bit = rows[order], bits[order]
    twice = np.unique(by_row[1:][(by_row[1:] == by_row[:-1]) & (by_bit[1:] == by_bit[:-1])])
    report(twice, lambda row: f"'when' tests a bit twice: {listing(named(row))}")
    sound[twice] = False

    config = np.bincount(rows, weights=values << (blocks.position[bits] % MAX_BLOCK), minlength=count).astype(np.int64)
    key = np.where(sound, (home << MAX_BLOCK) | config, -1 - np.arange(count))  # an invalid row conflicts with none
    order = np.argsort(key, kind="stable")
    repeated = np.zeros(count, dtype=bool)
    repeated[1:] = key[order][1:] == key[order][:-1]
    line = _lines(families)[order]
    also = _joined([np.full(family.count, family.also) for family in families])[order] > 0
    clash = np.flatnonzero(repeated & ~also & ((line < 0) | (line != np.roll(line, 1))))
    earlier = dict(zip(order[clash].tolist(), order[clash - 1].tolist(), strict=True))

    def clashing(row: int) -> Problem:
        mine, other = source.origins[source.family(row)], source.origins[source.family(earlier[row])]
        condition = " ".join(f"{name}={value}" for name, value in conditions(row))
        members = blocks.bits[blocks.start[home[row]] : blocks.start[home[row] + 1]]
        others = [name for name in map(layout.name_of, members.tolist()) if name not in named(row)]
        rest = f" (and 0 for {listing(others)})" if others else ""
        same_line = mine.line > 0 and (mine.line, mine.column) == (other.line, other.column)  # a group used twice
        where = "another use of this line" if same_line and not mine.place else str(other)
        return mine.problem(
            f"two templates for {condition}{rest}{mine.at(source.index(row))}: {where}"
            f"{other.at(source.index(earlier[row]))} also has one; put all bits into one 'write', or start this line "
            "with 'also when'"
        )

    clashing_rows = np.sort(order[clash])
    problems.extend(clashing(int(clashing_rows[which[0]])) for _, which in source.by_family(clashing_rows))

    renumbered = np.empty(count, dtype=np.int64)
    renumbered[order] = np.cumsum(~repeated) - 1
    order = order[~repeated]
    stride = max(1, layout.size)
    pairs = np.sort(renumbered[write_rows] * stride + write_bits)
    fresh = np.ones(len(pairs), dtype=bool)
    fresh[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[fresh]
    write_start = np.searchsorted(pairs, np.arange(len(order) + 1) * stride)
    return home[order], config[order], write_start, pairs % stride, source.families(order)


def _lines(families: Sequence[RuleFamily]) -> IntArray:
    """Numbers each row by its line; -1 for rows that are not merged."""
    numbers: dict[int, int] = {}
    parts = []
    for family in families:
        single = isinstance(family.origin, WrittenAt)
        parts.append(np.full(family.count, numbers.setdefault(id(family.origin), len(numbers)) if single else -1))
    return _joined(parts)


def _first_names(names: Sequence[str], count: int) -> str:
    """Lists the first of `count` names, and the number of others."""
    return ", ".join(names) + (f" and {count - len(names):,} more" if count > len(names) else "")


def _joined(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64, copy=False)


def _numbered(parts: Sequence[tuple[int, IntArray]]) -> IntArray:
    """Numbers the rows of several families consecutively, from the count and row numbers of each."""
    start = np.cumsum([0, *(count for count, _ in parts)])
    return _joined([rows + first for (_, rows), first in zip(parts, start, strict=False)])


def _absent(used: IntArray, count: int) -> IntArray:
    """Returns the numbers below `count` that do not occur in `used`."""
    present = np.zeros(count, dtype=bool)
    present[used] = True
    return np.flatnonzero(~present)
