"""A program's wiring as arithmetic progressions at one size, and as polynomials at every size.

Consecutive cells of one kind whose bits and wires grow by constant steps form a segment. The `shape` of a description
counts its numbers by category; all numbers follow in one list. Polynomials are fitted at small sizes and compared with
the real wiring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bitwright.common.errors import BitwrightError
from bitwright.exports.model import Core, Exported, WiresOut, exported_cells
from bitwright.exports.stretches import even_stretches, ranges_of
from bitwright.exports.templates import ending_of
from bitwright.networks import IntegerNetwork
from bitwright.rules import Algorithm
from bitwright.rules.pattern import Pattern


@dataclass(frozen=True)
class Description:
    """The wiring and the words of a program."""

    shape: dict[str, Any]
    numbers: tuple[int, ...]


def describe(found: Exported) -> Description:
    """Returns the description of a program with the network's kinds."""
    assert found.wires is not None
    core, wires, algorithm = found.core, found.wires, found.wires.algorithm
    how, steps, halt = ending_of(algorithm)
    fields = algorithm.program.layout.fields
    numbers = [steps, halt, *(extent for field in fields for extent in field.shape)]
    shape: dict[str, Any] = {"ending": how, "fields": [[field.name, len(field.shape)] for field in fields]}
    for name, words in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs)):
        shape[name] = [[word.name, int(word.signed), _put(progressions(word.bits), numbers)] for word in words]
    shape["start"] = _put(progressions(algorithm.start), numbers)
    shape["kinds"] = [[kind, _segments(rows, numbers)] for kind, rows in _cells_by_kind(core, wires)]
    return Description(shape, tuple(int(number) for number in numbers))


def progressions(values: Iterable[int]) -> list[tuple[int, int, int]]:
    """Returns integers as progressions: first, step, count.

    >>> progressions([3, 4, 5, 9, 11])
    [(3, 1, 3), (9, 2, 2)]
    """
    found: list[tuple[int, int, int]] = []
    for value in values:
        first, step, count = found[-1] if found else (0, 0, 0)
        if count == 1:
            found[-1] = (first, value - first, 2)
        elif count and value == first + step * count:
            found[-1] = (first, step, count + 1)
        else:
            found.append((value, 0, 1))
    return found


def _put(found: Sequence[tuple[int, int, int]], numbers: list[int]) -> int:
    for progression in found:
        numbers += progression
    return len(found)


Row = tuple[
    tuple[int, ...], list[int]
]  # the number of progressions of each port of a cell; its bits, then the progressions


def _cells_by_kind(core: Core, wires: WiresOut) -> Iterator[tuple[int, list[Row]]]:
    """Yields runs of consecutive cells of one kind; a kind may occur in several runs."""
    sizes = [
        int(core.block_bits[core.kind_block[kind] : core.kind_block[kind + 1]].sum())
        for kind in range(len(core.kind_block) - 1)
    ]
    ports = np.diff(core.kind_port).tolist()
    rows: list[Row] = []
    before, at, port = -1, 0, 0
    for kind in wires.cell_kind.tolist():
        if kind != before and rows:
            yield before, rows
            rows = []
        starts = wires.wire_start[port : port + ports[kind] + 1].tolist()
        said = [progressions(wires.wire_bit[begin:end].tolist()) for begin, end in pairwise(starts)]
        flat = [number for one in said for progression in one for number in progression]
        bits = wires.cell_bit[at : at + sizes[kind]].tolist()
        rows.append((tuple(map(len, said)), [*bits, *flat]))
        before, at, port = kind, at + sizes[kind], port + ports[kind]
    if rows:
        yield before, rows


def _segments(rows: Sequence[Row], numbers: list[int]) -> list[tuple[int, ...]]:
    """Returns the forms of segments of rows; appends each segment's length, first row and growth to `numbers`."""
    found = []
    for at, end in even_stretches(rows):
        form, first = rows[at]
        growth = [more - one for one, more in zip(first, rows[min(at + 1, end - 1)][1], strict=True)]
        found.append(form)
        numbers += [end - at, *first, *growth]
    return found


