"""The shortest set of terms that explains everything seen, by exact integer programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from bitwright.inference.families.atoms import Atom, Evidences
from bitwright.inference.families.deadline import interruptible
from bitwright.inference.families.terms import Term, Terms

SECONDS = 60.0


@dataclass(frozen=True)
class Cover:
    """Terms that explain every state, and whether it is proved that no fewer do."""

    terms: list[Term]
    shortest: bool


def cheapest_cover(evidence: Evidences, seconds: float = SECONDS) -> Cover:
    """The cheapest terms that meet all demands."""
    wanted = frozenset[Atom]().union(*evidence.demands)
    every = Terms(evidence)
    terms: dict[Term, tuple[frozenset[Atom], int]] = {}
    for term, cost in every.longest(wanted):
        useful = frozenset(every.atoms(term) or ()) & wanted
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
    found = interruptible(
        lambda: milp(
            costs,
            constraints=LinearConstraint(matrix, lb=1),
            integrality=np.ones(len(chosen)),
            bounds=Box(0, 1),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )
    )
    if found.x is None:  # the limit came before any cover: every term is one
        return Cover(chosen, False)
    return Cover([term for term, on in zip(chosen, found.x, strict=True) if on > 0.5], found.status == 0)
