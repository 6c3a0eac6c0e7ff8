"""The version space at a size: writes that every program of the class has, that none has, and the open ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bitwright.inference.families.atoms import Atom, AtomSource, Evidences
from bitwright.inference.families.cover import Term, atoms_of
from bitwright.inference.families.lines import LineBounds, LineCell, in_cell

Write = tuple[int, int, int, int, int]  # family, configuration, place i, array, place j


@dataclass(frozen=True)
class VersionSpace:
    """What the states leave of the class, at one size."""

    size: int
    forced: int
    open: int
    atoms: list[Atom]  # sound ones, at sources that were seen, with an open write
    unseen: list[AtomSource]  # configurations that no state shows, whose writes are all open

    @property
    def determined(self) -> bool:
        """Whether all programs of the class that fit make the same step at this size."""
        return not self.open and not self.unseen


def version_space(evidence: Evidences, size: int) -> VersionSpace:
    """Which writes are forced and which are open at a size, of any number of terms."""

    def writes(atom: Atom) -> set[Write]:
        source = atom.source
        pairs = atom.writes(evidence.cell(source), size)
        return {(source.family, source.config, i, atom.array, j) for i, j in pairs}

    forced: set[Write] = set()
    for demand in evidence.demands:
        if len({(atom.source, atom.array) for atom in demand}) == 1:
            forced |= set.intersection(*map(writes, demand))
    atoms, every = [], set(forced)
    for (source, array), targets in evidence.atoms.items():
        if source in evidence.seen:
            for target in targets:
                made = writes(Atom(source, array, target))
                if not made <= forced:
                    atoms.append(Atom(source, array, target))
                    every |= made
    unseen = [source for source in evidence.sources if source not in evidence.seen]
    return VersionSpace(size, len(forced), len(every) - len(forced), atoms, unseen)


@dataclass(frozen=True)
class Sufficient:
    """What the theorem needs of a program: agreement at `size` is agreement at every size from `first` on."""

    terms: int  # at most so many indices into one array, of one configuration in one cell
    slices: bool
    size: int | None  # None: the theorem does not cover it
    first: int


def sufficient(evidence: Evidences, terms: Sequence[Term]) -> Sufficient:
    """The size that decides for the class, by the theorem of docs/explanation/inference.md."""
    bounds: LineBounds = evidence.bounds
    a, b = bounds.coefficient, bounds.offset
    count: Counter[tuple[AtomSource, int]] = Counter()
    slices = False
    for atom in {atom for term in terms for atom in atoms_of(evidence, term) or ()}:
        if isinstance(atom.target, LineCell):
            slices = True
        else:
            assert in_cell(atom.target, evidence.cell(atom.source)) == atom.target
            count[atom.source, atom.array] += 1
    most = max(count.values(), default=0)
    if slices:
        size = max(8 * b + 5, 3 * b + most + 2) if a == 1 else None
        return Sufficient(most, True, size, 3 * b + 1)
    return Sufficient(most, False, max(2 * (a + 1) * b + 1, 2 * b + most + 2), bounds.first)
