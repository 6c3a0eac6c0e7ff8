"""Fits rules and cells as functions of the size at a few sizes, and compares them with the program at other sizes.

This module need not be trusted: Rocq proves that the rules consist of the cells at every size, and the file lists the
sizes at which both were compared with those of bitwright.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple

from bitwright.common.errors import BitwrightError
from bitwright.engines.cells.wiring import Wiring
from bitwright.exports.rocq.forms import FITTED, ROW, NotAffineError, at_every_size, value_at
from bitwright.proofs.kinds.affine import Affine
from bitwright.rules import Program
from bitwright.rules.pattern import Pattern

COMPARED = range(1, 33)
_MODULI = range(1, 5)  # how many consecutive rows may belong to one cell, such as two ticks of a counter
Bit = tuple[str, tuple[int, ...]]  # p[2] is ("p", (2,)), and a flag is ("flag", ())


class Row(NamedTuple):
    """A rule or a cell.

    A rule lists the bits that it tests, in the order of its cell, and the bits that it writes; its form is the tested
    values. A cell lists the bits of each block, and in any order the bits to which each port is wired; its form is its
    kind.
    """

    form: tuple[int, ...]
    lists: tuple[tuple[Bit, ...], ...]
    ordered: int = 1  # the number of lists whose order matters
    family: int = 0  # the line or call that wrote it

    @property
    def key(self) -> Hashable:
        """A key that is the same for equal rules or cells."""
        return self.form, self.lists[: self.ordered], *map(frozenset, self.lists[self.ordered :])


class Listed(NamedTuple):
    """The rules and cells of a program at one size by family, with the cell and template of each rule."""

    rules: list[Row]
    cells: list[Row]
    homes: list[tuple[int, int]]


def listed(program: Program, pattern: Pattern) -> Listed:
    """Returns all rules and cells; raises InputError for a cell of an unknown kind."""
    wiring = Wiring(program, pattern)
    grouping = program.cells.tiled(wiring.tile)
    bits = [bit_named(name) for name in program.layout.names]
    cells: list[tuple[tuple[int, int], Row, list[int]]] = []
    for wired in wiring.kinds:
        wires: list[list[list[Bit]]] = [[[] for _ in pattern.kinds[wired.kind].ports] for _ in wired.blocks]
        for cell, port, bit in zip(wired.wire_cell, wired.wire_port, wired.wire_bit, strict=True):
            wires[cell][port].append(bits[bit])
        for ports, blocks in zip(wires, wired.blocks.tolist(), strict=True):
            members = tuple(tuple(bits[bit] for bit in grouping.bits_in(block, program)) for block in blocks)
            cell = int(grouping.of_block[blocks[0]])
            place = int(grouping.families.of[cell]), int(grouping.families.index[cell])
            wired_to = (tuple(sorted(port)) for port in ports)
            cells.append((place, Row((wired.kind,), (*members, *wired_to), len(members)), blocks))
    cells.sort(key=lambda cell: cell[0])
    where = {}  # for each block: the number of its cell, its bits, its first template, and its configurations
    for at, (_, row, blocks) in enumerate(cells):
        own = pattern.kinds[row.form[0]].blocks
        counts = accumulate((len(configurations) for _, configurations in own), initial=0)
        for block, tested, count, (_, table) in zip(blocks, row.lists, counts, own, strict=False):
            where[block] = at, tested, count, table
    rules, homes = [], []
    for family in range(len(program.rule_families)):
        for template in program.rule_families.members(family).tolist():
            block, config = int(program.template_block[template]), int(program.template_config[template])
            at, tested, count, table = where[block]
            on = {bits[bit]: config >> place & 1 for place, bit in enumerate(program.block_members(block).tolist())}
            values = tuple(on[bit] for bit in tested)
            homes.append((at, count + table.index(sum(value << place for place, value in enumerate(values)))))
            writes = tuple(sorted(bits[bit] for bit in program.writes(template).tolist()))
            rules.append(Row(values, (tested, writes), 1, family))
    return Listed(rules, [row for _, row, _ in cells], homes)


def bit_named(name: str) -> Bit:
    """Parses a bit name: `p[2]` becomes ("p", (2,))."""
    head, _, rest = name.removesuffix("]").partition("[")
    return head, tuple(int(index) for index in rest.split(",")) if rest else ()


class Item(NamedTuple):
    """A bit `x[index]`, a flag without an index, or all bits of an array up to one."""

    array: str
    place: Affine | None
    whole: bool = False

    def at(self, l: int, i: int) -> list[Bit]:
        """Returns its bits at a size and row."""
        if self.place is None:
            return [(self.array, ())]
        last = value_at(self.place, l, i)
        return [(self.array, (place,)) for place in (range(1, last + 1) if self.whole else [last])]


Items = tuple[Item, ...]


class Segment(NamedTuple):
    """Rows i = first..last with the same form."""

    form: tuple[int, ...]
    lists: tuple[Items, ...]
    ordered: int
    first: Affine
    last: Affine

    @property
    def single(self) -> bool:
        """Whether there is one row at every size."""
        return self.first == self.last

    def at(self, l: int) -> Iterator[Row]:
        """Yields its rows at a size."""
        for i in range(value_at(self.first, l), value_at(self.last, l) + 1):
            lists = tuple(tuple(bit for item in items for bit in item.at(l, i)) for items in self.lists)
            yield Row(self.form, lists, self.ordered)


class Piece(NamedTuple):
    """Rows i = modulus * k + residue of a segment, up to k = last, which belong to row `row` of another segment."""

    last: Affine
    target: int
    template: int  # of the cell, if the target is a cell
    row: Affine  # in k


Link = tuple[tuple[Piece, ...], ...]  # the targets of a segment's rows, for each remainder of i
Place = tuple[int, int, int, int]  # a row and its target: segment, template, row


@dataclass(frozen=True)
class ProgramSegments:
    """A program as functions of its size l."""

    rules: tuple[Segment, ...]
    cells: tuple[Segment, ...]
    to_cell: tuple[Link, ...]  # for each segment of rules: its segments and rows of cells
    to_rule: tuple[tuple[Link, ...], ...]  # for each segment of cells and each template of its kind
    places: Mapping[int, Sequence[tuple[int, int]]]  # at some sizes: each rule's segment and row
    least: int  # the smallest size
    compared: tuple[int, ...]  # sizes at which rules and cells equal the program's

    @property
    def compared_sizes(self) -> str:
        """The compared sizes as text, such as `1..32, 48`."""
        return ", ".join(f"{one}..{last}" if one < last else str(one) for one, last in ranges_of(self.compared))


def families_of(make: Callable[[int], Listed], *own: int) -> ProgramSegments:
    """Returns the families of a program, also compared at the sizes `own`; raises NotAffineError if there are none."""
    programs: dict[int, Listed] = {}
    for size in sorted({*COMPARED, *FITTED, *own}):
        try:
            programs[size] = make(size)
        except BitwrightError:
            continue
    if not programs.keys() >= {*FITTED}:
        raise NotAffineError(f"the text must be a program at every size from {FITTED[0]} to {FITTED[-1]}")
    known = {size: programs[size] for size in FITTED}
    rules, places = _segments({l: program.rules for l, program in known.items()})
    cells, cell_places = _segments({l: program.cells for l, program in known.items()})
    to_cell: list[dict[int, list[Place]]] = [{l: [] for l in known} for _ in rules]
    to_rule: list[dict[int, dict[int, list[Place]]]] = [{} for _ in cells]
    for l, program in known.items():
        for (home, template), (segment, i) in zip(program.homes, places[l], strict=True):
            cell, row = cell_places[l][home]
            to_cell[segment][l].append((i, cell, template, row))
            to_rule[cell].setdefault(template, {}).setdefault(l, []).append((row, segment, 0, i))
    links = tuple(map(link, to_cell)), tuple(tuple(link(own[template]) for template in sorted(own)) for own in to_rule)
    wrong = [l for l, p in programs.items() if not (_same(p.rules, rules, l) and _same(p.cells, cells, l))]
    if wrong and wrong[-1] >= FITTED[0]:
        raise NotAffineError(
            f"the rules fitted at the sizes {FITTED[0]}..{FITTED[-1]} differ from the program at size {wrong[-1]}"
        )
    least = wrong[-1] + 1 if wrong else min(programs)
    return ProgramSegments(rules, cells, *links, places, least, tuple(l for l in programs if l >= least))


def _same(rows: Sequence[Row], segments: Sequence[Segment], l: int) -> bool:
    """Whether these families contain the same rules, or cells, as a program in any order."""
    return Counter(row.key for row in rows) == Counter(row.key for segment in segments for row in segment.at(l))


def _segments(rows: Mapping[int, Sequence[Row]]) -> tuple[tuple[Segment, ...], dict[int, list[tuple[int, int]]]]:
    """Returns stretches of rows with constant steps, and each row's stretch and value of i."""
    found, places = {}, {}
    for l, own in rows.items():
        stretches = list(_stretches(own))
        found[l] = tuple(stretches)
        places[l] = [
            (number, i)
            for number, one in enumerate(stretches)
            for i in range(value_at(one.first, l), value_at(one.last, l) + 1)
        ]
    return tuple(map(_with_listed_bits, at_every_size(found))), places


