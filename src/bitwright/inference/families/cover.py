"""The shortest set of terms that explains everything seen, by exact integer programming."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from bitwright.inference.families.atoms import Atom, Evidences
from bitwright.inference.families.terms import Term, Terms
from bitwright.running.progress import interruptible

SECONDS = 60.0


@dataclass(frozen=True)
class Cover:
    """Terms that explain every state, and whether it is proved that no fewer do."""

    terms: list[Term]
    shortest: bool


def longest_terms(evidence: Evidences) -> dict[Term, tuple[frozenset[Atom], int]]:
    """The longest terms with a wanted atom, each with its wanted atoms and its cost."""
    wanted = frozenset[Atom]().union(*evidence.demands)
    every = Terms(evidence)
    found = {term: (frozenset(every.atoms(term) or ()) & wanted, cost) for term, cost in every.longest(wanted)}
    return {term: (useful, cost) for term, (useful, cost) in found.items() if useful}


def cheapest_cover(evidence: Evidences, seconds: float = SECONDS) -> Cover:
    """The cheapest terms that meet all demands."""
    terms = longest_terms(evidence)
    best: dict[frozenset[Atom], Term] = {}  # of terms that are useful for the same, the cheapest
    for term, (useful, cost) in terms.items():
        if useful not in best or cost < terms[best[useful]][1]:
            best[useful] = term
    every = list(best.values())
    chosen, shortest = solve([terms[t][0] for t in every], [terms[t][1] for t in every], evidence.demands, seconds)
    return Cover([every[number] for number in chosen], shortest)


def solve(
    columns: Sequence[frozenset[Any]], costs: Sequence[int], demands: Collection[frozenset[Any]], seconds: float
) -> tuple[list[int], bool]:
    """The cheapest columns with one member of every demand, and whether it is proved that these are."""
    if not demands:
        return [], True
    having: dict[Any, list[int]] = {}
    for number, column in enumerate(columns):
        for one in column:
            having.setdefault(one, []).append(number)
    rows = {frozenset(n for one in demand for n in having.get(one, ())) for demand in demands}
    entries = [(r, n) for r, row in enumerate(rows) for n in row]
    where = np.array(entries).T
    matrix = csr_array((np.ones(len(entries)), where), shape=(len(rows), len(columns)))
    found = interruptible(
        lambda: milp(
            np.array(costs),
            constraints=LinearConstraint(matrix, lb=1),
            integrality=np.ones(len(columns)),
            bounds=Box(0, 1),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )
    )
    if found.x is None:  # the limit came before any cover: all columns are one
        return list(range(len(columns))), False
    return np.flatnonzero(found.x > 0.5).tolist(), found.status == 0
