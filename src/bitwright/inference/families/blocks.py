"""Fits arrays and blocks of several sizes as families: lengths s*l + o, and blocks x[i] y[a*i + b*l + c]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product

import numpy as np

from bitwright.common.errors import InputError
from bitwright.inference.families.lines import (
    Affine,
    Array,
    Cell,
    Dimension,
    Indices,
    LineBounds,
    LineCell,
    Place,
    fit_line,
    in_cell,
    places_of,
    simplest,
    unit,
    value,
)
from bitwright.rules import Layout

Members = tuple[int, ...]  # the numbers of the arrays that contain the bits of a block, in order
Blocks = Sequence[Sequence[int]]
Index = tuple[Affine, ...]  # the index of a bit, with an entry for each dimension of its array


class NoFamilyError(Exception):
    """Raised if no program of the class fits all sizes; the message names the array, block or write at fault."""


@dataclass(frozen=True)
class FittedBlocks:
    """Blocks over the same arrays; the first bit of each has index i, or i and j, the others affine indices."""

    members: Members
    ranges: tuple[tuple[LineCell, ...], ...]  # consecutive cells in each dimension, the ranges of i and j
    indices: tuple[Index, ...]  # (members,) the first is i, or i and j
    unique: bool  # whether no other family of the class has the same blocks at these sizes

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells, with the last dimension varying fastest."""
        return list(product(*self.ranges))

    def bits(self, arrays: Sequence[Array], layout: Layout, size: int) -> list[tuple[int, Place, list[int]]]:
        """Returns the cell, position and bits of every block at a size."""
        numbers = [arrays[m].bits(layout) for m in self.members]
        return [
            (
                k,
                place,
                [
                    int(bits[tuple(value(one, place, size) - 1 for one in index)])
                    for bits, index in zip(numbers, self.indices, strict=True)
                ],
            )
            for k, cell in enumerate(self.cells)
            for place in places_of(cell, size)
        ]


def fit_arrays(layouts: Mapping[int, Layout], halves: bool = False) -> list[Array]:
    """Returns arrays whose lengths are functions of the size; raises NoFamilyError if the lengths do not fit.

    With `halves`, a dimension that grows by an even number is split into its odd and its even positions.
    """
    first, *others = layouts
    names = [field.name for field in layouts[first].fields]
    for size in others:
        other_names = [field.name for field in layouts[size].fields]
        if other_names != names:
            shown = f"{' '.join(names)}; {' '.join(other_names)}"
            raise InputError(f"sizes {first} and {size} have different arrays: {shown}")
    for left, right in combinations(layouts, 2):
        if layouts[left] == layouts[right]:
            raise InputError(f"sizes {left} and {right} have the same bits; give different executions for each size")
    return [
        array
        for number, name in enumerate(names)
        for array in _arrays(
            number, name, {size: layout.fields[number].shape for size, layout in layouts.items()}, halves
        )
    ]