def _with_listed_bits(segment: Segment) -> Segment:
    """Returns the segment with single bits in place of arrays whose length does not depend on the size."""

    def spelt(item: Item) -> list[Item]:
        last = item.place.constant if item.whole and item.place is not None else None
        return [item] if last is None else [Item(item.array, Affine.of(place)) for place in range(1, int(last) + 1)]

    return segment._replace(lists=tuple(tuple(one for item in own for one in spelt(item)) for own in segment.lists))


def _stretches(rows: Sequence[Row]) -> Iterator[Segment]:
    """Yields stretches of rows of one family and form at one size whose numbers grow by constant steps."""
    shaped = [_shaped(row) for row in rows]
    for at, end in even_stretches([((*key, lists), numbers) for key, lists, numbers in shaped]):
        _, lists, numbers = shaped[at]
        growth = [more - one for one, more in zip(numbers, shaped[min(at + 1, end - 1)][2], strict=True)]
        first = next((number for number, more in zip(numbers, growth, strict=True) if more == 1), 1)
        places = iter([(ROW - first) * more + number for number, more in zip(numbers, growth, strict=True)])
        items = tuple(
            tuple(Item(array, next(places) if indexed else None, whole) for array, indexed, whole in own)
            for own in lists
        )
        yield Segment(rows[at].form, items, rows[at].ordered, Affine.of(first), Affine.of(first + end - at - 1))


