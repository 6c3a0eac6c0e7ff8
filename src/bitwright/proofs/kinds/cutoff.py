"""The small-model theorem: up to which size every pattern of signs and residues occurs.

A pattern says of every atom f whether f <= -1, f = 0 or f >= 1, and what all variables are modulo N. With the atoms'
normals a and G = |constant| + 1, over all choices of n independent normals,

    V = max of sum over j of |minor_j| G_j / |det|,    R = the largest entry of a primitive kernel vector of n - 1,

in the coordinate of a size. A pattern that has a point has one in which that size is less than V + n N R, or at most V.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, floor, gcd

import numpy as np
from flint import fmpz_mat

from bitwright.proofs.kinds.affine import ONE, Affine, eliminate
from bitwright.proofs.kinds.atoms import Atoms
from bitwright.proofs.kinds.cases import NotCoveredError

_MOST_CHOICES = 200_000


def cutoff(forms: Iterable[Affine], names: Sequence[str], modulus: int, size: str) -> int:
    """L0: the size up to which all patterns of these atoms have a point; `names` are the variables.

    >>> i, l = Affine.of("i"), Affine.of("l")
    >>> cutoff([i - 1, l - i, l - i - 1, l - 1], ["i", "l"], 1, "l")
    5
    """
    n, column = len(names), list(names).index(size)
    reach: dict[tuple[int, ...], Fraction] = {}
    for form in forms:
        normal = [int(form[name]) for name in names]
        divisor = gcd(*normal) * (1 if next(filter(None, normal)) > 0 else -1)
        key = tuple(entry // divisor for entry in normal)
        reach[key] = max(reach.get(key, Fraction(0)), (abs(form[ONE]) + 1) / abs(divisor))
    if comb(len(reach), n) * n > _MOST_CHOICES:
        raise NotCoveredError(f"{len(reach)} directions in {n} variables")
    largest = Fraction(0)
    for chosen in combinations(reach, n):
        if det := abs(_determinant(chosen)):
            rows = [[row[:column] + row[column + 1 :] for row in chosen if row is not left] for left in chosen]
            total = sum((abs(_determinant(m)) * reach[row] for m, row in zip(rows, chosen, strict=True)), Fraction(0))
            largest = max(largest, total / det)
    longest = 0
    for chosen in combinations(reach, n - 1):
        kernel = [_determinant([row[:at] + row[at + 1 :] for row in chosen]) for at in range(n)]
        if any(kernel):
            longest = max(longest, abs(kernel[column]) // gcd(*kernel))
    return ceil(largest + n * modulus * longest) - 1 if longest else floor(largest)


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    return int(fmpz_mat(len(rows), len(rows), [entry for row in rows for entry in row]).det())


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