def _arrays(number: int, name: str, shapes: Mapping[int, tuple[int, ...]], halves: bool) -> Iterator[Array]:
    """Splits an array of several dimensions into one for each index of its constant dimensions."""
    first = next(iter(shapes.values()))
    if len({len(shape) for shape in shapes.values()}) > 1:
        raise NoFamilyError(f"the number of dimensions of {name} differs between sizes")
    if not first:
        yield Array(number, name, (Dimension((0, 1)),), ())
        return
    grows = [k for k in range(len(first)) if len({shape[k] for shape in shapes.values()}) > 1] or [0]
    if len(grows) > 2:
        raise NoFamilyError(f"{name} grows in {len(grows)} dimensions, but families support at most two")
    ways: list[list[Dimension]] = []
    for along in grows:
        lengths = {size: shape[along] for size, shape in shapes.items()}
        line = fit_line(lengths)
        if line is None or line[0] < 0:
            shown = ", ".join(f"{length} at {size}" for size, length in lengths.items())
            raise NoFamilyError(f"the length of {name} is not a multiple of the size plus a constant: {shown}")
        if halves and line[0] and not line[0] % 2:
            ways.append([Dimension((line[0] // 2, (line[1] + 1 - k) // 2), k, line) for k in (0, 1)])
        else:
            ways.append([Dimension(line, None, line)])
    for rest in product(*([None] if k in grows else range(1, n + 1) for k, n in enumerate(first))):
        index = f"{name}[{','.join('{}' if k is None else str(k) for k in rest)}]"
        for dimensions in product(*ways):
            yield Array(number, index, dimensions, rest)


def fit_blocks(
    arrays: Sequence[Array], layouts: Mapping[int, Layout], blocks: Mapping[int, Blocks], bounds: LineBounds
) -> list[FittedBlocks]:
    """Returns families with exactly these blocks at these sizes, which are all at least 2B + 1."""
    found: dict[Members, dict[tuple[int, Place], tuple[Place, ...]]] = {}  # all places, by arrays, size and first place
    for size, those in blocks.items():
        owner = owners(arrays, layouts[size])
        for block in those:
            members, places = zip(*sorted(owner[bit] for bit in block), strict=True)
            found.setdefault(members, {})[size, places[0]] = places
    indices = indices_of(arrays, bounds)
    return [
        family
        for members in sorted(found, key=lambda m: (m[0], len(m), m))
        for family in _families(members, found[members], arrays, list(blocks), indices)
    ]


def indices_of(arrays: Sequence[Array], bounds: LineBounds) -> Indices:
    """Returns the indices of a class into these arrays."""
    return _indices(bounds, max(dimension.length[0] for array in arrays for dimension in array.dimensions))


@lru_cache(maxsize=32)
def _indices(bounds: LineBounds, steepest: int) -> Indices:
    return Indices(bounds, steepest)  # caches its results


def owners(arrays: Sequence[Array], layout: Layout) -> list[tuple[int, Place]]:
    """Returns the array and the position of every bit at one size."""
    found: list[tuple[int, Place]] = [(0, ())] * layout.size
    for number, array in enumerate(arrays):
        for place, bit in np.ndenumerate(array.bits(layout)):
            found[int(bit)] = (number, tuple(k + 1 for k in place))
    return found


Ways = list[set[Index]]  # the indices that fit, for each member


def _families(
    members: Members,
    found: Mapping[tuple[int, Place], tuple[Place, ...]],
    arrays: Sequence[Array],
    sizes: Sequence[int],
    indices: Indices,
) -> list[FittedBlocks]:
    """Finds rectangles of cells whose blocks have the same indices: the longest runs in a row, merged across rows."""
    lines = [dimension.cells(indices.bounds) for dimension in arrays[members[0]].dimensions]
    *above, last = lines
    rows: list[tuple[tuple[LineCell, ...], list[tuple[tuple[LineCell, ...], Ways, bool]]]] = []
    for upper in product(*above):
        runs: list[tuple[tuple[LineCell, ...], Ways, bool]] = []
        open_run = False
        for one in last:
            fitting = _fitting((*upper, one), members, found, arrays, sizes, indices)
            if fitting is None:
                open_run = False
                continue
            cell = (*upper, one)
            used = [{tuple(in_cell(one, cell) for one in index) for index in those} for those in fitting]
            single = all(len(those) == 1 for those in used)
            both = [old & new for old, new in zip(runs[-1][1], fitting, strict=True)] if open_run else []
            if open_run and all(both):
                runs[-1] = ((*runs[-1][0], one), both, runs[-1][2] and single)
            else:
                runs.append(((one,), fitting, single))
            open_run = True
        rows.append((upper, runs))
    families: list[tuple[list[tuple[LineCell, ...]], Ways, bool]] = []
    growing: dict[tuple[LineCell, ...], int] = {}  # maps the runs of the row above to their families
    for upper, runs in rows:
        now: dict[tuple[LineCell, ...], int] = {}
        for run, ways, single in runs:
            number = growing.get(run)
            both = [] if number is None else [a & b for a, b in zip(families[number][1], ways, strict=True)]
            if number is not None and all(both):
                ranges, _, unique = families[number]
                families[number] = ([(*ranges[0], *upper), run], both, unique and single)
            else:
                number = len(families)
                families.append(([upper, run] if upper else [run], ways, single))
            now[run] = number
        growing = now if above else {}
    return [
        FittedBlocks(members, tuple(ranges), tuple(_simplest(those) for those in ways), unique)
        for ranges, ways, unique in families
    ]


def _fitting(
    cell: Cell,
    members: Members,
    found: Mapping[tuple[int, Place], tuple[Place, ...]],
    arrays: Sequence[Array],
    sizes: Sequence[int],
    indices: Indices,
) -> Ways | None:
    """Returns the indices of a class that fit each member in a cell; None if no such block starts there."""
    places = [(size, place) for size in sizes for place in places_of(cell, size)]
    here = [(size, place, found[size, place]) for size, place in places if (size, place) in found]
    if not here:
        return None
    names = " ".join(arrays[m].name for m in members)
    if len(here) < len(places):
        size, place = next(one for one in places if one not in found)
        shown = arrays[members[0]].bit([(0, 0, k) for k in place], "")
        raise NoFamilyError(f"blocks of {names}: {shown} at size {size} is not in such a block")
    first = tuple(unit(k, len(cell)) for k in range(len(cell)))
    ways: Ways = [{first}]
    for member, m in enumerate(members[1:], 1):
        parts = []
        for k, dimension in enumerate(arrays[m].dimensions):
            inside = indices.into(cell, dimension.length)
            fits = {i for i in inside if all(value(i, place, size) == block[member][k] for size, place, block in here)}
            if any(one.fixed for one in cell):
                fits |= {index for index in indices.moving(len(cell)) if in_cell(index, cell) in fits}
            parts.append(fits)
        ways.append(set(product(*parts)))
        if not ways[-1]:
            raise NoFamilyError(f"blocks of {names}: no index of {arrays[m].name} fits all sizes")
    return ways


def _simplest(ways: set[Index]) -> Index:
    return tuple(simplest({index[k] for index in ways}) for k in range(len(next(iter(ways)))))