SMALL = range(1, 65)  # sizes at which a description is compared with the program's own wiring
LARGE = (100, 257, 500)
_BEGINS = 24  # the formula must hold from this size or earlier
_FIXED = 16  # sizes written individually if there is no formula

Maker = Callable[[int], Algorithm]


@dataclass(frozen=True)
class PageSizes:
    """The sizes of a program that a page supports."""

    chosen: int
    begin: int | None  # the formula holds from this size on; None if there is none
    formula: Description | None  # numbers are c0, c1, c2 of each: c0 + c1 d + c2 d (d - 1) / 2, d the size less `begin`
    single: dict[int, Description]  # sizes with individual descriptions
    checked: tuple[int, ...]  # sizes at which the formula equals the program's wiring

    @property
    def compared(self) -> list[tuple[int, int]]:
        """First and last size of each range of checked sizes: (4, 64), (100, 100), (257, 257)."""
        return ranges_of(self.checked)

    def document(self) -> dict[str, Any]:
        """The sizes in the format that a page reads."""
        single = {str(size): [one.shape, list(one.numbers)] for size, one in self.single.items()}
        found: dict[str, Any] = {"chosen": self.chosen, "single": single, "compared": self.compared}
        if self.formula is not None:
            numbers = list(self.formula.numbers)
            terms = [_short(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
            found["formula"] = [self.begin, self.formula.shape, terms]
        return found


def every_size(network: IntegerNetwork, pattern: Pattern, make: Maker, chosen: int) -> PageSizes:
    """Returns the sizes of a program with their formula; raises InputError if the chosen size has unknown cells."""

    def at(size: int) -> Description | None:
        try:
            return describe(exported_cells(network, pattern, make(size)))
        except BitwrightError:  # no such size, or a cell of an unknown kind
            return None

    own = describe(exported_cells(network, pattern, make(chosen)))
    known = {size: one for size in SMALL if (one := at(size)) is not None}
    for begin in range(1, _BEGINS + 1):
        rest = [size for size in SMALL if size >= begin]
        formula = _fitted(begin, known)
        if formula is None or any(known.get(size) != value_at(formula, size - begin) for size in rest):
            continue
        large = [*LARGE, *([chosen] if chosen > SMALL[-1] else [])]
        if any(at(size) != value_at(formula, size - begin) for size in large):
            break
        single = {size: one for size, one in known.items() if size < begin}
        return PageSizes(chosen, begin, formula, single, tuple(sorted({*rest, *large})))
    return PageSizes(chosen, None, None, {**{s: one for s, one in known.items() if s <= _FIXED}, chosen: own}, ())


def value_at(formula: Description, beyond: int) -> Description:
    """Evaluates a formula `beyond` sizes after its first."""
    numbers = formula.numbers
    values = tuple(
        c0 + c1 * beyond + c2 * (beyond * (beyond - 1) // 2)
        for c0, c1, c2 in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    )
    return Description(formula.shape, values)


def _fitted(begin: int, known: dict[int, Description]) -> Description | None:
    """Fits quadratic polynomials through three sizes if their descriptions have the same shape."""
    first, *others = three = [known.get(begin + more) for more in range(3)]
    if first is None or any(
        one is None or one.shape != first.shape or len(one.numbers) != len(first.numbers) for one in others
    ):
        return None
    numbers: list[int] = []
    for a, b, c in zip(*(one.numbers for one in three if one is not None), strict=True):
        numbers += (a, b - a, c - 2 * b + a)
    return Description(first.shape, tuple(numbers))


def _short(terms: list[int]) -> int | list[int]:
    """Strips trailing zero coefficients; a constant becomes a number."""
    while len(terms) > 1 and terms[-1] == 0:
        terms = terms[:-1]
    return terms[0] if len(terms) == 1 else terms
