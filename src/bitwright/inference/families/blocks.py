"""Arrays and blocks of several sizes as families: lengths s*l + o, and blocks x[i] y[a*i + b*l + c] for ranges of i."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from bitwright.errors import InputError
from bitwright.inference.families.lines import (
    Affine,
    Array,
    Indices,
    LineBounds,
    LineCell,
    fit_line,
    in_cell,
    simplest,
    value,
)
from bitwright.program import Layout

Members = tuple[int, ...]  # the arrays of a block's bits, by number, in order
Blocks = Sequence[Sequence[int]]


class NoFamilyError(Exception):
    """No program of the class has these sizes; the text says which array, block or write does not fit."""


@dataclass(frozen=True)
class FittedBlocks:
    """Blocks with the same arrays: the first bit of each has index i, the others an affine index."""

    members: Members
    cells: tuple[LineCell, ...]  # consecutive, where i runs
    indices: tuple[Affine, ...]  # (members,) that of the first is i
    unique: bool  # whether no other family of the class has the same blocks at the sizes seen

    def bits(self, arrays: Sequence[Array], layout: Layout, size: int) -> list[tuple[int, list[int]]]:
        """At a size: each place i with the bits of its block."""
        numbers = [arrays[m].bits(layout) for m in self.members]
        return [
            (i, [int(bits[value(index, i, size) - 1]) for bits, index in zip(numbers, self.indices, strict=True)])
            for cell in self.cells
            for i in cell.places(size)
        ]


def fit_arrays(layouts: Mapping[int, Layout], halves: bool = False) -> list[Array]:
    """The arrays and how their lengths depend on the size; raises NoFamilyError where one does not.

    With `halves` an array whose length grows by an even number is two: its odd positions, and its even ones."""
    first, *others = layouts
    names = [field.name for field in layouts[first].fields]
    for size in others:
        found = [field.name for field in layouts[size].fields]
        if found != names:
            raise InputError(f"sizes {first} and {size} have other arrays: {' '.join(names)}, and {' '.join(found)}")
    for one, other in combinations(layouts, 2):
        if layouts[one] == layouts[other]:
            raise InputError(f"sizes {one} and {other} have the same bits; each size has executions of its own")
    return [
        array
        for number, name in enumerate(names)
        for array in _arrays(
            number, name, {size: layout.fields[number].shape for size, layout in layouts.items()}, halves
        )
    ]


def _arrays(number: int, name: str, shapes: Mapping[int, tuple[int, ...]], halves: bool) -> Iterator[Array]:
    """An array of several dimensions as one for each index in those that are constant."""
    first = next(iter(shapes.values()))
    if len({len(shape) for shape in shapes.values()}) > 1:
        raise NoFamilyError(f"{name} has more dimensions at one size than at another")
    if not first:
        yield Array(number, name, (0, 1), ())
        return
    grows = [k for k in range(len(first)) if len({shape[k] for shape in shapes.values()}) > 1]
    if len(grows) > 1:
        raise NoFamilyError(f"{name} grows in {len(grows)} dimensions; families have arrays that grow in one")
    along = grows[0] if grows else 0
    lengths = {size: shape[along] for size, shape in shapes.items()}
    line = fit_line(lengths)
    if line is None or line[0] < 0:
        shown = ", ".join(f"{length} at {size}" for size, length in lengths.items())
        raise NoFamilyError(f"the length of {name} is not a multiple of the size and a constant: {shown}")
    for rest in product(*(range(1, n + 1) for k, n in enumerate(first) if k != along)):
        at: tuple[int | None, ...] = (*rest[:along], None, *rest[along:])
        index = f"{name}[{','.join('{}' if k is None else str(k) for k in at)}]"
        if halves and line[0] and not line[0] % 2:
            yield from (Array(number, index, (line[0] // 2, (line[1] + 1 - k) // 2), at, k, line) for k in (0, 1))
        else:
            yield Array(number, index, line, at, None, line)


def fit_blocks(
    arrays: Sequence[Array], layouts: Mapping[int, Layout], blocks: Mapping[int, Blocks], bounds: LineBounds
) -> list[FittedBlocks]:
    """Families that have exactly these blocks at these sizes, all of them at least 2B + 1."""
    found: dict[Members, dict[int, dict[int, tuple[int, ...]]]] = {}  # by arrays, size and first index: all indices
    for size, those in blocks.items():
        owner = owners(arrays, layouts[size])
        for block in those:
            members, places = zip(*sorted(owner[bit] for bit in block), strict=True)
            found.setdefault(members, {}).setdefault(size, {})[places[0]] = places
    indices = Indices(bounds, max(array.length[0] for array in arrays))
    return [
        family
        for members in sorted(found, key=lambda m: (m[0], len(m), m))
        for family in _families(members, found[members], arrays, list(blocks), indices)
    ]


def owners(arrays: Sequence[Array], layout: Layout) -> list[tuple[int, int]]:
    """The array and the place of every bit, at one size."""
    found = [(0, 0)] * layout.size
    for number, array in enumerate(arrays):
        for place, bit in enumerate(array.bits(layout).tolist(), 1):
            found[bit] = (number, place)
    return found


def _families(
    members: Members,
    found: Mapping[int, Mapping[int, tuple[int, ...]]],
    arrays: Sequence[Array],
    sizes: Sequence[int],
    indices: Indices,
) -> list[FittedBlocks]:
    families: list[FittedBlocks] = []
    run: list[LineCell] = []
    ways: list[set[Affine]] = []  # of each member: indices that fit in all cells of the run
    unique = True

    def close() -> None:
        if run:
            families.append(FittedBlocks(members, tuple(run), tuple(map(simplest, ways)), unique))

    for cell in arrays[members[0]].cells(indices.bounds):
        blocks = [
            (size, i, found.get(size, {}).get(i)) for size in sizes for i in cell.places(size)
        ]  # one for each place, or None
        here = [(size, i, block) for size, i, block in blocks if block is not None]
        if not here:
            close()
            run, ways, unique = [], [], True
            continue
        if len(here) < len(blocks):
            size, i, _ = next(entry for entry in blocks if entry[2] is None)
            names = " ".join(arrays[m].name for m in members)
            raise NoFamilyError(
                f"blocks of {names}: {arrays[members[0]].bit((0, 0, i), '')} at size {size} is in no such block"
            )
        fitting = [_fitting(cell, here, at, arrays[m], indices) for at, m in enumerate(members)]
        for m, those in zip(members, fitting, strict=True):
            if not those:
                names = " ".join(arrays[m].name for m in members)
                raise NoFamilyError(f"blocks of {names}: no index of {arrays[m].name} fits all sizes")
        single = all(len({in_cell(index, cell) for index in those}) == 1 for those in fitting)
        both = [old & new for old, new in zip(ways, fitting, strict=True)] if run else fitting
        if not all(both):
            close()
            run, both, unique = [], fitting, True
        run, ways, unique = [*run, cell], both, unique and single
    close()
    return families


def _fitting(
    cell: LineCell, here: Sequence[tuple[int, int, tuple[int, ...]]], at: int, array: Array, indices: Indices
) -> set[Affine]:
    """The indices of a class that a member has in a cell."""
    if at == 0:
        return {(1, 0, 0)}
    inside = set(indices.into(cell, array))
    fits = {index for index in inside if all(value(index, i, size) == block[at] for size, i, block in here)}
    if not cell.fixed:
        return fits
    return fits | {index for index in indices.moving if in_cell(index, cell) in fits}
