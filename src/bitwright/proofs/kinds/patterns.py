"""One size for each pattern of signs and residues, where there are too many sizes to expand them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bitwright.proofs.kinds.affine import ONE, Affine, eliminate
from bitwright.proofs.kinds.atoms import Atoms


def representatives(
    box: Iterable[tuple[int, ...]], sizes: Sequence[str], atoms: Sequence[tuple[Atoms, list[str]]]
) -> Iterator[tuple[int, ...]]:
    """The sizes of the box that have a cell with a pattern which those before them do not have."""
    lines = [_CellLine(one, names[: len(names) - len(sizes)], sizes) for one, names in atoms]
    for values in box:
        if sum(line.fresh(values) for line in lines):
            yield values


class _CellLine:
    """The patterns of the cells of one line, in one case."""

    def __init__(self, atoms: Atoms, indices: Sequence[str], sizes: Sequence[str]) -> None:
        self.sizes, self.modulus = sizes, atoms.modulus
        self.seen: set[bytes] = set()
        known = atoms.cell.case.known
        self.bounds = []
        for name in indices:
            found = eliminate(known, set(indices) - {name}, exact=False) or []
            self.bounds.append([form for form in found if form[name]])
        self.indices = indices
        names = [*indices, *sizes]
        forms = [form.primitive() for form in known]
        self.known = self.rows(forms, names)
        self.rest = self.rows(sorted(atoms.forms, key=str), names)

    @staticmethod
    def rows(forms: Sequence[Affine], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        matrix = np.array([[int(form[name]) for name in names] for form in forms], dtype=np.int64)
        return matrix.reshape(len(forms), len(names)), np.array([int(form[ONE]) for form in forms], dtype=np.int64)

    def fresh(self, values: tuple[int, ...]) -> int:
        """How many patterns of cells at these sizes were not there before."""
        put = {name: Affine.of(value) for name, value in zip(self.sizes, values, strict=True)}
        axes = []
        for name, bounds in zip(self.indices, self.bounds, strict=True):
            ends = [(form[name], form.put(put)[ONE]) for form in bounds]
            low = max(-(end // factor) for factor, end in ends if factor > 0)
            high = min(end // -factor for factor, end in ends if factor < 0)
            axes.append(np.arange(int(low), int(high) + 1))
        grid = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")] if axes else []
        count = len(grid[0]) if grid else 1
        points = np.stack([*grid, *(np.full(count, value) for value in values)], axis=1)
        points = points[(points @ self.known[0].T + self.known[1] >= 0).all(axis=1)]
        signs = np.sign(np.hstack([points @ matrix.T + constant for matrix, constant in (self.known, self.rest)]))
        patterns = {row.tobytes() for row in np.hstack((signs, points % self.modulus))}
        before = len(self.seen)
        self.seen |= patterns
        return len(self.seen) - before
