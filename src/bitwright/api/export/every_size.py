"""A program in every size: its description as polynomials, found at small sizes and compared with the real wiring."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bitwright.api.export.described import Description, describe
from bitwright.api.export.model import Exported, exported_cells
from bitwright.errors import BitwrightError
from bitwright.networks import IntegerNetwork
from bitwright.program import Algorithm
from bitwright.program.pattern import Pattern

SMALL = range(1, 65)  # sizes at which a description is compared with the program's own wiring
LARGE = (100, 257, 500)
_BEGINS = 24  # the formula must hold from here on at the latest
_FIXED = 16  # sizes that are written one by one where no formula is found

Maker = Callable[[int], Algorithm]


@dataclass(frozen=True)
class PageSizes:
    """What a page knows of the sizes of a program."""

    chosen: int
    begin: int | None  # the formula holds from this size on; None: there is none
    formula: Description | None  # numbers are c0, c1, c2 of each: c0 + c1 d + c2 d (d - 1) / 2, d the size less `begin`
    single: dict[int, Description]  # sizes that have a description of their own
    checked: tuple[int, ...]  # at which the formula gave the program's own wiring

    def document(self) -> dict[str, Any]:
        """The sizes as a page reads them."""
        single = {str(size): [one.shape, list(one.numbers)] for size, one in self.single.items()}
        ranges = _ranges(self.checked)
        words = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in ranges)
        found: dict[str, Any] = {"chosen": self.chosen, "single": single, "checked": words, "compared": ranges}
        if self.formula is not None:
            numbers = list(self.formula.numbers)
            terms = [_short(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
            found["formula"] = [self.begin, self.formula.shape, terms]
        return found


def every_size(network: IntegerNetwork, pattern: Pattern, make: Maker, chosen: int) -> PageSizes:
    """The sizes of a program that a formula covers; raises InputError if the chosen one has unknown cells."""

    def at(size: int) -> Description | None:
        try:
            return _described(exported_cells(network, pattern, make(size)))
        except BitwrightError:  # no such size, or a cell that this network does not know
            return None

    own = _described(exported_cells(network, pattern, make(chosen)))
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
    """The description at a size that far beyond the first one of a formula."""
    numbers = formula.numbers
    values = tuple(
        c0 + c1 * beyond + c2 * (beyond * (beyond - 1) // 2)
        for c0, c1, c2 in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    )
    return Description(formula.shape, values)


def _described(found: Exported) -> Description:
    assert found.wires is not None
    return describe(found.core, found.wires)


def _fitted(begin: int, known: dict[int, Description]) -> Description | None:
    """Quadratic polynomials through three sizes, where their descriptions have one shape."""
    three = [known.get(begin + more) for more in range(3)]
    first, second, third = three
    if first is None or second is None or third is None or not first.shape == second.shape == third.shape:
        return None
    if not len(first.numbers) == len(second.numbers) == len(third.numbers):
        return None
    numbers: list[int] = []
    for a, b, c in zip(first.numbers, second.numbers, third.numbers, strict=True):
        numbers += (a, b - a, c - 2 * b + a)
    return Description(first.shape, tuple(numbers))


def _short(terms: list[int]) -> int | list[int]:
    """Coefficients without zeros at the end; a constant as a number."""
    while len(terms) > 1 and terms[-1] == 0:
        terms = terms[:-1]
    return terms[0] if len(terms) == 1 else terms


def _ranges(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of sizes: (4, 64), (100, 100), (257, 257)."""
    found: list[tuple[int, int]] = []
    for size in sizes:
        if found and found[-1][1] == size - 1:
            found[-1] = (found[-1][0], size)
        else:
            found.append((size, size))
    return found
