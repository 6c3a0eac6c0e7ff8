"""The shortest set of terms that explains all states, and the version space of all such sets.

The shortest set is found with exact integer programming. The version space consists of the writes that every program of
the class has, the writes that none has, and the open writes, counted at one size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from bitwright.common.bits import BoolArray
from bitwright.inference.families.atoms import Atom, AtomSource, Evidences, Key
from bitwright.inference.families.lines import LineBounds, LineCell, at, in_cell
from bitwright.inference.families.terms import Term, Terms
from bitwright.runs.progress import interruptible

_SECONDS = 60.0  # time limit for the shortest text


@dataclass(frozen=True)
class Cover:
    """Terms that explain every state, and whether they are proved to be the shortest."""

    terms: list[Term]
    shortest: bool


def longest_terms(evidence: Evidences) -> dict[Term, tuple[frozenset[Atom], int]]:
    """Returns the longest terms with a required atom, each with its required atoms and its cost."""
    wanted = frozenset[Atom]().union(*evidence.demands)
    every = Terms(evidence)
    found = {term: (frozenset(every.atoms(term) or ()) & wanted, cost) for term, cost in every.longest(wanted)}
    return {term: (useful, cost) for term, (useful, cost) in found.items() if useful}


def cheapest_cover(evidence: Evidences) -> Cover:
    """Returns the cheapest terms that meet all demands."""
    terms = longest_terms(evidence)
    best: dict[frozenset[Atom], Term] = {}  # the cheapest term for each set of required atoms
    for term, (useful, cost) in terms.items():
        if useful not in best or cost < terms[best[useful]][1]:
            best[useful] = term
    every = list(best.values())
    chosen, shortest = solve([terms[t][0] for t in every], [terms[t][1] for t in every], evidence.demands)
    return Cover([every[number] for number in chosen], shortest)


def solve(
    columns: Sequence[frozenset[Any]], costs: Sequence[int], demands: Collection[frozenset[Any]]
) -> tuple[list[int], bool]:
    """Returns the cheapest columns with a member of every demand, and whether they are proved to be the cheapest."""
    if not demands:
        return [], True
    having: dict[Any, list[int]] = {}
    for number, column in enumerate(columns):
        for member in column:
            having.setdefault(member, []).append(number)
    rows = {frozenset(n for member in demand for n in having.get(member, ())) for demand in demands}
    entries = [(r, n) for r, row in enumerate(rows) for n in row]
    where = np.array(entries).T
    matrix = csr_array((np.ones(len(entries)), where), shape=(len(rows), len(columns)))
    solution = interruptible(
        lambda: milp(
            np.array(costs),
            constraints=LinearConstraint(matrix, lb=1),
            integrality=np.ones(len(columns)),
            bounds=Box(0, 1),
            options={"time_limit": _SECONDS, "mip_rel_gap": 0},
        )
    )
    if solution.x is None:  # use all columns if no cover was found in time
        return list(range(len(columns))), False
    return np.flatnonzero(solution.x > 0.5).tolist(), solution.status == 0


@dataclass(frozen=True)
class VersionSpace:
    """The writes that the states force and leave open, at one size."""

    size: int
    forced: int
    open: int
    atoms: list[Atom]  # sound atoms of observed sources with an open write
    unseen: list[AtomSource]  # configurations that do not occur in the data, whose writes are all open

    @property
    def determined(self) -> bool:
        """Whether all consistent programs of the class take the same step at this size."""
        return not self.open and not self.unseen


def version_space(evidence: Evidences, size: int) -> VersionSpace:
    """Computes the forced and the open writes at a size, for any number of terms."""
    writes: dict[Key, list[BoolArray]] = {}  # for each dimension (places, choices, length)
    forced: dict[Key, BoolArray] = {}  # (configurations, places, length, ...)
    for key, choices in evidence.choices.items():
        family, cell, array = key
        lengths = [at(dimension.length, size) for dimension in evidence.arrays[array].dimensions]
        writes[key] = [one.writes(size, length) for one, length in zip(choices, lengths, strict=True)]
        shape = (1 << len(evidence.families[family].members), len(writes[key][0]), *lengths)
        forced[key] = np.zeros(shape, dtype=bool)

    def written(atom: Atom) -> BoolArray:
        those = writes[atom.source.family, atom.source.cell, atom.array]
        first, *others = (one[:, n] for one, n in zip(those, atom.choice, strict=True))
        return first[:, :, None] & others[0][:, None] if others else first

    for demand in evidence.demands:
        one = next(iter(demand))
        if all((atom.source, atom.array) == (one.source, one.array) for atom in demand):
            every = np.logical_and.reduce([written(atom) for atom in demand])
            forced[one.source.family, one.source.cell, one.array][one.source.config] |= every
    number = sum(int(those.sum()) for those in forced.values())
    left, atoms = 0, list[Atom]()
    for (family, cell, array), sure in forced.items():
        seen = [c for c in range(len(sure)) if AtomSource(family, cell, c) in evidence.seen]
        sound = evidence.sound[family, cell, array][seen]
        over = "cab,pax,pby->cpxy" if sound.ndim == 3 else "ca,pax->cpx"
        inputs, result = over.split("->")
        numbers = [sound.astype(np.float32), *(one.astype(np.float32) for one in writes[family, cell, array])]
        others = ~sure[seen]
        left += int((others & (np.einsum(over, *numbers, optimize=True) > 0)).sum())
        back = ",".join([result, *inputs.split(",")[1:]]) + "->" + inputs.split(",")[0]
        undecided = sound & (np.einsum(back, others.astype(np.float32), *numbers[1:], optimize=True) > 0)
        for config, *choice in np.argwhere(undecided).tolist():
            atoms.append(Atom(AtomSource(family, cell, seen[config]), array, tuple(choice)))
    atoms.sort(key=lambda atom: (atom.source, atom.array))
    unseen = [source for source in evidence.sources if source not in evidence.seen]
    return VersionSpace(size, number, left, atoms, unseen)


@dataclass(frozen=True)
class Sufficient:
    """The premise of the theorem: agreement at `size` implies agreement at every size of at least `first`."""

    terms: int  # most indices of a configuration in a cell into an array
    slices: bool
    size: int | None  # None if the theorem does not apply
    first: int


def sufficient(evidence: Evidences, terms: Sequence[Term]) -> Sufficient:
    """Returns the deciding size for the class, according to the theorem in docs/explanation/inference.md."""
    bounds: LineBounds = evidence.bounds
    a, b = bounds.coefficient, bounds.offset
    count: Counter[tuple[AtomSource, int]] = Counter()
    slices, every = False, Terms(evidence)
    for atom in {atom for term in terms for atom in every.atoms(term) or ()}:
        cell, target = evidence.families[atom.source.family].cells[atom.source.cell], evidence.target(atom)
        if any(isinstance(one, LineCell) for one in target):
            slices = True
        else:
            assert all(isinstance(one, LineCell) or in_cell(one, cell) == one for one in target)
            count[atom.source, atom.array] += 1
    most = max(count.values(), default=0)
    if slices:
        flat = a == 1 and all(len(array.dimensions) == 1 for array in evidence.arrays)
        return Sufficient(most, True, max(8 * b + 5, 3 * b + most + 2) if flat else None, 3 * b + 1)
    return Sufficient(most, False, max(2 * (a + 1) * b + 1, 2 * b + most + 2), bounds.first)
