"""Rules and cells as functions of the size: families fitted at a few sizes, and compared with the program at others.

Nothing here has to be believed: Rocq proves that the rules consist of the cells at every size, and the sizes at which
they were compared with bitwright's own are written into the file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from bitwright.api.export.rocq.listed import Bit, Listed
from bitwright.errors import BitwrightError
from bitwright.program.expressions import Combined, Constant, Expression, Named

FITTED = range(9, 14)  # sizes that families are fitted to
COMPARED = range(1, 33)
_MODULI = range(1, 5)  # rows that go to one cell in turn, such as two ticks of a counter


class NotAffineError(Exception):
    """The program is no set of families of the form that can be written; the message says what is not."""


@dataclass(frozen=True)
class AffineIndex:
    """row * i + size * l + constant: an index, or the end of a range."""

    row: int
    size: int
    constant: int

    def at(self, i: int, l: int) -> int:
        return self.row * i + self.size * l + self.constant

    def plus(self, other: AffineIndex, times: int = 1) -> AffineIndex:
        return AffineIndex(
            self.row + times * other.row, self.size + times * other.size, self.constant + times * other.constant
        )

    def text(self, i: str = "i", l: str = "l") -> str:
        """As natural numbers: what is added first, then what is subtracted, which is never more."""
        terms = [(self.row, i), (self.size, l), (self.constant, "")]
        shown = [(n, str(abs(n)) if not x else x if abs(n) == 1 else f"{abs(n)} * {x}") for n, x in terms if n]
        added, taken = [x for n, x in shown if n > 0], [x for n, x in shown if n < 0]
        return " + ".join(added or ["0"]) + "".join(f" - {x}" for x in taken)

    def argument(self, i: str = "i") -> str:
        """Its text, in brackets where it is not a single word."""
        text = self.text(i)
        return text if " " not in text else f"({text})"


def affine_of(part: Expression, size: str, index: str = "") -> AffineIndex | None:
    """An expression of the size, an index and constants; None for any other."""
    if isinstance(part, Constant):
        return AffineIndex(0, 0, part.value)
    if isinstance(part, Named) and part.text in (index, size):
        return AffineIndex(1, 0, 0) if part.text == index else AffineIndex(0, 1, 0)
    if isinstance(part, Combined) and part.sign in "+-*":
        left, right = affine_of(part.left, size, index), affine_of(part.right, size, index)
        if left is None or right is None:
            return None
        if part.sign != "*":
            return left.plus(right, 1 if part.sign == "+" else -1)
        for one, other in ((left, right), (right, left)):
            if not one.row and not one.size:
                return AffineIndex(0, 0, 0).plus(other, one.constant)
    return None


@dataclass(frozen=True)
class Item:
    """A bit `x[index]`, a flag without an index, or all bits of an array up to one."""

    array: str
    index: AffineIndex | None
    whole: bool = False

    def at(self, i: int, l: int) -> list[Bit]:
        if self.index is None:
            return [(self.array, ())]
        last = self.index.at(i, l)
        return [(self.array, (place,)) for place in (range(1, last + 1) if self.whole else [last])]


@dataclass(frozen=True)
class Segment:
    """Rows first..last of one form: a list of lists of items, and what else distinguishes the form."""

    form: Hashable
    items: tuple[tuple[Item, ...], ...]
    first: AffineIndex
    last: AffineIndex
    single: bool  # there is one row at every size


@dataclass(frozen=True)
class Piece:
    """Rows i = modulus * k + residue of one segment, up to k = last, that belong to row `row` of another one."""

    residue: int
    last: AffineIndex
    target: int
    template: int  # of the cell, where the target is one
    row: AffineIndex  # of k


@dataclass(frozen=True)
class Link:
    """Where the rows of a segment are found, template by template."""

    modulus: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class FittedFamilies:
    """All of a program as functions of l."""

    rules: tuple[Segment, ...]  # form: the values of the conditions; items: conditions, then writes
    cells: tuple[Segment, ...]  # form: kind and number of blocks; items: blocks, then ports
    to_cell: tuple[Link, ...]  # of each segment of rules: in which segment of cells, at which row
    to_rule: tuple[tuple[Link, ...], ...]  # of each segment of cells, for each template of its kind
    places: Mapping[
        int, Sequence[tuple[int, int]]
    ]  # at the sizes fitted: of each rule of the program its segment and row
    least: int  # from this size on
    compared: tuple[int, ...]  # sizes at which rules and cells are those of the program

    @property
    def compared_sizes(self) -> str:
        """Those sizes as text, such as `1..32, 48`."""
        parts: list[list[int]] = []
        for size in self.compared:
            if parts and parts[-1][-1] == size - 1:
                parts[-1][1:] = [size]
            else:
                parts.append([size])
        return ", ".join("..".join(map(str, part)) for part in parts)


Place = tuple[int, int, int, int]  # a row, and where it is found: segment, template, row
Row = tuple[Hashable, tuple[tuple[tuple[str, int | None, bool], ...], ...]]


def fitted(make: Callable[[int], Listed], *own: int) -> FittedFamilies:
    """The families of a program, compared at its own size too; raises NotAffineError."""
    programs: dict[int, Listed] = {}
    for size in sorted({*COMPARED, *FITTED, *own}):
        try:
            programs[size] = make(size)
        except BitwrightError:
            continue
    known = {size: programs[size] for size in FITTED if size in programs}
    if len(known) < len(FITTED):
        raise NotAffineError(f"there is no such program at all of the sizes {FITTED[0]}..{FITTED[-1]}")
    wholes = _whole_arrays(known)
    rules = {
        l: [(rule.family, _rule_row(rule.conditions, rule.writes, wholes)) for rule in p.rules]
        for l, p in known.items()
    }
    cells = {
        l: [(0, _cell_row(cell.kind, cell.blocks, cell.wires, wholes)) for cell in p.cells] for l, p in known.items()
    }
    rule_segments, rule_places = _segments(rules)
    cell_segments, cell_places = _segments(cells)
    to_cell: list[dict[int, list[Place]]] = [{l: [] for l in known} for _ in rule_segments]
    to_rule: list[dict[int, dict[int, list[Place]]]] = [{} for _ in cell_segments]
    for l, program in known.items():
        for rule, (segment, i) in zip(program.rules, rule_places[l], strict=True):
            cell, row = cell_places[l][rule.cell]
            to_cell[segment][l].append((i, cell, rule.template, row))
            to_rule[cell].setdefault(rule.template, {}).setdefault(l, []).append((row, segment, 0, i))
    found = FittedFamilies(
        tuple(rule_segments),
        tuple(cell_segments),
        tuple(map(link, to_cell)),
        tuple(tuple(link(own[template]) for template in sorted(own)) for own in to_rule),
        rule_places,
        0,
        (),
    )
    right = [l for l, program in programs.items() if _same(found, program, l)]
    wrong = [l for l in programs if l not in right]
    if wrong and wrong[-1] >= FITTED[0]:
        raise NotAffineError(
            f"the families found at the sizes {FITTED[0]}..{FITTED[-1]} are not those of size {wrong[-1]}"
        )
    least = wrong[-1] + 1 if wrong else min(programs)
    return replace(found, least=least, compared=tuple(l for l in right if l >= least))


def _whole_arrays(known: Mapping[int, Listed]) -> frozenset[str]:
    """Arrays that some list has from 1 on, in a length that grows with the size."""
    longest: dict[str, dict[int, int]] = {}
    for l, program in known.items():
        lists = [rule.writes for rule in program.rules] + [wire for cell in program.cells for wire in cell.wires]
        for bits in lists:
            for array, members in groupby(bits, key=lambda bit: bit[0]):
                longest.setdefault(array, {})[l] = max(longest.get(array, {}).get(l, 0), len(list(members)))
    return frozenset(
        array for array, length in longest.items() if length.get(FITTED[-1], 0) > length.get(FITTED[0], 0) > 1
    )


def _items(bits: Sequence[Bit], wholes: frozenset[str]) -> tuple[tuple[str, int | None, bool], ...]:
    items: list[tuple[str, int | None, bool]] = []
    for array, members in groupby(bits, key=lambda bit: bit[0]):
        places = [index for _, index in members]
        if any(len(index) > 1 for index in places):
            raise NotAffineError(f"{array} has more than one index")
        if array in wholes and len(places) > 1 and [index[0] for index in places] == list(range(1, len(places) + 1)):
            items.append((array, len(places), True))
        else:
            items += [(array, index[0] if index else None, False) for index in places]
    return tuple(items)


def _rule_row(conditions: Sequence[tuple[Bit, bool]], writes: Sequence[Bit], wholes: frozenset[str]) -> Row:
    tested = tuple(item for bit, _ in conditions for item in _items([bit], frozenset()))
    return tuple(value for _, value in conditions), (tested, _items(writes, wholes))


def _cell_row(
    kind: int, blocks: Sequence[Sequence[Bit]], wires: Sequence[Sequence[Bit]], wholes: frozenset[str]
) -> Row:
    own = tuple(tuple(item for bit in block for item in _items([bit], frozenset())) for block in blocks)
    return (kind, len(blocks)), own + tuple(_items(wire, wholes) for wire in wires)


def _numbers(row: Row) -> list[int]:
    return [index for group in row[1] for _, index, _ in group if index is not None]


def _shape(row: Row) -> Hashable:
    return row[0], tuple(tuple((array, index is None, whole) for array, index, whole in group) for group in row[1])


def _segments(
    rows: Mapping[int, Sequence[tuple[int, Row]]],
) -> tuple[list[Segment], dict[int, list[tuple[int, int]]]]:
    """Rows of one family and one shape whose indices grow evenly; and of each row its segment and the value of i."""
    cut = {l: _cut(own) for l, own in rows.items()}
    sizes = sorted(rows)
    if len({len(parts) for parts in cut.values()}) > 1:
        raise NotAffineError("the number of stretches of one form depends on the size")
    segments: list[Segment] = []
    places: dict[int, list[tuple[int, int]]] = {l: [] for l in rows}
    for number, parts in enumerate(zip(*(cut[l] for l in sizes), strict=True)):
        rows_of = {l: [rows[l][at][1] for at in part] for l, part in zip(sizes, parts, strict=True)}
        shapes = {_shape(row) for own in rows_of.values() for row in own}
        counts = {l: len(own) for l, own in rows_of.items()}
        if len(shapes) > 1:
            raise NotAffineError("rows that take each other's place at different sizes are of different forms")
        start = {l: _numbers(own[0]) for l, own in rows_of.items()}
        growth = {
            tuple(b - a for a, b in zip(start[l], _numbers(own[1]), strict=True))
            for l, own in rows_of.items()
            if len(own) > 1
        }
        if len(growth) > 1:
            raise NotAffineError("indices grow in different ways at different sizes")
        single = set(counts.values()) == {1}
        if not single and not growth:
            raise NotAffineError("a stretch of one form has too few rows")
        slope = [0] * len(start[sizes[0]]) if single else list(growth.pop())
        anchor = slope.index(1) if 1 in slope else None
        first = AffineIndex(0, 0, 1) if anchor is None else affine_in({l: start[l][anchor] for l in sizes})
        last = affine_in({l: first.at(0, l) + counts[l] - 1 for l in sizes})
        indices = []
        for place, g in enumerate(slope):
            offset = affine_in({l: start[l][place] - g * first.at(0, l) for l in sizes})
            indices.append(AffineIndex(g, offset.size, offset.constant))
        form, groups = rows_of[sizes[0]][0]
        values = iter(indices)
        items = tuple(
            tuple(Item(array, None if index is None else next(values), whole) for array, index, whole in group)
            for group in groups
        )
        segments.append(Segment(form, items, first, last, single))
        for l in sizes:
            places[l] += [(number, first.at(0, l) + row) for row in range(counts[l])]
    return segments, places


def _cut(rows: Sequence[tuple[int, Row]]) -> list[range]:
    """Stretches of rows of one family, one shape and even growth; of two rows that a longer stretch follows, one."""
    found, at = [], 0
    while at < len(rows):
        end = _end(rows, at)
        if end == at + 2 and _end(rows, at + 1) > at + 3:
            end = at + 1
        found.append(range(at, end))
        at = end
    return found


def _end(rows: Sequence[tuple[int, Row]], at: int) -> int:
    key, numbers, end = (rows[at][0], _shape(rows[at][1])), [_numbers(rows[at][1])], at + 1
    while end < len(rows) and (rows[end][0], _shape(rows[end][1])) == key:
        numbers.append(_numbers(rows[end][1]))
        if len(numbers) > 2 and any(c - b != b - a for a, b, c in zip(*numbers[-3:], strict=True)):
            break
        end += 1
    return end


def affine_in(values: Mapping[int, int]) -> AffineIndex:
    """The affine function of the size that has these values."""
    sizes = sorted(values)
    slope = values[sizes[1]] - values[sizes[0]]
    found = AffineIndex(0, slope, values[sizes[0]] - slope * sizes[0])
    if any(found.at(0, l) != value for l, value in values.items()):
        raise NotAffineError("a number is no affine function of the size")
    return found


def link(rows: Mapping[int, Sequence[Place]]) -> Link:
    """Where rows are found, as ranges of rows and affine functions of them."""
    for modulus in _MODULI:
        try:
            pieces = [piece for residue in range(modulus) for piece in _pieces(rows, modulus, residue)]
        except NotAffineError:
            continue
        return Link(modulus, tuple(pieces))
    raise NotAffineError("the cells of a rule's rows are no affine function of them")


def _pieces(rows: Mapping[int, Sequence[Place]], modulus: int, residue: int) -> list[Piece]:
    sizes = sorted(rows)
    runs = []
    for l in sizes:
        part = sorted(((i - residue) // modulus, *where) for i, *where in rows[l] if i % modulus == residue)
        runs.append([(key, [(k, row) for k, _, _, row in run]) for key, run in groupby(part, key=lambda x: x[1:3])])
    if len({tuple(key for key, _ in own) for own in runs}) > 1:
        raise NotAffineError("the order of cells depends on the size")
    found = []
    for parts in zip(*runs, strict=True):
        own = {l: run for l, (_, run) in zip(sizes, parts, strict=True)}
        slopes = {(b[1] - a[1]) // (b[0] - a[0]) for run in own.values() for a, b in pairwise(run)} or {0}
        slope = slopes.pop()
        offset = affine_in({l: run[0][1] - slope * run[0][0] for l, run in own.items()})
        row = AffineIndex(slope, offset.size, offset.constant)
        if any(row.at(k, l) != value for l, run in own.items() for k, value in run):
            raise NotAffineError("cells do not follow rows evenly")
        found.append(
            Piece(residue, affine_in({l: run[-1][0] for l, run in own.items()}), parts[0][0][0], parts[0][0][1], row)
        )
    return found


def _same(found: FittedFamilies, program: Listed, l: int) -> bool:
    """Whether these families are the rules and cells of this program."""
    rules = [
        (frozenset(zip(_bits(items[0], i, l), form, strict=True)), frozenset(_bits(items[1], i, l)))
        for form, items, i in _rows(found.rules, l)
    ]
    cells = [
        (
            form[0],
            *(tuple(_bits(group, i, l)) for group in items[: form[1]]),
            *(frozenset(_bits(group, i, l)) for group in items[form[1] :]),
        )
        for form, items, i in _rows(found.cells, l)
    ]
    own_rules = [(frozenset(rule.conditions), frozenset(rule.writes)) for rule in program.rules]
    own_cells = [(cell.kind, *cell.blocks, *map(frozenset, cell.wires)) for cell in program.cells]
    return (
        len(rules) == len(own_rules)
        and set(rules) == set(own_rules)
        and len(cells) == len(own_cells)
        and set(cells) == set(own_cells)
    )


def _rows(segments: Sequence[Segment], l: int) -> list[tuple[tuple, tuple[tuple[Item, ...], ...], int]]:  # type: ignore[type-arg]
    return [
        (segment.form, segment.items, i)  # type: ignore[misc]
        for segment in segments
        for i in range(segment.first.at(0, l), (segment.first if segment.single else segment.last).at(0, l) + 1)
    ]


def _bits(items: Sequence[Item], i: int, l: int) -> list[Bit]:
    return [bit for item in items for bit in item.at(i, l)]
