"""The shortest set of terms that explains everything seen, by exact integer programming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from bitwright.inference.families.atoms import Atom, AtomSource, Evidences, runs
from bitwright.inference.families.lines import Affine, Array, LineCell, awkwardness, in_cell

_TERM = 1_000  # what a term costs; how it reads decides between covers of the same number
SECONDS = 60.0


@dataclass(frozen=True)
class Term:
    """A configuration of consecutive cells of a family, and the bits of one array that it writes.

    The target is an index, an index that wraps around (`wrapped`), or the positions from one line to another."""

    family: int
    config: int
    first: int
    last: int  # cells
    array: int
    target: Affine | LineCell
    wrapped: bool = False


@dataclass(frozen=True)
class Cover:
    """Terms that explain every state, and whether it is proved that no fewer do."""

    terms: list[Term]
    shortest: bool


def cheapest_cover(evidence: Evidences, seconds: float = SECONDS) -> Cover:
    """The cheapest terms that meet all demands."""
    wanted = frozenset[Atom]().union(*evidence.demands)
    terms: dict[Term, tuple[frozenset[Atom], int]] = {}
    for term, atoms, cost in _terms(evidence, {(a.source.family, a.source.config, a.array) for a in wanted}):
        useful = frozenset(atoms) & wanted
        if useful:
            terms[term] = (useful, cost)
    best: dict[frozenset[Atom], Term] = {}  # of terms that are useful for the same, the cheapest
    for term, (useful, cost) in terms.items():
        if useful not in best or cost < terms[best[useful]][1]:
            best[useful] = term
    chosen = list(best.values())
    if not evidence.demands:
        return Cover([], True)
    columns: dict[Atom, list[int]] = {}
    for number, term in enumerate(chosen):
        for atom in terms[term][0]:
            columns.setdefault(atom, []).append(number)
    rows = {frozenset(n for atom in demand for n in columns.get(atom, ())) for demand in evidence.demands}
    entries = [(r, n) for r, row in enumerate(rows) for n in row]
    where = np.array(entries).T
    matrix = csr_array((np.ones(len(entries)), where), shape=(len(rows), len(chosen)))
    costs = np.array([terms[term][1] for term in chosen])
    found = milp(
        costs,
        constraints=LinearConstraint(matrix, lb=1),
        integrality=np.ones(len(chosen)),
        bounds=Box(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    if found.x is None:  # the limit came before any cover: every term is one
        return Cover(chosen, False)
    return Cover([term for term, on in zip(chosen, found.x, strict=True) if on > 0.5], found.status == 0)


def atoms_of(evidence: Evidences, term: Term) -> list[Atom] | None:
    """The atoms that a term stands for; None where one of them is not sound."""
    atoms = []
    for number in range(term.first, term.last + 1):
        source = AtomSource(term.family, number, term.config)
        cell = evidence.cell(source)
        for target in _targets(evidence, term, cell):
            if target not in evidence.atoms[source, term.array]:
                return None
            atoms.append(Atom(source, term.array, target))
    return atoms


def _targets(evidence: Evidences, term: Term, cell: LineCell) -> Iterator[Affine | LineCell]:
    array = evidence.arrays[term.array]
    if isinstance(term.target, LineCell):
        cells = array.cells(evidence.bounds)
        low = next(k for k, one in enumerate(cells) if one.low == term.target.low)
        high = next(k for k, one in enumerate(cells) if one.high == term.target.high)
        for one in cells[low : high + 1]:
            yield (0, *one.low) if one.fixed else one
        return
    index = in_cell(term.target, cell)
    yield _wrap(index, cell, array) if term.wrapped else index


def _wrap(index: Affine, cell: LineCell, array: Array) -> Affine:
    """An index i + c of an array that is a ring, without the remainder."""
    if not cell.fixed:
        return index
    _, s, o = index
    slope, rest = array.length
    if s == 0 and o < 1:
        return 0, slope, o + rest
    return (0, 0, o - rest) if s == slope and o > rest else index


def _terms(evidence: Evidences, wanted: set[tuple[int, int, int]]) -> Iterator[tuple[Term, Iterable[Atom], int]]:
    """All longest terms, with their atoms and costs."""
    for number, config, array in sorted(wanted):
        family, count = evidence.families[number], len(evidence.families[number].cells)
        for target, extra in _shapes(evidence, array):
            single = [atoms_of(evidence, Term(number, config, k, k, array, target)) for k in range(count)]
            for first, last in runs([atoms is not None for atoms in single]):
                ends = (first > 0) + (last < count - 1)
                atoms = [atom for some in single[first : last + 1] for atom in some or ()]
                yield Term(number, config, first, last, array, target), atoms, _TERM + extra + ends
        for index in _rings(evidence, number, array):
            term = Term(number, config, 0, count - 1, array, index, wrapped=True)
            if (around := atoms_of(evidence, term)) is not None:
                yield term, around, _TERM + 20 + awkwardness(index)
        for k, cell in enumerate(family.cells):
            if cell.fixed:
                for target in evidence.atoms[AtomSource(number, k, config), array]:
                    if not isinstance(target, LineCell):
                        atom = Atom(AtomSource(number, k, config), array, target)
                        yield Term(number, config, k, k, array, target), [atom], _TERM + 2 + awkwardness(target)


def _rings(evidence: Evidences, number: int, target: int) -> list[Affine]:
    """Indices that may wrap around: the blocks have one for every position of the array."""
    cells, length = evidence.families[number].cells, evidence.arrays[target].length
    if cells[0].low != (0, 1) or cells[-1].high != length or length[0] == 0 or evidence.arrays[target].half is not None:
        return []
    far = evidence.bounds.offset
    return [(1, 0, c) for c in range(-far, far + 1) if c]


def _shapes(evidence: Evidences, target: int) -> Iterator[tuple[Affine | LineCell, int]]:
    """Targets in an array, and how awkward they are."""
    for index in evidence.indices.moving:
        yield index, awkwardness(index)
    cells = evidence.arrays[target].cells(evidence.bounds) if evidence.gaps[target] else []
    for low, first in enumerate(cells):
        for high in range(low, len(cells)):
            if any(not cell.fixed for cell in cells[low : high + 1]):
                yield LineCell(first.low, cells[high].high), 40 + 10 * ((low > 0) + (high < len(cells) - 1))
