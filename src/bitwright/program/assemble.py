"""From families of blocks and templates to a Program, finding every problem on the way.

A family is what one line of rules stands for: all its rows at once, as arrays, so that a line with a million rows
costs a few passes over memory.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import Problem, ProgramError, listing
from bitwright.program.layout import IntArray, Layout
from bitwright.program.program import MAX_BLOCK, Program


@dataclass(frozen=True)
class Origin:
    """Where a family was written, and the value of each of its indices in each row."""

    text: str
    line: int = 0
    column: int = 0
    place: str = ""
    indices: Mapping[str, IntArray] = field(default_factory=dict)

    def problem(self, message: str, row: int | None = None) -> Problem:
        return Problem(self.line, self.column, message + self.at(row), self.place)

    def at(self, row: int | None) -> str:
        """` (at i=3, j=1)`: the indices of one row, where there are any."""
        if row is None or not self.indices:
            return ""
        return " (at " + ", ".join(f"{name}={int(values[row])}" for name, values in self.indices.items()) + ")"

    def __str__(self) -> str:
        return self.place or (f"line {self.line}" if self.line else self.text)


@dataclass(frozen=True)
class Picks:
    """Bits chosen by the rows of a family: row `rows[j]` chooses bit `bits[j]`."""

    rows: IntArray
    bits: IntArray


@dataclass(frozen=True)
class BlockFamily:
    count: int
    members: Picks
    origin: Origin


@dataclass(frozen=True)
class RuleFamily:
    count: int
    when: Picks
    values: IntArray  # 0 or 1 for each pick of `when`
    write: Picks
    origin: Origin


def assemble(
    layout: Layout,
    blocks: Sequence[BlockFamily],
    rules: Sequence[RuleFamily],
    declared: Mapping[str, Origin] | None = None,
    excused: Container[str] = (),
    incomplete: bool = False,
) -> Program:
    """The Program made of these families; raises ProgramError with every problem there is.

    `declared` says where each name was declared; names in `excused` may lack a block without complaint, because the
    line that should have given them one has been complained about already. An `incomplete` program lacks rules for
    such a reason, so that having none is no further problem.
    """
    problems: list[Problem] = []
    if not layout.size:
        problems.append(Problem(0, 0, "a program needs at least one bit"))
    elif not any(rule.count for rule in rules) and not incomplete:
        problems.append(Problem(0, 0, "a program needs at least one template"))
    arranged = _arrange_blocks(layout, blocks, declared or {}, excused, problems)
    template_block, template_config, template_rule, write_start, write_bits = _arrange_templates(
        layout, rules, arranged, problems
    )
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
        template_rule=template_rule,
        rules=tuple(rule.origin.text for rule in rules),
    )


@dataclass(frozen=True)
class _Blocks:
    """Blocks in canonical order: by their first bit, and inside a block by bit number."""

    start: IntArray
    bits: IntArray
    block_of: IntArray  # (k,), -1 for a bit in no block
    position: IntArray  # (k,)
    sound: NDArray[np.bool_]  # (blocks + 1,) without problems of their own; the last entry stands for "no block"


def _arrange_blocks(
    layout: Layout,
    families: Sequence[BlockFamily],
    declared: Mapping[str, Origin],
    excused: Container[str],
    problems: list[Problem],
) -> _Blocks:
    first_row = np.cumsum([0, *(family.count for family in families)])
    bits = _joined([family.members.bits for family in families])
    rows = _joined([family.members.rows + start for family, start in zip(families, first_row[:-1], strict=True)])
    order = np.lexsort((rows, bits))
    bits, rows = bits[order], rows[order]
    doubtful = np.zeros(int(first_row[-1]), dtype=bool)  # rows already complained about

    again = np.flatnonzero(bits[1:] == bits[:-1]) + 1
    doubtful[rows[again]] = doubtful[rows[again - 1]] = True
    for number, which in _per_family(rows[again], first_row):
        at = again[which[0]]
        other = _family(rows[at - 1], first_row)
        doubled = np.unique(bits[again[which]])
        one = len(doubled) == 1
        names = _some([layout.name_of(int(bit)) for bit in doubled[:5]], len(doubled))
        how = "twice in one block" if rows[at] == rows[at - 1] else "in two blocks"
        also = "" if other == number else f"; {families[other].origin} has {'it' if one else 'them'} too"
        message = f"{names} {'is' if one else 'are'} {how}{also}"
        problems.append(families[number].origin.problem(message, int(rows[at] - first_row[number])))
    once = np.ones(len(bits), dtype=bool)
    once[again] = False
    bits, rows = bits[once], rows[once]

    homeless = _absent(bits, layout.size)
    for declaration in layout.fields:
        bounds = np.searchsorted(homeless, [declaration.offset, declaration.offset + declaration.size])
        absent = homeless[bounds[0] : bounds[1]]
        if len(absent) and declaration.name not in excused:
            lost = _some([layout.name_of(int(bit)) for bit in absent[:5]], len(absent))
            message = f"{lost} {'is' if len(absent) == 1 else 'are'} in no block; add a 'block' for it"
            problems.append(declared.get(declaration.name, Origin("")).problem(message))

    sizes = np.bincount(rows, minlength=len(doubtful))
    large = np.flatnonzero(sizes > MAX_BLOCK)
    doubtful[large] = True
    for number, which in _per_family(large, first_row):
        row = int(large[which[0]])
        message = f"a block holds at most {MAX_BLOCK} bits, this one has {int(sizes[row])}"
        problems.append(families[number].origin.problem(message, row - int(first_row[number])))

    first_bit = np.full(len(doubtful), layout.size, dtype=np.int64)
    first_bit[rows[::-1]] = bits[::-1]  # bits ascend, so the last one assigned is the smallest
    by_first_bit = np.argsort(first_bit, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.zeros(len(doubtful), dtype=np.int64)
    rank[by_first_bit] = np.arange(len(by_first_bit))
    block_of = np.full(layout.size, -1, dtype=np.int64)
    block_of[bits] = rank[rows]
    start = np.concatenate(([0], np.cumsum(sizes[by_first_bit])))
    block_bits = bits[np.argsort(rank[rows], kind="stable")]
    position = np.zeros(layout.size, dtype=np.int64)
    position[block_bits] = np.arange(len(block_bits)) - np.repeat(start[:-1], np.diff(start))
    return _Blocks(start, block_bits, block_of, position, np.append(~doubtful[by_first_bit], False))


def _arrange_templates(
    layout: Layout, families: Sequence[RuleFamily], blocks: _Blocks, problems: list[Problem]
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Templates sorted by block and configuration: block, configuration, rule; and what they write."""
    first_row = np.cumsum([0, *(family.count for family in families)])
    count = int(first_row[-1])
    starts = first_row[:-1]
    rows = _joined([family.when.rows + start for family, start in zip(families, starts, strict=True)])
    bits = _joined([family.when.bits for family in families])
    values = _joined([family.values for family in families])
    write_rows = _joined([family.write.rows + start for family, start in zip(families, starts, strict=True)])
    write_bits = _joined([family.write.bits for family in families])

    def complain(bad_rows: IntArray, message: Callable[[int], str]) -> None:
        """One problem a family: its first bad row stands for the others."""
        for number, which in _per_family(bad_rows, first_row):
            row = int(bad_rows[which[0]])
            problems.append(families[number].origin.problem(message(row), row - int(first_row[number])))

    def named(row: int) -> list[str]:
        return [layout.name_of(int(bit)) for bit in bits[rows == row]]

    for what, used in (("names no bit", rows), ("writes no bit", write_rows)):
        complain(_absent(used, count), lambda _, what=what: f"this rule {what}")  # type: ignore[misc]

    home = np.full(count, -1, dtype=np.int64)
    home[rows[::-1]] = blocks.block_of[bits[::-1]]  # the block of the first bit that each row names
    sound = home >= 0
    sound[rows[~blocks.sound[blocks.block_of[bits]]]] = False
    astray = np.unique(rows[blocks.block_of[bits] != home[rows]])
    complain(astray[sound[astray]], lambda row: f"'when' spans blocks: {listing(named(row))} must share one block")
    sound[astray] = False

    order = np.lexsort((bits, rows))
    by_row, by_bit = rows[order], bits[order]
    twice = np.unique(by_row[1:][(by_row[1:] == by_row[:-1]) & (by_bit[1:] == by_bit[:-1])])
    complain(twice, lambda row: f"'when' names a bit twice: {listing(named(row))}")
    sound[twice] = False

    config = np.bincount(rows, weights=values << (blocks.position[bits] % MAX_BLOCK), minlength=count).astype(np.int64)
    key = np.where(sound, (home << MAX_BLOCK) | config, -1 - np.arange(count))  # an unsound row clashes with none
    order = np.argsort(key, kind="stable")
    clash = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    earlier = dict(zip(order[clash].tolist(), order[clash - 1].tolist(), strict=True))

    def clashing(row: int) -> str:
        owner = _family(earlier[row], first_row)
        origin = families[owner].origin
        where = "this rule itself" if owner == _family(row, first_row) else str(origin)
        given = " ".join(f"{name}={value}" for name, value in zip(named(row), values[rows == row], strict=True))
        return f"two templates for {given}: {where} has one too{origin.at(earlier[row] - int(first_row[owner]))}"

    complain(np.sort(order[clash]), clashing)

    renumbered = np.empty(count, dtype=np.int64)
    renumbered[order] = np.arange(count)
    stride = max(1, layout.size)
    pairs = np.sort(renumbered[write_rows] * stride + write_bits)
    fresh = np.ones(len(pairs), dtype=bool)
    fresh[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[fresh]
    write_start = np.searchsorted(pairs, np.arange(count + 1) * stride)
    rule_of = np.repeat(np.arange(len(families)), [family.count for family in families])
    return home[order], config[order], rule_of[order], write_start, pairs % stride


def _some(names: Sequence[str], count: int) -> str:
    """The first names of `count`, and how many more there are."""
    return ", ".join(names) + (f" and {count - len(names):,} more" if count > len(names) else "")


def _joined(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64, copy=False)


def _absent(used: IntArray, count: int) -> IntArray:
    """The numbers below `count` that do not occur in `used`."""
    present = np.zeros(count, dtype=bool)
    present[used] = True
    return np.flatnonzero(~present)


def _family(row: int, first_row: IntArray) -> int:
    return int(np.searchsorted(first_row, row, side="right")) - 1


def _per_family(rows: IntArray, first_row: IntArray) -> list[tuple[int, IntArray]]:
    """Groups positions of `rows` by the family that owns each: one problem a family is enough to read."""
    owners = np.searchsorted(first_row, rows, side="right") - 1
    return [(int(owner), np.flatnonzero(owners == owner)) for owner in np.unique(owners)]