def _shaped(row: Row) -> tuple[tuple[Hashable, ...], Any, list[int]]:
    """Returns the properties that a row shares with its stretch, its lists without indices, and the indices."""
    numbers: list[int] = []

    def described(bits: Sequence[Bit], ordered: bool) -> Iterator[tuple[str, bool, bool]]:
        for array, members in groupby(bits, key=lambda bit: bit[0]):
            places = [index for _, index in members]
            if any(len(index) > 1 for index in places):
                raise NotAffineError(f"arrays with more than one index, such as {array}, cannot be exported")
            whole = not ordered and len(places) > 2 and places == [(n,) for n in range(1, len(places) + 1)]
            for index in places[-1:] if whole else places:
                numbers.extend(index)
                yield array, bool(index), whole

    lists = tuple(tuple(described(bits, at < row.ordered)) for at, bits in enumerate(row.lists))
    return (row.family, row.form, row.ordered), lists, numbers


def row_at_every_size(rows: Mapping[int, Row]) -> Segment:
    """Returns a row that exists once at each size as a function of the size; raises NotAffineError if not affine."""
    segment: Segment = at_every_size({l: next(_stretches([row])) for l, row in rows.items()})
    return segment


def link(rows: Mapping[int, Sequence[Place]]) -> Link:
    """Returns the targets of rows as ranges of rows with affine functions."""
    for modulus in _MODULI:
        k = Affine.of("i" if modulus == 1 else "k")
        try:
            found: Link = at_every_size(
                {l: tuple(tuple(_pieces(own, modulus, r, k)) for r in range(modulus)) for l, own in rows.items()}
            )
        except NotAffineError:
            continue
        return found
    raise NotAffineError("the cells that contain the rows of a rule are not an affine function of the rows")


def _pieces(rows: Sequence[Place], modulus: int, residue: int, k: Affine) -> Iterator[Piece]:
    own = sorted(((i - residue) // modulus, *where) for i, *where in rows if i % modulus == residue)
    for (target, template), run in groupby(own, key=lambda place: place[1:3]):
        points = [(at, row) for at, _, _, row in run]
        slopes = {Fraction(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)} or {Fraction(0)}
        if len(slopes) > 1 or (slope := slopes.pop()).denominator > 1:
            raise NotAffineError("the cells that contain the rows of a rule are not an affine function of the rows")
        at, row = points[-1]
        yield Piece(Affine.of(at), target, template, (k - at) * slope + row)


def even_stretches(rows: Sequence[tuple[Hashable, Sequence[int]]]) -> Iterator[tuple[int, int]]:
    """Yields the first row and the end of each stretch of rows of one form whose numbers grow by constant steps.

    If a longer stretch follows two rows, the second row belongs to that stretch.

    >>> list(even_stretches([("a", [3]), ("a", [9]), ("a", [10]), ("a", [11]), ("a", [12]), ("b", [13])]))
    [(0, 1), (1, 5), (5, 6)]
    """

    def end_of(at: int) -> int:
        end = at + 1
        while end < len(rows) and rows[end][0] == rows[at][0]:
            last = [numbers for _, numbers in rows[max(at, end - 2) : end + 1]]
            if len(last) == 3 and any(c - b != b - a for a, b, c in zip(*last, strict=True)):
                break
            end += 1
        return end

    at = 0
    while at < len(rows):
        end = end_of(at)
        if end == at + 2 and end_of(at + 1) > at + 3:
            end = at + 1
        yield at, end
        at = end


def ranges_of(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Returns the first and last size of each range of consecutive sizes.

    >>> ranges_of([1, 2, 3, 48])
    [(1, 3), (48, 48)]
    """
    runs = [[size for _, size in run] for _, run in groupby(enumerate(sizes), key=lambda pair: pair[1] - pair[0])]
    return [(run[0], run[-1]) for run in runs]
