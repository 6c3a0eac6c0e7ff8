"""Rules and cells as functions of the size: families fitted at a few sizes, and compared with the program at others.

Nothing here has to be believed: Rocq proves that the rules consist of the cells at every size, and the sizes at which
they were compared with bitwright's own are written into the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

from bitwright.common.errors import BitwrightError
from bitwright.exports.rocq.listed import Bit, Listed, Row
from bitwright.rules.expressions import Combined, Constant, Expression, Named

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


def affine_through(points: Mapping[int, Sequence[tuple[int, int]]]) -> AffineIndex:
    """The affine function that has these values: of each size pairs of a row and a value."""
    slopes = ((b[1] - a[1]) // (b[0] - a[0]) for own in points.values() for a, b in pairwise(own))
    slope = next(slopes, 0)
    (l, one), (more, other), *_ = ((l, own[0][1] - slope * own[0][0]) for l, own in sorted(points.items()))
    size = (other - one) // (more - l)
    found = AffineIndex(slope, size, one - size * l)
    if any(found.at(row, l) != value for l, own in points.items() for row, value in own):
        raise NotAffineError("a number is no affine function of the size")
    return found


def affine_in(values: Mapping[int, int]) -> AffineIndex:
    """The affine function of the size that has these values."""
    return affine_through({l: [(0, value)] for l, value in values.items()})


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
    """Rows first..last of one form."""

    form: tuple[int, ...]
    items: tuple[tuple[Item, ...], ...]  # of each list of bits
    ordered: int  # in the first of them the order matters
    first: AffineIndex
    last: AffineIndex
    single: bool  # there is one row at every size

    def at(self, l: int) -> Iterator[Row]:
        """Its rows at a size."""
        for i in range(self.first.at(0, l), (self.first if self.single else self.last).at(0, l) + 1):
            groups = tuple(tuple(bit for item in group for bit in item.at(i, l)) for group in self.items)
            yield Row(self.form, groups, self.ordered)


class Piece(NamedTuple):
    """Rows i = modulus * k + residue of one segment, up to k = last, that belong to row `row` of another one."""

    last: AffineIndex
    target: int
    template: int  # of the cell, where the target is one
    row: AffineIndex  # of k


Link = list[list[Piece]]  # where the rows of a segment are found, for each remainder of i by their number
Place = tuple[int, int, int, int]  # a row, and where it is found: segment, template, row


@dataclass(frozen=True)
class FittedFamilies:
    """All of a program as functions of l."""

    rules: tuple[Segment, ...]
    cells: tuple[Segment, ...]
    to_cell: tuple[Link, ...]  # of each segment of rules: in which segment of cells, at which row
    to_rule: tuple[tuple[Link, ...], ...]  # of each segment of cells, for each template of its kind
    places: Mapping[int, Sequence[tuple[int, int]]]  # at the sizes fitted: of each rule its segment and row
    least: int  # from this size on
    compared: tuple[int, ...]  # sizes at which rules and cells are those of the program

    @property
    def compared_sizes(self) -> str:
        """Those sizes as text, such as `1..32, 48`."""
        runs = groupby(enumerate(self.compared), key=lambda pair: pair[1] - pair[0])
        ends = [[size for _, size in run] for _, run in runs]
        return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in ends)


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
    rules, rule_places = _segments(
        {l: [_numbered(rule, wholes, rule.family) for rule in p.rules] for l, p in known.items()}
    )
    cells, cell_places = _segments({l: [_numbered(cell, wholes) for cell in p.cells] for l, p in known.items()})
    to_cell: list[dict[int, list[Place]]] = [{l: [] for l in known} for _ in rules]
    to_rule: list[dict[int, dict[int, list[Place]]]] = [{} for _ in cells]
    for l, program in known.items():
        for rule, (segment, i) in zip(program.rules, rule_places[l], strict=True):
            cell, row = cell_places[l][rule.cell]
            to_cell[segment][l].append((i, cell, rule.template, row))
            to_rule[cell].setdefault(rule.template, {}).setdefault(l, []).append((row, segment, 0, i))
    links = tuple(map(link, to_cell)), tuple(tuple(link(own[template]) for template in sorted(own)) for own in to_rule)
    right = [l for l, p in programs.items() if _same(p.rules, rules, l) and _same(p.cells, cells, l)]
    wrong = [l for l in programs if l not in right]
    if wrong and wrong[-1] >= FITTED[0]:
        raise NotAffineError(
            f"the families found at the sizes {FITTED[0]}..{FITTED[-1]} are not those of size {wrong[-1]}"
        )
    least = wrong[-1] + 1 if wrong else min(programs)
    compared = tuple(l for l in right if l >= least)
    return FittedFamilies(tuple(rules), tuple(cells), *links, rule_places, least, compared)


def fitted_row(rows: Mapping[int, Row]) -> Segment:
    """The row that a program has once, as a function of the size; raises NotAffineError."""
    ((segment,), _) = _segments({l: [_numbered(row, None)] for l, row in rows.items()})
    return segment


def _same(rows: Sequence[Row], segments: Sequence[Segment], l: int) -> bool:
    """Whether these families are the rules, or the cells, of a program, in any order."""
    return Counter(row.key for row in rows) == Counter(row.key for segment in segments for row in segment.at(l))


def _whole_arrays(known: Mapping[int, Listed]) -> frozenset[str]:
    """Arrays that some list of written or wired bits has from 1 on, in a length that grows with the size."""
    longest: Counter[tuple[str, int]] = Counter()
    for l, program in known.items():
        for bits in (bits for row in (*program.rules, *program.cells) for bits in row.groups[row.ordered :]):
            for array, members in groupby(bits, key=lambda bit: bit[0]):
                longest[array, l] = max(longest[array, l], len(list(members)))
    arrays = {array for array, _ in longest}
    return frozenset(array for array in arrays if longest[array, FITTED[-1]] > longest[array, FITTED[0]] > 1)


class _Numbered(NamedTuple):
    """A row of a program: what it has in common with other rows of a segment, and its indices."""

    key: tuple[int, tuple[int, ...], int, tuple[tuple[tuple[str, bool, bool], ...], ...]]  # family, form, items
    numbers: tuple[int, ...]


def _numbered(row: Row, wholes: Collection[str] | None, family: int = 0) -> _Numbered:
    """A row for fitting; `wholes` are the arrays that lists without an order may have as a whole, None for all."""
    groups, numbers = [], []
    for at, bits in enumerate(row.groups):
        items: list[tuple[str, bool, bool]] = []
        for array, members in groupby(bits, key=lambda bit: bit[0]):
            places = [index for _, index in members]
            if any(len(index) > 1 for index in places):
                raise NotAffineError(f"{array} has more than one index")
            upwards = len(places) > 2 and places == [(n,) for n in range(1, len(places) + 1)]
            whole = at >= row.ordered and upwards and (wholes is None or array in wholes)
            own = places[-1:] if whole else places
            items += [(array, bool(index), whole) for index in own]
            numbers += [index[0] for index in own if index]
        groups.append(tuple(items))
    return _Numbered((family, row.form, row.ordered, tuple(groups)), tuple(numbers))


def _segments(rows: Mapping[int, Sequence[_Numbered]]) -> tuple[list[Segment], dict[int, list[tuple[int, int]]]]:
    """Rows of one family and one shape whose indices grow evenly; and of each row its segment and the value of i."""
    cut = {l: list(_cut(own)) for l, own in rows.items()}
    if len({len(parts) for parts in cut.values()}) > 1:
        raise NotAffineError("the number of stretches of one form depends on the size")
    segments: list[Segment] = []
    places: dict[int, list[tuple[int, int]]] = {l: [] for l in rows}
    for number, parts in enumerate(zip(*cut.values(), strict=True)):
        own = dict(zip(cut, parts, strict=True))
        keys = {row.key for part in parts for row in part}
        if len(keys) > 1:
            raise NotAffineError("rows that take each other's place at different sizes are of different forms")
        single = all(len(part) == 1 for part in parts)
        indices = [
            affine_through({l: [(k, row.numbers[at]) for k, row in enumerate(part)] for l, part in own.items()})
            for at in range(len(parts[0][0].numbers))
        ]
        anchor = next((index for index in indices if index.row == 1), AffineIndex(0, 0, 1))  # its value is i
        first = AffineIndex(0, anchor.size, anchor.constant)
        last = affine_in({l: first.at(0, l) + len(part) - 1 for l, part in own.items()})
        values = iter([index.plus(first, -index.row) for index in indices])
        ((_, form, ordered, groups),) = keys
        items = tuple(
            tuple(Item(array, next(values) if indexed else None, whole) for array, indexed, whole in group)
            for group in groups
        )
        segments.append(Segment(form, items, ordered, first, last, single))
        for l, part in own.items():
            places[l] += [(number, first.at(0, l) + k) for k in range(len(part))]
    return segments, places


def _cut(rows: Sequence[_Numbered]) -> Iterator[Sequence[_Numbered]]:
    """Stretches of rows of one family, one shape and even growth; of two rows that a longer stretch follows, one."""
    at = 0
    while at < len(rows):
        end = _end(rows, at)
        if end == at + 2 and _end(rows, at + 1) > at + 3:
            end = at + 1
        yield rows[at:end]
        at = end


def _end(rows: Sequence[_Numbered], at: int) -> int:
    end = at + 1
    while end < len(rows) and rows[end].key == rows[at].key:
        last = [row.numbers for row in rows[max(at, end - 2) : end + 1]]
        if len(last) == 3 and any(c - b != b - a for a, b, c in zip(*last, strict=True)):
            break
        end += 1
    return end


def link(rows: Mapping[int, Sequence[Place]]) -> Link:
    """Where rows are found, as ranges of rows and affine functions of them."""
    for modulus in _MODULI:
        try:
            return [list(_pieces(rows, modulus, residue)) for residue in range(modulus)]
        except NotAffineError:
            continue
    raise NotAffineError("the cells of a rule's rows are no affine function of them")


def _pieces(rows: Mapping[int, Sequence[Place]], modulus: int, residue: int) -> Iterator[Piece]:
    runs = {}
    for l, own in sorted(rows.items()):
        part = sorted(((i - residue) // modulus, *where) for i, *where in own if i % modulus == residue)
        runs[l] = [(key, [(k, row) for k, _, _, row in run]) for key, run in groupby(part, key=lambda x: x[1:3])]
    if len({tuple(key for key, _ in own) for own in runs.values()}) > 1:
        raise NotAffineError("the order of cells depends on the size")
    for parts in zip(*runs.values(), strict=True):
        found = {l: run for l, (_, run) in zip(runs, parts, strict=True)}
        last = affine_in({l: run[-1][0] for l, run in found.items()})
        (target, template), _ = parts[0]
        yield Piece(last, target, template, affine_through(found))
